"""Shared parts of the commands and programs: the hub and the caller, tables and text at a terminal, failures."""
