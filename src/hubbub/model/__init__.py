"""Nouns and rules, without any machinery: standard library only."""
