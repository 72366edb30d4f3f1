"""What the agents' clients use, in tokens, and what that is worth: counted once, added up, priced when it is shown."""
