"""The doors to a task: who calls, and how each door says each verb. `test_every_door` compares what comes of it."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum, auto
from pathlib import Path

import httpx2

from hubbub.core.people import access
from hubbub.model.people.rights import Role
from hubbub.model.records import Task
from hubbub.model.work.permissions import TaskRole, Verb, VerbManner
from tests.cli import in_process
from tests.cli.processes import plain_environment
from tests.dialects.cmdop.callers import CmdopCaller
from tests.dialects.running_hub import NO_TLS, Caller, Json, Place
from tests.support.waiting import patience

P, V, M = TaskRole, Verb, VerbManner
REASON = "the customer asked for it"
SENDER, HOLDER, NEXT = "ann", "bob", "zoe"  # who sent the task, who has it, to whom it is given


class Answer(StrEnum):
    """A door's answer to a call; some doors only report that it was not done."""

    DONE = auto()
    DENIED = auto()  # it is not theirs to do
    STUCK = auto()  # it cannot be done now
    REFUSED = auto()  # one of the two


@dataclass(frozen=True)
class Visitor:
    """A caller: its part, its agent's name, and its token."""

    called: str
    part: TaskRole
    name: str | None  # of the agent in whose name they act
    is_bound: bool = True  # to that agent, by the token
    is_free: bool = False  # the task is, so that they may take it

    @property
    def unbound_name(self) -> str | None:
        """The name to be given in a call, as the token does not imply it."""
        return None if self.is_bound else self.name


VISITORS = (
    Visitor("its holder", P.HOLDER, HOLDER),
    Visitor("its sender", P.SENDER, SENDER),
    Visitor("a reviewer", P.REVIEWER, "rev"),
    Visitor("a coordinator", P.COORDINATOR, "lead"),
    Visitor("another agent", P.STRANGER, "eve"),
    Visitor("another agent, while it is free", P.TAKER, "tim", is_free=True),
    Visitor("a person", P.PERSON, None, is_bound=False),
    Visitor("a token bound to nobody", P.PERSON, None, is_bound=False),
    Visitor("a token bound to nobody, in an agent's name", P.STAND_IN, "sam", is_bound=False),
)

Ask = Callable[[Task], Answer]


@dataclass(frozen=True)
class Way:
    """A verb at a door: its tool or address, and its arguments, for a task and a caller."""

    verb: Verb
    tool: str
    given: Callable[[Task, Visitor], Json]
    manner: VerbManner = M.PLAIN
    tells_why: bool = False  # the reason, to the holder
    needs_name: bool = False  # of an agent, from everybody
    is_quiet: bool = False  # the answer does not say whether it was done
    also: tuple[str, ...] = ()  # what it records beside what the verb does

    def __str__(self) -> str:
        return f"{self.verb} by {self.tool}"


@dataclass
class Door:
    """One way into the hub, for one project: its tools as a table, and how it lets somebody in."""

    name: str
    ways: tuple[Way, ...]
    unsaid: Mapping[Verb, str]  # what it has no words for, and why
    needs_name: bool
    enter: Callable[["Hall", Visitor], Callable[[Way, Task], Answer] | None]


@dataclass
class Hall:
    """A project with all who call, and their connections."""

    place: Place
    data: Path
    secrets: dict[str, str] = field(default_factory=dict)

    def secret(self, visitor: Visitor) -> str:
        """The visitor's token."""
        if visitor.called not in self.secrets:
            self.secrets[visitor.called] = self._made(visitor)
        return self.secrets[visitor.called]

    def label(self, visitor: Visitor) -> str:
        """The name that the log has for the visitor, where it has no agent's name."""
        actor = self.place.hub.look(lambda tx: access.authenticate(tx, self.secret(visitor)))
        return visitor.name or actor.label

    def _made(self, visitor: Visitor) -> str:
        if visitor.called == "a person":
            return self.place.person((self.place.project, Role.MEMBER)).secret
        return self.place.token(visitor.name if visitor.is_bound else None)

    def caller(self, visitor: Visitor, path: str, **headers: str) -> Caller:
        """Return the official client with the visitor's token."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        kind = CmdopCaller if path.endswith("cmdop") else Caller
        return kind(self.place.hub, self.secret(visitor), path, self.place.closing, headers=named)


def _by_code(code: str) -> Answer:
    """Return the meaning of a stable code."""
    if code in ("forbidden", "not_holder", "wrong_identity", "denied", "permission_denied"):
        return Answer.DENIED
    assert code in ("invalid_transition", "unavailable", "failed", "conflict"), code
    return Answer.STUCK


# ---- REST ------------------------------------------------------------------------------------------------------------


def _posted(verb: Verb, step: str, tells_why: bool = False, **body: object) -> Way:
    return Way(verb, step, lambda _task, _visitor: dict(body), tells_why=tells_why)


def _enter_rest(hall: Hall, visitor: Visitor) -> Callable[[Way, Task], Answer]:
    client = hall.place.closing.enter_context(
        httpx2.Client(
            base_url=f"{hall.place.hub.url}/api/v1/tasks/",
            headers={"Authorization": f"Bearer {hall.secret(visitor)}"},
            timeout=patience(),
            verify=NO_TLS,
        )
    )

    def ask(way: Way, task: Task) -> Answer:
        method = "PUT" if way.verb is V.DESCRIBE else "POST"
        body = {**way.given(task, visitor), "by": visitor.unbound_name}
        answer = client.request(method, f"{task.number}/{way.tool}", json=body)
        return Answer.DONE if answer.is_success else _by_code(answer.json()["error"])

    return ask


REST = Door(
    "REST",
    (
        _posted(V.CLAIM, "accept"),
        _posted(V.START, "start"),
        _posted(V.PROGRESS, "progress", progress=50),
        _posted(V.BLOCK, "block", tells_why=True, reason=REASON),
        _posted(V.UNBLOCK, "unblock", tells_why=True, reason=REASON),
        _posted(V.COMPLETE, "complete", tells_why=True, result=REASON),
        _posted(V.FAIL, "fail", tells_why=True, reason=REASON),
        _posted(V.CANCEL, "cancel", tells_why=True, reason=REASON),
        _posted(V.RELEASE, "release", tells_why=True, reason=REASON),
        _posted(V.APPROVE, "approve", tells_why=True, comment=REASON),
        _posted(V.REQUEST_CHANGES, "request-changes", tells_why=True, comment=REASON),
        _posted(V.RETRY, "retry"),
        _posted(V.REASSIGN, "reassign", to=NEXT),
        _posted(V.DESCRIBE, "description", text="other words"),
        _posted(V.COMMENT, "comments", text=REASON),
    ),
    {
        V.SUBMIT: "agents hand in by their tools; a program that works over REST completes",
        V.REOPEN: "what has begun is released, what was completed is asked for anew",
    },
    needs_name=False,
    enter=_enter_rest,
)

# ---- the hub's own eight tools ---------------------------------------------------------------------------------------


def _acts(verb: Verb, action: str, tells_why: bool = False, **given: object) -> Way:
    def arguments(task: Task, _visitor: Visitor) -> Json:
        return {"task": f"T-{task.number}", "action": action, **given}

    return Way(verb, "task", arguments, tells_why=tells_why)


def _enter_own(hall: Hall, visitor: Visitor) -> Callable[[Way, Task], Answer] | None:
    if visitor.name is None and visitor.called != "a person":
        return None  # a token that is bound to nobody has to say who it is
    named = {"x_hubbub_agent": name} if (name := visitor.unbound_name) else {}
    caller = hall.caller(visitor, "/mcp", **named)

    def ask(way: Way, task: Task) -> Answer:
        answer, is_error = caller.ask(way.tool, way.given(task, visitor))
        return _by_code(answer["error"]) if is_error else Answer.DONE

    return ask


OWN = Door(
    "the eight tools",
    (
        _acts(V.CLAIM, "claim"),
        _acts(V.START, "start"),
        _acts(V.PROGRESS, "progress", progress=50),
        _acts(V.BLOCK, "block", tells_why=True, text=REASON),
        _acts(V.SUBMIT, "submit"),
        _acts(V.COMPLETE, "complete", tells_why=True, text=REASON),
        _acts(V.FAIL, "fail", tells_why=True, text=REASON),
        _acts(V.CANCEL, "cancel", tells_why=True, text=REASON),
        _acts(V.RELEASE, "release", tells_why=True, text=REASON),
        _acts(V.APPROVE, "approve", tells_why=True, text=REASON),
        _acts(V.REQUEST_CHANGES, "revise", tells_why=True, text=REASON),
        _acts(V.RETRY, "retry"),
        _acts(V.REASSIGN, "reassign", to=NEXT),
        _acts(V.DESCRIBE, "describe", text="other words"),
        _acts(V.COMMENT, "comment", text=REASON),
    ),
    {
        V.UNBLOCK: "its holder starts it again; others unblock it over REST",
        V.REOPEN: "what has begun is released, what was completed is asked for anew",
    },
    needs_name=False,
    enter=_enter_own,
)

# ---- CommHub ---------------------------------------------------------------------------------------------------------


def _steers(verb: Verb, tool: str, tells_why: bool = False, **given: object) -> Way:
    def arguments(task: Task, visitor: Visitor) -> Json:
        return {"task_id": str(task.id), "from_session": visitor.name, **given}

    return Way(verb, tool, arguments, tells_why=tells_why)


def _replies(verb: Verb, status: str) -> Way:
    def arguments(task: Task, visitor: Visitor) -> Json:
        to = task.sender if visitor.name != task.sender else HOLDER
        told = {"alias": to, "text": REASON, "in_reply_to": str(task.id), "status": status}
        return {**told, "from_session": visitor.name}

    return Way(verb, "send_reply", arguments, M.ANSWER, tells_why=True)


def _begins(task: Task, visitor: Visitor) -> Json:
    run = f"run of {visitor.name}"
    return {"resume_id": run, "alias": visitor.name, "status": "working", "task": str(task.id)}


def _enter_commhub(hall: Hall, visitor: Visitor) -> Callable[[Way, Task], Answer]:
    caller = hall.caller(visitor, "/mcp/commhub")

    def ask(way: Way, task: Task) -> Answer:
        answer, _is_error = caller.ask(way.tool, _told(way.given(task, visitor)))
        if answer.get("ok") is True:
            return Answer.REFUSED if answer.get("updated") == 0 else Answer.DONE
        return _by_code(answer["error"]) if "error" in answer else Answer.REFUSED

    return ask


def _told(given: Json) -> Json:
    """Return the arguments without empty ones."""
    return {name: value for name, value in given.items() if value is not None}


COMMHUB = Door(
    "CommHub",
    (
        replace(_steers(V.CLAIM, "send_ack"), manner=M.ANSWER),
        Way(V.START, "report_status", _begins, needs_name=True, is_quiet=True),
        _replies(V.COMPLETE, "replied"),
        _replies(V.FAIL, "failed"),
        _replies(V.CANCEL, "cancelled"),
        Way(
            V.COMPLETE,
            "report_completion",
            lambda task, visitor: {"alias": visitor.name, "task": str(task.id), "result": REASON},
            M.OWN,
            needs_name=True,
        ),
        _steers(V.CANCEL, "cancel_task", tells_why=True, reason=REASON),
        _steers(V.RETRY, "retry_task"),
        _steers(V.REASSIGN, "reassign_task", new_alias=NEXT),
    ),
    {
        V.PROGRESS: "report_status tells of an agent, not of a task",
        V.BLOCK: "an agent is blocked, by report_status, not a task",
        V.UNBLOCK: "as nothing is blocked",
        V.SUBMIT: "there is no review",
        V.APPROVE: "there is no review",
        V.REQUEST_CHANGES: "there is no review",
        V.RELEASE: "a task goes back by itself, when its holder is silent",
        V.REOPEN: "what was completed is sent anew",
        V.DESCRIBE: "what was sent stays as it is",
        V.COMMENT: "a reply to a task ends it",
    },
    needs_name=False,
    enter=_enter_commhub,
)

# ---- Relay -----------------------------------------------------------------------------------------------------------


def _updates(verb: Verb, **given: object) -> Way:
    def arguments(task: Task, _visitor: Visitor) -> Json:
        return {"task_id": str(task.id), **given}

    return Way(verb, "update_task", arguments, M.ANSWER)


def _enter_relay(hall: Hall, visitor: Visitor) -> Callable[[Way, Task], Answer]:
    caller = hall.caller(visitor, "/mcp/relay").saying(agent_id=visitor.name)

    def ask(way: Way, task: Task) -> Answer:
        answer, _is_error = caller.ask(way.tool, way.given(task, visitor))
        if answer.get("claimed") is False:
            return Answer.REFUSED
        if answer["success"]:
            return Answer.DONE
        return Answer.DENIED if answer["error"].startswith("permission denied") else Answer.STUCK

    return ask


RELAY = Door(
    "Relay",
    (
        Way(V.START, "claim_task", lambda task, _visitor: {"task_id": str(task.id)}),
        _updates(V.START, status="in_progress"),
        _updates(V.SUBMIT, status="in_review"),
        _updates(V.COMPLETE, status="done"),
        _updates(V.REOPEN, status="todo"),
        _updates(V.REASSIGN, assignee=NEXT),
    ),
    {
        V.CLAIM: "claim_task begins it at once",
        V.PROGRESS: "an agent tells of it in the thread of the task",
        V.BLOCK: "there is no such status",
        V.UNBLOCK: "there is no such status",
        V.FAIL: "there is no such status",
        V.CANCEL: "there is no such status",
        V.RELEASE: "update_task does not take an assignee away",
        V.RETRY: "a task that failed elsewhere stays so",
        V.APPROVE: "a review is of an artifact; update_task with done completes",
        V.REQUEST_CHANGES: "a review is of an artifact",
        V.DESCRIBE: "update_task has no such field",
        V.COMMENT: "send_message names its receiver, and the task as its thread",
    },
    needs_name=True,
    enter=_enter_relay,
)

# ---- GolemXV ---------------------------------------------------------------------------------------------------------


def _numbered(verb: Verb, tool: str, manner: VerbManner = M.OWN, **given: object) -> Way:
    return Way(verb, tool, lambda task, _visitor: {"task_id": task.number, **given}, manner)


def _enter_golemxv(hall: Hall, visitor: Visitor) -> Callable[[Way, Task], Answer]:
    caller = hall.caller(visitor, "/mcp/golemxv")
    slug = hall.place.project.slug
    there, is_error = caller.ask("checkin", {"project_slug": slug, "agent_name": visitor.name})
    assert not is_error, there
    caller = caller.saying(session_token=there["session_token"])

    def ask(way: Way, task: Task) -> Answer:
        answer, is_error = caller.ask(way.tool, way.given(task, visitor))
        if not is_error:
            return Answer.DONE
        said = answer["error"]
        if said.startswith(("the task is assigned to", "the task is free")):
            return Answer.DENIED
        return Answer.REFUSED if said == "Task is no longer available" else Answer.STUCK

    return ask


GOLEMXV = Door(
    "GolemXV",
    (
        _numbered(V.CLAIM, "claim_task", M.PLAIN),
        _numbered(V.START, "update_task", status="in_progress"),
        _numbered(V.BLOCK, "update_task", status="blocked", reason=REASON),
        _numbered(V.FAIL, "update_task", status="failed", reason=REASON),
        _numbered(V.COMPLETE, "complete_task", result_summary=REASON),
    ),
    {
        V.PROGRESS: "a heartbeat tells of an agent, not of a task",
        V.UNBLOCK: "its holder sets it to in_progress",
        V.SUBMIT: "there is no review",
        V.APPROVE: "there is no review",
        V.REQUEST_CHANGES: "there is no review",
        V.CANCEL: "an agent has no tool for others' tasks",
        V.RELEASE: "a task goes back by itself, when its holder is silent",
        V.RETRY: "an agent has no tool for what has ended",
        V.REOPEN: "an agent has no tool for what has ended",
        V.REASSIGN: "an agent has no tool for others' tasks",
        V.DESCRIBE: "what was asked for stays as it is",
        V.COMMENT: "send_message names its receiver, and no task",
    },
    needs_name=True,
    enter=_enter_golemxv,
)

# ---- cmdop's board ---------------------------------------------------------------------------------------------------


def _issue(verb: Verb, manner: VerbManner = M.BOARD, tool: str = "issue_update", **given: object) -> Way:
    def arguments(task: Task, _visitor: Visitor) -> Json:
        return {"id": str(task.number), **given}

    return Way(verb, tool, arguments, manner, tells_why="reason" in given)


def _enter_cmdop(hall: Hall, visitor: Visitor) -> Callable[[Way, Task], Answer]:
    named = {"x_hubbub_agent": name} if (name := visitor.unbound_name) else {}
    caller = hall.caller(visitor, "/mcp/cmdop", **named)

    def ask(way: Way, task: Task) -> Answer:
        answer, is_error = caller.ask(way.tool, way.given(task, visitor))
        return _by_code(answer["code"]) if is_error else Answer.DONE

    return ask


CMDOP = Door(
    "cmdop's board",
    (
        _issue(V.START, status="in_progress"),
        _issue(V.BLOCK, status="blocked"),
        _issue(V.SUBMIT, status="in_review"),
        _issue(V.COMPLETE, status="done"),
        _issue(V.COMPLETE, tool="issue_close", reason=REASON),
        _issue(V.FAIL, status="failed"),
        _issue(V.CANCEL, status="cancelled"),
        _issue(V.CANCEL, tool="issue_close", reason=f"wontfix: {REASON}"),
        _issue(V.REOPEN, status="todo"),
        _issue(V.RETRY, M.PLAIN, status="todo"),
        _issue(V.REASSIGN, assignee=NEXT),
        _issue(V.DESCRIBE, M.PLAIN, body="other words"),
    ),
    {
        V.CLAIM: "an issue that is taken is in_progress at once",
        V.PROGRESS: "an issue has a status, and no percentage",
        V.UNBLOCK: "a blocked issue is set to in_progress",
        V.RELEASE: "todo leaves an issue whose it is",
        V.APPROVE: "done completes what is in_review",
        V.REQUEST_CHANGES: "in_progress begins it anew, without a word",
        V.COMMENT: "the board shows what was said, and says nothing itself",
    },
    needs_name=False,
    enter=_enter_cmdop,
)

# ---- the command line ------------------------------------------------------------------------------------------------


def _typed(verb: Verb, command: str, *more: str) -> Way:
    def arguments(task: Task, _visitor: Visitor) -> Json:
        return {"typed": ["task", command, str(task.number), *more, "--json"]}

    return Way(verb, f"hubbub task {command}", arguments, tells_why="--reason" in more)


def _enter_command_line(hall: Hall, visitor: Visitor) -> Callable[[Way, Task], Answer] | None:
    if visitor.unbound_name is not None:
        return None  # no option names an agent
    environment = plain_environment(
        hall.data, HUBBUB_URL=hall.place.hub.url, HUBBUB_TOKEN=hall.secret(visitor)
    )

    def ask(way: Way, task: Task) -> Answer:
        ended = in_process.run(way.given(task, visitor)["typed"], environment, "")
        if ended.returncode == 0:
            # the hub of the test is in this process, and may log meanwhile
            (said,) = (line for line in ended.stdout.splitlines() if line.startswith("{"))
            assert json.loads(said)["number"] == task.number
            return Answer.DONE
        assert ended.stderr.startswith("Error: "), ended
        return Answer.DENIED if "only " in ended.stderr else Answer.STUCK

    return ask


NO_COMMAND = "an agent does this by its tools, a person on the page"

COMMAND_LINE = Door(
    "the command line",
    (
        _typed(V.CANCEL, "cancel", "--reason", REASON),
        _typed(V.RETRY, "retry"),
        _typed(V.REASSIGN, "reassign", NEXT),
    ),
    dict.fromkeys(set(V) - {V.CANCEL, V.RETRY, V.REASSIGN}, NO_COMMAND),
    needs_name=False,
    enter=_enter_command_line,
)

DOORS = (REST, OWN, COMMHUB, RELAY, GOLEMXV, CMDOP, COMMAND_LINE)
