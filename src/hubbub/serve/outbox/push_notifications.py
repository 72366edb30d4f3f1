"""Push notifications to a person's telephone: one sentence with a title, as ntfy takes it.

The words are ours. Others' texts are only names and a task's title, short, without secrets, every character visible: a
push passes foreign servers, and appears on a locked screen.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote
from uuid import UUID

from hubbub.core.log.outbox import OutboxJob
from hubbub.core.why.explanation import listed, named, quoted
from hubbub.model.fleet.calls import QuestionKind
from hubbub.model.limits.breakers import LoopKind
from hubbub.model.limits.budgets import BudgetLevel
from hubbub.model.log import answer_links
from hubbub.model.log.attention import Needed, NeedKind, TaskState, new_needs
from hubbub.model.log.projection import Card
from hubbub.model.log.webhooks import Webhook
from hubbub.model.records import Activity, Task
from hubbub.model.redaction import Redactor
from hubbub.model.timestamps import utc_time

SECRETS = Redactor()
NAMES = 3  # of agents in a sentence
WHOLE = 400  # characters; a shorter text is in the log as it was asked
LOOKED_AT = 1_000  # characters of a title that are searched for secrets


@dataclass(frozen=True, slots=True)
class PushNotification:
    """The notification that a telephone shows."""

    title: str
    text: str
    priority: str
    tags: str
    click: str
    actions: str | None = None  # buttons, in the words of ntfy

    @property
    def headers(self) -> dict[str, str]:
        buttons = {} if self.actions is None else {"Actions": self.actions}
        return {
            **buttons,
            "Content-Type": "text/plain; charset=utf-8",
            "Title": self.title,
            "Priority": self.priority,
            "Tags": self.tags,
            "Click": self.click,
        }


@dataclass(frozen=True, slots=True)
class _Told:
    """The content of a notification: an activity, and the needs that begin with it, if any."""

    happened: Activity
    task: Task | None
    needs: Sequence[Needed]

    @property
    def card(self) -> Card:
        """Return the card of the most urgent need."""
        return self.needs[0].card

    @property
    def words(self) -> "_Words":
        if not self.needs:
            return OTHER
        kind = self.needs[0].need.kind
        is_asking = kind is NeedKind.QUESTION and self.card["state"] == TaskState.WAITING
        return ASKING if is_asking else WORDS[kind]


@dataclass(frozen=True, slots=True)
class _Words:
    """The words for one kind of need."""

    title: str
    priority: str
    tag: str
    text: Callable[[_Told], str]
    view: str


def notification_of(errand: OutboxJob, happened: Activity, url: str) -> PushNotification:
    """Make the notification of an activity; `url` is the hub's address for people."""
    told = _Told(happened, errand.task, new_needs(happened))
    words, task = told.words, errand.task
    view = f"/t/{task.number}" if task is not None else words.view
    project = quote(errand.project or "", safe="")
    answer = _answer_of(errand.webhook, told, url)
    return PushNotification(
        title=f"{words.title} ({project})",
        text=words.text(told) if answer is None else f"{words.text(told)}{answer.text}",
        priority=words.priority,
        tags=words.tag,
        click=f"{url}{view}?project={project}" if answer is None else answer.page,
        actions=None if answer is None else answer.actions,
    )


@dataclass(frozen=True, slots=True)
class _Answer:
    """A person's means to answer on the telephone: a page, and buttons if everything asked for can be shown there."""

    page: str
    text: str = ""

    @property
    def actions(self) -> str:
        look = f"view, Look, {self.page}"
        if not self.text:
            return look
        post = "method=POST, clear=true"
        return f"http, Approve, {self.page}/yes, {post}; http, Deny, {self.page}/no, {post}; {look}"


def _answer_of(webhook: Webhook | None, told: _Told, url: str) -> _Answer | None:
    """Make the link and the buttons for a question; None for anything else, or a webhook without them."""
    detail = told.happened.detail
    is_question = bool(told.needs) and told.needs[0].need.kind is NeedKind.APPROVAL and "digest" in detail
    if webhook is None or webhook.answers_by is None or not is_question:
        return None
    token = answer_links.token(webhook, UUID(str(detail["approval_id"])), str(detail["digest"]))
    page, shown, folder = f"{url}{answer_links.PATH}/{token}", str(detail["shown"]), str(detail["folder"])
    needs_more = told.card["dangerous"] or told.card["kind"] == QuestionKind.RULE
    is_whole = max(len(shown), len(folder)) < WHOLE and SECRETS.text(shown) == shown
    return _Answer(page, f"\n{shown}\nin {folder}" if is_whole and not needs_more else "")


def _asked(told: _Told) -> str:
    who, said = _who(told.card["who"]), told.card["said_node"]
    if said is not None:
        return (
            f"{who}'s own program waits for your yes or no: {_call(told)}, on {named(str(said))} as it says."
        )
    return f"{who} waits for your yes or no: {_call(told)} on {named(str(told.card['node']))}."


def _unanswered(told: _Told) -> str:
    return f"{_who(told.card['who'])} got no answer in time: {_call(told)}."


def _call(told: _Told) -> str:
    return named(str(told.card["tool"]))


def _blocked(told: _Told) -> str:
    return f"{_task(told.task)} is blocked; {_who(told.happened.agent)} has it."


def _waits(told: _Told) -> str:
    return f"{_who(told.happened.agent)} waits for your answer."


def _handed_in(told: _Told) -> str:
    return f"{_who(told.happened.agent)} has handed in {_task(told.task)}."


def _failed(told: _Told) -> str:
    return f"{_task(told.task)} was given up by {_who(told.happened.actor)}."


def _silent(told: _Told) -> str:
    return f"{_who(told.happened.agent)} has been silent for too long."


def _written(told: _Told) -> str:
    return f"{_who(told.happened.actor)} has written to you."


def _conflict(told: _Told) -> str:
    who = told.happened.agent
    met = {name for each in told.needs for name in each.card.get("agents", ())}
    names = [_who(name) for name in sorted(met - {who})]
    more = [f"{len(names) - NAMES} more"] if len(names) > NAMES else []
    return f"{_who(who)} is working on the same files as {listed([*names[:NAMES], *more])}."


def _stopped(told: _Told) -> str:
    names = [_who(name) for name in told.card["agents"]]
    how = {
        LoopKind.ANSWERING: "keep answering each other",
        LoopKind.REPEATING: "keeps making the same call",
        LoopKind.NESTING: "creates tasks for tasks",
        LoopKind.MULTIPLYING: "creates more and more tasks",
        LoopKind.RETRYING: "has a task that is retried again and again",
    }[LoopKind(told.card["kind"])]
    return f"{listed(names)} {how}, and {'are' if len(names) > 1 else 'is'} stopped."


def _short_of(told: _Told) -> str:
    detail = told.happened.detail
    title = SECRETS.text(str(detail["budget"])[:LOOKED_AT])
    is_spent = told.card["level"] == BudgetLevel.SPENT
    return f"{title[:1].upper()}{title[1:]} is {'spent' if is_spent else 'nearly spent'}: {detail['state']}."


def _all_paused(told: _Told) -> str:
    until = told.happened.detail["first_until"]
    when = f"at {utc_time(until)}" if isinstance(until, int) else "when a person resumes it"
    return f"Every account is paused, and nothing is begun; the first goes on {when}."


def _late(told: _Told) -> str:
    task, who = _task(told.task), told.happened.agent
    if told.card["state"] == TaskState.RUNNING:
        return f"{_who(who)} has reported nothing about {task} for an hour."
    return (
        f"{task} is free, and nobody has claimed it."
        if who is None
        else f"{_who(who)} has not started {task}."
    )


def _other(told: _Told) -> str:
    about = f"{_task(told.task)}: " if told.task is not None else ""
    return f"{about}{told.happened.kind}, by {_who(told.happened.actor)}."


def _task(task: Task | None) -> str:
    if task is None:
        return "A task"
    return f"T-{task.number} {quoted(SECRETS.text(task.title[:LOOKED_AT]))}"


def _who(name: str | None) -> str:
    return named(SECRETS.text(name[:LOOKED_AT])) if name else "somebody"


OTHER = _Words("Something happened", "low", "information_source", _other, "/activity")
ASKING = _Words("An agent waits for you", "default", "raised_hand", _waits, "/")
WORDS: Mapping[NeedKind, _Words] = {
    NeedKind.APPROVAL: _Words("An approval is needed", "high", "lock", _asked, "/"),
    NeedKind.QUESTION: _Words("A task is blocked", "default", "pause_button", _blocked, "/"),
    NeedKind.LETTER: _Words("A message for you", "default", "envelope", _written, "/messages"),
    NeedKind.REVIEW: _Words("Work is ready for your review", "default", "mag", _handed_in, "/"),
    NeedKind.STOPPED: _Words("Agents are stuck in a loop", "high", "repeat", _stopped, "/"),
    NeedKind.BUDGET: _Words("A budget is nearly spent", "high", "money_with_wings", _short_of, "/cost"),
    NeedKind.PAUSED: _Words("All accounts are paused", "default", "pause_button", _all_paused, "/fleet"),
    NeedKind.EXPIRED: _Words("A question got no answer", "default", "hourglass", _unanswered, "/"),
    NeedKind.STALE: _Words("An agent went silent", "default", "zzz", _silent, "/fleet"),
    NeedKind.CONFLICT: _Words("Two agents are in the same files", "default", "warning", _conflict, "/files"),
    NeedKind.FAILED: _Words("A task has failed", "high", "x", _failed, "/"),
    NeedKind.LATE: _Words("A task is late", "default", "hourglass", _late, "/"),
}
