"""Texts, files and paths that a program passes on to itself, as far as they are known before it runs."""
