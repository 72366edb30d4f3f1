"""Waking agents for their mail."""
