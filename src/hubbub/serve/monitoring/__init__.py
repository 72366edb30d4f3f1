"""The hub's state for its operator: health, metrics, its log, and blockers of its event loop."""
