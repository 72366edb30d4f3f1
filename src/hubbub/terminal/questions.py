"""Questions to a person at the terminal, on standard error. Ctrl-C ends the command there, and says nothing more."""

from collections.abc import Callable
from typing import TypeVar

import click

from hubbub.terminal.exit_codes import INTERRUPTED, REFUSED

T = TypeVar("T")


def asked(question: str) -> str:
    """Return the line that a person types."""
    return _answered(lambda: click.prompt(question, err=True))


def asked_unseen(question: str, *, twice: bool = False) -> str:
    """Return what a person types unseen; `twice`, to be sure of it."""
    return _answered(
        lambda: click.prompt(question, hide_input=True, confirmation_prompt=twice, err=True), ends_line=False
    )


def agreed(question: str, *, default: bool = False) -> bool:
    """Tell whether the person says yes."""
    return _answered(lambda: click.confirm(question, default=default, err=True))


def require_yes(question: str) -> None:
    """End the command, as refused, if the person says no."""
    if not agreed(question):
        raise click.exceptions.Exit(REFUSED)


def _answered(ask: Callable[[], T], *, ends_line: bool = True) -> T:
    """Return the answer; click itself ends the line of a text that is not seen. The end of the input is a no."""
    try:
        return ask()
    except click.Abort as error:
        if ends_line:
            click.echo(err=True)
        is_interrupted = isinstance(error.__context__, KeyboardInterrupt)
        raise click.exceptions.Exit(INTERRUPTED if is_interrupted else REFUSED) from None
