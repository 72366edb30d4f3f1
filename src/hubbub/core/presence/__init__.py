"""Presence of agents: how they join, stay, edit and leave, and where they are."""
