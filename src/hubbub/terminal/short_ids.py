"""Ids by their beginnings: as many characters as tell them apart are shown to people, and enough for a command."""

import functools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import click

from hubbub.client import Hub
from hubbub.model.ids import parse_id

LEAST = 8  # characters that are shown, and typed
BEGINNING = re.compile(rf"[0-9a-f][0-9a-f-]{{{LEAST - 1},34}}", re.IGNORECASE | re.ASCII)
RECENT = 500  # tasks among which a beginning is looked up


def shortest(ids: Sequence[str]) -> int:
    """Return the number of characters that tell all these ids apart."""
    known = set(ids)
    longest = max(map(len, known), default=LEAST)
    return next(
        (n for n in range(LEAST, longest) if len({each[:n] for each in known}) == len(known)), longest
    )


def whole(beginning: str, pages: Iterable[Sequence[Mapping[str, Any]]]) -> str:
    """Return the only id that begins so, on the first page that has one.

    One that no id begins with stays as it is, so that the hub refuses it. Raises `click.UsageError` if several do.
    """
    if not beginning or parse_id(beginning) is not None:
        return beginning
    for page in pages:
        ids = [str(each["id"]) for each in page if str(each["id"]).startswith(beginning.lower())]
        if len(ids) > 1:
            raise click.UsageError(f"{len(ids)} ids begin with {beginning!r}; give more of the id")
        if ids:
            return ids[0]
    return beginning


def task(hub: Hub, ref: str) -> str:
    """Return the id of the only one of the newest tasks that begins so; a number or another name stays as it is."""
    if BEGINNING.fullmatch(ref) is None:
        return ref
    return whole(ref, [hub.get("/tasks", limit=RECENT)["tasks"]])


def of_task(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let a command about the task `ref` take the beginning of its id."""

    @functools.wraps(function)
    def found(*, hub: Hub, ref: str, **rest: Any) -> Any:
        return function(hub=hub, ref=task(hub, ref), **rest)

    return found
