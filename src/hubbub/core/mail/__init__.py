"""Messages, conversations, dead letters, and waking agents that have mail."""
