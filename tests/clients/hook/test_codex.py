"""Codex's hooks: calls recorded from the real program are understood, and answered in its own form.

The fixtures are what Codex 0.169 wrote to its hooks, with other paths.
"""

import json

import pytest

from hubbub.clients.hook import event
from hubbub.clients.hook.adapters import codex
from hubbub.clients.hook.event import DENY, WARN, Reply
from hubbub.clients.hook.patches import patched
from tests.clients.hook.recorded_hooks import SENTENCE, Recorded

RECORDED = Recorded("codex", codex.read, codex.say)
told, happened, said = RECORDED.told, RECORDED.happened, RECORDED.answer


@pytest.mark.parametrize(
    ("fixture", "moment", "kind"),
    [
        ("SessionStart", event.START, event.OTHER),
        ("UserPromptSubmit", event.PROMPT, event.OTHER),
        ("PreToolUse-bash", event.BEFORE, event.SHELL),
        ("PostToolUse-bash", event.AFTER, event.SHELL),
        ("PreToolUse-patch", event.BEFORE, event.EDIT),
        ("PostToolUse-patch", event.AFTER, event.EDIT),
        ("PreToolUse-shell-patch", event.BEFORE, event.EDIT),
        ("Stop", event.TURN, event.OTHER),
    ],
)
def test_a_hook_is_a_moment_and_a_kind_of_tool(fixture: str, moment: str, kind: str) -> None:
    """The client's names for events and tools become ours; which conversation it is in, it says itself."""
    understood = happened(fixture)

    assert (understood.moment, understood.tool_kind) == (moment, kind)
    assert (understood.client, understood.cwd) == ("codex", "/srv/shop")
    assert understood.instance == told(fixture)["session_id"]


def test_one_patch_edits_several_files() -> None:
    """Every file that the patch names is claimed: nothing else says which they are."""
    assert happened("PreToolUse-patch").paths == ("a.txt", "sub/b.txt")


@pytest.mark.parametrize(
    ("words", "paths"),
    [
        ("apply_patch <<'EOF'", ["a.txt"]),
        ("cd sub && apply_patch <<'EOF'", ["sub/a.txt"]),
        ("cd '/srv/other shop' && apply_patch <<'EOF'", ["/srv/other shop/a.txt"]),
        ("true; apply_patch <<'EOF'", ["a.txt"]),
    ],
)
def test_a_patch_that_a_shell_is_given_is_an_edit(words: str, paths: list[str]) -> None:
    """A model without the tool for patches gives them to its shell: claimed is what Codex will change."""
    content = told("PreToolUse-shell-patch")
    command = content["tool_input"]["command"].replace("apply_patch <<'EOF'", words)
    understood = codex.read("PreToolUse", {**content, "tool_input": {"command": command}})

    assert understood is not None
    assert (understood.tool_kind, list(understood.paths)) == (event.EDIT, paths)


def test_a_shell_that_only_speaks_of_patches_edits_nothing() -> None:
    """Words that name the tool are no patch."""
    content = told("PreToolUse-shell-patch")
    understood = codex.read("PreToolUse", {**content, "tool_input": {"command": "grep apply_patch a.txt"}})

    assert understood is not None
    assert (understood.tool_kind, list(understood.paths)) == (event.SHELL, [])


def test_a_patch_may_add_delete_and_move() -> None:
    """Where a file comes from and where it goes are both edited; what stands in a file is no name of one."""
    patch = (
        "*** Begin Patch\n*** Delete File: old.txt\n*** Update File: a b.txt\n*** Move to: c.txt\n@@\n"
        "-*** Add File: not.txt\n+*** Add File: not.txt\n*** Add File: a b.txt\r\n+x\n*** End Patch"
    )
    assert patched(patch) == ["old.txt", "a b.txt", "c.txt"]


def test_a_shell_gives_its_command() -> None:
    """The text given to the shell is checked for commits."""
    assert happened("PostToolUse-bash").command == "cat a.txt"


def test_an_edit_is_denied_by_a_code_and_a_sentence() -> None:
    """Code 2 refuses the tool, and the model reads what is on stderr."""
    denied = said("PreToolUse-patch", Reply(DENY, SENTENCE))

    assert (denied.code, denied.stderr, denied.stdout) == (2, SENTENCE, "")


@pytest.mark.parametrize(
    "fixture", ["SessionStart", "UserPromptSubmit", "PostToolUse-bash", "PreToolUse-patch"]
)
def test_what_the_model_shall_know_is_context(fixture: str) -> None:
    """A pointer to mail and a warning are given to the model without stopping anything."""
    answer = said(fixture, Reply(WARN, SENTENCE))

    assert (answer.code, answer.stderr) == (0, "")
    specific = json.loads(answer.stdout)["hookSpecificOutput"]
    assert specific == {"hookEventName": told(fixture)["hook_event_name"], "additionalContext": SENTENCE}


def test_a_turn_goes_on_for_mail() -> None:
    """At the end of a turn the client takes another if it is blocked; without a reason it is left alone."""
    blocked = said("Stop", Reply(text=SENTENCE, goes_on=True))

    assert json.loads(blocked.stdout) == {"decision": "block", "reason": SENTENCE}
    assert said("Stop", Reply(text=SENTENCE)).stdout == ""


def test_a_turn_that_went_on_once_says_so() -> None:
    """The client tells that a hook has made it go on already, so that nothing makes it go on for ever."""
    again = codex.read("Stop", {**told("Stop"), "stop_hook_active": True})

    assert again is not None
    assert (again.continued, happened("Stop").continued) == (True, False)


@pytest.mark.parametrize("gone", ["session_id", "cwd"])
def test_what_is_incomplete_is_nothing_to_us(gone: str) -> None:
    """A hook that does not say who or where, and one that we do not know, are left alone."""
    whole = told("PreToolUse-patch")

    assert codex.read("PreToolUse", {name: value for name, value in whole.items() if name != gone}) is None
    assert codex.read("PreCompact", whole) is None
