"""Reads what an agent's call would do, and decides: a floor that nothing turns off, an owner's rules, a mode.

A guard rail, and no wall: what runs should run in a sandbox of the operating system's as well.
"""
