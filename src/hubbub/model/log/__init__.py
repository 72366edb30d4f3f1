"""What happened: types of events, the projection of a project, what needs attention, and what leaves the hub."""
