"""`hubbub approve` and `hubbub deny`: machines' questions to people before a call may go on."""

import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from hubbub.cli.fleet.approver_signatures import signature
from hubbub.client import Hub, segment
from hubbub.model.timestamps import duration_text
from hubbub.model.visible_text import visible
from hubbub.terminal import display, short_ids
from hubbub.terminal.command import command, uses_hub

Approval = dict[str, Any]

SHOW = "show"
SHORT = 8  # characters of an id that people type
INDENT = "  "


@command(
    "approve",
    short_help="List pending approvals, or approve one.",
    example="hubbub approve\nhubbub approve show 3f8a\nhubbub approve 3f8a",
    names="id",
)
@click.argument("words", metavar="[[show] ID]", nargs=-1)
@click.option(
    "--show",
    "shows",
    is_flag=True,
    help="Show the whole call and leave it open; the same as `approve show ID`.",
)
@click.option(
    "--key",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Key to sign with. [default: the one that hubbub node approver made, if any]",
)
@uses_hub
def approve(*, hub: Hub, words: tuple[str, ...], shows: bool, key: Path | None, as_json: bool) -> None:
    """Approve the call ID. Without ID, list pending approvals; at a terminal, ask about each.

    The beginning of an id is enough. This takes a person's token (utok_).
    """
    approval_id, only_shows = _meant(words, shows=shows)
    if approval_id is None:
        _list(hub, as_json=as_json)
    elif only_shows:
        _show(_found(hub, _whole(hub, approval_id)), as_json=as_json)
    else:
        _tell(answer(hub, _whole(hub, approval_id), approved=True, key=key), as_json=as_json)


def _meant(words: tuple[str, ...], *, shows: bool) -> tuple[str | None, bool]:
    """Return the id of the call, if one is given, and whether it is only to be shown."""
    only_shows = shows or words[:1] == (SHOW,)
    ids = words[1:] if words[:1] == (SHOW,) else words
    if len(ids) > 1:
        raise click.UsageError("one call at a time: hubbub approve ID")
    if only_shows and not ids:
        raise click.UsageError("say which call to show: its id, or the beginning of its id")
    return (ids[0] if ids else None), only_shows


@command(
    "deny",
    short_help="Deny a pending approval.",
    example="hubbub deny 3f8a\nhubbub deny 3f8a --reason 'Use the test database'",
)
@click.argument("approval_id", metavar="ID")
@click.option("--reason", metavar="R", help="Reason, sent to its agent as a message.")
@uses_hub
def deny(*, hub: Hub, approval_id: str, reason: str | None, as_json: bool) -> None:
    """Deny the call ID. The beginning of an id is enough. This takes a person's token (utok_)."""
    _tell(answer(hub, _whole(hub, approval_id), approved=False, reason=reason), as_json=as_json)


def answer(
    hub: Hub, whole: str, *, approved: bool, key: Path | None = None, reason: str | None = None
) -> Approval:
    """Answer the question with that id: a yes with a signature if the person has a key, a no with a reason."""
    body = {"signature": signature(hub, whole, key)} if approved else {"reason": reason}
    verb = "approve" if approved else "deny"
    answered: Approval = hub.post(f"/approvals/{segment('approval', whole)}/{verb}", body)["approval"]
    return answered


def find(hub: Hub, whole: str) -> Approval:
    """Return the question with that id."""
    found: Approval = _found(hub, whole)["approval"]
    return found


def _found(hub: Hub, whole: str) -> dict[str, Any]:
    """Return the question with that id, and the caller's recent questions."""
    found: dict[str, Any] = hub.get(f"/approvals/{segment('approval', whole)}")
    return found


def said(approval: Approval) -> str:
    """Return on one line the call that was approved or denied, with the id of the question."""
    about = f"{approval['who']} {place(approval)}, {approval['tool']}: {visible(approval['shown'])}"
    return f"{approval['status']} {approval['id']} ({about})"


def place(approval: Approval) -> str:
    """Return the place where a call is to be done; if no machine asked, with a note that it is only claimed."""
    said_node = approval.get("said_node")  # which an older hub does not tell
    return f"on {approval['node']}" if said_node is None else f"on {said_node}, as its own program says"


def described(approval: Approval) -> list[str]:
    """Return everything that a person needs for an answer, as lines for a terminal: nothing is cut."""
    facts = [
        f"{approval['id'][:SHORT]}: {_call(approval)}",
        *(["dangerous"] if approval["dangerous"] else []),
        standing(approval),
    ]
    columns = max(20, shutil.get_terminal_size().columns - len(INDENT))
    below = [
        *filter(None, [_asker(approval)]),
        *approval["shown"].split("\n"),
        *filter(None, [f"in {approval['folder']}" if approval["folder"] else "", approval["reason"]]),
    ]
    wrapped = (display.wrapped(display.clean(text), columns) for text in below)
    return [display.clean(", ".join(facts)), *(INDENT + line for lines in wrapped for line in lines)]


def _call(approval: Approval) -> str:
    """Return the call and its caller; with the machine, if that itself asked."""
    on = f" on {approval['node']}," if approval.get("said_node") is None else ""
    return f"{approval['tool']}{on} for {approval['who']}"


def _asker(approval: Approval) -> str:
    """Return the name of the program that asks beside its agent, which may be anything; empty if a machine asks."""
    said_node = approval.get("said_node")
    return f"asked by {approval['who']}'s own program, which says it runs on {said_node}" if said_node else ""


def standing(approval: Approval) -> str:
    """Return a question's status, and its remaining time or its age."""
    now, by = approval["now"], approval["answered_by"]
    if approval["status"] == "pending":
        return f"{duration_text(approval['expires_at'] - now)} left"
    if approval["status"] == "withdrawn":
        ago = duration_text(now - approval["ended_at"])
        if approval["kind"] == "prompt":
            return f"settled at its client {ago} ago"
        return f"its machine was started anew {ago} ago, and asks it no more"
    if by is None:
        return f"expired {duration_text(now - (approval['ended_at'] or now))} ago, ask again"
    verb = "denied" if approval["status"] == "denied" else "approved"
    rest = {"expired": ", not used in time", "spent": ", and used"}.get(approval["status"], "")
    return f"{verb} by {by} {duration_text(now - approval['answered_at'])} ago{rest}"


def _list(hub: Hub, *, as_json: bool) -> None:
    """List the waiting questions, for people or programs; for people also those that expired unanswered."""
    found = _open(hub)
    pending = [each for each in found if each["status"] == "pending"]
    if as_json:
        display.show_json(pending)
        return
    if sys.stdout.isatty():
        _go_through(hub, pending)
    else:
        display.show_table((), map(_row, pending))
    for each in found:
        if each not in pending:
            click.echo("\n".join(described(each)), err=True)


def _go_through(hub: Hub, pending: Sequence[Approval]) -> None:
    """Show people each question, and have them answer it if they sit at the terminal."""
    from hubbub.cli.fleet.approval_prompt import answer_here

    if not pending:
        print("Nothing waits for you.")
    with suppress(EOFError):  # the end of the input leaves the rest open
        for each in pending:
            print("\n".join(described(each)), flush=True)
            if sys.stdin.isatty():
                answer_here(hub, each)
            print()


def _show(found: dict[str, Any], *, as_json: bool) -> None:
    """Show one question, and to people below it the caller's recent questions."""
    if as_json:
        display.show_json(found["approval"])
        return
    print("\n".join(described(found["approval"])))
    lately = found.get("lately", ())  # older hubs do not report them
    if lately:
        print("asked lately:")
    for each in lately:
        asked = display.clean(f"{each['tool']}: {each['shown']}, {standing(each)}")
        print(INDENT + display.fit(asked, shutil.get_terminal_size().columns - len(INDENT)))


def _tell(answered: Approval, *, as_json: bool) -> None:
    display.show_result(answered, said(answered), as_json=as_json)


def _open(hub: Hub) -> Sequence[Approval]:
    """List the questions that wait, and those that recently expired without an answer."""
    found: Sequence[Approval] = hub.get("/approvals", status="open", limit=500)["approvals"]
    return found


def _row(approval: Approval) -> tuple[object, ...]:
    seconds = max(0, approval["expires_at"] - approval["now"]) // 1000
    names = ("id", "who", "node", "tool", "shown", "folder", "reason")
    return (*(visible(approval[name]) for name in names), f"{seconds} s")


def _whole(hub: Hub, beginning: str) -> str:
    """Return the id of the only question that begins so, waiting ones first; the hub refuses an unknown one."""
    return short_ids.whole(beginning, _candidates(hub))


def _candidates(hub: Hub) -> Iterator[Sequence[Approval]]:
    """Yield the questions whose ids to search: those that wait, and then all recent ones."""
    yield hub.get("/approvals", status="pending", limit=500)["approvals"]
    yield hub.get("/approvals", limit=500)["approvals"]
