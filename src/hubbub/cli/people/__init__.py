"""Commands for people, their projects and their tokens."""
