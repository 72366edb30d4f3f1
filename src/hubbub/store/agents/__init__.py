"""SQL for agents, their presences and connections, and where they work."""
