"""Likeness of tasks: whether two are the same job, by their words alone, and alike on every machine.

Two are one job if both are about the same issue, pull request or branch, or if their titles have nearly the same words.
Numbers and names in code have to agree: `Translate chapter 3` and `Translate chapter 4` are two jobs. So are two titles
that are the same sentence except for one word.

A hub cannot compare every pair. So a task has *marks*, a few numbers made from its words; two tasks whose titles
differ by one word on each side share a mark. The words of a task are stored beside them, so none is read twice.
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
FEWEST = 3  # words needed for a comparison
MARKED = 4  # words; each three of them make a mark
_LED = -1 << 40  # the bits of a mark that are those of its first word
MOST_NAMES = 8
NEAR = 0.74  # share of the words of both that are common
NEAR_BOTH = 0.78  # if both have words that the other lacks

NUMBER, IN_CODE = "\1", "\2"  # the signs of a number, and of a name in code

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
_ASCII_TOKEN = re.compile(r"\w[\w.+/-]*", re.ASCII)  # the same for ASCII, in a third of the time
_TOKEN = re.compile(rf"[{_CJK}]+|(?:(?![{_CJK}])\w)(?:(?![{_CJK}])[\w.+/-])*")
_IS_CJK = re.compile(f"[{_CJK}]")
_NUMBER = re.compile(r"v?[0-9]+(?:\.[0-9]+)*")
_LETTER = re.compile("[B-HJ-Z]")  # such as in hall B
_ORDINAL = re.compile(
    "第?[0-9一二三四五六七八九十百零两]+(?=[章节步页期批个条号部篇轮版阶次])|第[一二三四五六七八九十百零]+"
)
_LOWER = re.compile("[a-z]+")
# A number, or the sign of a name in code; the set at its beginning makes it fast.
_SIGN = re.compile(
    rf"[0-9_./A-Z{_CJK}](?:(?<=[0-9_{_CJK}])|(?<=\w[./])(?=\w)|(?<=[a-z][A-Z])|(?<=\b[B-HJ-Z])\b)"
)
_FIRST_OF_TWO = frozenset(each.split()[0] for each in TWO_WORDS)
_VOWELS = frozenset("aeiouy")
_IN_CODE = re.compile(r"[a-z][A-Z]|[A-Za-z][0-9]|[0-9][A-Za-z]|_|\w[./]\w")


class OnDuplicate(StrEnum):
    """The ways to treat a new task that is the same job as another: refuse it, create and report it, just create it."""

    REFUSE = auto()
    TELL = auto()
    IGNORE = auto()


class SameBy(StrEnum):
    """The things by which two tasks are one job."""

    NAME = auto()
    WORDS = auto()


@dataclass(frozen=True, slots=True)
class Job:
    """The words of a task, as far as they identify its job; `order` has the words of its title in order."""

    names: frozenset[str]
    deed: str | None
    words: frozenset[str]
    order: tuple[str, ...]
    in_code: frozenset[str]
    numbers: frozenset[str]

    def packed(self) -> str:
        """Pack it as one text, to be stored."""
        parts = (sorted(self.names), [self.deed or ""], sorted(self.words), self.order, sorted(self.in_code))
        return "\n".join(map("\t".join, (*parts, sorted(self.numbers))))

    @classmethod
    @lru_cache(maxsize=2_048)
    def unpacked(cls, text: str) -> "Job":
        """Unpack the text that `packed` returned."""
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
    """Extract the job of a task from its title, the beginning of its text, and the issue that its sender named."""
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
    """Tell whether the text has numbers or names in code; that takes a third of the time of finding them."""
    return _SIGN.search(text) is not None or not NUMBERS.isdisjoint(_LOWER.findall(text.lower()))


def alike(one: Job, other: Job) -> Likeness | None:
    """Return why the two are one job; None if they are not, as far as their words tell."""
    if one.numbers != other.numbers and one.numbers and other.numbers:
        return None
    if (name := _shared_name(one, other)) is not None and _side(one.deed) == _side(other.deed):
        return Likeness(SameBy.NAME, name)
    if one.names and other.names:
        return None  # different subjects, or different work on the same one
    return Likeness(SameBy.WORDS) if _say_the_same(one, other) else None


def marks(each: Job) -> list[int]:
    """Return the numbers by which a task is found for another that is the same job.

    Numbers in a text have to agree, so they are a part of each mark made of words.
    """
    named = [_digest(f"name {_bare(name)}") for name in each.names]
    return [*dict.fromkeys([*named, *(_word_marks(each) if _is_told(each) else ())])]


def _word_marks(each: Job) -> list[int]:
    """Make a mark of each three of the four words that come first by their hashes.

    Titles with three words also get those that a title with one word more, or one less, would have. A mark begins like
    its first word, so all but one of a task lie side by side in the store, which writes whole pages.
    """
    first = sorted(map(_hash, each.words - each.numbers))[:MARKED]
    whole = reduce(xor, first, _digest("\n".join(sorted(each.numbers))) if each.numbers else 0)
    if len(first) < 3:
        return [_led(first[0], whole) if first else whole]
    less_one = [_led(first[word == first[0]], whole ^ word) for word in first]
    return less_one if len(first) == MARKED else [_led(first[0], whole), *less_one]


def _led(word: int, mark: int) -> int:
    return word & _LED | mark & ~_LED


def _is_told(each: Job) -> bool:
    """Tell whether there are enough words to be compared."""
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
    """Return the words of each that have no equal, or nearly equal, word in the other."""
    mine, theirs = set(one - other), set(other - one)
    for word in sorted(mine):
        if (twin := next((each for each in sorted(theirs) if _is_nearly(word, each)), None)) is not None:
            mine.discard(word)
            theirs.discard(twin)
    return mine, theirs


def _is_nearly(word: str, other: str) -> bool:
    """Tell whether one begins with the other, such as auth and authentication, or differs by one typing error."""
    short, long = sorted((word, other), key=len)
    if len(short) < 4 or IN_CODE in word + other or _IS_CJK.match(short):
        return False
    if long.startswith(short):
        return len(long) - len(short) <= 10
    return len(short) >= 6 and short[0] == long[0] and SequenceMatcher(None, short, long).ratio() > 0.85


def _is_one_sentence(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Tell whether the two are the same sentence except for the words at one place."""
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
    """Return the kind of work on a subject: reviewing, testing and undoing it differ from making it."""
    return deed if deed in OPPOSED else None


def _shared_name(one: Job, other: Job) -> str | None:
    for name in sorted(one.names):
        for each in other.names:
            bare = "#" in name and "#" in each and "" in (name.partition("#")[0], each.partition("#")[0])
            if name == each or (bare and _bare(name) == _bare(each)):
                return max(name, each, key=len).removeprefix("branch ")
    return None


def _bare(name: str) -> str:
    """Return a name without its repository, which not everybody writes."""
    return f"#{name.rpartition('#')[2]}" if "#" in name and not name.startswith("branch ") else name


def _without(text: str, parts: Iterable[str]) -> str:
    for each in sorted(parts, key=len, reverse=True):
        text = text.replace(each, " ")
    return text


def _tokens(text: str) -> list[str]:
    """Return the words of a text in normal form: numbers begin with a sign of their own, names in code end with one."""
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
    """Yield the words of a text without spaces: known verbs, and each two characters of the rest."""
    for number in _ORDINAL.findall(run):
        yield f"{NUMBER}{number}"
    for part in HALVES.split(_ORDINAL.sub(" ", run)):
        if part in DEEDS:
            yield part
        elif part:
            for piece in part.split():
                yield from (piece[at : at + 2] for at in range(max(1, len(piece) - 1)))


def _said(whole: Sequence[str]) -> tuple[str | None, frozenset[str]]:
    """Split a task into its verb, if it begins with one, and the other words."""
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
    """Return the words; two that others join are joined."""
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
    """Strip the ending of a word, roughly, so that two forms of a word become the same."""
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
