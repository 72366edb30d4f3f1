"""The tools by which people place agents on a machine: in no tool set, ordered by the hub's REST, checked here."""

from collections.abc import Mapping
from functools import partial

from hubbub.model.errors import Invalid
from hubbub.model.orders import ToolSpec

KINDS: Mapping[str, type] = {
    "agent": str,
    "command": str,
    "folder": str,
    "concurrency": int,
    "lines": int,
    "follow": bool,
}
WORDS: Mapping[type, str] = {str: "a text", int: "a whole number", bool: "true or false"}
NEEDED: Mapping[str, tuple[str, ...]] = {
    "agent_start": ("agent", "command"),
    "agent_stop": ("agent",),
    "agent_logs": ("agent",),
}
MAY: Mapping[str, tuple[str, ...]] = {
    "agent_start": ("folder", "concurrency"),
    "agent_stop": (),
    "agent_logs": ("lines", "follow"),
}


def _checked(tool: str, given: Mapping[str, object]) -> Mapping[str, object]:
    """The arguments that the tool knows, each of its kind. Raises `Invalid`."""
    for name in NEEDED[tool]:
        if name not in given:
            raise Invalid(f"{name}: {tool} needs it")
    known = {name: given[name] for name in (*NEEDED[tool], *MAY[tool]) if name in given}
    for name, value in known.items():
        if type(value) is not KINDS[name]:
            raise Invalid(f"{name}: must be {WORDS[KINDS[name]]}")
        if isinstance(value, str) and "\0" in value:
            raise Invalid(f"{name}: must not have a NUL character")
    return known


SPECS = tuple(
    ToolSpec(name=tool, description="", schema={}, check=partial(_checked, tool)) for tool in NEEDED
)
FOLLOWS = frozenset({"agent_logs"})  # tells what happens for as long as somebody listens, and does nothing
