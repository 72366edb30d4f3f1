"""The agents that a project knows: their names, last activity, connections, scopes and claims."""
