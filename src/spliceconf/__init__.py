"""Puts one entry into somebody else's configuration file, and takes it out again, by splicing text.

Each editor knows one language. It finds places with a reader that knows every byte, splices, reads the result again
and lets it pass only if nothing but the entry differs: order, indentation, comments and neighbours stay as they are.
"""

from spliceconf.editor import (
    BOM,
    MISSING,
    Editor,
    Keys,
    Trace,
    Unreadable,
    ended,
    find,
    newline,
    without,
)
from spliceconf.languages import EDITORS

__all__ = [
    "BOM",
    "EDITORS",
    "MISSING",
    "Editor",
    "Keys",
    "Trace",
    "Unreadable",
    "ended",
    "find",
    "newline",
    "without",
]
