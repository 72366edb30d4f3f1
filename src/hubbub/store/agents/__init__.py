"""SQL for agents, their presences and connections, and their scopes and claims."""
