"""SQL for messages, inboxes and wakes."""
