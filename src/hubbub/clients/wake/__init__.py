"""What wakes agents from outside their clients."""
