"""The hub's edges on one port: they decode, identify the caller, call, and encode. Decisions are made below."""
