"""Command lines taken apart: words, options and operands, and the resulting actions."""
