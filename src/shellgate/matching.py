"""Matching of rules: in their narrowest sense where they allow, in their widest where they forbid or ask.

An allow rule *covers* a part of a call if it surely names it. A deny rule or an ask rule *touches* a part if it
names it, and may touch it if that is known only when it runs: then a person is asked, whatever the rule's effect.
"""

import re
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache

from shellgate.analysis import CallPart
from shellgate.rules import DOMAIN, PatternKind, Rule
from shellgate.star_patterns import ANY, fits_all, fits_path, fits_text

PREFIX = ":*"  # Claude Code's suffix of a pattern that any words may follow
_WILD = re.compile(
    r"[*?\[]"
)  # what may make a word a pattern, which stands for names that are found when it runs
CLUSTER = 2  # characters of the shortest short option


class Match(IntEnum):
    """The match of a rule with a part of a call."""

    NO = 0
    PERHAPS = 1  # a word of it is known only when it runs
    YES = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """The base of patterns of paths."""

    home: str
    roots: tuple[str, ...]


def covers(rule: Rule, part: CallPart, base: Base) -> bool:
    """Tell whether an allow rule is surely about the part."""
    if part.tool not in rule.tools or not part.may_be_allowed:
        return False
    if rule.pattern is None:
        return True
    match rule.kind:
        case PatternKind.WORDS:
            return _covers_words(rule.pattern, part.words)
        case PatternKind.PATH:
            return bool(part.paths) and _covers_path(rule, part.paths[-1], base)  # where its links lead
        case PatternKind.HOST:
            return _is_within(part.paths[-1:], base) and fits_text(_host(rule), _plain_host(part))
        case PatternKind.TEXT:
            return fits_text(rule.pattern, part.target) or fits_text(rule.pattern, _object(part.target))


def touches(rule: Rule, part: CallPart, base: Base) -> Match:
    """Tell whether a deny rule, or an ask rule, is about the part."""
    if part.tool not in rule.tools | rule.akin:
        return Match.NO
    if rule.pattern is None:
        return Match.YES
    match rule.kind:
        case PatternKind.WORDS:
            return _touches_words(rule.pattern, part.words)
        case PatternKind.PATH:
            touched = any(_touches_path(rule.pattern, path, base) for path in part.paths)
        case PatternKind.HOST:
            host, domain = _plain_host(part), _host(rule)
            touched = fits_text(domain, host) or host.endswith(f".{domain}")
        case PatternKind.TEXT:
            pattern = rule.pattern.casefold()
            named = [each.casefold() for each in (part.target, part.alias) if each is not None]
            touched = any(fits_text(pattern, each) or fits_text(pattern, _object(each)) for each in named)
    return Match.YES if touched else Match.NO


@lru_cache(4096)
def _tokens(pattern: str) -> tuple[str, ...]:
    """Return the words of a pattern; `git push:*` is `git push *`, and `npm run test*` includes the next words."""
    if pattern.endswith(PREFIX):
        pattern = f"{pattern.removesuffix(PREFIX)} {ANY}"
    tokens = tuple(pattern.split())
    return (*tokens, ANY) if tokens[-1] != ANY and tokens[-1].endswith("*") else tokens


def _covers_words(pattern: str, words: tuple[str | None, ...]) -> bool:
    tokens = _tokens(pattern)
    if not words or (tokens[0] != ANY and not _fits_known(tokens[0], words[0])):
        return False
    return fits_all(tokens, words, _fits_known, wild=ANY)


def _fits_known(token: str, word: str | None) -> bool:
    return word is not None and fits_text(token, word)


def _touches_words(pattern: str, words: tuple[str | None, ...]) -> Match:
    if _may_touch(pattern, words, unknown_fits=False):
        return Match.YES
    unknown = _unknown(words)
    if None in unknown and _may_touch(pattern, unknown, unknown_fits=True):
        return Match.PERHAPS
    return Match.NO


@lru_cache(256)
def _unknown(words: tuple[str | None, ...]) -> tuple[str | None, ...]:
    """Return the words, None for patterns, whose matches are found when it runs."""
    return tuple(None if word is None or _WILD.search(word) else word for word in words)


def _may_touch(pattern: str, words: tuple[str | None, ...], *, unknown_fits: bool) -> bool:
    """Tell whether the rule may name these words: the program at any path, its options in any order, among others."""
    name, *tokens = _tokens(pattern)
    if name == ANY:
        tokens, rest = [ANY, *tokens], words
    elif words and _fits_program(name, words[0], unknown_fits=unknown_fits):
        rest = words[1:]
    else:
        return False
    options = [each for each in tokens if each.startswith("-")]
    operands = [each for each in tokens if not each.startswith("-")]

    def fits(token: str, word: str | None) -> bool:
        return unknown_fits if word is None else fits_text(token, word)

    def may_skip(index: int) -> bool:
        """An option, the value of one, or what may be several words or none."""
        return rest[index] is None or _is_option(rest[index]) or (index > 0 and _is_option(rest[index - 1]))

    has_options = all(_has_option(each, rest, unknown_fits=unknown_fits) for each in options)
    return has_options and fits_all(operands, rest, fits, wild=ANY, may_skip=may_skip)


@lru_cache(4096)
def _fits_program(token: str, word: str | None, *, unknown_fits: bool) -> bool:
    if word is None:
        return unknown_fits
    token, word = token.casefold(), word.casefold()
    return fits_text(token, word) or ("/" in word and fits_text(token, word.rpartition("/")[2]))


def _is_option(word: str | None) -> bool:
    return word is not None and word.startswith("-")


def _has_option(token: str, words: tuple[str | None, ...], *, unknown_fits: bool) -> bool:
    """Tell whether an option is among the words: whole, with a value, abbreviated, or in a cluster."""
    if unknown_fits and None in words:
        return True
    known = [each for each in words if each is not None and each.startswith("-")]
    if any(fits_text(token, each) for each in known):
        return True
    if token.startswith("--"):
        return any(len(each) > CLUSTER and token.startswith(each.partition("=")[0]) for each in known) or any(
            each.startswith(f"{token}=") for each in known
        )
    letters = "".join(each[1:] for each in known if not each.startswith("--"))
    return "*" not in token and len(token) >= CLUSTER and set(token[1:]) <= set(letters)


def _covers_path(rule: Rule, path: str, base: Base) -> bool:
    pattern = rule.pattern or ""
    if pattern.startswith("//"):
        return fits_path(pattern[1:], path, is_wide=False)
    if pattern.startswith("~/"):
        return _fits_below(base.home, f"/{pattern[2:]}", path, is_wide=False)
    if pattern.startswith("/") and not rule.is_foreign:
        return fits_path(pattern, path, is_wide=False)
    return any(_fits_below(root, _anchored(pattern), path, is_wide=False) for root in base.roots)


def _touches_path(pattern: str, path: str, base: Base) -> bool:
    """Tell whether the pattern, in any of its senses, fits the path."""
    if pattern.startswith("~/"):
        return _fits_below(base.home, f"/{pattern[2:]}", path, is_wide=True)
    if pattern.startswith("/") and fits_path(pattern.replace("//", "/"), path, is_wide=True):
        return True
    if "/" not in pattern and fits_path(pattern, path, is_wide=True):
        return True
    return any(_fits_below(root, _anchored(pattern), path, is_wide=True) for root in base.roots)


def _anchored(pattern: str) -> str:
    """Return a pattern relative to a folder, with a leading slash if it means the folder itself."""
    return f"/{pattern[2:]}" if pattern.startswith("./") else pattern


def _fits_below(folder: str, pattern: str, path: str, *, is_wide: bool) -> bool:
    below = _below(folder, path)
    return below is not None and fits_path(pattern, below, is_wide=is_wide)


def _below(folder: str, path: str) -> str | None:
    """Return the path relative to the folder; None if it does not lead there, or climbs."""
    if path == folder:
        return ""
    prefix = folder.rstrip("/") + "/"
    return path[len(prefix) :] if path.startswith(prefix) else None


def _is_within(paths: tuple[str, ...], base: Base) -> bool:
    return all(any(_below(root, path) is not None for root in base.roots) for path in paths)


def _host(rule: Rule) -> str:
    return (rule.pattern or "").removeprefix(DOMAIN).strip().casefold().rstrip(".")


def _plain_host(part: CallPart) -> str:
    return (part.host or "").casefold().rstrip(".")


def _object(target: str) -> str:
    """Return the target without its operation: `prod-1` of `exec:prod-1`."""
    return target.partition(":")[2] or target
