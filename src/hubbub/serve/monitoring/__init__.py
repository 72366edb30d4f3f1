"""What the hub tells of itself to whoever runs it: health, metrics, its log, and what holds up its event loop."""
