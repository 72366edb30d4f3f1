"""What anybody can run to see that the hub keeps its promises, whatever dies."""
