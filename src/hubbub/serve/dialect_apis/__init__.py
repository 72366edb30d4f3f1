"""The HTTP interfaces that CommHub's, Relay's and GolemXV's own clients call beside MCP."""
