"""opencode: what our plugin tells `hubbub-hook`, and how it is answered."""

import json
from pathlib import Path
from typing import Any

import pytest

from hubbub.clients.hook import event
from hubbub.clients.hook.adapters import opencode
from hubbub.clients.hook.event import DENY, GRANT, Event, Reply

TOLD = Path(__file__).parent / "fixtures" / "opencode"


def happened(fixture: str) -> Event:
    content: dict[str, Any] = json.loads((TOLD / f"{fixture}.json").read_text("utf-8"))
    understood = opencode.read(fixture.partition("-")[0], content)
    assert understood is not None
    return understood


@pytest.mark.parametrize(
    ("fixture", "moment", "kind", "paths"),
    [
        ("before-edit", event.BEFORE, event.EDIT, ("/srv/shop/a.txt",)),
        ("before-patch", event.BEFORE, event.EDIT, ("a.txt",)),
        ("after-read", event.AFTER, event.READ, ("/srv/shop/a.txt",)),
        ("after-bash", event.AFTER, event.SHELL, ()),
        ("ask-bash", event.ASK, event.SHELL, ()),
    ],
)
def test_what_the_plugin_tells_is_a_moment_and_a_kind_of_tool(
    fixture: str, moment: str, kind: str, paths: tuple[str, ...]
) -> None:
    """A tool that edits names its file, or has a patch that does."""
    understood = happened(fixture)

    assert (understood.moment, understood.tool_kind, understood.paths) == (moment, kind, paths)
    assert (understood.client, understood.instance) == ("opencode", "opencode-812")


@pytest.mark.parametrize(
    ("fixture", "reply", "answer"),
    [
        ("before-edit", Reply(DENY, "held"), {"deny": "held"}),
        ("after-read", Reply(text="held"), {"text": "held"}),
        ("ask-bash", Reply(DENY, "no"), {"deny": "no"}),
        ("ask-bash", Reply(GRANT), {"grant": True}),
    ],
)
def test_the_plugin_is_told_to_deny_or_to_say(fixture: str, reply: Reply, answer: dict[str, object]) -> None:
    """A denial becomes the tool's error, a grant a prompt's yes; other text comes after what the tool returned."""
    understood = happened(fixture)
    said = opencode.say(understood.moment, understood, reply)

    assert (json.loads(said.stdout), said.stderr, said.code) == (answer, "", 0)
    assert understood.heard is not fixture.startswith("before")


def test_nothing_to_say_is_nothing_said() -> None:
    """Most tools run without a word."""
    assert opencode.say("after", happened("after-read"), Reply()).stdout == ""
