"""The pages about the hub's own tongue, compared with the code."""

import re
from pathlib import Path

from docs import tokens
from hubbub.dialects import discover
from hubbub.dialects.hub import DIALECT
from tests.dialects.every_row import every_row
from tests.dialects.own_tongue.team import Team

MAPPING = (Path(tokens.__file__).parent / "dialects" / "mapping.md").read_text("utf-8")
TITLES = {"CommHub": "commhub", "Relay": "relay", "GolemXV": "golemxv", "cmdop": "cmdop"}
ROW = re.compile(r"^\| `(\w+)` \| (.+) \|$", re.MULTILINE)
WAY = re.compile(r"`(\w+)\(([^`]*)\)`")


def _rows() -> dict[tuple[str, str], str]:
    """Return the page's rows on each tool, by its tool set and its name."""
    sections = re.split(r"^## ", MAPPING, flags=re.MULTILINE)[1:]
    return {
        (TITLES[section.split("\n", 1)[0]], tool): here
        for section in sections
        for tool, here in ROW.findall(section)
    }


def test_every_documented_tool_has_its_row() -> None:
    """The table has each of the 82 tools of the four documented sets, and no other."""
    others = {(name, tool) for name in TITLES.values() for tool in discover()[name].tools}
    assert len(others) == 82
    assert set(_rows()) == others
    assert len(ROW.findall(MAPPING)) == len(others)


def test_a_way_that_the_table_names_is_there() -> None:
    """Each call that a row shows is one of ours, with its arguments and values; what is left out names who has it."""
    with every_row() as row:
        for (dialect, tool), here in _rows().items():
            with row(dialect, tool):
                ways = WAY.findall(here)
                assert ways or f"`/mcp/{dialect}`" in here
                for name, given in ways:
                    _check_way(name, given)


def _check_way(name: str, given: str) -> None:
    """The tool is there, and has the arguments, and they may have the values."""
    assert name in DIALECT.tools
    properties = DIALECT.tools[name].schema["properties"]
    assert isinstance(properties, dict)
    for argument in filter(None, given.split(", ")):
        key, _, value = argument.partition("=")
        assert key in properties, argument
        allowed = properties[key].get("enum")
        assert not (value and allowed) or value.strip('"') in allowed, argument


def test_the_token_table_is_as_the_code_has_it() -> None:
    """The page was made after the last change of any tool list: `make docs` writes it."""
    assert tokens.PAGE.read_text("utf-8") == tokens.page()


def test_what_is_counted_is_what_is_sent(anywhere: Team) -> None:
    """The table counts the tools as they go over the line."""
    with every_row() as row:
        for name in ("hub", *TITLES.values()):
            answer = anywhere.post({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, path=f"/mcp/{name}")
            counted = [tokens.listed(tool) for tool in discover()[name].tools.values()]
            with row(name):
                assert answer.json()["result"]["tools"] == counted
