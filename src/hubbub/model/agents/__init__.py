"""Agents at work: their names, connections, scopes and claims, and the patterns of paths."""
