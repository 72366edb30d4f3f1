"""The live feed: the tail of the activity log and its followers."""
