"""Fields of nouns: the places where each is visible, and its meaning.

A record declares its fields once: `area: Annotated[str | None, Seen(REST | CARD, "its area")]`. Name and
type are those of the column, the card and the JSON; the annotation says where else the field appears. A field without
one is kept in the store, and shown only by a dialect that has a word for it. All of this is read when modules are
imported, never for a record.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import Flag, auto
from typing import Any, get_type_hints

FIRST = "0.1.0"  # the version of all fields that do not name theirs


class Visibility(Flag):
    """The places outside the store where a field is visible."""

    NOWHERE = 0
    REST = auto()  # in the JSON of the noun
    CARD = auto()  # in pictures, for anybody who may look at the project


NOWHERE, REST, CARD = Visibility.NOWHERE, Visibility.REST, Visibility.CARD


@dataclass(frozen=True, slots=True)
class Seen:
    """A field that is visible outside the store, and its meaning.

    A member that a card or a shape has beside its record names the field that it comes `after`.
    """

    where: Visibility
    says: str = ""
    since: str = FIRST
    after: str | None = None


@dataclass(frozen=True, slots=True)
class Secret:
    """A field that is never shown: the value, or the text that it is the hash of, lets its owner act as another."""

    says: str = ""


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a noun, as declared."""

    name: str
    type: Any  # as written, without its annotations
    seen: Seen
    is_secret: bool


def declared(noun: type) -> Mapping[str, Field]:
    """Return the fields of a noun by name, in order: of a record, or of any class with annotated members."""
    hints = get_type_hints(noun, include_extras=True)
    names = [field.name for field in fields(noun)] if hasattr(noun, "__dataclass_fields__") else list(hints)
    return {name: _field(name, hints[name]) for name in names}


def seen(noun: type, where: Visibility) -> dict[str, Field]:
    """Return the fields that are visible there."""
    return {name: field for name, field in declared(noun).items() if where in field.seen.where}


def merged(own: Mapping[str, Field], beside: Mapping[str, Field]) -> list[str]:
    """Merge both lists of names; each of `beside` follows the field that it names, else the one before it."""
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
