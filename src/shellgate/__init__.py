"""Reads what an agent's call would do, and decides: a floor that nothing turns off, an owner's rules, a mode.

It is a guard rail, not a wall: commands should also run in a sandbox of the operating system.
"""
