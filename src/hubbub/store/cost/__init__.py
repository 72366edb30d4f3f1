"""SQL for the cost of the agents' work."""
