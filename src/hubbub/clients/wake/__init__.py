"""Waking agents from outside their clients."""
