"""Cost of the agents' work."""
