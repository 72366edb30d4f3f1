"""Running other programs: each in a group of its own, which ends when we do, its output kept by both ends."""
