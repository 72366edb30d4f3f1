"""Tasks, rights to act on them, and the agents' memories."""
