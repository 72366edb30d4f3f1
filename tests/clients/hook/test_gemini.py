"""Gemini CLI's hooks: calls recorded from the real program are understood, and answered in its own form.

The fixtures are what Gemini CLI 0.61 wrote to its hooks, with other paths.
"""

import pytest

from hubbub.clients.hook import event
from hubbub.clients.hook.adapters import gemini
from hubbub.clients.hook.event import DENY, Reply
from tests.clients.hook.recorded_hooks import SENTENCE, Recorded

RECORDED = Recorded("gemini", gemini.read, gemini.say)
told, happened, said = RECORDED.told, RECORDED.happened, RECORDED.said


@pytest.mark.parametrize(
    ("fixture", "moment", "kind"),
    [
        ("SessionStart", event.START, event.OTHER),
        ("BeforeAgent", event.PROMPT, event.OTHER),
        ("BeforeTool-read", event.BEFORE, event.READ),
        ("BeforeTool-write", event.BEFORE, event.EDIT),
        ("AfterTool-read", event.AFTER, event.READ),
        ("AfterTool-write", event.AFTER, event.EDIT),
        ("AfterTool-shell", event.AFTER, event.SHELL),
        ("AfterAgent", event.TURN, event.OTHER),
        ("SessionEnd", event.END, event.OTHER),
    ],
)
def test_a_hook_is_a_moment_and_a_kind_of_tool(fixture: str, moment: str, kind: str) -> None:
    """The client's names for events and tools become ours; which run of it it is, it says itself."""
    understood = happened(fixture)

    assert (understood.moment, understood.tool_kind) == (moment, kind)
    assert (understood.client, understood.cwd) == ("gemini", "/srv/shop")
    assert understood.instance == told(fixture)["session_id"]


def test_an_edit_names_its_file_and_a_shell_its_command() -> None:
    """The file given to the tool is claimed; the text given to the shell is checked for commits."""
    assert happened("BeforeTool-write").paths == ("/srv/shop/b.txt",)
    assert happened("AfterTool-shell").command == "echo hi"


def test_a_tool_is_denied_in_its_own_words() -> None:
    """The decision stands at the top: what other clients read below `hookSpecificOutput` would be ignored."""
    assert said("BeforeTool-write", Reply(DENY, SENTENCE)) == {"decision": "deny", "reason": SENTENCE}


def test_before_a_tool_the_model_reads_a_denial_alone() -> None:
    """The client takes no context there; after the tool it does."""
    assert not happened("BeforeTool-write").heard
    assert happened("AfterTool-write").heard


@pytest.mark.parametrize("fixture", ["SessionStart", "BeforeAgent", "AfterTool-read"])
def test_what_the_model_shall_know_is_context(fixture: str) -> None:
    """A pointer to mail is given to the model at the boundaries where it takes context."""
    specific = said(fixture, Reply(text=SENTENCE))["hookSpecificOutput"]

    assert specific == {"hookEventName": told(fixture)["hook_event_name"], "additionalContext": SENTENCE}


def test_a_turn_goes_on_for_mail() -> None:
    """At the end of a turn the client takes another if it is blocked; without a reason it is left alone."""
    assert said("AfterAgent", Reply(text=SENTENCE, goes_on=True)) == {"decision": "block", "reason": SENTENCE}
    assert said("AfterAgent", Reply(text=SENTENCE)) is None
    assert said("SessionEnd", Reply(text=SENTENCE)) is None
