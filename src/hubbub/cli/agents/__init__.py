"""Commands for agents: listing them, and running some."""
