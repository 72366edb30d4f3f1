"""The words of the hub's own pages, from the same files that browsers read."""

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent / "static" / "words"
LANGUAGES = ("en", "zh-CN")
FIRST = "en"
COOKIE = "hubbub_language"
_CHOICE = re.compile(r"\s*([A-Za-z-]+|\*)\s*(?:;\s*q\s*=\s*([01](?:\.\d{0,3})?)\s*)?")


class Translations:
    """The words in one language."""

    def __init__(self, language: str) -> None:
        self.language = language

    def __call__(self, key: str, **values: object) -> str:
        """Return the words for `section.name`, with `{value}` filled in; in English if the language lacks them."""
        section, _, name = key.partition(".")
        text = _read(self.language).get(section, {}).get(name) or _read(FIRST).get(section, {}).get(name, key)
        for each, value in values.items():
            text = text.replace(f"{{{each}}}", str(value))
        return text


def language_of(cookies: Mapping[str, str], accepted: str) -> str:
    """Return the language chosen in the dashboard, else the browser's preferred one."""
    if (chosen := cookies.get(COOKIE)) in LANGUAGES:
        return chosen
    wanted: list[tuple[float, str]] = []
    for part in accepted[:1000].split(","):
        choice = _CHOICE.fullmatch(part)
        if choice is not None:
            wanted.append((float(choice[2] or 1), choice[1]))
    for weight, name in sorted(wanted, key=lambda each: -each[0]):
        known = _spoken(name)
        if known is not None and weight > 0:
            return known
    return FIRST


def _spoken(name: str) -> str | None:
    """Return the one of our languages that a browser asks for; there is one Chinese."""
    primary = name.lower().partition("-")[0]
    return next((each for each in LANGUAGES if each.lower().partition("-")[0] == primary), None)


@cache
def _read(language: str) -> dict[str, dict[str, str]]:
    words: dict[str, dict[str, str]] = json.loads((FOLDER / f"{language}.json").read_text("utf-8"))
    return words
