"""REST for mail: messages, threads, dead letters, and wakes."""
