"""The exit codes of all commands."""

REFUSED, USAGE, UNREACHABLE, TIMED_OUT = 1, 2, 3, 4
INTERRUPTED = 130  # by Ctrl-C, as shells have it
