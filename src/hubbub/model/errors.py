"""Every refusal of the core, by name. Edges turn these into their own words; the core never does.

`code` is stable and public. The message is one sentence for people: what was wrong and, where there is a choice,
what is allowed.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, ClassVar, NamedTuple, TypeVar

from hubbub.model.visible_text import cut

if TYPE_CHECKING:  # it raises these errors itself
    from hubbub.model.agents import scopes

T = TypeVar("T")

QUOTED = 240  # longest text that a sentence repeats; every possible name is shorter


def quoted(text: str) -> str:
    """Quote a given text in a sentence, cut if it is longer than any name."""
    return repr(cut(text, QUOTED))


class HubError(Exception):
    """Base of every refusal."""

    code: ClassVar[str] = "refused"


class Unauthorized(HubError):
    """The token is missing, unknown, expired or revoked; the caller is not told which."""

    code: ClassVar[str] = "unauthorized"

    def __init__(self) -> None:
        super().__init__("a valid token is needed: Authorization: Bearer ntok_… or utok_…")


class Forbidden(HubError):
    """The caller may not do this."""

    code: ClassVar[str] = "forbidden"


class ProjectRequired(HubError):
    """A person with several projects, or none, must name the project of a write."""

    code: ClassVar[str] = "project_required"

    def __init__(self, slugs: Sequence[str]) -> None:
        known = f": one of {', '.join(slugs)}" if slugs else "; you belong to no project yet"
        super().__init__(f"name the project{known}")
        self.slugs = tuple(slugs)


class ProjectDenied(HubError):
    """The named project is not among the caller's; the answer does not tell whether it exists."""

    code: ClassVar[str] = "project_denied"

    def __init__(self, ref: str) -> None:
        super().__init__(f"project {quoted(ref)} is not one of yours")
        self.ref = ref


class WrongIdentity(HubError):
    """A token bound to one agent tried to act as another."""

    code: ClassVar[str] = "wrong_identity"

    def __init__(self, bound: str, asked: str) -> None:
        super().__init__(f"this token acts as {bound!r} only, not as {quoted(asked)}")
        self.bound, self.asked = bound, asked


class NotFound(HubError):
    """No such `kind` exists by that key, or the caller may not see it."""

    code: ClassVar[str] = "not_found"

    def __init__(self, kind: str, key: object) -> None:
        super().__init__(f"{kind} {quoted(str(key))} not found")
        self.kind, self.key = kind, str(key)


def existing(thing: T | None, kind: str, key: object) -> T:
    """Return the thing that was looked up by `key`. Raises `NotFound` if there is none."""
    if thing is None:
        raise NotFound(kind, key)
    return thing


class NotPresent(NotFound):
    """That instance of the agent is not there (any more)."""

    def __init__(self, instance: str) -> None:
        super().__init__("presence", instance)
        self.args = (f"{self}: it has not begun, or has ended; to begin it, send take: true",)


class UnknownAgent(NotFound):
    """The project knows no agent of that name; `near` lists similar names, and `now` is the name that it was given."""

    code: ClassVar[str] = "unknown_agent"

    def __init__(self, name: str, near: Sequence[str], now: str | None = None) -> None:
        super().__init__("agent", name)
        self.name, self.near, self.now = name, tuple(near), now

    def __str__(self) -> str:
        if self.now is not None:
            return f"{quoted(self.name)} is called {quoted(self.now)} now"
        return f"no agent named {quoted(self.name)} was ever seen in this project{_meant(self.near)}"


class NothingSoCalled(NotFound):
    """Nothing of any kind has this name; `near` lists similar names of agents."""

    def __init__(self, name: str, near: Sequence[str]) -> None:
        super().__init__("thing", name)
        self.near = tuple(near)

    def __str__(self) -> str:
        return f"nothing here is called {quoted(self.key)}{_meant(self.near)}"


class NeverPlaced(NotFound):
    """No agent of that name was ever started on a machine."""

    def __init__(self, agent: str) -> None:
        super().__init__("agent", agent)

    def __str__(self) -> str:
        return f"no agent {quoted(self.key)} was started on a machine"


def _meant(near: Sequence[str]) -> str:
    return f"; did you mean {', '.join(near)}?" if near else ""


class InvalidTransition(HubError):
    """The task's `status` does not allow `event`."""

    code: ClassVar[str] = "invalid_transition"

    def __init__(self, status: str, event: str) -> None:
        super().__init__(f"cannot {event} a task that is {status}")
        self.status, self.event = status, event


class NotHolder(HubError):
    """The task belongs to another by now: a report from an old epoch, or from a stranger."""

    code: ClassVar[str] = "not_holder"

    def __init__(self, assignee: str | None, ended: str | None = None) -> None:
        holder = f"is assigned to {assignee!r}" if assignee else "is free; claim it first"
        super().__init__(
            f"the task {holder}" if ended is None else f"the task {holder}, and has ended: it is {ended}"
        )
        self.assignee = assignee


class NotYours(NotHolder, Forbidden):
    """The task belongs to another, and the verb is for its holder alone."""


class NotReviewer(HubError):
    """The review was asked of another."""

    code: ClassVar[str] = "not_reviewer"

    def __init__(self, reviewer: str) -> None:
        super().__init__(f"the review was asked of {reviewer!r}")
        self.reviewer = reviewer


WHO_CLAIMS = "say who claims it"  # in a refusal; each door adds how


class Unavailable(HubError):
    """The task cannot be claimed now; `reason` says why."""

    code: ClassVar[str] = "unavailable"

    def __init__(self, reason: str) -> None:
        super().__init__(f"the task cannot be claimed: {reason}")
        self.reason = reason


class NeededTask(NamedTuple):
    """A task that another waits for: its id, its number in the project, and its status."""

    id: str
    number: int
    status: str


class Unmet(Unavailable):
    """The task needs others that are not completed yet: `needs`."""

    def __init__(self, needs: Sequence[NeededTask]) -> None:
        listed = ", ".join(f"T-{need.number} ({need.status})" for need in needs)
        super().__init__(f"it needs tasks that are not completed: {listed}")
        self.needs = tuple(needs)


class Invalid(HubError):
    """A value that is not allowed."""

    code: ClassVar[str] = "invalid"


class Conflict(HubError):
    """Another thing exists already by that name or key."""

    code: ClassVar[str] = "conflict"


class ScopeConflict(Conflict):
    """The project forbids overlapping scopes, and this one overlaps with those of `conflicts`."""

    code: ClassVar[str] = "scope_conflict"

    def __init__(self, conflicts: Sequence["scopes.AgentConflict"]) -> None:
        holders = ", ".join(repr(conflict.agent) for conflict in conflicts)
        super().__init__(f"the scope overlaps with the scopes of others: {holders}")
        self.conflicts = tuple(conflicts)


class LeaseTaken(Conflict):
    """The things are held by others and the caller does not wait; the sentence names the holders."""

    code: ClassVar[str] = "taken"


class Lacking(Conflict):
    """The task demands proof that was not seen: `demands`; the sentence says what each of them lacks."""

    code: ClassVar[str] = "unproven"

    def __init__(self, why: str, demands: Sequence[str]) -> None:
        super().__init__(f"the task is not done yet: {why}")
        self.demands = tuple(demands)


ANOTHER = "say anyway to make another"  # at the end of the refusal of a duplicate


class Duplicate(Conflict):
    """Another open task is the same job: its `number` and `task_id`; the sentence names it."""

    code: ClassVar[str] = "duplicate"

    def __init__(self, why: str, number: int, task_id: str) -> None:
        super().__init__(why)
        self.number, self.task_id = number, task_id


class MayNotBegin(Conflict):
    """The agent may accept or start nothing now; the sentence says why, and until when."""


class AccountPaused(MayNotBegin):
    """The agent's account is paused: it begins nothing before the pause is over."""

    code: ClassVar[str] = "paused"

    def __init__(self, account: str, until: int | None) -> None:
        when = (
            "somebody resumes it"
            if until is None
            else f"{datetime.fromtimestamp(until / 1000, UTC):%Y-%m-%d %H:%M} UTC"
        )
        super().__init__(
            f"the account {quoted(account)} is paused until {when}; nothing is begun on it before"
        )


class BudgetSpent(MayNotBegin):
    """A budget of the agent, its task, its token or the project is spent: it begins nothing before people raise it."""

    code: ClassVar[str] = "budget"


class AgentStopped(MayNotBegin):
    """The agent repeated itself, and was stopped until a person lets it go on."""

    code: ClassVar[str] = "stopped"


class NotDone(HubError):
    """A machine did not do what it was asked."""

    code: ClassVar[str] = "failed"


class Offline(NotDone):
    """The machine is not there."""

    code: ClassVar[str] = "offline"


class ApprovalTimedOut(NotDone):
    """The machine asked a person first, and nobody answered in time."""

    code: ClassVar[str] = "needs_approval"


class BeingChecked(HubError):
    """The task is being checked before it counts as completed; try again after the check."""

    code: ClassVar[str] = "being_checked"

    def __init__(self) -> None:
        super().__init__("the task is being checked before it counts as completed; try again in a moment")


class TooMany(HubError):
    """Too many tries, or too much of something; `retry_after` is the number of seconds to wait."""

    code: ClassVar[str] = "too_many"

    def __init__(self, retry_after: int, why: str = "too many tries") -> None:
        super().__init__(f"{why}; wait {retry_after} s")
        self.retry_after = retry_after


class StoreUnavailable(HubError):
    """The store failed (disk full, database locked or gone); nothing of the call was kept."""

    code: ClassVar[str] = "store_unavailable"


class StoreRefused(HubError):
    """The store cannot be opened: another hub holds it, or its version differs from the program's."""

    code: ClassVar[str] = "store_refused"
