"""The dialects over MCP: the only package of the hub that knows the SDK.

`endpoint` serves a path and recognises the kind of client; `dialect_server` answers, with `resource_updates` for
followed resources and `request_context` for the caller; `stateless_calls` answers calls outside sessions,
`address_options` serves an address with only some of the tools. Other packages need only `build`, which loads the
SDK when the first message comes.
"""

from hubbub.serve.mcp.build import Mcp, build

__all__ = ["Mcp", "build"]
