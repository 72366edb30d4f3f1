"""The commands of a piece of shell, as far as they are known before it runs."""
