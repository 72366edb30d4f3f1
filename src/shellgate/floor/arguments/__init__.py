"""Command lines taken apart: words, options and operands, and the actions that they amount to."""
