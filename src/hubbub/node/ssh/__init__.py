"""Shells on other machines, over SSH: where a host is, whether it is the one it says it is, and what is open there.

What the user's SSH configuration and keys say is read here and told to nobody; no program in it is run.
"""
