"""What stands at the side of the agents' own programs: hooks in them, what wakes them, and what installs both."""
