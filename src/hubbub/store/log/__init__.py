"""SQL for the activity log, pictures of it, and deliveries that leave the hub."""
