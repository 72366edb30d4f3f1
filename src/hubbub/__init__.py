"""Hubbub: one coordination hub for fleets of AI agents."""

__version__ = "0.1.1"
