"""Chains of calls: who asked whom, and where it ends."""

import pytest

from hubbub.model.errors import Invalid
from hubbub.model.fleet import call_chain
from tests.support.each_row import each_row


def test_it_begins_with_the_caller() -> None:
    """First is who asked, then come the machines whose agents were asked, one by the next."""
    first = call_chain.longer((), "ada", "web1")

    assert first == ("ada", "web1")
    assert call_chain.longer(first, "ada", "db1") == ("ada", "web1", "db1")


def test_three_agents_are_the_most() -> None:
    """A fourth is not asked, and the sentence shows who was."""
    assert call_chain.why_not(("ada", "a", "b"), "c") is None
    assert (
        call_chain.why_not(("ada", "a", "b", "c"), "d") == "agents ask agents at most 3 deep: ada → a → b → c"
    )


def test_an_agent_that_waits_is_not_asked() -> None:
    """Names of machines are the same in any case; a caller of the same name is none."""
    assert (
        call_chain.why_not(("ada", "Web1", "b"), "wEB1")
        == "ada → Web1 → b → wEB1: wEB1's agent is already at work on this"
    )
    assert call_chain.why_not(("ada", "a"), "ada") is None


def test_what_it_shows_cannot_deceive() -> None:
    """Names are shown without invisible or reversing characters."""
    assert "\u202e" not in call_chain.shown(("ada", "web\u202e1"))


def test_it_survives_the_environment() -> None:
    """A chain is read as it was written; where there is nothing there is no chain."""
    assert call_chain.read(call_chain.written(("ada → x", "wéb"))) == ("ada → x", "wéb")
    assert call_chain.read(None) == call_chain.read("") == ()


@each_row(
    "told",
    ["ada > web1", "{}", '"ada"', "[1]", '[""]', "[" * 10_000, '["' + "a" * 201 + '"]', str(["a"] * 33)],
)
def test_what_is_no_chain_is_refused(told: str) -> None:
    """A chain that cannot be read is not taken for none, which would begin a new one."""
    with pytest.raises(Invalid, match=r"HUBBUB_CHAIN: must be a list of at most 32 names"):
        call_chain.read(told)
