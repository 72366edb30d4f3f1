"""The dialects over MCP: the only package of the hub that knows the SDK.

`endpoint` stands at a path and recognises the kind of client; `dialect_server` answers, with `resource_updates` for
followed resources and `request_context` for the caller; `stateless_calls` answers calls that come on their own,
`address_options` serves an address that wants only some of the tools. Others need only `build`.
"""

from hubbub.serve.mcp.build import Mcp, build

__all__ = ["Mcp", "build"]
