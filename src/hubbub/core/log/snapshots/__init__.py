"""Snapshots: what a project looks like now, what it looked like at any moment, and what each change makes of that."""
