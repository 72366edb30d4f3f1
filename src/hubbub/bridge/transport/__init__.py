"""The ways from the bridge to the hub, and what MCP makes of them."""
