"""`hubbub log`: the activity log, past and live."""

import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import cast

import click

from hubbub.client import ActivityReply, Hub, HubUnreachable
from hubbub.model.log.event_types import KINDS, expanded
from hubbub.terminal import display, parties, short_ids
from hubbub.terminal.agent_names import agents
from hubbub.terminal.command import command, uses_project
from hubbub.terminal.durations import Moment

MOST = 500  # of one page
PAUSE = 1.0  # seconds between tries to reach an absent hub
# Steps between what people ask for: how programs go about their work, and how it reaches them.
INNER = frozenset(
    {
        "agent.changed",
        "agent.described",
        "agent.heartbeat",
        "agent.met",
        "approval.spent",
        "completion.reported",
        "dispatch.queued",
        "dispatch.sent",
        "message.acked",
        "message.delivered",
        "node.changed",
        "outbox.delivered",
        "task.accepted",
        "task.progress",
    }
)


@command(
    "log",
    short_help="Show what happened, or follow what happens.",
    example="hubbub log --limit 20 --follow\nhubbub log --task 7\nhubbub log --since yesterday --kind 'task.*'",
)
@click.option("--follow", is_flag=True, help="Keep following until you press Ctrl-C.")
@click.option(
    "--limit",
    type=click.IntRange(0, 500),
    default=50,
    show_default=True,
    help="How many lines of the past to show.",
)
@click.option("--task", metavar="ID", help="Show only this task.")
@click.option("--agent", metavar="A", shell_complete=agents, help="Show only this agent.")
@click.option(
    "--kind",
    metavar="K",
    multiple=True,
    help="Show only this kind, or group such as task.*; may be repeated.",
)
@click.option(
    "--since",
    type=Moment(),
    metavar="TIME",
    help="Show only what happened since, such as 2h, 3d or yesterday.",
)
@click.option("--until", type=Moment(), metavar="TIME", help="Show only what happened before this time.")
@click.option("--all", "is_all", is_flag=True, help="At a terminal, show the inner steps, too.")
@uses_project
def log(
    *,
    hub: Hub,
    follow: bool,
    limit: int,
    task: str | None,
    agent: str | None,
    kind: tuple[str, ...],
    since: int | None,
    until: int | None,
    is_all: bool,
    as_json: bool,
) -> None:
    """Show what happened in the project, oldest first.

    A terminal shows what people ask for; programs, --all, --task and --kind get every step.
    """
    if follow and until is not None:
        raise click.UsageError("--follow goes on and --until ends: give one of them")
    about = {"task": hub.task(short_ids.task(hub, task))["id"] if task is not None else None, "agent": agent}
    kinds = expanded(kind)
    is_brief = sys.stdout.isatty() and not (is_all or as_json or task or kinds)
    asked = MOST if is_brief else min(limit + 1, MOST)
    found = hub.get("/activity", **about, kind=kind, since=since, until=until, limit=asked)
    past: list[ActivityReply] = found["activity"]
    if agent is not None and not past:
        hub.agent(agent)  # which refuses an unknown name
    shown = [each for each in past if not (is_brief and each["kind"] in INNER)]
    if 0 < limit < len(shown) and not as_json:
        click.echo(f"the last {limit}; more with --limit", err=True)
    for each in reversed(shown[:limit]):
        _show(each, as_json=as_json)
    if not shown and not follow:
        display.advise("Nothing matches.")
    if follow:
        hidden = KINDS.difference(kinds) if kinds else INNER if is_brief else frozenset[str]()

        def is_meant(line: ActivityReply) -> bool:
            return (
                about["task"] in (None, line["task_id"])
                and agent in (None, line["agent"])
                and line["kind"] not in hidden
                and line["at"] >= (since or 0)
            )

        with suppress(KeyboardInterrupt):  # that is how it ends
            _follow(hub, str(past[0]["id"]) if past else "0", is_meant, as_json=as_json)
    elif len(shown) < len(past):
        display.advise("every step: hubbub log --all")


def _follow(hub: Hub, after: str, is_meant: Callable[[ActivityReply], bool], *, as_json: bool) -> None:
    """Show the meant activities as they happen, and after a lost connection the missed ones."""
    while True:
        try:
            for frame in hub.follow(after=after):
                after = frame.id or after
                line = cast("ActivityReply", frame.data)
                if is_meant(line):
                    _show(line, as_json=as_json)
        except HubUnreachable as error:
            click.echo(display.clean(f"{error}; waiting for it"), err=True)
            time.sleep(PAUSE)


def _show(activity: ActivityReply, *, as_json: bool) -> None:
    if as_json:
        display.show_json(activity)
        return
    facts = activity["detail"]
    about = facts.get("addressee") or (parties.inbox(activity["agent"]) if activity["agent"] else None)
    parts = [
        display.moment(activity["at"]),
        activity["kind"],
        f"T-{facts['number']}" if activity["task_id"] and "number" in facts else None,
        f"by {activity['actor']}",
        f"for {about}" if about not in (None, activity["actor"]) else None,
        facts.get("title") or facts.get("shown") or facts.get("reason"),
    ]
    display.show(" ".join(str(part) for part in parts if part), lines=False)
