"""Commands for the hub itself: running it, copying it, maintaining it; and help."""
