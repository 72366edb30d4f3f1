"""The commands of a piece of shell, as far as they can be known before it runs."""
