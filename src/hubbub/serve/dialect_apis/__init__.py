"""The HTTP interfaces beside MCP that CommHub's, Relay's and GolemXV's own clients call."""
