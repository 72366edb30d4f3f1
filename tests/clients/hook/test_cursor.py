"""Cursor's hooks: what its documentation says they tell is understood, and the answer is in its own form."""

import pytest

from hubbub.clients.hook import event
from hubbub.clients.hook.adapters import cursor
from hubbub.clients.hook.event import DENY, Reply
from tests.clients.hook.recorded_hooks import SENTENCE, Recorded

RECORDED = Recorded("cursor", cursor.read, cursor.say)
told, happened, said = RECORDED.told, RECORDED.happened, RECORDED.said


@pytest.mark.parametrize(
    ("fixture", "moment", "kind"),
    [
        ("sessionStart", event.START, event.OTHER),
        ("preToolUse-write", event.BEFORE, event.EDIT),
        ("afterFileEdit", event.AFTER, event.EDIT),
        ("postToolUse-shell", event.AFTER, event.SHELL),
        ("stop", event.TURN, event.OTHER),
    ],
)
def test_a_hook_is_a_moment_and_a_kind_of_tool(fixture: str, moment: str, kind: str) -> None:
    """The client's names become ours; where it does not say the folder, it is the first that is open."""
    understood = happened(fixture)

    assert (understood.moment, understood.tool_kind) == (moment, kind)
    assert (understood.client, understood.cwd) == ("cursor", "/srv/shop")
    assert understood.instance == told(fixture)["conversation_id"]


def test_an_edit_names_its_file() -> None:
    """Before the edit the tool's argument says which file, after it the hook itself."""
    assert happened("preToolUse-write").paths == happened("afterFileEdit").paths == ("/srv/shop/a.txt",)


def test_a_tool_is_denied_with_a_sentence_for_the_model() -> None:
    """A tool that is not denied is passed over in silence: the client's own rules for it hold."""
    assert said("preToolUse-write", Reply(DENY, SENTENCE)) == {
        "permission": "deny",
        "agent_message": SENTENCE,
    }
    assert said("preToolUse-write", Reply(text=SENTENCE)) is None


@pytest.mark.parametrize(
    ("fixture", "is_heard"),
    [
        ("sessionStart", True),
        ("preToolUse-write", False),
        ("postToolUse-shell", True),
        ("afterFileEdit", False),
        ("stop", True),
    ],
)
def test_some_hooks_only_tell(fixture: str, is_heard: bool) -> None:
    """Answers before a tool or by the hook of an edit do not reach the model, except denials."""
    assert happened(fixture).heard is is_heard


def test_mail_is_followed_up_once() -> None:
    """At the end of a turn the pointer is the next message; a turn that was such a message does not go on again."""
    assert said("stop", Reply(text=SENTENCE, goes_on=True)) == {"followup_message": SENTENCE}
    assert (happened("stop").continued, happened("stop-continued").continued) == (False, True)


def test_what_the_model_shall_know_is_context() -> None:
    """At the start, and after a tool, the pointer is more context; nowhere else is anything said."""
    assert said("sessionStart", Reply(text=SENTENCE)) == {"additional_context": SENTENCE}
    assert said("postToolUse-shell", Reply(text=SENTENCE)) == {"additional_context": SENTENCE}
    assert said("afterFileEdit", Reply(text=SENTENCE)) is None
