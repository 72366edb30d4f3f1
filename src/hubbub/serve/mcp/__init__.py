"""Serving the dialects over MCP: the only room of the hub that knows the SDK.

`endpoint` stands at a path and sees what kind of client comes; `dialect_server` answers, with `push` for what is
followed and `context` for who asks; `bare` answers calls that come on their own, `narrowed` knows an
address that wants only some of the tools. `build` is all that others need.
"""

from hubbub.serve.mcp.build import Mcp, build

__all__ = ["Mcp", "build"]
