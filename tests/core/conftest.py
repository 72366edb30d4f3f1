"""A small project to try the core in: three agents that know each other, on either engine."""

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Concatenate, ParamSpec, TypeVar
from uuid import UUID

import apsw
import pytest

from hubbub.core import expiry
from hubbub.core.actions import inbox, task_actions
from hubbub.core.agents import agents
from hubbub.core.people import access, projects, users
from hubbub.core.presence import presences
from hubbub.core.work import completion, tasks
from hubbub.model.ids import new_id
from hubbub.model.lifecycle import Event, Status
from hubbub.model.people.rights import SYSTEM, Actor, Role
from hubbub.model.records import Activity, Condition, Letter, Presence, Profile, Project, Task
from hubbub.store.engine import postgres
from hubbub.store.engine.postgres import Postgres
from hubbub.store.engine.sqlite import DATABASE, SQLite
from hubbub.store.log import activity
from hubbub.store.tx import Store, Tx
from tests.conftest import MovableClock
from tests.support.emptying import Emptier
from tests.support.memory_folder import in_memory
from tests.support.migrated_database import migrated
from tests.support.waiting import patience

LOG = logging.getLogger(__name__)
S, E = Status, Event
P = ParamSpec("P")
T = TypeVar("T")

CREW = ("ann", "bob", "代码1号")
TEN_MINUTES = timedelta(minutes=10)
RACERS = 8
RACING = ("race", "at_hub")  # what a test calls that is about several writers
HERE = Path(__file__).parent
HUBS = 4

# For what is decided without the store: each value that is refused, each row of a table.
on_one_engine = pytest.mark.parametrize("store", ["sqlite"], indirect=True)


@pytest.hookimpl(tryfirst=True)  # before tests are chosen by their marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What is the same on either engine is seen on PostgreSQL by `make check`, and what races by every run."""
    for item in items:
        if not (item.path.is_relative_to(HERE) and isinstance(item, pytest.Function)):
            continue
        is_race = any(name in RACING for name in item.function.__code__.co_names)
        if "postgres" in item.name and not is_race and not item.get_closest_marker("daily"):
            item.add_marker("system")


@dataclass(frozen=True)
class World:
    """The core over one store, as one actor, in one project."""

    store: Store
    clock: MovableClock
    project: Project
    actor: Actor
    hubs: tuple[Store, ...] = ()  # others over the same database, as of other hubs

    @property
    def id(self) -> UUID:
        return self.project.id

    def acting(self, actor: Actor) -> "World":
        """The same world as somebody else."""
        return replace(self, actor=actor)

    def at_hub(self, number: int) -> "World":
        """The same world at one of its hubs: at one hub alone nobody races, as it has one writer."""
        stores = (self.store, *self.hubs)
        return replace(self, store=stores[number % len(stores)])

    def elsewhere(self, slug: str) -> "World":
        """Another project of the same hub, where the same names are known."""
        project = self.acting(SYSTEM).do(projects.create, slug)
        other = replace(self, project=project, actor=member(project))
        for name in CREW:
            other.do(agents.meet, project.id, name)
        return other

    def do(self, operation: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """One call of the core in one transaction."""
        return self.store.write_now(self.actor, lambda tx: operation(tx, *args, **kwargs))

    def at(
        self, moment: int, operation: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """The same, at a moment that is exact to the millisecond."""

        def then(tx: Tx) -> T:
            tx.now = moment
            return operation(tx, *args, **kwargs)

        return self.store.write_now(self.actor, then)

    def pass_time(self, duration: timedelta) -> None:
        """Let time pass, and settle what has become overdue by it."""
        self.clock.advance(duration)
        self.do(expiry.settle)

    def send(self, to: str | None = "bob", text: str = "count the lines", **more: Any) -> Task:
        return self.do(tasks.send, self.id, **{"sender": "ann", "to": to, "text": text, **more})

    def task(self, task: Task) -> Task:
        """The task as it is now."""
        return self.do(tasks.find, [self.id], str(task.id))

    def accept(self, task: Task, by: str = "bob") -> Task:
        return self.on(task, task_actions.accept, by)

    def start(self, task: Task, by: str = "bob") -> Task:
        return self.on(task, task_actions.start, by, is_read=False)

    def on(
        self,
        task: Task,
        operation: Callable[Concatenate[Tx, Task, P], T],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Run an operation on the task as it is now, locked against others, as the edges do it."""

        def locked(tx: Tx) -> T:
            return operation(tx, tasks.find(tx, [self.id], str(task.id), lock=True), *args, **kwargs)

        return self.store.write_now(self.actor, locked)

    def inbox(self, name: str) -> list[Letter]:
        return self.do(inbox.read, self.id, name, 1000)

    def mail(self, name: str) -> list[str]:
        """The texts in an inbox, in their order."""
        return [letter.text for letter in self.inbox(name)]

    def report(
        self, name: str, condition: Condition = Condition.IDLE, *, instance: str = "first", **told: Any
    ) -> Presence:
        return self.do(
            presences.report,
            self.id,
            name,
            instance=instance,
            condition=condition,
            profile=Profile(**told),
            ttl=TEN_MINUTES,
        )

    def log(self) -> list[Activity]:
        """Everything that happened in the project, in order."""
        return self.do(activity.history, self.id, limit=100_000)[::-1]

    def kinds(self) -> list[str]:
        return [each.kind for each in self.log()]

    def race(self, *operations: Callable[[Tx], object]) -> list[object]:
        """Return the outcome or error of each operation, when all began at once, each at the next hub."""
        barrier = threading.Barrier(len(operations))

        def run(number: int, operation: Callable[[Tx], object]) -> object:
            store = self.at_hub(number).store
            try:
                store.read_now(SYSTEM, partial(_meet, barrier))  # by then, each has a connection
            except BaseException:
                barrier.abort()  # or the others would wait for ever
                raise
            barrier.wait()
            try:
                return store.write_now(self.actor, operation)
            except Exception as error:  # noqa: BLE001  # a racer's outcome, to be looked at
                LOG.warning("a racer got %r, by %r", error, error.__cause__)  # where only kinds are compared
                return error

        with ThreadPoolExecutor(len(operations)) as threads:
            begun = [threads.submit(run, *each) for each in enumerate(operations)]
        failed = [error for error in (each.exception() for each in begun) if error]
        for error in sorted(failed, key=lambda each: isinstance(each, threading.BrokenBarrierError)):
            raise error  # the cause first, before those who only could not meet
        return [each.result() for each in begun]


def _meet(barrier: threading.Barrier, tx: Tx) -> None:
    """Wait for the others, after a look at the database: a connection that is lost is noticed then, and not after."""
    tx.one("SELECT 1 AS one")
    barrier.wait()


def finish(world: World, task: Task, event: Event = E.COMPLETE, by: str = "bob", text: str = "three") -> Task:
    return world.on(task, completion.end, event, by=by, text=text, result=text)


def in_status(world: World, status: Status) -> Task:
    """A task of bob's, or a free one, that has come to be in that status."""
    task = world.send(to=None if status is S.QUEUED else "bob", ttl=timedelta(hours=1))
    match status:
        case S.QUEUED | S.DELIVERED:
            return task
        case S.ACCEPTED:
            return world.accept(task)
        case S.WORKING:
            return world.start(task)
        case S.BLOCKED | S.IN_REVIEW:
            world.start(task)
            return world.on(task, tasks.step, E.BLOCK if status is S.BLOCKED else E.SUBMIT)
        case _:
            ending = {S.COMPLETED: E.COMPLETE, S.FAILED: E.FAIL, S.CANCELLED: E.CANCEL, S.EXPIRED: E.EXPIRE}
            return finish(world, task, ending[status])


def member(project: Project, role: Role = Role.MEMBER, agent: str | None = None) -> Actor:
    """Return the actor with a token of the project."""
    return Actor(token_id=new_id(), project_id=project.id, role=role, agent=agent)


def person(world: World, name: str, role: Role | None = None) -> Actor:
    """A new person, with that role in the project."""
    owner = world.acting(Actor(token_id=None, owns_hub=True))
    _user, secret = owner.do(
        users.create, name, project=world.project if role else None, role=role or Role.MEMBER
    )
    return owner.do(access.authenticate, secret)


def errors_of(outcomes: Sequence[object]) -> list[type]:
    """The kinds of the errors among the outcomes of a race."""
    return [type(outcome) for outcome in outcomes if isinstance(outcome, Exception)]


class Borrowed:
    """The clock of whichever test has the store just now."""

    clock: MovableClock

    def __call__(self) -> int:
        return self.clock()


@pytest.fixture(scope="session")
def shared_postgres(postgres_database: str) -> Iterator[tuple[Sequence[Postgres], Borrowed]]:
    """A few hubs' stores for all tests of the core, which only run operations, on connections that know the tables."""
    borrowed = Borrowed()
    with ExitStack() as closed, pytest.MonkeyPatch.context() as patch:
        patch.setattr(postgres, "PATIENCE", patience(60))  # a busy machine takes long for a connection
        opened = partial(Postgres.open, postgres_database, clock=borrowed, notify_every=600)
        yield [closed.enter_context(closing(opened())) for _ in range(HUBS)], borrowed


@pytest.fixture(scope="session")
def shared_sqlite() -> Iterator[tuple[SQLite, Borrowed, Emptier]]:
    """The same in a file: none of these tests is about what a disk keeps."""
    borrowed = Borrowed()
    with TemporaryDirectory(dir=in_memory()) as folder:
        data = migrated(Path(folder))
        with (
            closing(SQLite.open(data, clock=borrowed)) as store,
            closing(apsw.Connection(str(data / DATABASE))) as db,
        ):
            named = db.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'migrations'")
            yield store, borrowed, Emptier(db.execute, [name for (name,) in named])


@pytest.fixture
def postgres_store(
    shared_postgres: tuple[Sequence[Postgres], Borrowed], postgres_emptier: Emptier, clock: MovableClock
) -> Iterator[Postgres]:
    stores, borrowed = shared_postgres
    borrowed.clock = clock
    yield stores[0]
    postgres_emptier.empty()


@pytest.fixture
def sqlite_store(shared_sqlite: tuple[SQLite, Borrowed, Emptier], clock: MovableClock) -> Iterator[SQLite]:
    store, borrowed, emptier = shared_sqlite
    borrowed.clock = clock
    yield store
    emptier.empty()


@pytest.fixture
def hubs(request: pytest.FixtureRequest, store: Store) -> tuple[Store, ...]:
    """The stores of other hubs over the database of `store`; SQLite has one."""
    if not isinstance(store, Postgres):
        return ()
    stores, _clock = request.getfixturevalue("shared_postgres")
    return tuple(stores[1:])


@pytest.fixture
def world(store: Store, hubs: tuple[Store, ...], clock: MovableClock) -> World:
    """The project `lab`, in which ann, bob and 代码1号 are known, and whoever may act as any of them."""
    project = store.write_now(SYSTEM, lambda tx: projects.create(tx, "lab"))
    world = World(store, clock, project, member(project), hubs)
    world.do(_meet_all, project.id)
    return world


def _meet_all(tx: Tx, project_id: UUID) -> None:
    for name in CREW:
        agents.meet(tx, project_id, name)
