"""Connect, list the tools, call one, read a resource; with the official Python client of version 2."""

import asyncio
import json
import sys
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

MODE, URL, TOKEN = sys.argv[1:]


async def walk() -> dict[str, Any]:
    http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"})
    mode: Any = MODE
    async with http, Client(streamable_http_client(URL, http_client=http), mode=mode) as client:
        tools = (await client.list_tools()).tools
        answer: Any = (await client.call_tool("get_all_status", {})).structured_content
        agents: Any = (await client.read_resource("hubbub://agents")).contents[0]
        return {"tools": len(tools), "ok": answer["ok"], "agents": len(json.loads(agents.text))}


sys.stdout.write(json.dumps(asyncio.run(walk())))
