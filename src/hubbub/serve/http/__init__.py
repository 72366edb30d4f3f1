"""Checks that every request passes: the guard, logins, limits, and headers of answers."""
