"""SQL for projects, people, and the tokens by which they act."""
