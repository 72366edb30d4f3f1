"""Questions to a person at the terminal."""

from collections.abc import Callable

import click
import pytest
from click import termui
from click.testing import CliRunner, Result

from hubbub.terminal import questions

QUESTIONS = [
    pytest.param(lambda: questions.asked("Name"), id="a line"),
    pytest.param(lambda: questions.asked_unseen("Password"), id="a password"),
    pytest.param(lambda: questions.agreed("Remove it?"), id="yes or no"),
    pytest.param(lambda: questions.require_yes("Sign it?"), id="yes"),
]


def put(ask: Callable[[], object], given: str = "") -> Result:
    """The outcome of a command that asks this."""
    return CliRunner().invoke(click.command()(lambda: click.echo(ask())), input=given)


@pytest.mark.parametrize("ask", QUESTIONS)
def test_an_interrupt_says_no_word(ask: Callable[[], object], monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C at a question ends its line and the command, with exit code 130, and nothing is said."""

    def interrupt(_prompt: str) -> str:
        raise KeyboardInterrupt

    put(ask)  # which has click read from its own files from then on
    with CliRunner().isolation() as files:
        monkeypatch.setattr(termui, "visible_prompt_func", interrupt)
        monkeypatch.setattr(termui, "hidden_prompt_func", interrupt)
        with pytest.raises(click.exceptions.Exit) as ended:
            ask()
        said = files[1].getvalue().decode()
    assert ended.value.exit_code == 130
    assert (said.count("\n"), said.partition("\n")[2]) == (1, "")


@pytest.mark.parametrize("ask", QUESTIONS)
def test_the_end_of_the_input_is_a_no(ask: Callable[[], object]) -> None:
    """Without an answer nothing is done: exit code 1."""
    assert put(ask).exit_code == 1


def test_a_no_is_no_fault() -> None:
    """Who says no ends the command without a word of blame."""
    done = put(lambda: questions.require_yes("Sign it?"), "n\n")
    assert (done.exit_code, done.stdout, done.stderr) == (1, "", "Sign it? [y/N]: n\n")
