"""What a machine asks of its hub, and one way there."""
