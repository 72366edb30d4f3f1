"""The hub's edges on one port: they decode, ask who it is, call, and encode. What happens is decided below."""
