"""Telling a person's telephone what happened: one sentence with a title, as ntfy takes it.

The words are ours. Of others' there are names and the title of a task, short, without secrets, every character visible:
what is pushed passes servers that are not the hub's, and stands on a locked screen.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import quote

from hubbub.core.outbox import Errand
from hubbub.core.why.account import listed, named, quoted
from hubbub.model.records import Activity, Task
from hubbub.model.redaction import Redactor
from hubbub.model.webhooks import needs_people

SECRETS = Redactor()
NAMES = 3  # of agents in a sentence
LOOKED_AT = 1_000  # characters of a title, for secrets in it


@dataclass(frozen=True, slots=True)
class Push:
    """What a telephone shows."""

    title: str
    text: str
    priority: str
    tags: str
    click: str

    @property
    def headers(self) -> dict[str, str]:
        return {
            "Content-Type": "text/plain; charset=utf-8",
            "Title": self.title,
            "Priority": self.priority,
            "Tags": self.tags,
            "Click": self.click,
        }


@dataclass(frozen=True, slots=True)
class _Words:
    """What is said of one kind of activity."""

    title: str
    priority: str
    tag: str
    text: Callable[[Activity, Task | None], str]
    view: str


def push(errand: Errand, happened: Activity, url: str) -> Push:
    """What is pushed of an activity; `url` is where people find the hub."""
    known = happened.kind in WORDS and (happened.kind.startswith("task.") or needs_people(happened))
    words = WORDS[happened.kind] if known else OTHER
    task = errand.task
    view = f"/t/{task.number}" if task is not None else words.view
    project = quote(errand.project or "", safe="")
    return Push(
        title=f"{words.title} ({project})",
        text=words.text(happened, task),
        priority=words.priority,
        tags=words.tag,
        click=f"{url}{view}?project={project}",
    )


def _asked(happened: Activity, _task: Task | None) -> str:
    tool, node = (named(str(happened.detail.get(each) or "")) for each in ("tool", "node"))
    who, said = _who(happened.agent or happened.actor), happened.detail.get("said_node")
    if said is not None:
        return f"{who}'s own program waits for your yes or no: {tool}, on {named(str(said))} as it says."
    return f"{who} waits for your yes or no: {tool} on {node}."


def _blocked(happened: Activity, task: Task | None) -> str:
    return f"{_task(task)} cannot go on; {_who(happened.agent)} has it."


def _failed(happened: Activity, task: Task | None) -> str:
    return f"{_task(task)} was given up by {_who(happened.actor)}."


def _silent(happened: Activity, _task: Task | None) -> str:
    return f"{_who(happened.agent)} has sent no sign of life for too long."


def _written(happened: Activity, _task: Task | None) -> str:
    return f"{_who(happened.actor)} has written to you."


def _conflict(happened: Activity, _task: Task | None) -> str:
    others = happened.detail.get("conflicts")
    names = [_who(str(each)) for each in others] if isinstance(others, list) else []
    more = [f"{len(names) - NAMES} more"] if len(names) > NAMES else []
    return f"{_who(happened.agent)} works on the same as {listed([*names[:NAMES], *more])}."


def _other(happened: Activity, task: Task | None) -> str:
    about = f"{_task(task)}: " if task is not None else ""
    return f"{about}{happened.kind}, by {_who(happened.actor)}."


def _task(task: Task | None) -> str:
    if task is None:
        return "A task"
    return f"#{task.number} {quoted(SECRETS.text(task.title[:LOOKED_AT]))}"


def _who(name: str | None) -> str:
    return named(SECRETS.text(name[:LOOKED_AT])) if name else "somebody"


OTHER = _Words("Something happened", "low", "information_source", _other, "/activity")
WORDS: Mapping[str, _Words] = {
    "approval.asked": _Words("An approval is needed", "high", "lock", _asked, "/"),
    "task.blocked": _Words("A task is blocked", "default", "pause_button", _blocked, "/"),
    "task.failed": _Words("A task has failed", "high", "x", _failed, "/"),
    "agent.timeout": _Words("An agent fell silent", "default", "zzz", _silent, "/fleet"),
    "message.sent": _Words("A message for you", "default", "envelope", _written, "/messages"),
    "agent.scope_change": _Words("Two agents work on the same", "default", "warning", _conflict, "/files"),
}
