"""Messages, conversations, dead letters, and waking whoever has mail."""
