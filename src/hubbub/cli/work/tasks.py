"""`hubbub tasks` and `hubbub task`: tasks, and their states."""

from collections.abc import Callable
from operator import itemgetter
from typing import Any

import click

from hubbub.cli import Group
from hubbub.cli.work import awaited_result
from hubbub.client import Hub, HubRefused, TaskReply, segment
from hubbub.model import argument_names
from hubbub.model.errors import InvalidTransition
from hubbub.model.lifecycle import Status
from hubbub.model.log.attention import NeedKind
from hubbub.model.people.rights import HUB
from hubbub.model.records import Priority
from hubbub.terminal import display, parties, pauses, short_ids
from hubbub.terminal.agent_names import agents
from hubbub.terminal.command import command, text_or_stdin, uses_project
from hubbub.terminal.exit_codes import TIMED_OUT
from hubbub.terminal.wrong_words import OneOf

PRIORITIES = OneOf([priority.name.lower() for priority in Priority], elsewhere={"urgent": "critical"})
MOST = 500  # of one page
STATUSES = OneOf([str(status) for status in Status], elsewhere=argument_names.others(Status))


def statuses_given(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    """Return the statuses of an option that takes several, also with commas between them."""
    return tuple(STATUSES.convert(word.strip(), param, ctx) for each in value for word in each.split(","))


def show_line(task: TaskReply, *, as_json: bool) -> None:
    """Print one task: its number and its status."""
    if as_json:
        display.show_json(task)
    else:
        holder = f", with {task['assignee']}" if task["assignee"] else ""
        if task["status"] == Status.QUEUED and not task["ready"]:
            holder += ", waits for others"
        elif task["status"] == Status.QUEUED and not holder:
            holder = ", free to claim"
        rest = display.clean(f"{holder}: {task['title']}", lines=True)
        print(f"T-{task['number']} {display.coloured(task['status'])}{rest}", flush=True)


@command(
    "tasks",
    short_help="List tasks, newest first.",
    example="hubbub tasks --status working,blocked --assignee coder-1\nhubbub task list --mine --search parser",
    names=lambda task: f"T-{task['number']}",
)
@click.option(
    "--status",
    "statuses",
    metavar="S",
    multiple=True,
    callback=statuses_given,
    help=f"List only tasks in this status, or in several: {', '.join(Status)}.",
)
@click.option("--assignee", metavar="A", shell_complete=agents, help="List only this agent's.")
@click.option(
    "--sender", metavar="A", shell_complete=agents, help="List only those from this agent or person."
)
@click.option("--priority", type=PRIORITIES, help="List only tasks of this priority.")
@click.option("--area", metavar="A", help="List only tasks of this work area.")
@click.option("--search", metavar="TEXT", help="List only tasks with these words in title or description.")
@click.option("--mine", is_flag=True, help="List only yours: those that you gave, or that the agent has.")
@click.option("--limit", type=click.IntRange(1, 500), default=50, show_default=True, help="How many to list.")
@click.option("--all", "is_all", is_flag=True, help="List all of them.")
@uses_project
def tasks(
    *,
    hub: Hub,
    statuses: tuple[str, ...],
    search: str | None,
    mine: bool,
    limit: int,
    is_all: bool,
    as_json: bool,
    **columns: str | None,
) -> None:
    """List the project's tasks, newest first."""
    narrowed: dict[str, object] = {"status": statuses, "q": search, **columns}
    if mine:
        me = hub.get("/me")
        narrowed |= {"assignee": me["agent"]} if me["agent"] else {"sender": me["user"] or HUB}
    page = hub.get("/tasks", **narrowed, limit=MOST if is_all else limit, total="true")
    found: list[TaskReply] = page["tasks"]
    if not found and columns["assignee"] is not None:
        hub.agent(columns["assignee"])  # which refuses an unknown name
    while is_all and len(page["tasks"]) == MOST:
        page = hub.get("/tasks", **narrowed, limit=MOST, before=found[-1]["number"])
        found += page["tasks"]
    if as_json:
        display.show_json(found)
        return
    paused = pauses.of_tasks(hub, found)
    rows = [
        (
            f"T-{each['number']}",
            ", ".join(filter(None, (each["status"], paused.get(each["id"])))),
            each["priority"],
            parties.sender(each),
            each["assignee"],
            display.brief(each["created_at"]),
            each["title"],
        )
        for each in found
    ]
    display.show_table(("task", "status", "priority", "from", "to", "sent", "title"), rows, empty="No tasks.")
    display.show_rest(len(found), len(found) if is_all else page["total"], "all of them with --all")


@click.group("task", cls=Group, short_help="Add, show, claim, do, answer or steer a task.")
def task() -> None:
    """Add, show, claim, do, answer or steer a task. ID is its number, its id or the beginning of that."""


@command(
    "add",
    example="hubbub task add 'Review the parser' --to coder-1 --priority high\n"
    "hubbub task add 'Count to ten' --to counter --wait",
)
@click.argument("text", callback=text_or_stdin)
@click.option("--title", metavar="T", help="Title. [default: the first line]")
@click.option(
    "--to", metavar="A", shell_complete=agents, help="Agent to do it. [default: any agent that claims it]"
)
@click.option("--priority", type=PRIORITIES, default="medium", show_default=True, help="Priority.")
@click.option("--context", metavar="C", help="Background that the agent should know.")
@click.option("--area", metavar="A", help="Area of the project that it belongs to.")
@click.option(
    "--parent",
    "parent_id",
    metavar="ID",
    callback=lambda _context, _option, given: given or None,  # as HUBBUB_TASK_ID in a broadcast
    help="Task that it is a part of; empty means none.",
)
@click.option(
    "--depends-on", metavar="ID", multiple=True, help="Task that must be done first; may be repeated."
)
@click.option("--github", "issue", metavar="OWNER/REPO#N", help="Issue that gets the result as a comment.")
@click.option(
    "--done-when",
    metavar="D",
    multiple=True,
    help="Evidence needed to complete it, such as tests; may be repeated. [default: the project's]",
)
@click.option("--anyway", is_flag=True, help="Add it even if another open task is the same job.")
@click.option("--wait", "is_awaited", is_flag=True, help="Wait for its result, and print that.")
@uses_project
def add(
    *,
    hub: Hub,
    parent_id: str | None,
    depends_on: tuple[str, ...],
    done_when: tuple[str, ...],
    is_awaited: bool,
    as_json: bool,
    **facts: object,
) -> None:
    """Send a task with the text TEXT, or what comes on standard input if that is `-`.

    ID is a task's number, its id or the beginning of that.
    """
    wanted = {
        **facts,
        "parent_id": short_ids.task(hub, parent_id) if parent_id is not None else None,
        "depends_on": [short_ids.task(hub, each) for each in depends_on],
        "done_when": done_when or None,
    }
    try:
        sent = awaited_result.send(hub, "/tasks", wanted, is_awaited=is_awaited)
        task = sent["task"]
        if not is_awaited:
            show_line(task, as_json=as_json)
            return
        awaited_result.tell_of_wait(hub, task, sent["delivery"])
        task = awaited_result.ended(hub, task["id"])
    except KeyboardInterrupt:  # a person gives up; the task stays
        click.get_current_context().exit(TIMED_OUT)
    awaited_result.show(hub, task, as_json=as_json)


@command("show", example="hubbub task show 7")
@click.argument("ref", metavar="ID")
@uses_project
@short_ids.of_task
def show(*, hub: Hub, ref: str, as_json: bool) -> None:
    """Show everything about a task."""
    whole: dict[str, Any] = hub.get(f"/tasks/{segment('task', ref)}")
    if as_json:
        display.show_json(whole)
        return
    shown: TaskReply = whole["task"]
    show_line(shown, as_json=False)
    for pause in pauses.of_tasks(hub, [shown]).values():
        display.show(f"stands still: the account of {shown['assignee']} is {pause}")
    display.show(
        f"from {parties.sender(shown)}, {shown['priority']}, attempt {shown['attempt']}, id {shown['id']}"
    )
    if shown["area"]:
        display.show(f"in the area {shown['area']}")
    if shown["depends_on"]:
        needed = [f"T-{hub.task(each)['number']}" for each in shown["depends_on"]]
        display.show(f"depends on {', '.join(needed)}")
    if shown["issue"]:
        display.show(f"about {shown['issue']} on GitHub")
    for each in hub.get(f"/tasks/{segment('task', ref)}/proof")["findings"]:
        display.show(f"done when {each['means']}")
    display.show("" if shown["text"] == shown["title"] else f"\n{shown['text']}\n")
    if shown["result"]:
        display.show(f"result: {shown['result']}\n")
    history = [(each["at"], f"{each['kind']} by {each['actor']}") for each in reversed(whole["activity"])]
    history += [
        (each["created_at"], f"{parties.sender(each)} to {parties.receiver(each)}: {each['body']}")
        for each in whole["messages"]
    ]
    for at, happened in sorted(history, key=itemgetter(0)):
        display.show(f"{display.stamp(at)} {happened}")


@command("cancel", example="hubbub task cancel 7 --reason 'not needed any more'")
@click.argument("ref", metavar="ID")
@click.option("--reason", metavar="R", help="Reason; it becomes the result.")
@uses_project
@short_ids.of_task
def cancel(*, hub: Hub, ref: str, reason: str | None, as_json: bool) -> None:
    """Cancel a task."""
    show_line(_ended(hub, ref, "cancel", reason=reason), as_json=as_json)


@command("retry", example="hubbub task retry 7")
@click.argument("ref", metavar="ID")
@uses_project
@short_ids.of_task
def retry(*, hub: Hub, ref: str, as_json: bool) -> None:
    """Retry a failed, cancelled or expired task."""
    show_line(hub.step(ref, "retry"), as_json=as_json)


# ---- what its holder says


def by_agent(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--as`, the agent by whom a person or an unbound token acts; the function gets it as `by`."""
    return click.option(
        "--as",
        "by",
        metavar="AGENT",
        shell_complete=agents,
        help="Agent that does it. [default: the agent of the token]",
    )(function)


@command("claim", example="hubbub task claim 7\nhubbub task claim 7 --as coder-1")
@click.argument("ref", metavar="ID")
@by_agent
@uses_project
@short_ids.of_task
def claim(*, hub: Hub, ref: str, by: str | None, as_json: bool) -> None:
    """Claim a free task, or accept one that was sent to the agent."""
    show_line(hub.step(ref, "accept", by=by), as_json=as_json)


@command("start", example="hubbub task start 7")
@click.argument("ref", metavar="ID")
@by_agent
@uses_project
@short_ids.of_task
def start(*, hub: Hub, ref: str, by: str | None, as_json: bool) -> None:
    """Begin a task, or go on with it; a free one is claimed first."""
    show_line(hub.step(ref, "start", by=by), as_json=as_json)


@command("progress", example="hubbub task progress 7 'the parser is done' --percent 60")
@click.argument("ref", metavar="ID")
@click.argument("text", metavar="[TEXT]", default="", callback=text_or_stdin)
@click.option("--percent", type=click.FloatRange(0, 100), metavar="P", help="Percentage that is done.")
@by_agent
@uses_project
@short_ids.of_task
def progress(*, hub: Hub, ref: str, text: str, percent: float | None, by: str | None, as_json: bool) -> None:
    """Report how far the agent is with its task: in words, in percent, or both."""
    if not text and percent is None:
        raise click.UsageError("say how far it is, in words or with --percent")
    told = {"output": text or None, "note": text or None, "progress": percent}
    show_line(hub.step(ref, "progress", by=by, **told), as_json=as_json)


@command("block", example="hubbub task block 7 'waits for the password'")
@click.argument("ref", metavar="ID")
@click.argument("reason", callback=text_or_stdin)
@by_agent
@uses_project
@short_ids.of_task
def block(*, hub: Hub, ref: str, reason: str, by: str | None, as_json: bool) -> None:
    """Mark a task as blocked; REASON says what it waits for. `hubbub task start` goes on with it."""
    show_line(hub.step(ref, "block", by=by, reason=reason), as_json=as_json)


@command("submit", example="hubbub task submit 7 'See the branch parser'")
@click.argument("ref", metavar="ID")
@click.argument("result", metavar="[RESULT]", default="", callback=text_or_stdin)
@by_agent
@uses_project
@short_ids.of_task
def submit(*, hub: Hub, ref: str, result: str, by: str | None, as_json: bool) -> None:
    """Hand in the work on a task for review; RESULT goes to its sender."""
    show_line(hub.step(ref, "submit", by=by, result=result), as_json=as_json)


@command("fail", example="hubbub task fail 7 'The sources are not there'")
@click.argument("ref", metavar="ID")
@click.argument("reason", callback=text_or_stdin)
@by_agent
@uses_project
@short_ids.of_task
def fail(*, hub: Hub, ref: str, reason: str, by: str | None, as_json: bool) -> None:
    """Give up a task; its sender gets the REASON."""
    show_line(_ended(hub, ref, "fail", by=by, reason=reason), as_json=as_json)


# ---- what ends or steers it


@command("complete", example="hubbub task complete 7 'Done by hand'")
@click.argument("ref", metavar="ID")
@click.argument("result", metavar="[RESULT]", default="", callback=text_or_stdin)
@uses_project
@short_ids.of_task
def complete(*, hub: Hub, ref: str, result: str, as_json: bool) -> None:
    """Complete a task for its assignee; RESULT goes to its sender."""
    show_line(_ended(hub, ref, "complete", result=result), as_json=as_json)


def _ended(hub: Hub, ref: str, verb: str, **facts: object) -> TaskReply:
    """Return the task, ended by this verb. Raises `click.ClickException` if it had ended before: by whom, and when."""
    try:
        return hub.step(ref, verb, **facts)
    except HubRefused as refusal:
        if refusal.code != InvalidTransition.code:
            raise
        whole: dict[str, Any] = hub.get(f"/tasks/{segment('task', ref)}")
        task = whole["task"]
        last = next((each for each in whole["activity"] if each["kind"] == f"task.{task['status']}"), None)
        if task["ended_at"] is None or last is None:
            raise
        told = (
            f"T-{task['number']} was already {task['status']} by {last['actor']} {display.since(last['at'])}"
        )
        raise click.ClickException(display.clean(told)) from None


@command("answer", example="hubbub task answer 7 'Yes, drop the old table'")
@click.argument("ref", metavar="ID")
@click.argument("text", callback=text_or_stdin)
@uses_project
@short_ids.of_task
def answer(*, hub: Hub, ref: str, text: str, as_json: bool) -> None:
    """Answer an agent that waits for you; its blocked task goes on."""
    asking = hub.task(ref)
    if (asking["need"] or {}).get("kind") != NeedKind.QUESTION:
        number = asking["number"]
        raise click.ClickException(
            f"T-{number} waits for no answer; to add a remark: hubbub task comment {number} TEXT"
        )
    hub.post(_path(ref, "comments"), {"text": text})
    is_blocked = asking["status"] == Status.BLOCKED
    show_line(hub.step(ref, "unblock", reason=text) if is_blocked else hub.task(ref), as_json=as_json)


@command("comment", example="hubbub task comment 7 'See also the logs of Monday'")
@click.argument("ref", metavar="ID")
@click.argument("text", callback=text_or_stdin)
@uses_project
@short_ids.of_task
def comment(*, hub: Hub, ref: str, text: str, as_json: bool) -> None:
    """Comment on a task, to its assignee or else its sender."""
    said = hub.post(_path(ref, "comments"), {"text": text})
    if as_json:
        display.show_json(said)
    elif said["message"] is None:
        display.show("added to the task, which has no other agent or person to tell")
    else:
        display.show(f"sent to {parties.receiver(said['message'])}")


def _path(ref: str, *parts: str) -> str:
    return "/".join((f"/tasks/{segment('task', ref)}", *parts))


@command("reassign", example="hubbub task reassign 7 coder-2 --reason 'knows the parser'")
@click.argument("ref", metavar="ID")
@click.argument("to", metavar="AGENT", shell_complete=agents)
@click.option("--reason", metavar="TEXT", help="Reason, which the old and the new holder are told.")
@uses_project
@short_ids.of_task
def reassign(*, hub: Hub, ref: str, to: str, reason: str | None, as_json: bool) -> None:
    """Hand an unfinished task to another agent."""
    show_line(hub.step(ref, "reassign", to=to, reason=reason), as_json=as_json)


@command(
    "done-when",
    short_help="Set the evidence that a task needs to be completed.",
    example="hubbub task done-when 7 commit tests 'within docs/'\nhubbub task done-when 7 --as-project",
)
@click.argument("ref", metavar="ID")
@click.argument("demands", metavar="[DEMAND]...", nargs=-1)
@click.option("--nothing", is_flag=True, help="Ask for nothing: its assignee's word is enough.")
@click.option("--as-project", is_flag=True, help="Ask again for what the project asks for.")
@uses_project
@short_ids.of_task
def done_when(
    *, hub: Hub, ref: str, demands: tuple[str, ...], nothing: bool, as_project: bool, as_json: bool
) -> None:
    """Set the evidence that a task needs to be completed. Without DEMAND, show it.

    DEMAND is clean, commit, pushed, tests, tests-kept, artifact, review, 'pushed BRANCH', 'ran COMMAND' or
    'within PATH …'.
    """
    if bool(demands) + nothing + as_project > 1:
        raise click.UsageError("give either the demands, --nothing or --as-project")
    path = f"/tasks/{segment('task', ref)}"
    if demands or nothing or as_project:
        hub.put(f"{path}/done-when", {"done_when": None if as_project else demands})
    found: dict[str, Any] = hub.get(f"{path}/proof")
    display.show_result(
        {"done_when": found["done_when"]},
        "\n".join(found["done_when"]) or "it asks for no proof",
        as_json=as_json,
    )


for each in (
    *(add, show, claim, start, progress, block, submit, complete, fail),
    *(answer, comment, cancel, retry, reassign, done_when),
):
    task.add_command(each)
task.add_command(tasks, "list")
