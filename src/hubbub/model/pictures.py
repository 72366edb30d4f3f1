"""Pictures: a project at one moment, and how one activity after the other makes the next of the last.

A picture maps each noun to its *cards*, by key: what tasks, agents, machines and so on look like from outside. An
activity may carry a *patch*: the cards as they are after what happened, None for what is gone. Whoever has a picture
and applies the patches that follow has the same picture as the hub; there is nothing else to know. On PostgreSQL the
log is in the order of (tx, seq) while the changes of one thing go by seq, the activity's id: so no card is overwritten
by an activity with a smaller id than the one that wrote it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

NOUNS = ("tasks", "agents", "machines", "approvals", "letters", "overlaps")

Card = Mapping[str, Any]
Cards = dict[str, Card]
Patch = Mapping[str, Mapping[str, Card | None]]
Picture = Mapping[str, Mapping[str, Card]]


def empty() -> dict[str, Cards]:
    """The picture of a project in which nothing has happened."""
    return {noun: {} for noun in NOUNS}


def pair(one: str, other: str) -> str:
    """The key of what two agents have in common: their names, sorted, with a line end between, which no name has."""
    return "\n".join(sorted((one, other)))


@dataclass(slots=True)
class Fold:
    """A picture that goes along with the log."""

    picture: dict[str, Cards] = field(default_factory=empty)
    seen: frozenset[int] = (
        frozenset()
    )  # activities that come later in the log, and are in the picture already
    _writers: dict[tuple[str, str], int] = field(default_factory=dict)

    @classmethod
    def of(cls, picture: Picture, seen: Iterable[int] = ()) -> Self:
        """One that begins with a snapshot or a keyframe; these stay as they are."""
        return cls({noun: dict(picture.get(noun, {})) for noun in NOUNS}, frozenset(seen))

    def apply(self, activity_id: int, patch: Patch | None) -> None:
        """Take an activity in: the activities after the picture's place in the log, in the log's order."""
        if patch is None or activity_id in self.seen:
            return
        for noun, cards in patch.items():
            for key, card in cards.items():
                if self._writers.get((noun, key), 0) <= activity_id:
                    self._writers[noun, key] = activity_id
                    self._put(noun, key, card)

    def _put(self, noun: str, key: str, card: Card | None) -> None:
        if card is None:
            self.picture[noun].pop(key, None)
        else:
            self.picture[noun][key] = card
