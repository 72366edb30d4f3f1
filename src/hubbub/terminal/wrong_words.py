"""Error sentences for unknown words: they suggest the word that was probably meant."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import click

NONE: Mapping[str, str] = {}
CUTOFF = 0.7  # of likeness
BEGUN = 3  # letters of a word that was only begun
SURPLUS = "Got unexpected extra"  # click's words for an argument too many


def did_you_mean(word: str, known: Iterable[str], elsewhere: Mapping[str, str] = NONE) -> str:
    """Return a question with up to two words that were probably meant, the likeliest first; empty if none is similar.

    `elsewhere` maps other names to those known here.
    """
    likely = _likely(word.lower(), list(known), elsewhere)
    return f" Did you mean {' or '.join(map(repr, likely))}?" if likely else ""


def _likely(word: str, known: list[str], elsewhere: Mapping[str, str]) -> list[str]:
    from difflib import get_close_matches

    if word in elsewhere:
        return [elsewhere[word]]
    begun = [each for each in known if len(word) >= BEGUN and each.startswith(word)]
    found = get_close_matches(word, [*known, *elsewhere], n=2, cutoff=CUTOFF) or begun[:2]
    return list(dict.fromkeys(elsewhere.get(each, each) for each in found))


class OneOf(click.Choice[str]):
    """One of several words. Another is refused with the one that was probably meant."""

    def __init__(self, words: Collection[str], *, elsewhere: Mapping[str, str] = NONE) -> None:
        super().__init__(words)
        self.elsewhere = elsewhere

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        refused = super().get_invalid_choice_message(value, ctx)
        return refused + did_you_mean(str(value), self.choices, self.elsewhere)


def _takes_program(command: click.Command) -> bool:
    """Tell whether the words of a program may follow the command's argument."""
    return any(
        isinstance(each, click.Argument) and "COMMAND" in (each.metavar or "") for each in command.params
    )


def sentence(error: click.UsageError) -> str:
    """Return the error on one line; for a missing or surplus argument, with the command's usage."""
    if type(error) is click.BadParameter and isinstance(error.param, click.Argument) and error.param.name:
        error.param_hint = repr(error.param.metavar or error.param.name.upper())  # not all that is allowed
    told = " ".join(error.format_message().split())
    if isinstance(error, click.NoSuchOption) and error.ctx is not None and _takes_program(error.ctx.command):
        return f"{told} Put a program with options after --: {error.ctx.command_path} NAME -- PROGRAM …"
    is_of_shape = isinstance(error, click.MissingParameter) or told.startswith(SURPLUS)
    if error.ctx is None or not is_of_shape:
        return told
    is_a_text = told.startswith(SURPLUS) and any(each.name == "text" for each in error.ctx.command.params)
    quotes = " Put a text of several words in quotes." if is_a_text else ""
    return f"{told.rstrip('.')}.{quotes} {' '.join(error.ctx.get_usage().split())}"
