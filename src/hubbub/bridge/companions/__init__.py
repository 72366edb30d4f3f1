"""Companions of the bridge: the part of each dialect on the agent's machine."""
