"""Serving the dialects over MCP: the only room of the hub that knows the SDK.

`endpoint` stands at a path and sees what kind of client comes; `dialect_server` answers, with `resource_updates` for
what is followed and `request_context` for who asks; `stateless_calls` answers calls that come on their own,
`address_options` knows an address that wants only some of the tools. `build` is all that others need.
"""

from hubbub.serve.mcp.build import Mcp, build

__all__ = ["Mcp", "build"]
