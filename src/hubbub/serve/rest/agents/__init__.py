"""REST for agents: who is there, where they work, and what they edit."""
