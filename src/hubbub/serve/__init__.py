"""The hub's edges on one port: they decode, identify the caller, call the core, and encode. They decide nothing."""
