"""JSON of which most was encoded for an answer before, and goes out again as it is."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class EncodedRows:
    """An array of rows that are encoded already, as a member of an object.

    Rows and the other members hold nothing but texts, integers, flags, nulls, and arrays and objects of these: all
    encoders write that alike.
    """

    def __init__(self, rows: Iterable[str]) -> None:
        self.json = f"[{','.join(rows)}]"

    @property
    def value(self) -> list[Any]:
        """The array itself."""
        return list(json.loads(self.json))


def joined(value: object) -> str | None:
    """The JSON of an object that holds encoded rows; None for any other value."""
    if not isinstance(value, Mapping) or not _has_rows(value):
        return None
    members = (
        f"{_encode(name)}:{each.json if isinstance(each, EncodedRows) else _encode(each)}"
        for name, each in value.items()
    )
    return f"{{{','.join(members)}}}"


def decoded(value: Mapping[str, object]) -> Mapping[str, object]:
    """The object with the rows themselves in it, where they are encoded."""
    if not _has_rows(value):
        return value
    return {name: each.value if isinstance(each, EncodedRows) else each for name, each in value.items()}


def _has_rows(value: Mapping[str, object]) -> bool:
    return any(isinstance(each, EncodedRows) for each in value.values())
