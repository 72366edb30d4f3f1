"""Commands for messages and for what wakes their receivers."""
