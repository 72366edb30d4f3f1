"""The transports from the bridge to the hub, and MCP over them."""
