"""What tasks are, who may do what with them, and what agents remember."""
