"""How a command line is taken apart: words, options and operands, and the actions that they amount to."""
