"""Companions of the bridge: the part of each dialect that happens on the agent's machine."""
