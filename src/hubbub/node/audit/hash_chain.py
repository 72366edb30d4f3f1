"""The hash chain of an audit log: how each line is tied to the one before it, and the signs of a change.

A line is one JSON object. Its last member `hash` is the SHA-256 of the hash before it followed by the line's own text,
without that member; so the very bytes are compared, not their meaning.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum, auto

START = "0" * 64  # the hash before the first line
_HASH = ',"hash":"'
END = '"}'  # the end of a line, after its hash


@dataclass(frozen=True, slots=True)
class ChainHead:
    """The end of a log: the number of its last line, and that line's hash."""

    seq: int
    digest: str


NOTHING = ChainHead(0, START)


class FaultKind(StrEnum):
    """The kind of damage to a log."""

    EDITED = auto()
    DELETED = auto()
    REORDERED = auto()
    TRUNCATED = auto()
    REWRITTEN = auto()


@dataclass(frozen=True, slots=True)
class ChainFault:
    """One fault of a log; `line` is its place in the file, from 1, None if it is beyond the end."""

    kind: FaultKind
    line: int | None
    sentence: str


@dataclass(frozen=True, slots=True)
class ChainLink:
    """The parts of a line that tie it to the others."""

    seq: int
    before: str
    digest: str


def line(seq: int, facts: Mapping[str, object], before: str, ts: int) -> tuple[str, str]:
    """Make a line, without its end, and its hash."""
    body = json.dumps({"ts": ts, "seq": seq, **facts, "prev": before}, separators=(",", ":"))
    digest = _digest(before, body)
    return f"{body[:-1]}{_HASH}{digest}{END}", digest


def link(text: str) -> ChainLink | None:
    """Return the link of the line to the others; None if the line is damaged."""
    body, found, digest = text.rpartition(_HASH)
    try:
        facts = json.loads(text)
        seq, before = facts["seq"], facts["prev"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    if not found or not isinstance(seq, int) or not isinstance(before, str):
        return None
    digest = digest.removesuffix(END)
    return ChainLink(seq, before, digest) if digest == _digest(before, body + "}") else None


def faults(lines: Iterable[str], heads: Iterable[tuple[str, ChainHead]]) -> Iterator[ChainFault]:
    """Yield the faults of a log: the first of each kind.

    `heads` are earlier ends of the log, each with words for its holder.
    """
    told: set[FaultKind] = set()
    for fault in _all_faults(list(lines), list(heads)):
        if fault.kind not in told:
            told.add(fault.kind)
            yield fault


def _all_faults(lines: list[str], heads: list[tuple[str, ChainHead]]) -> Iterator[ChainFault]:
    links = [link(each) for each in lines]
    numbers = {each.seq: number for number, each in enumerate(links, 1) if each is not None}
    last, unread = (
        NOTHING,
        0,
    )  # the last readable line, and the number of lines since, which had numbers too
    for number, each in enumerate(links, 1):
        if each is None:
            yield ChainFault(
                FaultKind.EDITED, number, f"line {number} was edited: it is not what its hash was made of"
            )
            last, unread = ChainHead(last.seq, ""), unread + 1
            continue
        if (kind := _break(last, unread, each, numbers, number)) is not None:
            yield ChainFault(kind, number, _SENTENCES[kind].format(line=number, seq=last.seq + 1))
        is_moved = kind is FaultKind.REORDERED  # then the next line is compared by its number alone
        last, unread = (
            ChainHead(max(last.seq, each.seq), "") if is_moved else ChainHead(each.seq, each.digest),
            0,
        )
    digests = {each.seq: each.digest for each in links if each is not None}
    for whose, head in heads:
        if head.seq > last.seq + unread:
            sentence = (
                f"the log was cut short: it ends with number {last.seq}, and {whose} knows number {head.seq}"
            )
            yield ChainFault(FaultKind.TRUNCATED, None, sentence)
        elif head.seq in digests and digests[head.seq] != head.digest:
            at = numbers[head.seq]
            yield ChainFault(
                FaultKind.REWRITTEN, at, f"line {at} was rewritten: {whose} knows another with its number"
            )


_SENTENCES = {
    FaultKind.DELETED: "lines were deleted before line {line}: number {seq} is missing",
    FaultKind.REORDERED: "line {line} is not in its place",
    FaultKind.REWRITTEN: "line {line} does not follow from the one before it, which was rewritten",
}


def _break(
    last: ChainHead, unread: int, found: ChainLink, numbers: Mapping[int, int], number: int
) -> FaultKind | None:
    """Return how a line fails to follow the last one; None if it follows, or unreadable lines between hide it."""
    if last.seq < found.seq <= last.seq + 1 + unread:
        return FaultKind.REWRITTEN if last.digest and found.before != last.digest else None
    if found.seq <= last.seq:
        return FaultKind.REORDERED
    return FaultKind.REORDERED if numbers.get(last.seq + 1, 0) > number else FaultKind.DELETED


def _digest(before: str, body: str) -> str:
    return hashlib.sha256(f"{before}{body}".encode()).hexdigest()
