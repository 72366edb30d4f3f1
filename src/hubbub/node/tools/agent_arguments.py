"""Arguments of people's orders about the agents on a machine. No tool set has these tools: the hub's REST orders them.

They are checked here and nowhere else, however an order has come.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from hubbub.model.errors import Invalid
from hubbub.model.fleet.calls import ToolSpec
from hubbub.model.fleet.managed_agents import MOST_LINES, MOST_TASKS

NAME_LENGTH = 200
FOLLOWS = frozenset({"agent_logs"})  # streams events for as long as a caller listens, and changes nothing


@dataclass(frozen=True, slots=True)
class _Argument:
    """One argument: its allowed values, in words and as a test."""

    name: str
    must_be: str
    fits: Callable[[object], bool]


def _is_text(found: object) -> bool:
    return isinstance(found, str) and bool(found.strip()) and "\0" not in found


def _is_name(found: object) -> bool:
    return _is_text(found) and isinstance(found, str) and found == found.strip() and len(found) <= NAME_LENGTH


def _is_from(least: int, most: int, found: object) -> bool:
    return isinstance(found, int) and not isinstance(found, bool) and least <= found <= most


def _is_flag(found: object) -> bool:
    return isinstance(found, bool)


AGENT = _Argument("agent", f"a name of 1 to {NAME_LENGTH} characters", _is_name)
COMMAND = _Argument("command", "a command, without a NUL character", _is_text)
FOLDER = _Argument("folder", "the path of a folder", _is_text)
CONCURRENCY = _Argument(
    "concurrency", f"a whole number from 1 to {MOST_TASKS}", partial(_is_from, 1, MOST_TASKS)
)
LINES = _Argument("lines", f"a whole number from 0 to {MOST_LINES}", partial(_is_from, 0, MOST_LINES))
FOLLOW = _Argument("follow", "true or false", _is_flag)

NEEDED: Mapping[str, tuple[_Argument, ...]] = {
    "agent_start": (AGENT, COMMAND),
    "agent_stop": (AGENT,),
    "agent_logs": (AGENT,),
}
OPTIONAL: Mapping[str, tuple[_Argument, ...]] = {
    "agent_start": (FOLDER, CONCURRENCY),
    "agent_stop": (),
    "agent_logs": (LINES, FOLLOW),
}


def check_arguments(tool: str, given: Mapping[str, object]) -> Mapping[str, object]:
    """Return the tool's arguments. Raises `Invalid`, with a sentence that begins with an argument's name."""
    meant = [*NEEDED[tool], *(each for each in OPTIONAL[tool] if each.name in given)]
    for each in meant:
        if not each.fits(given.get(each.name)):
            raise Invalid(f"{each.name}: must be {each.must_be}")
    return {each.name: given[each.name] for each in meant}


SPECS = tuple(
    ToolSpec(name=tool, description="", schema={}, check=partial(check_arguments, tool)) for tool in NEEDED
)
