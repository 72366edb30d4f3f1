"""REST for work: the tasks of a project and everything they need."""
