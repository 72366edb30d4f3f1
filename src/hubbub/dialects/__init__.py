"""The tool sets that the hub speaks. To add one, put a module here that defines DIALECT."""

import importlib
import pkgutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hubbub.dialects.dialect import Dialect

COMMON = frozenset({"call", "dialect", "reply_cache"})  # what all of them are made of


def names() -> list[str]:
    """List the names of the dialects, from the modules in this folder; none of them is loaded."""
    return sorted({module.name for module in pkgutil.iter_modules(__path__)} - COMMON)


def addresses(url: str, root: str, *, in_full: bool) -> list[str]:
    """Return lines that name the MCP addresses of a hub: `root` is at `/mcp`, each tool set at its name.

    `in_full` gives each of them a line of its own, for programs; without it the common part appears once, for people.
    """
    others = [name for name in names() if name != root]
    if in_full:
        return [f"{url}/mcp", *(f"{url}/mcp/{name}" for name in others)]
    return [f"{url}/mcp; other tool sets at {url}/mcp/NAME: {', '.join(others)}"]


def discover() -> dict[str, "Dialect"]:
    """Load every dialect; return them by name."""
    modules = (importlib.import_module(f"{__name__}.{name}") for name in names())
    return {module.DIALECT.name: module.DIALECT for module in modules}
