"""The gate of a machine: what a call would do, what the policy says of it, and whom to ask."""
