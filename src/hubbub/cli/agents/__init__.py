"""Commands for agents: who is here, and running some."""
