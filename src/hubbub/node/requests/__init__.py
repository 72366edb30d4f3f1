"""A machine's requests to its hub, and one way to send them."""
