"""What the work of agents costs."""
