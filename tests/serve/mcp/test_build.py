"""When the MCP library is loaded."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest
from starlette.types import Receive, Scope, Send

from hubbub.serve.mcp.build import Mcp


class Kept:
    """An endpoint that notes what happens to it."""

    def __init__(self, seen: list[str]) -> None:
        self._seen = seen

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        task = asyncio.current_task()
        self._seen.append("begins")
        yield
        self._seen.append("ends" if asyncio.current_task() is task else "ends elsewhere")

    async def __call__(self, scope: Scope, _receive: Receive, _send: Send) -> None:
        self._seen.append(scope["path"])


def serving(seen: list[str]) -> Mcp:
    def make() -> Mapping[str, Any]:
        seen.append("made")
        return {"hub": Kept(seen)}

    return Mcp(("hub",), "hub", make)


async def call(mcp: Mcp, path: str) -> None:
    (route,) = (route for route in mcp.routes if route.path == path)
    await route.app({"type": "http", "path": path}, None, None)  # type: ignore[arg-type]


def test_nothing_is_made_before_the_first_call() -> None:
    """A hub that nobody calls by MCP makes no endpoint, and ends without one."""
    seen: list[str] = []

    async def run() -> None:
        async with serving(seen).run():
            await asyncio.sleep(0)

    asyncio.run(run())
    assert seen == []


def test_first_calls_at_once() -> None:
    """Endpoints are made once for calls that come together, begin before the first, and end with the hub."""
    seen: list[str] = []

    async def run() -> None:
        mcp = serving(seen)
        async with mcp.run():
            await asyncio.gather(call(mcp, "/mcp"), call(mcp, "/mcp/hub"), call(mcp, "/mcp"))
            await call(mcp, "/mcp/hub")

    asyncio.run(run())
    assert seen[:2] == ["made", "begins"]
    assert sorted(seen[2:-1]) == ["/mcp", "/mcp", "/mcp/hub", "/mcp/hub"]
    assert seen[-1] == "ends"


def test_endpoints_that_cannot_be_made() -> None:
    """If the endpoints cannot be made, each call fails with the reason, and the hub still ends."""

    def make() -> Mapping[str, Any]:
        raise ImportError("no SDK")

    async def run() -> None:
        mcp = Mcp(("hub",), "hub", make)
        async with mcp.run():
            for _ in range(2):
                with pytest.raises(ImportError, match="no SDK"):
                    await call(mcp, "/mcp")

    asyncio.run(run())


@pytest.mark.system
def test_hub_is_loaded_without_the_library() -> None:
    """The hub's own modules load neither the MCP library nor cryptography."""
    code = (
        "import sys\nfrom hubbub import app\n"
        "print([name for name in ('mcp', 'mcp_types', 'cryptography') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
