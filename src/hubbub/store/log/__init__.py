"""SQL for the log of all that happened, pictures of it, and what leaves the hub."""
