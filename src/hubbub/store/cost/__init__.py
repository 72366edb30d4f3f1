"""SQL for what the work of agents costs."""
