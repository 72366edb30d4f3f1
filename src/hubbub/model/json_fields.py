"""Reading of JSON objects from others: each value by its name, with its required type."""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from enum import StrEnum
from typing import Any, TypeVar, cast
from uuid import UUID

from hubbub.model import argument_names
from hubbub.model.errors import Invalid
from hubbub.model.ids import parse_id
from hubbub.model.timestamps import milliseconds

JsonObject = Mapping[str, object]
Word = TypeVar("Word", bound=StrEnum)

_PLAIN = {  # a validation's words, and ours, which are JSON's
    "dictionary": "object",
    "multiple of 1": "whole number",
    "input should be": "must be",
    "must be greater than or equal to": "must be at least",
    "must be less than or equal to": "must be at most",
    "string should have at least 1 character": "must not be empty",
    "must be a valid list": "must be a list",
    "must be a valid boolean, unable to interpret input": "must be true or false",
    "must be a valid boolean": "must be true or false",
}
_WORDS = ("literal_error", "enum")  # kinds of problems with one of several words
_ALLOWED = re.compile(r"'([^']*)'")  # one of the words that a problem expects
_CLASS = re.compile(r"a valid object or instance of \w+")
_COUNTED = re.compile(r" after validation, not \w+$")  # of a list: an internal detail of the check


def storable(text: str) -> str:
    """Return `text`; raise a `ValueError` that names the first character that no store can keep."""
    if "\0" in text:
        raise ValueError("must not contain NUL characters")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("must not contain halves of surrogate pairs") from None
    return text


def validation_message(problems: Iterable[Mapping[str, Any]], whole: str = "") -> str:
    """Describe a validation's problems in one sentence, without quoting values; `whole` names the value itself."""
    return "; ".join(_problem(each, ".".join(map(str, each["loc"])) or whole) for each in problems)


def _problem(found: Mapping[str, Any], path: str) -> str:
    if found["type"] == "missing":
        return f"{path} is missing"
    message = _COUNTED.sub("", str(found["msg"]).removeprefix("Value error, "))
    sentence = f"{message[:1].lower()}{message[1:]}"
    for theirs, ours in _PLAIN.items():
        sentence = sentence.replace(theirs, ours)
    sentence = _CLASS.sub("an object", sentence)
    return f"{path}: {sentence}{_meant(found)}"


def _meant(found: Mapping[str, Any]) -> str:
    """Return a question with the allowed word that was probably meant; empty if none is similar."""
    given = found.get("input")
    if found["type"] not in _WORDS or not isinstance(given, str):
        return ""
    likely = argument_names.meant(given, _ALLOWED.findall(found["ctx"]["expected"]))
    return f"; did you mean {likely}?" if likely is not None else ""


def text_of(given: JsonObject, name: str) -> str:
    """Return a text. Raises `Invalid`."""
    found = given.get(name)
    if not isinstance(found, str):
        raise Invalid(f"{name}: must be a text")
    return found


def text_or_none(given: JsonObject, name: str) -> str | None:
    """Return a text, or None. Raises `Invalid`."""
    return None if given.get(name) is None else text_of(given, name)


def word_of(given: JsonObject, name: str, words: type[Word]) -> Word:
    """Return one of certain words. Raises `Invalid`, which names them."""
    found = text_of(given, name)
    if found not in set(words):
        raise Invalid(f"{name}: must be one of {', '.join(words)}")
    return words(found)


def texts_of(given: JsonObject, name: str) -> tuple[str, ...]:
    """Return a list of texts. Raises `Invalid`."""
    found = given.get(name, [])
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        raise Invalid(f"{name}: must be a list of texts")
    return tuple(cast(Sequence[str], found))


def ids_of(given: JsonObject, name: str) -> tuple[UUID, ...]:
    """Return a list of ids. Raises `Invalid`."""
    found = tuple(map(parse_id, texts_of(given, name)))
    if None in found:
        raise Invalid(f"{name}: must be a list of ids")
    return cast(tuple[UUID, ...], found)


def object_of(given: JsonObject, name: str) -> JsonObject:
    """Return an object. Raises `Invalid`."""
    found = given.get(name)
    if not isinstance(found, dict):
        raise Invalid(f"{name}: must be an object")
    return found


def flag_of(given: JsonObject, name: str) -> bool:
    """Return a flag; false if it is missing. Raises `Invalid`."""
    found = given.get(name)
    if not isinstance(found, bool | None):
        raise Invalid(f"{name}: must be true or false")
    return found is True


def prose_of(given: JsonObject, name: str, most: int) -> str:
    """Return a text of at most `most` characters that can be kept. Raises `Invalid`."""
    found = text_of(given, name)
    if len(found) > most:
        raise Invalid(f"{name}: must have at most {most:,} characters")
    try:
        return storable(found)
    except ValueError as error:
        raise Invalid(f"{name}: {error}") from None


def seconds_of(given: JsonObject, name: str, most: timedelta) -> timedelta:
    """Return a duration of at most `most`, given in seconds. Raises `Invalid`."""
    found = given.get(name)
    if isinstance(found, bool) or not isinstance(found, int | float) or not 0 < found <= most.total_seconds():
        raise Invalid(
            f"{name}: must be a number of seconds, more than none and {most.total_seconds():,.0f} at most"
        )
    return timedelta(seconds=found)


def number_of(given: JsonObject, name: str) -> int:
    """Return a whole number. Raises `Invalid`."""
    found = given.get(name)
    if not isinstance(found, int) or isinstance(found, bool):
        raise Invalid(f"{name}: must be a whole number")
    return found


def number_or_none(given: JsonObject, name: str) -> int | None:
    """Return a whole number, or None. Raises `Invalid`."""
    return None if given.get(name) is None else number_of(given, name)


def span_or_none(given: JsonObject, name: str, most: timedelta) -> timedelta | None:
    """Return a duration of at most `most`, given in whole milliseconds, or None. Raises `Invalid`."""
    found, limit = number_or_none(given, name), milliseconds(most)
    if found is not None and not 0 < found <= limit:
        raise Invalid(f"{name}: must be a number of milliseconds, {limit} at most")
    return timedelta(milliseconds=found) if found is not None else None
