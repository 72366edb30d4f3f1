"""Commands for the past, the present, and the reasons."""
