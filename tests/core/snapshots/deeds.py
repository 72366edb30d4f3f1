"""Deeds: everything that may happen in a project and shows in its picture, each as one call of the core.

A deed is chosen by a number and told a few more; it looks for something that it can be done to. What the core refuses
is no deed.
"""

from collections.abc import Callable, Sequence
from datetime import timedelta

from hubbub.core import agent_renaming, expiry
from hubbub.core.actions import inbox, task_actions
from hubbub.core.agents import agents, file_claims, scopes
from hubbub.core.fleet import approvals, managed_agents, nodes
from hubbub.core.limits import accounts, breakers, budgets
from hubbub.core.limits.budgets import BudgetTerms, Use
from hubbub.core.mail import messages
from hubbub.core.people import access, projects
from hubbub.core.presence import checkins, presences
from hubbub.core.work import completion, leases, tasks, transfers
from hubbub.model.agents.scopes import Scope
from hubbub.model.cost.prices import Prices, usual
from hubbub.model.cost.spending import Measure
from hubbub.model.errors import HubError
from hubbub.model.fleet.calls import NodeInfo, Principal, Question
from hubbub.model.fleet.managed_agents import ManagedAgentStatus, ProcessStatus
from hubbub.model.lifecycle import Event, Status
from hubbub.model.limits.budgets import BudgetKind, BudgetUnit
from hubbub.model.limits.usage_limits import LimitKind, UsageLimit
from hubbub.model.people.rights import HUB, Actor
from hubbub.model.records import Condition, Presence, Priority, Profile, Project, Task
from hubbub.model.work.leases import Terms
from hubbub.store.fleet import approvals as approval_rows
from hubbub.store.mail import messages as message_rows
from hubbub.store.people import projects as rows
from hubbub.store.tx import Tx
from hubbub.store.work import tasks as task_rows

CREW = ("ann", "bob", "ear")
BOXES = ("box", "Box", "crate")
FILES = ("src/a.py", "src/", "src/*.py", "docs/x.md")
PRICES = Prices({}, usual())
TEN_MINUTES = timedelta(minutes=10)
LONG = "α" * 400

Deed = Callable[[Tx, Project, Sequence[int]], object]


def _one(numbers: Sequence[int], of: Sequence[str]) -> str:
    return of[numbers[0] % len(of)]


def _task(tx: Tx, project: Project, numbers: Sequence[int]) -> Task:
    found = task_rows.search(tx, project.id, limit=8)
    if not found:
        raise _Nothing
    return tasks.locked(tx, found[numbers[1] % len(found)])


class _Nothing(HubError):
    """There is nothing that it could be done to."""


def send(tx: Tx, project: Project, numbers: Sequence[int]) -> object:
    to = (*CREW, None)[numbers[0] % 4]
    known = task_rows.search(tx, project.id, limit=3)
    return tasks.send(
        tx,
        project.id,
        sender=_one(numbers[1:], CREW),
        to=to,
        text=f"do {LONG}" if numbers[2] % 2 else "do this",
        priority=Priority(numbers[1] % 4),
        ttl=TEN_MINUTES if numbers[2] % 3 == 0 else None,
        parent=str(known[0].id) if known and numbers[2] % 5 == 0 else None,
        needs=known if numbers[2] % 4 == 0 else (),
    )


def accept(tx: Tx, project: Project, numbers: Sequence[int]) -> object:
    return task_actions.accept(tx, _task(tx, project, numbers), _one(numbers, CREW))


def start(tx: Tx, project: Project, numbers: Sequence[int]) -> object:
    task = _task(tx, project, numbers)
    return task_actions.start(tx, task, task.assignee or _one(numbers, CREW))


def move(tx: Tx, project: Project, numbers: Sequence[int]) -> object:
    target = (Status.BLOCKED, Status.IN_REVIEW, Status.WORKING)[numbers[0] % 3]
    reason = (None, "no key yet", LONG, "the password=hunter2hunter2")[numbers[2] % 4]
    return transfers.move_to(tx, _task(tx, project, numbers), target, by="bob", reason=reason)


def end(tx: Tx, project: Project, numbers: Sequence[int]) -> object:
    event = (Event.COMPLETE, Event.COMPLETE, Event.FAIL)[numbers[0] % 3]
    files = ["src/a.py"] if numbers[2] % 2 else None
    task = _task(tx, project, numbers)
    return completion.end(tx, task, event, by="bob", text=" it broke\n", result="it", files=files)


def cancel(tx: Tx, project: Project, numbers: Sequence[int]) -> object:
    reason = "not wanted" if numbers[0] % 2 else None
    return task_actions.cancel(tx, _task(tx, project, numbers), by="ann", reason=reason)


def again(tx: Tx, project: Project, numbers: Sequence[int]) -> object:
    task = _task(tx, project, numbers)
    if numbers[0] % 2:
        return task_actions.retry(tx, task, by="ann", ttl=None)
    return task_actions.reopen(tx, task, by="ann")


def give(tx: Tx, project: Project, numbers: Sequence[int]) -> object:
    task, to = _task(tx, project, numbers), _one(numbers, CREW)
    if numbers[2] % 2:
        return task_actions.reassign(tx, task, to=to, by="ann")
    return transfers.pass_on(tx, task, to=to, by="ann")


def describe(tx: Tx, project: Project, numbers: Sequence[int]) -> object:
    return task_actions.describe(tx, _task(tx, project, numbers), "other words", by="ann")


def report(tx: Tx, project: Project, numbers: Sequence[int]) -> object:
    profile = Profile(
        doing=(None, "reading", LONG)[numbers[1] % 3],
        progress=(None, 50.0)[numbers[2] % 2],
        model=(None, "big")[numbers[2] % 3 % 2],
        runtime=(None, "python")[numbers[1] % 5 % 2],
        hostname=(None, "tower")[numbers[1] % 2],
    )
    return presences.report(
        tx,
        project.id,
        _one(numbers, (*CREW, "newcomer")),
        instance=("first", "second")[numbers[1] % 4 % 2],
        condition=list(Condition)[numbers[2] % len(Condition)],
        profile=profile,
        ttl=TEN_MINUTES,
    )


def progress(tx: Tx, project: Project, numbers: Sequence[int]) -> None:
    task = _task(tx, project, numbers)
    task_actions.progress(tx, task, task.assignee or "bob", output="line", progress=float(numbers[2]))


def rest(tx: Tx, project: Project, numbers: Sequence[int]) -> None:
    presences.rest(tx, project.id, _one(numbers, CREW))


def stay(tx: Tx, project: Project, numbers: Sequence[int]) -> object:
    scope = Scope.of("auth" if numbers[1] % 2 else None, [FILES[numbers[2] % 4]])
    return checkins.begin(tx, project, _one(numbers, CREW), scope)


def declare(tx: Tx, project: Project, numbers: Sequence[int]) -> object:
    present = [each for each in agents.presences(tx, [project.id]) if each.is_live(tx.now)]
    if not present:
        raise _Nothing
    presence = present[numbers[0] % len(present)]
    scope = Scope.of("auth" if numbers[1] % 2 else None, [FILES[numbers[2] % 4]] if numbers[2] % 5 else [])
    return scopes.declare(tx, project, presence, scope)


def claim(tx: Tx, project: Project, numbers: Sequence[int]) -> object:
    presence = attend(tx, project, numbers)
    repository = (None, "example.org/shop", "example.org/docs")[numbers[1] % 3]
    paths = [FILES[numbers[2] % 4], "src/b.py"]
    return file_claims.claim(tx, project, presence, paths, repository=repository, ttl=TEN_MINUTES / 2)


def let_go(tx: Tx, project: Project, numbers: Sequence[int]) -> object:
    paths = [FILES[numbers[2] % 4]] if numbers[1] % 2 else None
    return file_claims.release(tx, project, attend(tx, project, numbers), paths)


def attend(tx: Tx, project: Project, numbers: Sequence[int]) -> Presence:
    return presences.attend(
        tx,
        project.id,
        _one(numbers, CREW),
        instance=f"run-{numbers[1] % 2}",
        condition=list(Condition)[numbers[2] % 2],
        profile=Profile(runtime="codex"),
    )


def mind(tx: Tx, project: Project, numbers: Sequence[int]) -> object:
    mode = projects.CONFLICT_MODES[numbers[0] % 3]
    return projects.change(tx, project, {"conflict_mode": mode})


def put_area(tx: Tx, project: Project, numbers: Sequence[int]) -> object:
    return scopes.put_area(tx, project, "auth", name="Auth", patterns=[FILES[numbers[0] % 4]])


def write(tx: Tx, project: Project, numbers: Sequence[int]) -> object:
    to = _one(numbers, (*CREW, HUB, "eve"))
    text = (LONG, "hello")[numbers[1] % 2]
    return messages.send(tx, project.id, sender="ann", to=to, body=text, awaited=True)


def acknowledge(tx: Tx, project: Project, numbers: Sequence[int]) -> None:
    name = _one(numbers, (*CREW, HUB, "eve"))
    letters = message_rows.inbox(tx, project.id, name, 8)
    if not letters:
        raise _Nothing
    inbox.ack(tx, project.id, name, str(letters[numbers[1] % len(letters)].delivery.id))


def ask(tx: Tx, project: Project, numbers: Sequence[int]) -> object:
    question = Question(
        who=Principal(project=project.slug, name="bob", token_id=str(tx.actor.token_id)),
        node="box",
        tool="execute_command",
        arguments={"command": "x"},
        folder="/",
        shown="x" * (1 + 100 * numbers[1]),
        reason="no rule is about it",
        digest=f"{numbers[0] % 3:064x}",  # so that the same is asked again
        dangerous=bool(numbers[2] % 2),
    )
    return approvals.put(tx, project, question, TEN_MINUTES, elicitation=True)


def answer(tx: Tx, project: Project, numbers: Sequence[int]) -> object:
    open_ones = approval_rows.search(tx, project.id, status=None, limit=8)
    if not open_ones:
        raise _Nothing
    approval, receipt = open_ones[numbers[0] % len(open_ones)], "told to one only"
    approval_rows.receive(tx, approval.id, access.fingerprint(receipt))
    if numbers[1] % 3 == 0:
        return approvals.spend(tx, approval.id, approval.digest, receipt=receipt)
    return approvals.resolve(tx, approval.id, receipt=receipt, approved=bool(numbers[2] % 2))


def come(tx: Tx, project: Project, numbers: Sequence[int]) -> object:
    name = _one(numbers, BOXES)
    about = NodeInfo(
        name=name, machine_id=name.lower(), platform="Linux", version=str(numbers[1] % 2), sandbox="none"
    )
    return nodes.report(tx, project, about, labels=["gpu"] if numbers[2] % 2 else [])


def go(tx: Tx, project: Project, numbers: Sequence[int]) -> None:
    if numbers[1] % 2:
        nodes.leave(tx, project, _one(numbers, BOXES))
    else:
        nodes.remove(tx, project, _one(numbers, BOXES))


def place(tx: Tx, project: Project, numbers: Sequence[int]) -> None:
    machine = nodes.find(tx, project, _one(numbers, BOXES))
    placed = managed_agents.order(tx, project, agent=f"coder{numbers[1] % 2}", machine=machine, command="run")
    if numbers[2] % 4 == 0:
        managed_agents.drop(tx, placed)


def fare(tx: Tx, project: Project, numbers: Sequence[int]) -> None:
    machine = nodes.find(tx, project, _one(numbers, BOXES))
    status = list(ManagedAgentStatus)[numbers[2] % len(ManagedAgentStatus)]
    told = ProcessStatus(
        agent=f"coder{numbers[1] % 2}", command="run", status=status, since=1, last_output="x"
    )
    managed_agents.update_status(tx, machine, [told])


def lease(tx: Tx, project: Project, numbers: Sequence[int]) -> object:
    by, thing = _one(numbers, CREW), ("gpu:2", "db", "port:1")[numbers[1] % 3]
    if numbers[2] % 3:
        terms = Terms(purpose=LONG, priority=Priority(numbers[2] % 4))
        return leases.ask(tx, project, [thing, "gpu"], by=by, terms=terms)
    return leases.hold_by_tool(tx, project, [thing], by=by, ttl=TEN_MINUTES)


def share(tx: Tx, project: Project, numbers: Sequence[int]) -> object:
    name = ("max", "pro")[numbers[1] % 2]
    if numbers[2] % 4 == 0:
        accounts.drop(tx, project, name)
        return None
    return accounts.put(tx, project, name, CREW[: numbers[2] % 4])


def reach_limit(tx: Tx, project: Project, numbers: Sequence[int]) -> object:
    until = tx.now + 60_000 * (numbers[2] % 9) if numbers[2] % 3 else None
    return accounts.reached(tx, project, _one(numbers, CREW), UsageLimit(LimitKind.WINDOW, until))


def go_on(tx: Tx, project: Project, numbers: Sequence[int]) -> object:
    return accounts.resume(tx, project, ("max", "pro")[numbers[1] % 2], by="eve")


def limit(tx: Tx, project: Project, numbers: Sequence[int]) -> object:
    found = budgets.of_project(tx, project.id)
    if found and numbers[2] % 4 == 0:
        return budgets.remove(tx, project, str(found[numbers[1] % len(found)].id))
    kind, whom = ((BudgetKind.PROJECT, ""), (BudgetKind.AGENT, _one(numbers[1:], CREW)))[numbers[0] % 2]
    asked = BudgetTerms(
        kind=kind, whom=whom, daily=numbers[2] % 2 == 0, unit=BudgetUnit.TOKENS, amount=100 + numbers[1] % 200
    )
    return budgets.put(tx, project, PRICES, asked)


def rename(tx: Tx, project: Project, _numbers: Sequence[int]) -> object:
    """Rename one of the crew, or call it by its old name again."""
    names = ("ear", "eal") if agents.is_known(tx, project.id, "ear") else ("eal", "ear")
    return agent_renaming.rename(tx, project, *names)


def spend(tx: Tx, project: Project, numbers: Sequence[int]) -> None:
    use = Use(
        at=tx.now, agent=_one(numbers, CREW), task_id=None, model="", used={Measure.INPUT: numbers[1] % 100}
    )
    budgets.charge(tx, project, PRICES, [use])


def circle(tx: Tx, project: Project, numbers: Sequence[int]) -> object:
    found = breakers.of_project(tx, project.id)
    if found and numbers[2] % 2:
        return breakers.lift(tx, project, str(found[numbers[1] % len(found)].id))
    return breakers.repeated(tx, project, _one(numbers, CREW), 30 + numbers[1] % 9)


def give_back(tx: Tx, project: Project, numbers: Sequence[int]) -> object:
    found = leases.of_project(tx, project.id)
    if not found:
        raise _Nothing
    chosen = found[numbers[1] % len(found)]
    return leases.release(tx, project, str(chosen.id), by=chosen.holder)


def count(tx: Tx, project: Project, numbers: Sequence[int]) -> object:
    if numbers[0] % 4 == 0:
        leases.drop_capacity(tx, project, "gpu")
        return None
    return leases.put_capacity(tx, project, "gpu", 1 + numbers[1] % 4)


DEEDS: tuple[Deed, ...] = (
    *(send, send, accept, start, start, move, move, end, cancel, again, give, describe),
    *(report, report, report, progress, rest, stay, declare, declare, declare, put_area, mind),
    *(claim, claim, let_go, attend, lease, lease, give_back, count),
    *(share, share, reach_limit, go_on, limit, spend, spend, circle),
    *(write, acknowledge, ask, answer, come, come, go, place, fare, rename),
)


def do(tx: Tx, project: Project, person: Actor, chosen: Deed, numbers: Sequence[int]) -> None:
    """Do one deed after settling what is overdue, as the edges do it; a refusal is the caller's."""
    expiry.settle(tx)
    project = rows.find(tx, project.id) or project  # as it is now
    if chosen in (go, place, rename):
        tx.actor = person
    chosen(tx, project, numbers)
