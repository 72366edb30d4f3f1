"""Removal of secrets from text before it is shown: known ones, and texts that look like one.

A text looks like a secret only if that is certain enough: a token in the form of a well-known service, a private key,
a value assigned to a name such as `password`. Commits, ids and pictures in text stay as they are. The time is linear
in the length of any text: nothing here backtracks.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

REDACTED = "[redacted]"
SHORTEST = 8  # characters of a known secret: a shorter one would match parts of words

# Possessive quantifiers: a match is not given back. A long enough run always matches, so that no
# character is looked at for more than a few of them.
_TOKENS = (
    r"[un]tok_[A-Za-z0-9_-]{16,}+",  # hubbub's own
    r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Z0-9])",
    r"gh[pousr]_[A-Za-z0-9]{30,}+",
    r"github_pat_[A-Za-z0-9_]{30,}+",
    r"glpat-[A-Za-z0-9_-]{20,}+",
    r"xox[abeoprs]-[A-Za-z0-9-]{10,}+",
    r"xapp-[A-Za-z0-9-]{20,}+",
    r"sk-[A-Za-z0-9_-]{20,}+",
    r"[rs]k_(?:live|test)_[A-Za-z0-9]{16,}+",
    r"AIza[A-Za-z0-9_-]{35}",
    r"ya29\.[A-Za-z0-9_-]{20,}+",
    r"npm_[A-Za-z0-9]{36}",
    r"pypi-[A-Za-z0-9_-]{40,}+",
    r"hf_[A-Za-z0-9]{30,}+",
    r"(?<!-)eyJ[A-Za-z0-9_-]{8,}+\.eyJ[A-Za-z0-9_-]{8,}+(?:\.[A-Za-z0-9_-]*+)?",
)
_TOKEN = re.compile(rf"(?<![A-Za-z0-9_])(?:{'|'.join(_TOKENS)})")
_PRIVATE_KEY = re.compile(
    r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z0-9 ]{0,80}-----|\Z)",
    re.DOTALL,
)
_AUTHORISED = re.compile(
    r"(?i)(?<![a-z])(bearer|basic|authorization: token)( {1,4}+)[A-Za-z0-9._~+/-]{16,}+={0,2}"
)
_IN_ADDRESS = re.compile(r"(?<=://)([^\s/:@\"'`<>]{1,256}+:)[^\s/@\"'`<>]{1,256}+(?=@)")
_NAME = (
    r"(?=[AaCcEeMmPpSsTt_])"  # their possible first letters: this makes it twice as fast
    r"(?i:passw(?:or)?d|passphrase|pwd|secret|token|credential"
    r"|(?:api|access|private|secret|signing|encryption|master|auth)[_-]?key|_key)"
)
_ASSIGNED = re.compile(
    rf"({_NAME})(s?(?:[_-][A-Za-z0-9_-]{{0,32}}+)?[\"']?[ \t]{{0,8}}+(?::=|=>|=|:)[ \t]{{0,8}}+)"
    r"(?:\"([^\"\n]{4,512}+)(?=\")|'([^'\n]{4,512}+)(?=')|([^\s\"'`,;&(){}\[\]<>|\\]{4,512}+)(?![\"'`(\[{]))"
)
_PASSWORDS = ("pass", "pwd")
_PLAIN = frozenset(
    {"string", "text", "password", "secret", "none", "null", "true", "false", "undefined", "optional"}
)
_REFERENCE = re.compile(r"[$<%{*]|\.{0,2}/|~/|https?:|[x*.]+\Z|your[_-]", re.IGNORECASE)
_VARIABLE = re.compile(r"token|secret|passw(?:or)?d|passphrase|credential|key", re.IGNORECASE)
_RUN = re.compile(r"[A-Za-z0-9]+")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
LEAST_RUN = 16  # letters and digits in a row, without a word
LEAST_BITS = 3.5  # of information in each character of a random text


def names_secret(variable: str) -> bool:
    """Tell whether the name of a variable is that of a secret."""
    return _VARIABLE.search(variable) is not None


class Redactor:
    """Removes known secrets, and texts that look like one."""

    def __init__(self, known: Iterable[str] = ()) -> None:
        self._known: set[str] = set()
        self._pattern: re.Pattern[str] | None = None
        self.learn(known)

    def learn(self, secrets: Iterable[str]) -> None:
        """Remove these, too, from now on. A secret too short to differ from a word is ignored."""
        self._known.update(each for each in secrets if len(each) >= SHORTEST)
        longest_first = sorted(self._known, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, longest_first))) if longest_first else None

    def text(self, text: str) -> str:
        """Replace each secret in the text by `[redacted]`."""
        if self._pattern is not None:
            text = self._pattern.sub(REDACTED, text)
        text = _PRIVATE_KEY.sub(REDACTED, text)
        text = _AUTHORISED.sub(rf"\1\2{REDACTED}", text)
        text = _IN_ADDRESS.sub(rf"\1{REDACTED}", text)
        text = _TOKEN.sub(REDACTED, text)
        return _ASSIGNED.sub(_without_value, text)

    def value(self, value: Any) -> Any:
        """Redact each text in a JSON value, names of members included."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.text(str(name)): self.value(each) for name, each in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(each) for each in value]
        return value


def _without_value(found: re.Match[str]) -> str:
    group = next(group for group in (3, 4, 5) if found[group])
    value, name, is_quoted = found[group], found[1].lower(), group != 5
    is_secret = _is_password(value, is_quoted=is_quoted) if name.startswith(_PASSWORDS) else _is_random(value)
    if not is_secret or _is_reference(value):
        return found[0]
    begin = found.start(group) - found.start()
    return found[0][:begin] + REDACTED + found[0][begin + len(value) :]


def _is_reference(value: str) -> bool:
    """Tell whether it refers to a secret elsewhere: a variable, a place in a template, a file, an address."""
    return value.startswith(REDACTED) or value.casefold() in _PLAIN or _REFERENCE.match(value) is not None


def _is_password(value: str, *, is_quoted: bool) -> bool:
    """Tell whether it may be a chosen password: any quoted word, or one that no program has as a name."""
    if is_quoted:
        return " " not in value
    return any(not each.isalpha() and each not in "_.:-" for each in value) and not value.isdigit()


def _is_random(value: str) -> bool:
    """Tell whether it looks random: no word, no name, no number."""
    if _UUID.fullmatch(value):
        return True
    kinds = [str.isupper, str.islower, str.isdigit]
    if (
        len(value) >= LEAST_RUN
        and all(any(map(kind, value)) for kind in kinds)
        and _bits(value) >= LEAST_BITS
    ):
        return True
    runs = (run for run in _RUN.findall(value) if len(run) >= LEAST_RUN)
    return any(any(map(str.isdigit, run)) and any(map(str.isalpha, run)) for run in runs)


def _bits(value: str) -> float:
    """Return the information in one of its characters."""
    shares = (count / len(value) for count in Counter(value).values())
    return -sum(share * math.log2(share) for share in shares)
