"""Writes `dialects/tokens.md`: what the tool lists of the dialects cost a model, counted as models count.

`make docs` runs it, and a test says when that was forgotten. Counted is the `tools` of a `tools/list` as the hub sends
it, which is what most clients put before every turn of their model; how a client writes it there is its own business.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from splintr import AnyTokenizer, Tokenizer

from docs.words import table
from hubbub.dialects import discover
from hubbub.dialects.dialect import Dialect, Tool
from hubbub.model.fleet.calls import as_json

VOCABULARIES = ("o200k_base", "cl100k_base")
OWN = "hub"

HEAD = """# What the tool lists cost

`make docs` makes this page from the code. It counts the tokens of the answer to `tools/list`, in two vocabularies,
and those of the guide (`instructions`). The hub's [own tools](hub.md) must stay below 2,000; a test checks it.
The other four follow their systems' documents to the letter. To make any of them smaller,
[name the tools](../reference/mcp.md#some-of-the-tools) that an agent needs."""

PAGE = Path(__file__).parent / "dialects" / "tokens.md"


def listed(tool: Tool) -> Mapping[str, object]:
    """A tool as `tools/list` shows it."""
    return {
        "name": tool.name,
        "description": tool.description,
        "inputSchema": tool.schema,
        "annotations": {"readOnlyHint": tool.reads},
    }


@cache
def vocabulary(name: str) -> AnyTokenizer:
    """The vocabulary of that name; each takes long to read."""
    return Tokenizer.from_pretrained(name)


def tokens(text: str) -> list[int]:
    """How many tokens the text has in each vocabulary."""
    return [len(vocabulary(name).encode(text)) for name in VOCABULARIES]


def row(dialect: Dialect) -> list[str]:
    """A dialect's line of the table."""
    tools = as_json([listed(tool) for tool in dialect.tools.values()])
    numbers = [len(dialect.tools), *tokens(tools), tokens(dialect.guide)[0]]
    return [f"`/mcp/{dialect.name}`", *(f"{number:,}" for number in numbers)]


def page() -> str:
    """The page as it is to be: the hub's own first, then by name."""
    dialects = sorted(discover().values(), key=lambda each: (each.name != OWN, each.name))
    every = table(["", "tools", *VOCABULARIES, "guide"], map(row, dialects))
    own = next(each for each in dialects if each.name == OWN)
    each = ([f"`{tool.name}`", *map(str, tokens(as_json(listed(tool))))] for tool in own.tools.values())
    return "\n\n".join([HEAD, every, "The hub's own, tool by tool:", table(["", *VOCABULARIES], each)]) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
