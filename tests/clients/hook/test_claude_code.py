"""Claude Code's hooks: calls recorded from the real program are understood, and answered in its own form.

The fixtures are what Claude Code 2.1.330 wrote to its hooks, with other paths.
"""

from typing import Any

import pytest

from hubbub.clients.hook import event
from hubbub.clients.hook.adapters import claude_code
from hubbub.clients.hook.event import DENY, WARN, Reply
from tests.clients.hook.recorded_hooks import SENTENCE, Recorded

RECORDED = Recorded("claude-code", claude_code.read, claude_code.say)
told, happened, said = RECORDED.told, RECORDED.happened, RECORDED.said


EARLY = {"SessionStart-startup", "SessionStart-clear"}


@pytest.mark.parametrize("fixture", sorted({*RECORDED.names} - EARLY))
def test_every_hook_of_the_real_program_is_understood(fixture: str) -> None:
    """Whatever the client tells, we know which run of it tells it, and in which folder."""
    content = told(fixture)
    understood = happened(fixture)

    assert (understood.client, understood.cwd) == ("claude-code", "/srv/shop")
    assert understood.instance == content["session_id"]


@pytest.mark.parametrize(
    ("fixture", "moment", "kind"),
    [
        ("SessionStart-compact", event.START, event.OTHER),
        ("UserPromptSubmit", event.PROMPT, event.OTHER),
        ("PreToolUse-write", event.BEFORE, event.EDIT),
        ("PreToolUse-edit", event.BEFORE, event.EDIT),
        ("PostToolUse-edit", event.AFTER, event.EDIT),
        ("PostToolUse-read", event.AFTER, event.READ),
        ("PostToolUse-bash", event.AFTER, event.SHELL),
        ("Stop", event.TURN, event.OTHER),
        ("StopFailure-window", event.LIMIT, event.OTHER),
        ("StopFailure-overloaded", event.LIMIT, event.OTHER),
        ("SessionEnd", event.END, event.OTHER),
    ],
)
def test_a_hook_is_a_moment_and_a_kind_of_tool(fixture: str, moment: str, kind: str) -> None:
    """The client's names for events and tools become ours."""
    understood = happened(fixture)

    assert (understood.moment, understood.tool_kind) == (moment, kind)


def test_an_edit_names_its_file_and_a_shell_its_command() -> None:
    """The file given to the tool is claimed; the text given to the shell is checked for commits."""
    assert happened("PreToolUse-edit").paths == ("/srv/shop/a.txt",)
    assert "git commit" in (happened("PostToolUse-bash").command or "")


def test_a_notebook_is_a_file_too() -> None:
    """The tool for notebooks calls its file by another name."""
    notebook = {"tool_name": "NotebookEdit", "tool_input": {"notebook_path": "/srv/shop/a.ipynb"}}
    understood = claude_code.read("PreToolUse", {**told("PreToolUse-edit"), **notebook})

    assert understood is not None
    assert (understood.tool_kind, understood.paths) == (event.EDIT, ("/srv/shop/a.ipynb",))


def test_a_turn_that_goes_on_for_a_hook_is_known_as_such() -> None:
    """So that a hook never makes the client go on and on."""
    assert not happened("Stop").continued
    assert happened("Stop-continued").continued


@pytest.mark.parametrize(
    "content",
    [{}, {"session_id": 5, "cwd": "/srv/shop"}, {"session_id": "a"}, {"session_id": "a", "cwd": None}],
)
def test_a_hook_that_does_not_say_who_and_where_is_none_of_ours(content: dict[str, Any]) -> None:
    """Nonsense is no event."""
    assert claude_code.read("PreToolUse", content) is None


@pytest.mark.parametrize("fixture", sorted(EARLY))
def test_a_start_without_a_turn_says_nothing(fixture: str) -> None:
    """News that the model would read only after a person spoke are left to its waker."""
    assert claude_code.read("SessionStart", told(fixture)) is None


def test_another_hook_is_none_of_ours() -> None:
    """Events that we do not know are left alone."""
    assert claude_code.read("Notification", told("Stop")) is None


@pytest.mark.parametrize("given", [None, "text", [], {"file_path": 7}])
def test_a_tool_that_was_given_something_strange_touches_no_file(given: object) -> None:
    """Arguments in another form than we know name no paths."""
    understood = claude_code.read("PreToolUse", {**told("PreToolUse-edit"), "tool_input": given})

    assert understood is not None
    assert understood.paths == ()


def test_a_denied_edit_tells_the_model_why() -> None:
    """The sentence is the reason of the denial, which the model reads."""
    assert said("PreToolUse-edit", Reply(DENY, SENTENCE)) == {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": SENTENCE,
        }
    }


def test_a_warned_edit_goes_on_without_being_approved() -> None:
    """A warning is context only: whether the person is asked stays as it was."""
    assert said("PreToolUse-edit", Reply(WARN, SENTENCE)) == {
        "hookSpecificOutput": {"hookEventName": "PreToolUse", "additionalContext": SENTENCE}
    }


@pytest.mark.parametrize("fixture", ["SessionStart-compact", "UserPromptSubmit", "PostToolUse-bash"])
def test_a_pointer_between_is_context(fixture: str) -> None:
    """At the start, at a prompt and after a tool the model reads the pointer, and nothing is stopped for it."""
    name = told(fixture)["hook_event_name"]

    assert said(fixture, Reply(text=SENTENCE)) == {
        "hookSpecificOutput": {"hookEventName": name, "additionalContext": SENTENCE}
    }


def test_a_pointer_at_the_end_of_a_turn_makes_another_turn() -> None:
    """The turn's end is blocked, once, with the pointer as the reason."""
    assert said("Stop", Reply(text=SENTENCE, goes_on=True)) == {"decision": "block", "reason": SENTENCE}
    assert said("Stop", Reply(text=SENTENCE)) is None


def test_the_end_hears_nothing() -> None:
    """Nobody is there to read it."""
    assert said("SessionEnd", Reply(text=SENTENCE)) is None
