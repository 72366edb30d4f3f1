"""Query plans of everyday calls: an index, in its order, however much data there is.

The statements are not copied here: the calls are made, what they send to the database is overheard, and the engine
is asked for its plan.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from hubbub.core import expiry
from hubbub.core.actions import completion_reports, inbox, task_actions
from hubbub.core.agents import agents, scopes
from hubbub.core.fleet import approvals, audit_heads, dispatches, enrolment, nodes, shares
from hubbub.core.log import idempotency, outbox, webhooks
from hubbub.core.mail import messages
from hubbub.core.people import access, projects, runs, tokens
from hubbub.core.presence import presences
from hubbub.core.work import (
    artifacts,
    completion,
    completion_checks,
    dependencies,
    reviews,
    task_search,
    tasks,
    todos,
    transfers,
)
from hubbub.model.agents.scopes import Scope
from hubbub.model.fleet.approvals import ApprovalStatus
from hubbub.model.fleet.calls import NodeCall, NodeInfo, Principal, Question
from hubbub.model.fleet.calls import ToolResult as OrderOutcome
from hubbub.model.lifecycle import OPEN, Event, Status
from hubbub.model.log.outbox_items import AttemptReport, AttemptResult, DeliveryOutcome
from hubbub.model.people.rights import SYSTEM, Actor, Role
from hubbub.model.records import Artifact, Condition, Profile, Project, ReviewVerdict, Run, Task
from hubbub.store import status_counters
from hubbub.store.engine.postgres import Postgres
from hubbub.store.engine.sqlite import SQLite
from hubbub.store.log import activity, keyframes, projection
from hubbub.store.log.activity import START
from hubbub.store.tx import Connection, Row, Store, Tx
from tests.store.engine.test_engines import add_user


@dataclass(frozen=True)
class World:
    """A person's project with two agents, a task that one has sent to the other, one that is free, and an artifact."""

    project: Project
    run: Run
    sent: Task
    free: Task
    artifact: Artifact
    secret: str


def build(tx: Tx) -> World:
    user_id = add_user("owner")(tx)
    tx.actor = Actor(token_id=None, user_id=user_id, user_name="owner", owns_hub=True)
    project = projects.create(tx, "default")
    for name in ("ann", "bob"):
        report(tx, project.id, name)
    run = runs.start(tx, project.id, "monday", by="ann")
    return World(
        project=project,
        run=run,
        sent=tasks.send(tx, project.id, sender="ann", to="bob", text="count", ttl=timedelta(hours=1)),
        free=tasks.send(tx, project.id, sender="ann", to=None, text="sort"),
        artifact=artifacts.post(tx, run, by="ann", name="plan", kind="text", content="x"),
        secret=tokens.for_person(tx, user_id)[1],
    )


def report(tx: Tx, project_id: UUID, name: str) -> object:
    return presences.report(
        tx,
        project_id,
        name,
        instance="1",
        condition=Condition.WORKING,
        profile=Profile(),
        ttl=timedelta(minutes=10),
    )


def read_and_acknowledge(tx: Tx, world: World) -> None:
    letters = inbox.read(tx, world.project.id, "bob", 10)
    inbox.note_seen(tx, letters)
    messages.note_notified(tx, [letter.delivery.id for letter in letters])
    inbox.ack(tx, world.project.id, "bob", str(letters[0].delivery.id))


def work(tx: Tx, world: World) -> None:
    begun = task_actions.start(tx, tasks.find(tx, [world.project.id], str(world.free.id), lock=True), "bob")
    completion.end(tx, begun, Event.COMPLETE, by="bob", text="done", result="done")


def let_go(tx: Tx, world: World) -> None:
    held = [
        tasks.send(tx, world.project.id, sender="ann", to=to, text="x", needs=[world.sent])
        for to in ("bob", None)
    ]
    completion.end(tx, world.sent, Event.COMPLETE, by="bob", text="done", result="done")
    task_actions.start(tx, tasks.find(tx, [world.project.id], str(held[0].id), lock=True), "bob")


def steer(tx: Tx, world: World) -> None:
    moved = transfers.move_to(tx, world.sent, Status.IN_REVIEW, by="ann")
    passed = transfers.pass_on(tx, moved, to="ann", by="ann")
    task_actions.reopen(tx, passed, by="ann")


def make_once(tx: Tx, world: World) -> None:
    assert tasks.find_by_external_id(tx, world.run, "T-1") is None
    made = tasks.send(tx, world.project.id, sender="ann", to=None, text="x", run=world.run, external_id="T-1")
    assert tasks.find_by_external_id(tx, world.run, "T-1") == made


def review(tx: Tx, world: World) -> None:
    asked = reviews.request(tx, world.artifact, by="ann", reviewer="bob")
    found = reviews.find(tx, [world.project.id], str(asked.id))
    reviews.submit(tx, found, ReviewVerdict.APPROVED, by="bob", comments=None)


def check(tx: Tx, world: World) -> None:
    begun = completion_checks.begin(tx, world.sent, by="bob")
    completion_checks.renew(tx, completion_checks.find(tx, world.sent, str(begun.id)).id)
    completion_checks.end(tx, world.sent, begun, passed=True, output=None)


def open_runs(tx: Tx, world: World) -> None:
    runs.start(tx, world.project.id, "tuesday", by="ann")
    runs.write_notebook(tx, runs.resolve(tx, world.project.id, None), "x", by="ann")


def count_run(tx: Tx, world: World) -> None:
    for count in (tasks, messages, artifacts, reviews):
        count.number_in_run(tx, world.run)


def much_work(tx: Tx, world: World) -> None:
    task_actions.accept(tx, world.sent, "bob")
    assert projection.work_of(tx, world.project.id, "bob", 0) == []


def work_somewhere(tx: Tx, world: World) -> None:
    scopes.put_area(tx, world.project, "docs", name="Docs", patterns=["docs/"])
    presence = agents.presence(tx, world.project.id, "bob")
    assert presence is not None
    scopes.declare(tx, world.project, presence, Scope("docs", ("a.py", "src/*.py")))
    scopes.live(tx, world.project.id)
    scopes.release(tx, presence)


def leave(tx: Tx, world: World) -> None:
    sent = tasks.send(tx, world.project.id, sender="ann", to="bob", text="x", issue="octo/parser#7")
    completion.end(tx, sent, Event.COMPLETE, by="bob", text="done", result="done")
    outbox.next_in(tx)
    for fate in (AttemptResult.FAILED, AttemptResult.REFUSED):
        tx.now += 1_000
        (errand,) = outbox.take(tx, 8)
        outbox.note(tx, errand, AttemptReport(fate=fate, wait=timedelta(seconds=1), holds_up_all=True), 0.0)
    (dead,) = outbox.of_project(tx, world.project.id, outcome=DeliveryOutcome.DEAD, limit=20)
    outbox.retry(tx, world.project.id, str(dead.id))
    outbox.let_go(tx, outbox.take(tx, 8))
    outbox.of_project(tx, world.project.id, limit=20)
    outbox.forget(tx)


def tell_webhooks(tx: Tx, world: World) -> None:
    webhook, _secret = webhooks.add(tx, world.project, "https://example.org/", ["*"])
    webhooks.behind(tx)
    webhooks.advance(tx, webhook.id)
    outbox.take(tx, 8)
    webhooks.remove(tx, world.project, str(webhook.id))


def ask_people(tx: Tx, world: World) -> None:
    who = Principal(project="default", name="ann", token_id=str(world.run.id))
    question = Question(
        who=who, node="box", tool="x", arguments={}, folder="/", shown="x", reason="x", digest="a" * 64
    )
    asked, receipt = approvals.put(tx, world.project, question, timedelta(minutes=1))
    approvals.search(tx, [world.project.id], limit=20)
    approvals.search(tx, [world.project.id], status=ApprovalStatus.PENDING, limit=20)
    approvals.answer(tx, str(asked.id), approved=True)
    approvals.spend(tx, asked.id, "a" * 64, receipt=receipt)


def about(name: str) -> NodeInfo:
    return NodeInfo(name=name, machine_id="m", platform="Linux", version="1", sandbox="none")


def be_a_machine(tx: Tx, world: World) -> None:
    machine = nodes.report(tx, world.project, about("box"))
    nodes.listed(tx, world.project)
    share, secret = shares.mint(tx, world.project, machine)
    shares.look(tx, secret)
    shares.of_project(tx, world.project)
    shares.revoke(tx, world.project, str(share.id))
    begun = nodes.begin_task(tx, world.project, sender="ann", title="x", description="x", node="box")
    nodes.end_task(tx, str(begun.id), text="done", failed=False)
    nodes.leave(tx, world.project, "box")


def be_linked(tx: Tx, world: World) -> None:
    owner = tx.actor
    _code, secret = enrolment.invite(tx, world.project)
    joined = enrolment.redeem(tx, secret, about("web1"))
    tx.actor = access.authenticate(tx, joined.token)
    nodes.find_by_key(tx)
    tx.actor = owner
    nodes.link(tx, joined.machine, hub="h", about=about("web1"))
    nodes.beat(tx, [joined.machine.id])
    nodes.unlink(tx, joined.machine.id, "h")
    nodes.remove(tx, world.project, "web1")


def order_a_machine(tx: Tx, world: World) -> None:
    machine = enrolment.join(tx, world.project, about("web1")).machine
    order = NodeCall(
        who=Principal(project="default", name="ann", token_id=str(world.run.id)), tool="x", key="k"
    )
    for _ in range(2):
        asked, _is_new = dispatches.begin(tx, world.project, machine, order, sent=False)
    dispatches.send(tx, asked.id)
    dispatches.take(tx, [asked.id])
    dispatches.open_of(tx, machine.id)
    dispatches.end(tx, asked.id, OrderOutcome(value={}))
    dispatches.find(tx, asked.id)
    dispatches.of_machine(tx, world.project, machine, 20)


def seal_a_log(tx: Tx, world: World) -> None:
    for digest in ("a", "b"):
        audit_heads.keep(tx, world.project, "box", 5, digest * 64)
    audit_heads.heads(tx, world.project, limit=20)
    audit_heads.heads(tx, world.project, node="box", limit=20)


def plan_ahead(tx: Tx, world: World) -> None:
    todos.write(tx, world.project.id, "ann", ())
    todos.of_agent(tx, world.project.id, "ann")


def expire(tx: Tx, _world: World) -> None:
    tx.now += 3_600_000 * 24
    expiry.settle(tx)


def keep_an_answer(tx: Tx, _world: World) -> None:
    once = idempotency.once("key", "digest", lambda _tx: {"answer": 42})
    once(tx)
    once(tx)


CALLS: dict[str, Callable[[Tx, World], object]] = {
    "authenticate": lambda tx, world: access.authenticate(tx, world.secret),
    "memberships": lambda tx, _world: access.memberships(tx),
    "report": lambda tx, world: report(tx, world.project.id, "ann"),
    "send a task": lambda tx, world: tasks.send(
        tx, world.project.id, sender="ann", to="bob", text="x", parent=str(world.sent.id)
    ),
    "send a message": lambda tx, world: messages.send(tx, world.project.id, sender="ann", to="bob", body="x"),
    "read and acknowledge": read_and_acknowledge,
    "work": work,
    "report a completion": lambda tx, world: completion_reports.report(
        tx, world.project.id, "bob", task=str(world.sent.id), result="done"
    ),
    "report one by its text": lambda tx, world: completion_reports.report(
        tx, world.project.id, "bob", task="count", result="done"
    ),
    "cancel": lambda tx, world: task_actions.cancel(tx, world.sent, by="ann", reason=None),
    "find by number": lambda tx, world: tasks.find(tx, [world.project.id], str(world.sent.number)),
    "list tasks": lambda tx, world: task_search.search(tx, [world.project.id], limit=20),
    "list by status": lambda tx, world: task_search.search(tx, [world.project.id], status=OPEN, limit=20),
    "list by assignee": lambda tx, world: task_search.search(
        tx, [world.project.id], assignee="bob", limit=20
    ),
    "list by sender": lambda tx, world: task_search.search(
        tx, [world.project.id], sender="ann", status=[Status.QUEUED], limit=20
    ),
    "next free task": lambda tx, world: tasks.next_free(tx, world.project.id),
    "count tasks": lambda tx, world: status_counters.counts(tx, world.project.id),
    "count mail": lambda tx, world: inbox.pending(tx, world.project.id, "bob"),
    "messages": lambda tx, world: messages.history(tx, world.project.id, limit=20),
    "thread": lambda tx, world: messages.thread(tx, world.sent.id),
    "completions": lambda tx, world: completion_reports.search(tx, [world.project.id], limit=20),
    "completions of one": lambda tx, world: completion_reports.search(
        tx, [world.project.id], agent="bob", limit=20
    ),
    "make a task once": make_once,
    "let go what waited": let_go,
    "steer": steer,
    "review": review,
    "check": check,
    "open runs": open_runs,
    "tasks of a run": lambda tx, world: tasks.of_run(tx, world.run),
    "listed tasks of a run": lambda tx, world: tasks.listed_of_run(tx, world.run),
    "tasks of one in a run": lambda tx, world: tasks.of_run(tx, world.run, assignee="bob"),
    "needs of a run": lambda tx, world: dependencies.of_run(tx, world.run),
    "children": lambda tx, world: tasks.number_of_children(tx, world.sent),
    "broadcast": lambda tx, world: messages.broadcast(
        tx, world.project.id, sender="ann", body="x", recipients=["bob"]
    ),
    "mail": lambda tx, world: messages.mail(tx, world.run, "bob"),
    "mail after a number": lambda tx, world: messages.mail(tx, world.run, "bob", after=1000),
    "numbers of mail": lambda tx, world: messages.mail_numbers(tx, world.run, "bob", after=1000),
    "unseen mail": lambda tx, world: messages.unseen_mail(tx, world.run, "bob"),
    "messages of a run": lambda tx, world: messages.of_run(tx, world.run),
    "last in a thread": lambda tx, world: messages.last_in_thread(tx, world.project.id, "T-1", "ann"),
    "much work": much_work,
    "handed in": lambda tx, world: messages.handed_in(tx, task_actions.accept(tx, world.sent, "bob")),
    "post": lambda tx, world: artifacts.post(tx, world.run, by="ann", name="plan", kind="text", content="x"),
    "newest artifact": lambda tx, world: artifacts.newest(tx, world.run, "plan"),
    "newest artifact of a project": lambda tx, world: artifacts.newest_of_project(
        tx, world.project.id, "plan"
    ),
    "artifacts of a task": lambda tx, world: artifacts.of_task(tx, world.sent),
    "read an artifact": lambda tx, world: artifacts.content(tx, world.artifact),
    "artifacts of a run": lambda tx, world: artifacts.of_run(tx, world.run),
    "artifacts of a project": lambda tx, world: artifacts.of_project(tx, world.project.id, limit=20),
    "reviews of a run": lambda tx, world: reviews.of_run(tx, world.run),
    "runs of a project": lambda tx, world: runs.of_project(tx, world.project.id),
    "count what a run holds": count_run,
    "work somewhere": work_somewhere,
    "leave": leave,
    "tell webhooks": tell_webhooks,
    "ask people": ask_people,
    "be a machine": be_a_machine,
    "be linked": be_linked,
    "order a machine": order_a_machine,
    "seal a log": seal_a_log,
    "plan ahead": plan_ahead,
    "is anything overdue": lambda tx, _world: expiry.is_due(tx),
    "expire": expire,
    "forget answers": lambda tx, _world: expiry.forget(tx),
    "keep an answer": keep_an_answer,
    "tail of the log": lambda tx, _world: activity.tail(tx, START, 100),
    "log of a project": lambda tx, world: activity.since(tx, world.project.id, START, 100),
    "log of an agent": lambda tx, world: activity.since(tx, world.project.id, START, 100, agent="bob"),
    "what is seen of the log": lambda tx, world: activity.visible(tx, world.project.id, START),
    "whether the log goes on": lambda tx, world: activity.goes_on(tx, world.project.id, START, 100),
    "a part of the log": lambda tx, world: list(
        activity.between(tx, world.project.id, START, activity.head(tx))
    ),
    "log of a kind": lambda tx, world: activity.of_kind(
        tx, world.project.id, "task.created", before=activity.head(tx), limit=20
    ),
    "forget what was": lambda tx, world: activity.drop(tx, world.project.id, activity.head(tx), 100),
    "keyframe before": lambda tx, world: keyframes.before(tx, world.project.id, activity.head(tx)),
    "place in the log": lambda tx, _world: activity.position_of(tx, 1),
    "end of the log": lambda tx, _world: activity.head(tx),
    "history": lambda tx, world: activity.history(tx, world.project.id, limit=20, before=2),
    "history of an agent": lambda tx, world: activity.history(tx, world.project.id, limit=20, agent="bob"),
    "history of a task": lambda tx, world: activity.history(
        tx, world.project.id, limit=20, task_id=world.sent.id
    ),
    "token for a project": lambda tx, world: tokens.for_project(tx, world.project, role=Role.MEMBER),
}


class Overhearing:
    """A connection that remembers what it was asked."""

    def __init__(self, db: Connection) -> None:
        self._db = db
        self.transaction_number, self.settled = db.transaction_number, db.settled
        self.is_shared = db.is_shared
        self.for_update, self.skip_locked = db.for_update, db.skip_locked
        self.for_delete, self.for_reference = db.for_delete, db.for_reference
        self.hub_has_ended, self.placed = db.hub_has_ended, db.placed
        self.heard: list[tuple[str, Mapping[str, object]]] = []

    def query(self, sql: str, values: Mapping[str, object]) -> Sequence[Row]:
        self.heard.append((sql, values))
        return self._db.query(sql, values)

    def tuples(self, sql: str, values: Mapping[str, object]) -> Sequence[tuple[Any, ...]]:
        self.heard.append((sql, values))
        return self._db.tuples(sql, values)

    def each(self, sql: str, values: Mapping[str, object]) -> Iterator[Row]:
        self.heard.append((sql, values))
        return self._db.each(sql, values)

    def tell(self, sql: str, values: Mapping[str, object]) -> None:
        self.query(sql, values)


def plans(tx: Tx, call: Callable[[Tx, World], object], explain: str) -> dict[str, str]:
    """Return the engine's plan of each statement that the call sends."""
    world = build(tx)
    plain, overhearing = tx.db, Overhearing(tx.db)
    tx.db = overhearing
    call(tx, world)
    assert overhearing.heard
    return {
        sql: "\n".join(str([*row.values()][-1]) for row in plain.query(f"{explain} {sql}", values))
        for sql, values in overhearing.heard
    }


class Undone(Exception):
    """Leaves the database as it was, for the next call."""


def in_vain(store: Store, operation: Callable[[Tx], dict[str, str]]) -> dict[str, str]:
    """Return the operation's result; none of its changes is kept."""
    given: dict[str, str] = {}

    def undone(tx: Tx) -> None:
        given.update(operation(tx))
        raise Undone

    with pytest.raises(Undone):
        store.write_now(SYSTEM, undone)
    return given


LISTED_WHOLE = re.compile(
    r"FROM members|FROM runs WHERE project_id|\brun_id = :run_id\b|\ba\.project_id = :id ORDER BY p\.opened_at"
)


def sorts_what_it_returns(sql: str) -> bool:
    """Tell whether a statement lists something whole, so that it may sort: all of it is wanted, in order."""
    return bool(LISTED_WHOLE.search(sql)) and "LIMIT" not in sql


def test_sqlite_looks_up(sqlite_store: SQLite) -> None:
    """On SQLite no everyday call reads a table from end to end, or the log up to its place; none sorts and drops."""
    wrong = []
    for name, call in CALLS.items():
        found = in_vain(sqlite_store, lambda tx, call=call: plans(tx, call, "EXPLAIN QUERY PLAN"))  # type: ignore[misc]
        for sql, plan in found.items():
            steps = plan.splitlines()
            whole = [step for step in steps if re.match(r"SCAN (?!CONSTANT ROW|\d+-ROW VALUES)", step)]
            reads_the_end = sql.endswith("LIMIT 1") and all("USING COVERING INDEX" in step for step in whole)
            sorts = "TEMP B-TREE" in plan and not sorts_what_it_returns(sql)
            goes_there = re.search(r"\btx[<>]\?", plan)  # all of the log has the same `tx`
            if sorts or goes_there or (whole and not reads_the_end):
                wrong.append(f"{name}: {sql}\n{plan}")

    assert not wrong, "\n\n".join(wrong)


def test_postgres_can_look_up(postgres_store: Postgres) -> None:
    """On PostgreSQL there is an index for every everyday statement: told not to scan or sort, it does neither."""
    wrong = []
    for name, call in CALLS.items():

        def forbidden(tx: Tx, call: Callable[[Tx, World], object] = call) -> dict[str, str]:
            for way in ("seqscan", "bitmapscan", "sort", "incremental_sort"):
                tx.run(f"SET LOCAL enable_{way} = off")
            return plans(tx, call, "EXPLAIN")

        for sql, plan in in_vain(postgres_store, forbidden).items():
            sorts = "Sort" in plan and not sorts_what_it_returns(sql)
            if sorts or "Seq Scan" in plan:
                wrong.append(f"{name}: {sql}\n{plan}")

    assert not wrong, "\n\n".join(wrong)
