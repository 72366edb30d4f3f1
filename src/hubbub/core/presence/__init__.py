"""Presence of agents: joining, staying, editing and leaving, and their location."""
