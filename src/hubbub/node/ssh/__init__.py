"""Shells on other machines, over SSH: the host, its identity, and the open shells there.

The user's SSH configuration and keys are read here and shown to nobody; no program in them is run.
"""
