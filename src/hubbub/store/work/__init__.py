"""SQL for work: what is done in a project, and what that needs."""
