"""Snapshots: a project as it is now, as it was at any moment, and the effect of each change on its picture."""
