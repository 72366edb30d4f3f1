"""Connect, list the tools, call one, read a resource; with the official Python client of version 1."""

import asyncio
import json
import sys
from typing import Any

from mcp import ClientSession
from mcp.client.streamable_http import streamablehttp_client  # type: ignore[attr-defined]  # gone in version 2

URL, TOKEN = sys.argv[1:]


async def walk() -> dict[str, Any]:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with (
        streamablehttp_client(URL, headers=headers) as (reading, writing, _),
        ClientSession(reading, writing) as client,
    ):
        await client.initialize()
        tools = (await client.list_tools()).tools
        called: Any = await client.call_tool("get_all_status", {})
        agents: Any = (await client.read_resource("hubbub://agents")).contents[0]
        return {
            "tools": len(tools),
            "ok": called.structuredContent["ok"],
            "agents": len(json.loads(agents.text)),
        }


sys.stdout.write(json.dumps(asyncio.run(walk())))
