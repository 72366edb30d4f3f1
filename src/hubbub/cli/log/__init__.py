"""Commands that tell what happened, what happens, and why."""
