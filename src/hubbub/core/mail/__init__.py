"""Messages, conversations, dead letters, and waking of agents with mail."""
