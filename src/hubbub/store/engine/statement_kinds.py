"""What a statement does, as its text tells: whether it only asks, and which tables it changes or mentions."""

import re
from functools import lru_cache

ASKING = re.compile(r"\s*SELECT\b(?!.*\bFOR (NO KEY |KEY )?(UPDATE|SHARE)\b)(?!.*\bpg_)", re.DOTALL)
CHANGING = re.compile(r"\b(?:INSERT INTO|UPDATE(?! SET\b)|DELETE FROM)\s+(\w+)")


@lru_cache(maxsize=1024)
def only_asks(sql: str) -> bool:
    """Tell whether the statement is a plain query that changes and locks nothing, and is not about the transaction."""
    return ASKING.match(sql) is not None


@lru_cache(maxsize=1024)
def may_have_changed(sql: str, asked: str) -> bool:
    """Tell whether one statement changes a table that the other mentions."""
    return any(re.search(rf"\b{table}\b", asked) for table in CHANGING.findall(sql))


@lru_cache(maxsize=1024)
def changed_by(sql: str) -> frozenset[str]:
    """Return the tables that a statement changes."""
    return frozenset(CHANGING.findall(sql))


@lru_cache(maxsize=4096)
def mentions(sql: str, table: str) -> bool:
    return re.search(rf"\b{table}\b", sql) is not None
