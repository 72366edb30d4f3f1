"""Work: what is done in a project, and what that needs."""
