"""Nouns and rules, without I/O: standard library only."""
