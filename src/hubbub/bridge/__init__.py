"""The engine of `hubbub mcp`: an MCP server on stdio that is a bridge to the hub.

`stdio` reads and writes lines, `transport` speaks Streamable HTTP with the hub, `bridge` connects the two and
keeps its client over a restart of the hub, `companions` do a dialect's part on the agent's machine.
"""
