"""The exit codes of all commands."""

REFUSED, USAGE, UNREACHABLE, TIMED_OUT = 1, 2, 3, 4
