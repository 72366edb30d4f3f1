"""What a piece of shell would call, as far as that can be known before it runs."""
