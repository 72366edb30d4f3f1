"""Snapshots: the picture of a project now and at any past moment, and the effect of each change on it."""
