"""Whether two tasks are the same job, by what their words say: a plain measure, the same on every machine.

Two are one job if both are about the same issue, pull request or branch, or if their titles have nearly the same words.
Numbers and names in code have to agree: `Translate chapter 3` and `Translate chapter 4` are two jobs. So are two titles
that are one sentence with another word at one place.

A hub cannot compare each with each. So a task has *marks*, a few numbers made from its words; two tasks whose titles
differ by one word on each side have a mark in common. What a task says is kept beside them, so none is read twice.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum, auto
from functools import lru_cache, reduce
from hashlib import blake2b
from itertools import chain, pairwise
from operator import xor

from hubbub.model.work import job_names
from hubbub.model.work.job_words import (
    DEEDS,
    ENDINGS,
    HALVES,
    MADE,
    NUMBERS,
    OPPOSED,
    STOP_WORDS,
    TELLING,
    TWO_WORDS,
)

LONGEST = 200  # characters of a task that are read
FEWEST = 3  # words that say enough to be compared
MARKED = 4  # words of which each three make a mark
MOST_NAMES = 8
NEAR = 0.74  # of the words of both, so many in common
NEAR_BOTH = 0.78  # where either has words that the other has not

NUMBER, IN_CODE = "\1", "\2"  # the signs of a number, and of a name in code

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
_ASCII_TOKEN = re.compile(r"\w[\w.+/-]*", re.ASCII)  # the same in a third of the time
_TOKEN = re.compile(rf"[{_CJK}]+|(?:(?![{_CJK}])\w)(?:(?![{_CJK}])[\w.+/-])*")
_IS_CJK = re.compile(f"[{_CJK}]")
_NUMBER = re.compile(r"v?[0-9]+(?:\.[0-9]+)*")
_LETTER = re.compile("[B-HJ-Z]")  # such as in hall B
_ORDINAL = re.compile(
    "第?[0-9一二三四五六七八九十百零两]+(?=[章节步页期批个条号部篇轮版阶次])|第[一二三四五六七八九十百零]+"
)
_LOWER = re.compile("[a-z]+")
# A number, or what makes a word a name in code; that it begins with a set makes it quick.
_SIGN = re.compile(
    rf"[0-9_./A-Z{_CJK}](?:(?<=[0-9_{_CJK}])|(?<=\w[./])(?=\w)|(?<=[a-z][A-Z])|(?<=\b[B-HJ-Z])\b)"
)
_FIRST_OF_TWO = frozenset(each.split()[0] for each in TWO_WORDS)
_VOWELS = frozenset("aeiouy")
_IN_CODE = re.compile(r"[a-z][A-Z]|[A-Za-z][0-9]|[0-9][A-Za-z]|_|\w[./]\w")


class OnDuplicate(StrEnum):
    """The ways to treat a new task that is the same job as another: refuse it, make it and tell, just make it."""

    REFUSE = auto()
    TELL = auto()
    IGNORE = auto()


class SameBy(StrEnum):
    """The things by which two tasks are one job."""

    NAME = auto()
    WORDS = auto()


@dataclass(frozen=True, slots=True)
class Job:
    """The contents of a task, as far as they tell which job it is; `order` has the words of its title in order."""

    names: frozenset[str]
    deed: str | None
    words: frozenset[str]
    order: tuple[str, ...]
    in_code: frozenset[str]
    numbers: frozenset[str]

    def packed(self) -> str:
        """Write it as one text, to be stored."""
        parts = (sorted(self.names), [self.deed or ""], sorted(self.words), self.order, sorted(self.in_code))
        return "\n".join(map("\t".join, (*parts, sorted(self.numbers))))

    @classmethod
    @lru_cache(maxsize=2_048)
    def unpacked(cls, text: str) -> "Job":
        """Read what `packed` wrote."""
        names, deed, words, order, in_code, numbers = (
            part.split("\t") if part else () for part in text.split("\n")
        )
        return cls(
            names=frozenset(names),
            deed=deed[0] if deed else None,
            words=frozenset(words),
            order=tuple(order),
            in_code=frozenset(in_code),
            numbers=frozenset(numbers),
        )


@dataclass(frozen=True, slots=True)
class Likeness:
    """The reason why two tasks are one job; `name` is the issue, pull request or branch that both are about."""

    by: SameBy
    name: str | None = None


def job(title: str, text: str, issue: str | None = None) -> Job:
    """Read a task: its title, the beginning of its text, and the issue that its sender named beside."""
    head, body = title[:LONGEST], text[:LONGEST]
    whole = body if body.startswith(head.removesuffix("…").rstrip()) else f"{head}\n{body}"
    named = dict(job_names.names(whole))
    plain = _without(whole, named.values()) if named else whole
    top = plain.split("\n", 1)[0]
    tokens = _tokens(top)
    rest = plain[len(top) :]
    order = _whole_words(tokens)
    deed, words = _said(order)
    if len(words) + (deed is not None) < FEWEST:
        order = _whole_words([*tokens, *_tokens(rest)])
        deed, words = _said(order)
    everything = [*tokens, *_tokens(rest)] if _has_signs(rest) else tokens
    numbers = frozenset([each for each in everything if each.startswith(NUMBER)])
    return Job(
        names=frozenset([*named, *([issue.lower()] if issue else [])][:MOST_NAMES]),
        deed=deed,
        words=words | numbers,
        order=tuple([DEEDS.get(each, each) for each in order]),
        in_code=frozenset([each for each in everything if each.endswith(IN_CODE)]),
        numbers=numbers,
    )


def _has_signs(text: str) -> bool:
    """Whether there are numbers or names in code, which takes a third of the time of finding them."""
    return _SIGN.search(text) is not None or not NUMBERS.isdisjoint(_LOWER.findall(text.lower()))


def alike(one: Job, other: Job) -> Likeness | None:
    """Say why the two are one job; None where they are not, as far as their words tell."""
    if one.numbers != other.numbers and one.numbers and other.numbers:
        return None
    if (name := _shared_name(one, other)) is not None and _side(one.deed) == _side(other.deed):
        return Likeness(SameBy.NAME, name)
    if one.names and other.names:
        return None  # each is about something of its own, or other work on the same
    return Likeness(SameBy.WORDS) if _say_the_same(one, other) else None


def marks(each: Job) -> list[int]:
    """Return the numbers by which a task is found for another that is the same job.

    Numbers in a text have to agree, so they are a part of each mark that is made of words.
    """
    named = [_digest(f"name {_bare(name)}") for name in each.names]
    return [*dict.fromkeys([*named, *(_word_marks(each) if _is_told(each) else ())])]


def _word_marks(each: Job) -> list[int]:
    """Make a mark of all but one of the four words that come first by their hashes.

    Of three words those are made also that one with a word more, and one with a word less, has.
    """
    first = sorted(map(_hash, each.words - each.numbers))[:MARKED]
    whole = reduce(xor, first, _digest("\n".join(sorted(each.numbers))) if each.numbers else 0)
    less_one = [whole ^ word for word in first] if len(first) > 2 else []
    return less_one if len(first) == MARKED else [whole, *less_one]


def _is_told(each: Job) -> bool:
    """Whether there are words enough to be compared."""
    return len(each.words) + (each.deed is not None) >= FEWEST


def _say_the_same(one: Job, other: Job) -> bool:
    if one.numbers != other.numbers or not (_is_told(one) and _is_told(other)):
        return False
    if min(len(one.words), len(other.words)) < FEWEST and one.words != other.words:
        return False
    if one.in_code - other.in_code and other.in_code - one.in_code:
        return False
    if one.deed is not None and other.deed is not None and one.deed != other.deed:
        return False
    mine, theirs = _unmatched(one.words, other.words)
    common = (len(one.words) - len(mine) + len(other.words) - len(theirs)) / 2
    share = 2 * common / (len(one.words) + len(other.words))
    is_near = share >= NEAR_BOTH if mine and theirs else share >= NEAR and not OPPOSED & (mine | theirs)
    return is_near and not _is_one_sentence(one.order, other.order)


def _unmatched(one: frozenset[str], other: frozenset[str]) -> tuple[set[str], set[str]]:
    """Return the words of each for which the other has none that is the same or nearly so."""
    mine, theirs = set(one - other), set(other - one)
    for word in sorted(mine):
        if (twin := next((each for each in sorted(theirs) if _is_nearly(word, each)), None)) is not None:
            mine.discard(word)
            theirs.discard(twin)
    return mine, theirs


def _is_nearly(word: str, other: str) -> bool:
    """Whether one is the other's beginning, such as auth and authentication, or the other with a slip in it."""
    short, long = sorted((word, other), key=len)
    if len(short) < 4 or IN_CODE in word + other or _IS_CJK.match(short):
        return False
    if long.startswith(short):
        return len(long) - len(short) <= 10
    return len(short) >= 6 and short[0] == long[0] and SequenceMatcher(None, short, long).ratio() > 0.85


def _is_one_sentence(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether the two are one sentence with other words at one place."""
    if one == other:
        return False
    edits = [
        each for each in SequenceMatcher(None, one, other, autojunk=False).get_opcodes() if each[0] != "equal"
    ]
    if len(edits) != 1 or edits[0][0] != "replace":
        return False
    _, begin, end, others_begin, others_end = edits[0]
    mine, theirs = (
        frozenset(one[begin:end]) - STOP_WORDS,
        frozenset(other[others_begin:others_end]) - STOP_WORDS,
    )
    return all(_unmatched(mine, theirs))


def _side(deed: str | None) -> str | None:
    """Return the kind of work on a name: to review, to test and to undo it are others than to make it."""
    return deed if deed in OPPOSED else None


def _shared_name(one: Job, other: Job) -> str | None:
    for name in sorted(one.names):
        for each in other.names:
            bare = "#" in name and "#" in each and "" in (name.partition("#")[0], each.partition("#")[0])
            if name == each or (bare and _bare(name) == _bare(each)):
                return max(name, each, key=len).removeprefix("branch ")
    return None


def _bare(name: str) -> str:
    """A name without its repository, which not everybody writes."""
    return f"#{name.rpartition('#')[2]}" if "#" in name and not name.startswith("branch ") else name


def _without(text: str, parts: Iterable[str]) -> str:
    for each in sorted(parts, key=len, reverse=True):
        text = text.replace(each, " ")
    return text


def _tokens(text: str) -> list[str]:
    """Return the words of a text in plain forms: numbers begin with a sign of their own, names in code end with one."""
    found = (_ASCII_TOKEN if text.isascii() else _TOKEN).findall(text)
    return [*chain.from_iterable(map(_plain, found))]


@lru_cache(maxsize=16_384)
def _plain(token: str) -> tuple[str, ...]:
    if _IS_CJK.match(token):
        return tuple(_chinese(token))
    token = token.rstrip("./+-")
    lower = token.lower()
    if lower in NUMBERS or _NUMBER.fullmatch(lower) or _LETTER.fullmatch(token):
        return (f"{NUMBER}{lower.removeprefix('v')}",)
    if _IN_CODE.search(token):
        return (f"{lower}{IN_CODE}",)
    return tuple(_stem(each) for each in re.split("[/+-]", lower) if each)


def _chinese(run: str) -> Iterator[str]:
    """Yield the words of a text without spaces: known verbs, and of all else each two signs."""
    for number in _ORDINAL.findall(run):
        yield f"{NUMBER}{number}"
    for part in HALVES.split(_ORDINAL.sub(" ", run)):
        if part in DEEDS:
            yield part
        elif part:
            for piece in part.split():
                yield from (piece[at : at + 2] for at in range(max(1, len(piece) - 1)))


def _said(whole: Sequence[str]) -> tuple[str | None, frozenset[str]]:
    """Split a task into its verb, if it begins with one, and the words that say with what."""
    words = [each for each in whole if each not in STOP_WORDS and not each.startswith(NUMBER)]
    first = _first_deed(whole)
    if first is None:
        return None, frozenset(DEEDS.get(each, each) for each in words)
    words.remove(first)
    made = next((each for each in words if DEEDS.get(each) in MADE), None) if DEEDS[first] == "add" else None
    if made is not None:
        first = made
        words.remove(made)
    return DEEDS[first], frozenset(DEEDS.get(each, each) for each in words)


def _first_deed(words: Sequence[str]) -> str | None:
    """Find the verb: at the beginning of an English sentence, anywhere in a Chinese one."""
    for each in words:
        if each in DEEDS:
            return each
        if each in TELLING or (each.isascii() and each not in STOP_WORDS):
            return None
    return None


def _whole_words(tokens: Sequence[str]) -> Sequence[str]:
    """Return the words, two that others write as one joined."""
    return tokens if _FIRST_OF_TWO.isdisjoint(tokens) else [*_joined(tokens)]


def _joined(tokens: Sequence[str]) -> Iterator[str]:
    is_taken = False
    for one, following in pairwise([*tokens, ""]):
        if is_taken:
            is_taken = False
            continue
        both = TWO_WORDS.get(f"{one} {following}")
        is_taken = both is not None
        yield both or one


@lru_cache(maxsize=8_192)
def _stem(word: str) -> str:
    """Cut the ending of a word, roughly: two forms of a word are the same after it."""
    if word in DEEDS or word in OPPOSED or word in STOP_WORDS or not word.isascii():
        return word
    for ending, instead, length in ENDINGS:
        rest = word.removesuffix(ending)
        if len(rest) < len(word) and len(rest) >= length and not _VOWELS.isdisjoint(rest):
            word = rest + instead
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "ls":
        word = word[:-1]
    if word.endswith("i"):
        return f"{word[:-1]}y"
    return word[:-1] if len(word) > 4 and word[-1] == "e" else word


@lru_cache(maxsize=16_384)
def _hash(word: str) -> int:
    return _digest(word)


def _digest(text: str) -> int:
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), signed=True)
