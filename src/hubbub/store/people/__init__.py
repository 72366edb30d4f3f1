"""SQL for projects, people, and tokens."""
