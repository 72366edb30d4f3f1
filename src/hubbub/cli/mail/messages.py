"""`hubbub send`, `inbox` and `wait`: letters of agents and people."""

import re
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any

import click

from hubbub.cli.work import awaited_result
from hubbub.cli.work.tasks import PRIORITIES, show_line
from hubbub.client import Hub, HubRefused, HubUnreachable, LetterReply
from hubbub.client.transport import WAIT_SECONDS
from hubbub.model.errors import UnknownAgent
from hubbub.model.people.rights import EVERYONE, HUB
from hubbub.model.records import LetterKind
from hubbub.terminal import display, parties
from hubbub.terminal.agent_names import agents
from hubbub.terminal.command import command, text_or_stdin, uses_project
from hubbub.terminal.durations import Seconds
from hubbub.terminal.exit_codes import TIMED_OUT

WORKER = "worker"  # the way to an agent of `hubbub work`, whose program is run for tasks
NUMBER = re.compile(r"[Mm]-?([0-9]{1,18})", re.ASCII)
PAUSE = 1.0  # seconds between tries to reach a hub that went away meanwhile


@command(
    "send",
    short_help="Send a message, or a task.",
    example="hubbub send coder-1 'The build is green again'\nhubbub send everyone 'No deploys before noon'\n"
    "hubbub send ada 'Which colour?' --wait --timeout 600",
)
@click.argument("to", shell_complete=agents)
@click.argument("text", callback=text_or_stdin)
@click.option("--task", "is_task", is_flag=True, help="Send it as a task.")
@click.option("--priority", type=PRIORITIES, help="Priority of the task. [default: medium]")
@click.option("--reply-to", metavar="M-N", help="Message that it answers, as the inbox shows it.")
@click.option("--wait", "is_awaited", is_flag=True, help="Wait for the reply to the message, and print that.")
@click.option(
    "--timeout", type=Seconds(), metavar="S", help="Give up waiting after S seconds, with exit code 4."
)
@uses_project
def send(
    *,
    hub: Hub,
    to: str,
    text: str,
    is_task: bool,
    priority: str | None,
    reply_to: str | None,
    is_awaited: bool,
    timeout: float | None,
    as_json: bool,
) -> None:
    """Send TEXT to the agent TO, or to `everyone`. With `-`, send standard input.

    A message is only read, and runs no program; a task is done and answered. With --wait nothing but the reply is
    printed; it is acknowledged, too.
    """
    _require_fitting(to, priority, reply_to, is_task=is_task)
    _require_waitable(to, timeout, is_task=is_task, is_awaited=is_awaited)
    if to == EVERYONE:
        _send_everyone(hub, text, as_json=as_json)
        return
    noun = "task" if is_task else "message"
    answered = _message_id(hub, reply_to) if reply_to is not None else None
    try:
        facts = {"to": to, "text": text, "priority": priority, "in_reply_to": answered}
        answer = awaited_result.send(hub, f"/{noun}s", facts)
    except HubRefused as refusal:
        if refusal.code == UnknownAgent.code and _is_agent(hub, text):
            told = display.clean(f"is it the other way round? hubbub send {text} {to!r}")
            raise click.ClickException(f"no agent is called {display.clean(repr(to))}; {told}") from None
        raise
    sent, delivery = answer[noun], answer["delivery"]
    if is_awaited:
        awaited_result.tell_of_silence(sent, delivery)
        _show_reply(hub, sent, timeout, as_json=as_json)
        return
    if as_json:
        display.show_json({**sent, "delivery": delivery})
        return
    if is_task:
        show_line(sent, as_json=False)
    else:
        display.show(f"sent M-{sent['number']} to {parties.receiver(sent)}")
    if delivery is None:
        return
    if delivery["wake"] != WORKER:
        display.show(delivery["note"])
    elif not is_task:
        display.show(f"{delivery['note']} To have this done, add --task.")


def _require_fitting(to: str, priority: str | None, reply_to: str | None, *, is_task: bool) -> None:
    """Raise `click.UsageError` if options do not go together."""
    if priority is not None and not is_task:
        raise click.UsageError(
            "a message has no priority; send a task: hubbub send TO TEXT --task --priority P"
        )
    if reply_to is not None and (is_task or to == EVERYONE):
        raise click.UsageError("--reply-to goes with a message to one agent or person")
    if is_task and to == EVERYONE:
        raise click.UsageError(
            "a task is for one agent, or open for any agent to claim: hubbub task add TEXT"
        )


def _require_waitable(to: str, timeout: float | None, *, is_task: bool, is_awaited: bool) -> None:
    """Raise `click.UsageError` if what is sent has no single reply to wait for."""
    if timeout is not None and not is_awaited:
        raise click.UsageError("--timeout goes with --wait")
    if is_awaited and is_task:
        raise click.UsageError("to wait for the result of a task: hubbub task add TEXT --to TO --wait")
    if is_awaited and to == EVERYONE:
        raise click.UsageError("--wait goes with a message to one agent or person")


def _show_reply(hub: Hub, sent: Mapping[str, Any], timeout: float | None, *, as_json: bool) -> None:
    """Wait for the reply to a message, and print it; without one in time, exit as `hubbub wait` does."""
    try:
        said = awaited_result.reply(hub, sent, timeout)
    except KeyboardInterrupt:  # a person gives up; the message stays
        click.get_current_context().exit(TIMED_OUT)
    if said is None:
        display.advise(f"No reply to M-{sent['number']} came in {timeout:g} s.")
        click.get_current_context().exit(TIMED_OUT)
    if as_json:
        display.show_json(said)
    else:
        display.show(said["body"])


def _message_id(hub: Hub, ref: str) -> str:
    """Return the id of the message `M-7`; other names are left to the hub."""
    written = NUMBER.fullmatch(ref)
    if written is None:
        return ref
    number = int(written[1])
    found = hub.get("/messages", before=number + 1, limit=1)["messages"]
    if not found or found[0]["number"] != number:
        raise click.ClickException(f"message {ref!r} not found")
    return str(found[0]["id"])


def _is_agent(hub: Hub, name: str) -> bool:
    return any(each["name"] == name for each in hub.get("/agents")["agents"])


def _send_everyone(hub: Hub, text: str, *, as_json: bool) -> None:
    sent = hub.post("/broadcasts", {"text": text, "away": True, "kind": LetterKind.MESSAGE})
    if as_json:
        display.show_json(sent)
        return
    told, number = sent["recipients"], f"M-{sent['message']['number']}"
    count = "1 agent" if len(told) == 1 else f"{len(told)} agents"
    display.show(
        f"sent {number} to {count}: {', '.join(told)}"
        if told
        else f"sent {number} to nobody: the project has no other agent yet"
    )


@command(
    "inbox",
    short_help="Show the messages and tasks that wait for you, or for an agent.",
    example="hubbub inbox\nhubbub inbox coder-1\nhubbub inbox coder-1 --ack --json\nhubbub inbox hub --dead",
    names=lambda letter: letter["ref"],
)
@click.argument("name", shell_complete=agents, required=False)
@click.option("--ack", is_flag=True, help="Acknowledge the shown letters; this accepts tasks.")
@click.option("--dead", is_flag=True, help="Show messages from NAME that were never read, instead.")
@click.option("--limit", type=click.IntRange(1, 500), default=50, show_default=True, help="How many to list.")
@uses_project
def inbox(*, hub: Hub, name: str | None, ack: bool, dead: bool, limit: int, as_json: bool) -> None:
    """Show the inbox of the agent NAME, most urgent first. Without NAME, show yours.

    Your own name shows yours, too; `hub` shows what is for all people.
    """
    if dead and ack:
        raise click.UsageError("--dead lists messages that others have not read; you cannot acknowledge them")
    inboxes = inboxes_of(hub, name)
    if dead:
        _show_dead(hub.get("/dead-letters", sender=inboxes[0], limit=limit)["letters"], as_json=as_json)
        return
    found = [(each, letter) for each in inboxes for letter in hub.inbox(each, limit=limit)]
    found = sorted(found, key=_urgency)[:limit]  # like the hub, over all names
    letters = [letter for _name, letter in found]
    if as_json:
        display.show_json(letters)
    else:
        _show(letters, inboxes[0])
        if not ack:
            _advise_ack(letters, inboxes[0])
        if len(found) == limit and name is not None and inboxes[0] != HUB:
            display.show_rest(limit, hub.agent(name)["unread"], "more with --limit")
    if ack:
        print(end="", flush=True)  # unseen letters are not acknowledged
        for each, letter in found:
            hub.ack(each, letter["id"])


def inboxes_of(hub: Hub, name: str | None) -> list[str]:
    """Return the inboxes behind a name, by default the caller's: a person has that of all people, and their own."""
    if name == HUB:
        return [HUB]
    me = hub.get("/me")
    if name not in (None, me["user"]):
        return [name]
    if me["agent"] is not None:
        return [me["agent"]]
    return [HUB] if me["user"] is None else [HUB, me["user"]]


def _urgency(found: tuple[str, LetterReply]) -> tuple[int, int]:
    _name, letter = found
    return PRIORITIES.choices.index(letter["priority"]), letter["stored_at"]


def _show_dead(letters: Sequence[Mapping[str, Any]], *, as_json: bool) -> None:
    columns: display.Columns = {
        "message": "ref",
        "to": "recipient",
        "sent": lambda each: display.brief(each["stored_at"]),
        "why": lambda each: "its time was over" if each["expired"] else "never came",
    }
    display.show_list(letters, columns, as_json=as_json, empty="Nothing that was sent is unread for good.")


def _show(letters: Sequence[LetterReply], name: str) -> None:
    titles = ("id", "kind", "priority", "from", "came", "text")
    rows = [
        (
            each["ref"],
            each["kind"],
            each["priority"],
            parties.sender(each),
            display.brief(each["stored_at"]),
            each["text"],
        )
        for each in letters
    ]
    empty = f"Nothing waits for {'you' if name == HUB else display.clean(name)}."
    cut = display.show_table(titles, rows, empty=empty)
    if sys.stdout.isatty():
        _show_whole([each for at, each in enumerate(letters) if at in cut or "\n" in each["text"].strip()])
    _advise_reply(letters)


def _show_whole(letters: Sequence[LetterReply]) -> None:
    """Show a person the whole texts of which the table has only the beginning."""
    for each in letters:
        display.show(f"\n{each['ref']} from {parties.sender(each)}:")
        display.show_below(each["text"].strip())


def _advise_reply(letters: Sequence[LetterReply]) -> None:
    """Tell a person how the first message is answered."""
    for each in letters:
        if each["task_id"] is None:
            to = display.clean(parties.sender(each))
            display.advise(f"To answer: hubbub send {to} TEXT --reply-to {each['ref']}")
            return


def _advise_ack(letters: Sequence[LetterReply], name: str) -> None:
    """Tell a person how their own letters stop waiting."""
    if letters and name == HUB:
        display.advise("To clear it: hubbub inbox --ack")


@command(
    "wait",
    short_help="Wait for mail or work for you, or for an agent.",
    example="hubbub wait\nhubbub wait coder-1 --timeout 600",
)
@click.argument("name", shell_complete=agents, required=False)
@click.option("--timeout", type=Seconds(), metavar="S", help="Give up after S seconds, with exit code 4.")
@uses_project
def wait(*, hub: Hub, name: str | None, timeout: float | None, as_json: bool) -> None:
    """Wait until there is mail or work for NAME, and print it: as JSON for programs, as `inbox` does at a terminal.

    What waits in the inbox already is printed at once, so that nothing is missed between two calls; `hubbub inbox
    --ack` clears it. Without NAME, wait for what comes to people; with an agent's token, for that agent. Keeps waiting
    while a hub restarts.
    """
    name = inboxes_of(hub, name)[0]
    try:
        letters = _letters(hub, name, timeout)
        if not letters:
            display.advise(f"Nothing came in {timeout:g} s.")
    except KeyboardInterrupt:  # a person gives up
        letters = []
    if not letters:
        click.get_current_context().exit(TIMED_OUT)
    if as_json or not sys.stdout.isatty():
        display.show_json(letters)
    else:
        _show(letters, name)
        _advise_ack(letters, name)


def _letters(hub: Hub, name: str, timeout: float | None) -> list[LetterReply]:
    """Return the letters as soon as there are any; none if the time is over."""
    deadline = None if timeout is None else time.monotonic() + timeout
    letters = hub.inbox(name)  # fails at once if the hub is away, or has no such inbox
    while not (letters := letters or _come(hub, name, deadline)):
        if deadline is not None and time.monotonic() >= deadline:
            return []
    return letters


def _come(hub: Hub, name: str, deadline: float | None) -> list[LetterReply]:
    """Return the letters within one request's time; none also while the hub is away."""
    left = WAIT_SECONDS if deadline is None else max(0.0, min(WAIT_SECONDS, deadline - time.monotonic()))
    try:
        return hub.inbox(name, wait_seconds=left)
    except HubRefused as error:
        if not error.is_temporary:
            raise
    except HubUnreachable:
        pass
    time.sleep(min(PAUSE, left))
    return []
