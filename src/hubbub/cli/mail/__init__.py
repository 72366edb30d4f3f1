"""Commands for messages and for waking their receivers."""
