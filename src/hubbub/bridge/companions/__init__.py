"""What stands beside the bridge: each dialect's part that happens on the agent's machine."""
