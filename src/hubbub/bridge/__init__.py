"""The engine of `hubbub mcp`: an MCP server on stdio that is a bridge to the hub.

`stdio` reads and writes lines, `transport` speaks Streamable HTTP with the hub, `bridge` brings the two together and
carries its client over a restart of the hub, `companions` do what of a dialect happens on the agent's machine.
"""
