"""Texts, files and paths that a program passes on to itself, if they are known before it runs."""
