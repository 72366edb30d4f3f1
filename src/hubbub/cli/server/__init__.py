"""Commands for the hub itself: running it, copying it, looking after it; and help."""
