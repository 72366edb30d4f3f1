"""The open comments: those that ask for work that is left to do, or for a rule to be suspended."""

import re
import tokenize
from collections import Counter
from pathlib import Path

from demo.jobs.desk import Desk, numbered, sources

ASKS = re.compile(r"#\s*(todo|fixme|xxx|hack|noqa|type: ignore|pragma)\b", re.IGNORECASE)


def report(desk: Desk, folder: str) -> str:
    """Return the number of comments of each such kind, by folder."""
    found: Counter[tuple[str, str]] = Counter()
    for name, path in sources(folder):
        where = name.rpartition("/")[0] or "."
        found.update((where, kind) for kind in _asked(path))
    lines = [f"{count:5} {kind} in {where}" for (where, kind), count in sorted(found.items())]
    places = len({where for where, _kind in found})
    head = f"{numbered(found.total(), 'open comment')} in {numbered(places, 'folder')} of {folder}"
    text = "\n".join([head, *lines])
    desk.put("comments", text)
    return text


def _asked(path: Path) -> list[str]:
    with tokenize.open(path) as file:
        comments = [
            token.string
            for token in tokenize.generate_tokens(file.readline)
            if token.type == tokenize.COMMENT
        ]
    return [match.group(1).lower() for comment in comments for match in ASKS.finditer(comment)]
