"""What happens, as it happens: the tail of the activity log and everybody who follows it."""
