"""Promises: conditions that hold after each step, whatever happened before. Each is a function that yields violations.

Where possible a promise does not rely on the product's own code: the table of a task's life, the counts and the links
are written down here a second time, as short as they can be.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any
from uuid import UUID

from hubbub.core import why
from hubbub.core.snapshots.full_snapshot import SnapshotText
from hubbub.model.log.projection import Projector
from hubbub.model.people.rights import SYSTEM
from hubbub.store.tx import Tx
from simulate.world import Broken, World, mark_of

OPEN = ("queued", "delivered", "accepted", "working", "blocked", "in_review")
BACK = (
    "retried",
    "reassigned",
    "released",
    "reopened",
)  # the kinds that change a task's holder, or bring it back to its start
_ANY = ", ".join(OPEN)
# The kinds of lines about a task, with the statuses that each may lead from and to.
LIFE = {
    "sent": ("", "queued delivered"),
    "delivered": ("queued", "delivered"),
    "accepted": ("queued delivered", "accepted"),
    "started": ("queued delivered accepted blocked in_review completed", "working"),
    "blocked": ("queued delivered accepted working in_review completed", "blocked"),
    "submitted": ("queued delivered accepted working blocked completed", "in_review"),
    "completed": (_ANY, "completed"),
    "failed": (_ANY, "failed"),
    "cancelled": (_ANY, "cancelled"),
    "expired": ("queued delivered accepted", "expired"),
    "released": ("delivered accepted working blocked in_review", "queued delivered"),
    "retried": ("failed cancelled expired", "queued delivered"),
    "reassigned": (f"{_ANY}, completed", f"{_ANY}, completed"),
    "reopened": ("completed", "queued delivered"),
}
SAYS = {
    name: (frozenset(re.findall(r"\w+", before)) or {None}, frozenset(re.findall(r"\w+", after)))
    for name, (before, after) in LIFE.items()
}


@dataclass(slots=True)
class Job:
    """A task as the observer saw it last."""

    status: str
    assignee: str | None
    epoch: int
    attempt: int


@dataclass(slots=True)
class Watch:
    """The observer. It checks `EACH_STEP` after every step, and `NOW_AND_THEN` now and then and at the end."""

    world: World
    seq: int = 0
    seen: tuple[int, int] | None = None  # the number of writes and the settled time, at the last look
    jobs: dict[bytes, Job] = field(default_factory=dict)
    told: dict[bytes, str] = field(default_factory=dict)  # the status in the task's last line
    ended: dict[bytes, int] = field(default_factory=dict)  # the time of the line that ended the task
    folds: dict[bytes, Projector] = field(default_factory=dict)
    fences: dict[bytes, int] = field(default_factory=dict)  # each project's greatest fence so far
    fenced: dict[bytes, int] = field(default_factory=dict)  # each lease's fence
    orders: dict[bytes, tuple[str, str]] = field(default_factory=dict)  # each order's mark and status

    def look(self, *, whole: bool) -> None:
        """Raise `Broken` with the first promise that does not hold.

        The promises of each step depend on the tables, the settled time and machines: if none of these has changed,
        they still hold.
        """
        now = self.world.disk.written(), self.world.settled_at
        is_new = now != self.seen or self.world.machine is not None
        self.seen = now
        for promise in (*(EACH_STEP if is_new else ()), *(NOW_AND_THEN if whole else ())):
            for said in promise(self):
                raise Broken(f"{promise.__name__}: {said}")

    def rows(self, sql: str, /, **values: object) -> list[tuple[Any, ...]]:
        return self.world.rows(sql, **values)


Promise = Callable[[Watch], Iterator[str]]


# ---- after each step -----------------------------------------------------------------------------------------


def the_log_tells_a_path_of_the_lifecycle(watch: Watch) -> Iterator[str]:
    """Each line about a task begins at the status of the line before, and leads to one that its kind allows."""
    lines = watch.rows(
        """SELECT seq, project_id, at, kind, task_id, detail, patch FROM activity WHERE seq > :seen ORDER BY seq""",
        seen=watch.seq,
    )
    for seq, project, at, kind, task, detail, patch in lines:
        watch.seq = seq
        if project is not None:
            watch.folds.setdefault(project, Projector()).apply(seq, json.loads(patch) if patch else None)
        said = kind.partition(".")[2]
        if task is None or not kind.startswith("task.") or said not in SAYS:
            continue
        told = json.loads(detail)
        before, after = told["before"], told["after"]
        if before != watch.told.get(task):
            yield f"#{told['number']} was {watch.told.get(task)}, and the log has it {kind} from {before}"
        if before not in SAYS[said][0] or after not in SAYS[said][1]:
            yield f"#{told['number']} went from {before} to {after} by {kind}"
        watch.told[task] = after
        if after in OPEN:
            watch.ended.pop(task, None)
        else:
            watch.ended.setdefault(task, at)


def tasks_are_what_the_log_tells(watch: Watch) -> Iterator[str]:
    """A task has the status and the end that its last line tells; each change of holder raises its epoch."""
    for task, number, status, assignee, epoch, attempt, ended in watch.rows(
        "SELECT id, number, status, assignee, epoch, attempt, ended_at FROM tasks"
    ):
        now, before = Job(status, assignee, epoch, attempt), watch.jobs.get(task)
        if watch.told.get(task) != status:
            yield f"#{number} is {status}, and the log tells {watch.told.get(task)}"
        if ended != watch.ended.get(task):
            yield f"#{number} ended at {ended}, and the log tells {watch.ended.get(task)}"
        if before is not None and (epoch < before.epoch or attempt < before.attempt):
            yield f"#{number} fell back from epoch {before.epoch} to {epoch}, or attempt {before.attempt} to {attempt}"
        if before is not None and assignee != before.assignee and epoch <= before.epoch:
            yield f"#{number} went from {before.assignee} to {assignee}, and its epoch stayed {epoch}"
        if before is not None and attempt > before.attempt and epoch <= before.epoch:
            yield f"#{number} began anew, and its epoch stayed {epoch}"
        watch.jobs[task] = now


def _nothing_found(name: str, doc: str, sql: str) -> Promise:
    """Make a promise that a statement finds nothing."""

    def promise(watch: Watch) -> Iterator[str]:
        for row in watch.rows(sql):
            yield ", ".join(
                UUID(bytes=each).hex[-6:] if isinstance(each, bytes) else str(each) for each in row
            )

    promise.__name__, promise.__doc__ = name, doc
    return promise


UNDER_WAY = "('accepted', 'working', 'blocked')"

NOTHING = {
    "held_tasks_have_a_holder": (
        "What is delivered, said yes to or leased has somebody who has it; Relay lets senders move what is free.",
        """SELECT number, status FROM tasks
           WHERE assignee IS NULL AND (leased = 1 OR status IN ('delivered', 'accepted'))""",
    ),
    "what_is_addressed_stays_so": (
        "What was given to somebody by name is somebody's until it has ended.",
        "SELECT number, status FROM tasks WHERE addressed = 1 AND assignee IS NULL",
    ),
    "leases_end_with_their_holder": (
        "What an agent had claimed from the open queue is not its own once it is gone, unless it came back then.",
        f"""SELECT t.number, t.status, t.assignee FROM tasks t
            JOIN agents a ON a.project_id = t.project_id AND a.name = t.assignee
            JOIN presences p ON p.id = a.presence_id
            WHERE t.leased = 1 AND t.addressed = 0 AND t.status IN {UNDER_WAY}
              AND max(coalesce(t.accepted_at, 0), coalesce(t.started_at, 0)) < p.ended_at
              AND t.updated_at < p.ended_at""",
    ),
    "a_name_is_one_presence": (
        "Of one name there is one presence that has not ended, and it is the one that the name has.",
        """SELECT agent, count(*) FROM presences WHERE ended_at IS NULL GROUP BY project_id, agent HAVING count(*) > 1
           UNION ALL SELECT p.agent, 'not the latest' FROM presences p
           JOIN agents a ON a.project_id = p.project_id AND a.name = p.agent
           WHERE p.ended_at IS NULL AND a.presence_id <> p.id""",
    ),
    "delivered_is_in_the_inbox": (
        "What is delivered lies in its assignee's inbox, pending.",
        """SELECT t.number, t.assignee, d.recipient, d.acked_at, d.withdrawn_at FROM tasks t
           LEFT JOIN deliveries d ON d.id = t.delivery_id
           WHERE t.status = 'delivered' AND (d.id IS NULL OR d.recipient <> t.assignee OR d.task_id <> t.id
                 OR d.acked_at IS NOT NULL OR d.withdrawn_at IS NOT NULL)""",
    ),
    "a_task_waits_in_one_inbox": (
        "Of one task there is at most one row that waits, in the inbox of who has it, and none of what nobody wants.",
        """SELECT t.number, t.status, count(*) FROM deliveries d JOIN tasks t ON t.id = d.task_id
           WHERE d.acked_at IS NULL AND d.withdrawn_at IS NULL
           GROUP BY t.id HAVING count(*) > 1 OR max(d.recipient) <> coalesce(max(t.assignee), '')
              OR max(t.status) IN ('cancelled', 'expired', 'completed')""",
    ),
    "acknowledged_was_there": (
        "What was acknowledged, read or told of had come before, and is a task or a message that there is.",
        """SELECT d.id, d.recipient FROM deliveries d LEFT JOIN tasks t ON t.id = d.task_id
           LEFT JOIN messages m ON m.id = d.message_id
           WHERE (d.task_id IS NULL) = (d.message_id IS NULL) OR coalesce(t.id, m.id) IS NULL
              OR min(coalesce(d.acked_at, d.stored_at), coalesce(d.seen_at, d.stored_at)) < d.stored_at""",
    ),
    "held_back_until_all_is_done": (
        "What waits for others is in no inbox, and nobody has begun it.",
        """SELECT t.number, t.status, n.number, n.status FROM tasks t JOIN dependencies d ON d.task_id = t.id
           JOIN tasks n ON n.id = d.needs_id
           WHERE n.status <> 'completed' AND (t.status = 'delivered' AND t.delivered_at > n.updated_at
                                              OR t.status = 'accepted' AND t.accepted_at > n.updated_at)""",
    ),
    "a_thing_has_one_holder": (
        "Of no thing more is held than there is.",
        """SELECT w.key, sum(w.value), coalesce(c.capacity, 1) FROM leases l JOIN json_each(l.wants) w
           LEFT JOIN capacities c ON c.project_id = l.project_id AND c.thing = w.key
           WHERE l.status = 'held' GROUP BY l.project_id, w.key HAVING sum(w.value) > coalesce(c.capacity, 1)""",
    ),
    "a_file_has_one_holder": (
        "Where a project blocks conflicts, no file is held by two.",
        """SELECT a.agent, b.agent, a.entry, b.entry FROM claims a
           JOIN claims b ON b.project_id = a.project_id AND b.agent > a.agent
           JOIN projects p ON p.id = a.project_id
           JOIN presences x ON x.id = a.presence_id JOIN presences y ON y.id = b.presence_id
           WHERE p.conflict_mode = 'block' AND x.ended_at IS NULL AND y.ended_at IS NULL
             AND (a.entry GLOB b.entry OR b.entry GLOB a.entry)
             AND length(replace(a.entry, '/', '')) - length(a.entry)
                 = length(replace(b.entry, '/', '')) - length(b.entry)""",
    ),
    "claims_end_with_their_holder": (
        "Nobody holds a file who is gone, and what is held is declared.",
        """SELECT c.agent, c.entry FROM claims c JOIN presences p ON p.id = c.presence_id
           LEFT JOIN scope_entries s ON s.presence_id = c.presence_id AND s.position = c.number
           WHERE p.ended_at IS NOT NULL OR s.entry IS NULL OR s.entry <> c.entry""",
    ),
    "statuses_are_counted": (
        "How many tasks are in a status is what counting them gives.",
        """SELECT status, sum(kept), sum(there) FROM (
               SELECT project_id, status, tasks AS kept, 0 AS there FROM task_tally
               UNION ALL SELECT project_id, status, 0, count(*) FROM tasks GROUP BY project_id, status)
           GROUP BY project_id, status HAVING sum(kept) <> sum(there)""",
    ),
    "inboxes_are_counted": (
        "How many letters wait, and how many are unread, is what counting them gives.",
        """SELECT recipient, sum(pending), sum(unread), sum(waiting), sum(unseen) FROM (
               SELECT project_id, recipient, pending, unread, 0 AS waiting, 0 AS unseen FROM inbox_tally
               UNION ALL SELECT project_id, recipient, 0, 0, count(*), sum(seen_at IS NULL) FROM deliveries
                   WHERE acked_at IS NULL AND withdrawn_at IS NULL GROUP BY project_id, recipient)
           GROUP BY project_id, recipient HAVING sum(pending) <> sum(waiting) OR sum(unread) <> sum(unseen)""",
    ),
    "numbers_have_no_gaps": (
        "Tasks and messages are numbered from 1 on, and the counter is at the last.",
        """SELECT noun, value, there, last FROM counters
           JOIN (SELECT project_id, 'task' AS noun, count(*) AS there, max(number) AS last FROM tasks
                 GROUP BY project_id
                 UNION ALL
                 SELECT project_id, 'message', count(*), max(number) FROM messages GROUP BY project_id)
           USING (project_id, noun) WHERE value <> there OR value <> last""",
    ),
}  # fmt: skip

# ---- now and then, and at the end ----------------------------------------------------------------------------

REFERENCES = (
    ("tasks", "parent_id", "tasks"), ("tasks", "run_id", "runs"), ("tasks", "delivery_id", "deliveries"),
    ("deliveries", "task_id", "tasks"), ("deliveries", "message_id", "messages"),
    ("messages", "in_reply_to", "tasks"), ("messages", "in_reply_to", "messages"), ("messages", "run_id", "runs"),
    ("activity", "task_id", "tasks"), ("activity", "message_id", "messages"),
    ("completions", "task_id", "tasks"), ("artifacts", "run_id", "runs"), ("dispatches", "machine", "machines"),
)  # fmt: skip
CROSSED = {
    "nothing_crosses_projects": (
        "What refers to something refers to what is in its own project.",
        " UNION ALL ".join(
            f"""SELECT '{table} by {column}', hex(b.id) FROM {table} a JOIN {other} b ON b.id = a.{column}
                WHERE a.project_id <> b.project_id"""
            for table, column, other in REFERENCES
        )
        + """ UNION ALL SELECT 'needs', t.number FROM dependencies d JOIN tasks t ON t.id = d.task_id
              JOIN tasks n ON n.id = d.needs_id WHERE n.project_id <> t.project_id""",
    ),
}


def what_was_answered_is_there(watch: Watch) -> Iterator[str]:
    """A confirmed write is stored once, a refused one never, and one without an answer at most once."""
    found: Counter[tuple[str, str]] = Counter()
    for table, texts in (("tasks", "title || description"), ("messages", "body")):
        for (text,) in watch.rows(f"SELECT {texts} FROM {table}"):
            found.update({(table, mark) for mark in re.findall(r"@(?:red|blue)\d{5}\.", text)})
    for mark, (table, verdict) in watch.world.marks.items():
        number = found[table, mark]
        if verdict == "yes" and number != 1:
            yield f"{mark} was answered with yes, and is kept {number} times among {table}"
        if verdict == "no" and number:
            yield f"{mark} was refused, and is kept among {table}"
        if number > 1:
            yield f"{mark} is kept {number} times among {table}"


def the_log_tells_what_the_tables_tell(watch: Watch) -> Iterator[str]:
    """The patches of a project's log, applied to nothing, give the same project as its tables."""
    for slug, project in watch.world.projects.items():
        there = watch.world.disk.read(
            SYSTEM,
            lambda tx, of=project.id: json.loads(b"".join(SnapshotText(tx, of))),  # type: ignore[misc]
        )
        fold = watch.folds.get(project.id.bytes, Projector())
        for noun, cards in there.items():
            folded = fold.picture.get(noun, {})
            if cards != folded:
                keys = [key for key in {*cards, *folded} if cards.get(key) != folded.get(key)]
                pairs = {**(cards.get(keys[0]) or {})}, {**(folded.get(keys[0]) or {})}
                differs = {
                    name: (pairs[0].get(name), pairs[1].get(name)) for name in {**pairs[0], **pairs[1]}
                }
                yield f"{slug}: {noun} {keys[0]}: " + str({n: v for n, v in differs.items() if v[0] != v[1]})


def nobody_waits_without_a_reason(watch: Watch) -> Iterator[str]:
    """For each open task and each agent, `why` gives a reason beside the status."""
    for slug, project in watch.world.projects.items():
        numbers = [
            str(number)
            for (number,) in watch.rows(
                """SELECT number FROM tasks WHERE project_id = :project
                   AND status NOT IN ('completed', 'failed', 'cancelled', 'expired')""",
                project=project.id.bytes,
            )
        ]

        def told(tx: Tx, of: Any = project, asked: Any = numbers) -> dict[str, list[str]]:
            return {each: [str(fact.sentence) for fact in why.explain(tx, of, each).facts] for each in asked}

        for number, facts in watch.world.disk.read(SYSTEM, told).items():
            if len(facts) < 2 or not all(facts):
                yield f"{slug} #{number} waits, and why says only {facts}"


def nothing_is_overdue(watch: Watch) -> Iterator[str]:
    """At every answered call, everything overdue had ended before."""
    now = watch.world.settled_at
    for row in watch.rows(
        """SELECT 'task', number, expires_at FROM tasks
           WHERE expires_at <= :now AND updated_at < :now AND status IN ('queued', 'delivered', 'accepted')
           UNION ALL SELECT 'presence', agent, expires_at FROM presences
           WHERE expires_at <= :now AND seen_at < :now AND ended_at IS NULL
           UNION ALL SELECT 'claim', agent, expires_at FROM claims WHERE expires_at <= :now AND edited_at < :now
           UNION ALL SELECT 'lease', holder, expires_at FROM leases
           WHERE expires_at <= :now AND coalesce(granted_at, asked_at) < :now""",
        now=now,
    ):
        yield f"{row}, and it is {now}"


def fences_only_rise(watch: Watch) -> Iterator[str]:
    """A granted lease has a greater fence than all leases that its project granted before."""
    for lease, project, fence in watch.rows(
        "SELECT id, project_id, fence FROM leases WHERE status = 'held' ORDER BY fence"
    ):
        if watch.fenced.get(lease) == fence:
            continue
        if fence <= (last := watch.fences.get(project, 0)):
            yield f"a lease was granted with the number {fence}, behind {last}"
        watch.fenced[lease], watch.fences[project] = fence, fence


def the_first_in_turn_waits_for_something(watch: Watch) -> Iterator[str]:
    """The first lease in the queue waits for something that others hold."""
    held: Counter[tuple[bytes, str]] = Counter()
    counted = {(project, thing): most for project, thing, most in watch.rows("SELECT * FROM capacities")}
    waiting: dict[bytes, dict[str, int]] = {}
    for project, status, wants in watch.rows(
        "SELECT project_id, status, wants FROM leases ORDER BY priority, number"
    ):
        if status == "held":
            held.update({(project, thing): count for thing, count in json.loads(wants).items()})
        else:
            waiting.setdefault(project, json.loads(wants))
    for project, wants in waiting.items():
        if all(
            held[project, thing] + count <= counted.get((project, thing), 1) for thing, count in wants.items()
        ):
            yield f"{wants} is free, and the first in turn waits for it"


ORDER_LIFE = {
    "queued": "queued sent taken ended withdrawn lost", "sent": "sent taken ended lost", "taken": "taken ended lost",
    "lost": "lost ended", "ended": "ended", "withdrawn": "withdrawn",
}  # fmt: skip
UNDONE = ("denied", "offline", "invalid")  # the codes of orders that were not carried out


def orders_are_done_once(watch: Watch) -> Iterator[str]:
    """A machine carried out each order at most once: exactly once if it reported so, never if it refused the order."""
    if watch.world.machine is None:
        return
    done, forgotten = watch.world.machine.deeds.known, watch.world.machine.deeds.forgotten
    for order, number in done.items():
        if number > 1:
            yield f"{order} was done {number} times"
    for mark, answers in watch.world.orders.items():
        if "yes" in answers and mark not in forgotten and done.get(mark) != 1:
            yield f"{mark} was answered as done, and was done {done.get(mark, 0)} times"
        if answers == {"undone"} and mark in done:
            yield f"nothing of {mark} was done, as was answered; but it was"
        if mark in watch.world.refused and mark in done:
            yield f"nothing of {mark} was done by its last attempt, as was answered; but it was"
    yield from _orders_go_on(watch, done)


def _orders_go_on(watch: Watch, done: Mapping[str, int]) -> Iterator[str]:
    """Yield contradictions in the stored orders. Several orders share a mark if the first was not carried out."""
    undone: dict[str, bool] = {}
    for order, status, code, arguments in watch.rows("SELECT id, status, code, arguments FROM dispatches"):
        mark, before = watch.orders.get(order, ("", "queued"))
        mark = mark or mark_of(arguments)
        if status not in ORDER_LIFE[before].split():
            yield f"the order {mark} was {before} and is {status}"
        watch.orders[order] = mark, status
        is_undone = status == "withdrawn" or code in UNDONE
        undone[mark] = undone.get(mark, True) and is_undone
        if (
            status == "ended"
            and code not in (None, *UNDONE)
            and mark in done
            and "yes" in watch.world.orders.get(mark, ())
        ):
            yield f"the order {mark} was answered as done, and is kept as {code}"
    for mark, is_undone in undone.items():
        if mark and is_undone and mark in done:
            yield f"the order {mark} is kept as undone, and it was done"


def the_feed_passes_on_the_log(watch: Watch) -> Iterator[str]:
    """A follower of the log receives each line once, in order."""
    heard = watch.world.hub.heard
    if not heard:
        return
    if any(one >= other for one, other in pairwise(heard)):
        yield f"the feed went back, or told twice: {heard[-10:]}"
    there = [
        seq
        for (seq,) in watch.rows(
            "SELECT seq FROM activity WHERE seq BETWEEN :first AND :last ORDER BY seq",
            first=heard[0],
            last=heard[-1],
        )
    ]
    if there != heard:
        yield f"the feed left out {sorted({*there} - {*heard})[:5]}"


EACH_STEP: tuple[Promise, ...] = (
    orders_are_done_once,
    nothing_is_overdue,
    fences_only_rise,
    the_first_in_turn_waits_for_something,
    the_log_tells_a_path_of_the_lifecycle,
    tasks_are_what_the_log_tells,
    *(_nothing_found(name, doc, sql) for name, (doc, sql) in NOTHING.items()),
)
NOW_AND_THEN: tuple[Promise, ...] = (
    *(_nothing_found(name, doc, sql) for name, (doc, sql) in CROSSED.items()),
    what_was_answered_is_there,
    the_log_tells_what_the_tables_tell,
    nobody_waits_without_a_reason,
    the_feed_passes_on_the_log,
)
