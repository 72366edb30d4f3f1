"""What a noun's fields are: who gets to see each, and what it says.

A record declares its fields once: `area: Annotated[str | None, Seen(REST | CARD, "the area that it is in")]`. The name
and the type are the column's, the card's and the JSON's; from the rest follows where else the field stands. One that
says nothing of itself is kept in the store, and is told by nobody but a dialect that has a word for it. All of this is
read when modules are imported, never for a record.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import Flag, auto
from typing import Any, get_type_hints

FIRST = "0.1.0"  # the version that had all fields which do not say since when they are there


class Visibility(Flag):
    """Where a field is seen, beside the store."""

    NOWHERE = 0
    REST = auto()  # in the JSON of the noun
    CARD = auto()  # in pictures, by whoever may look at the project


NOWHERE, REST, CARD = Visibility.NOWHERE, Visibility.REST, Visibility.CARD


@dataclass(frozen=True, slots=True)
class Seen:
    """A field that others get to see, and what it says to them.

    What a card or a shape has beside its record says `after` which field it stands.
    """

    where: Visibility
    says: str = ""
    since: str = FIRST
    after: str | None = None


@dataclass(frozen=True, slots=True)
class Secret:
    """A field that nobody ever sees: with it, or with what it is the hash of, one may act as another."""

    says: str = ""


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a noun, as it was declared."""

    name: str
    type: Any  # as it was written, without what it is annotated with
    seen: Seen
    is_secret: bool


def declared(noun: type) -> Mapping[str, Field]:
    """The fields of a noun by name, in order. Those of a record, or of anything else that annotates its members."""
    hints = get_type_hints(noun, include_extras=True)
    names = [field.name for field in fields(noun)] if hasattr(noun, "__dataclass_fields__") else list(hints)
    return {name: _field(name, hints[name]) for name in names}


def seen(noun: type, where: Visibility) -> dict[str, Field]:
    """Those of its fields that are seen there."""
    return {name: field for name, field in declared(noun).items() if where in field.seen.where}


def merged(own: Mapping[str, Field], beside: Mapping[str, Field]) -> list[str]:
    """The names of both, each of `beside` after the field that it names, else after the one before it."""
    order = list(own)
    place = len(order)
    for name, field in beside.items():
        if field.seen.after is not None:
            place = order.index(field.seen.after) + 1
        order.insert(place, name)
        place += 1
    return order


def _field(name: str, hint: Any) -> Field:
    notes = getattr(hint, "__metadata__", ())
    secret = next((each for each in notes if isinstance(each, Secret)), None)
    seen = next(
        (each for each in notes if isinstance(each, Seen)), Seen(NOWHERE, secret.says if secret else "")
    )
    return Field(name, hint.__origin__ if notes else hint, seen, secret is not None)
