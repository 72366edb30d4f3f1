"""A hub that listens on a real socket, for tests of the edges: its own data, a project, and a small dialect."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from hubbub import app
from hubbub.core.actions import task_actions
from hubbub.core.mail import messages
from hubbub.core.people import access, projects, tokens, users
from hubbub.core.work import tasks
from hubbub.dialects.dialect import Dialect, Reply
from hubbub.model.errors import HubError, StoreUnavailable
from hubbub.model.people.rights import SYSTEM, Actor, Role
from hubbub.model.records import Project
from hubbub.serve.fleet.timings import Timings
from hubbub.settings import Settings
from hubbub.store.engine.sqlite import SQLite
from hubbub.store.tx import Store, Tx
from tests.runner.reporting import WATCH_LOOP
from tests.support.migrated_database import migrated
from tests.support.self_named import by_a_tool_set
from tests.support.served_hub import serving

PUBLIC_HOST = "hub.example.org"
TINY = Dialect(
    name="tiny",
    guide="Say `echo`, or `note` to leave a message.",
    success=lambda reply: {"fine": True, **reply},
    refusals={HubError: lambda error: {"fine": False, "why": error.code}},
    invalid=lambda sentence: {"fine": False, "why": "invalid", "message": sentence},
    unknown=lambda name: {"fine": False, "why": "unknown", "message": name},
)


@TINY.tool(reads=True)
def echo(_tx: Tx, text: str) -> Reply:
    """Say it again."""
    return {"text": text}


@TINY.tool()
def note(tx: Tx, to: str, text: str) -> Reply:
    """Leave a message."""
    project = access.enter(tx)
    sent = messages.send(tx, project.id, sender=access.speak(tx, project.id), to=to, body=text)
    return {"id": str(sent.id)}


@TINY.tool(reads=True)
def stumble(_tx: Tx) -> Reply:
    """A bug."""
    raise RuntimeError("the secret is 42")


@TINY.tool(reads=True)
def overflow(_tx: Tx) -> Reply:
    """A full disk."""
    raise StoreUnavailable("the disk is full")


@dataclass
class Hub:
    """The running hub, from outside (`url`, `secret`) and from below (`do`)."""

    served: app.Hub
    url: str
    store: Store
    owner: Actor
    owner_secret: str
    project: Project

    def do(self, operation: Any, actor: Actor = SYSTEM) -> Any:
        """Run an operation as the hub itself."""
        return self.store.write_now(actor, operation)

    def token(
        self,
        agent: str | None = None,
        *,
        role: Role = Role.MEMBER,
        project: Project | None = None,
        ttl: timedelta | None = None,
    ) -> str:
        """The secret of a new token for the project."""
        where = project or self.project
        if agent is not None:
            self.do(lambda tx: by_a_tool_set(tx, where.id, agent), self.owner)
        made = self.do(lambda tx: tokens.for_project(tx, where, role=role, agent=agent, ttl=ttl), self.owner)
        return str(made[1])

    def other_project(self) -> Project:
        """A project that tokens of the first know nothing of."""
        made: Project = self.do(lambda tx: projects.create(tx, "elsewhere"), self.owner)
        return made

    def revoke(self, secret: str) -> None:
        """Take a token back."""
        token_id = self.do(lambda tx: access.authenticate(tx, secret).token_id)
        self.do(lambda tx: tokens.revoke(tx, token_id), self.owner)

    def meet(self, name: str) -> None:
        """Let the project know an agent."""
        self.do(lambda tx: by_a_tool_set(tx, self.project.id, name))

    def send_task(self, to: str, text: str = "work") -> str:
        """A task in the inbox of `to`; returns its id."""
        return str(self.do(lambda tx: tasks.send(tx, self.project.id, sender="hub", to=to, text=text)).id)

    def cancel_task(self, task_id: str) -> None:
        """End a task."""
        self.do(
            lambda tx: task_actions.cancel(
                tx, tasks.find(tx, [self.project.id], task_id), by="hub", reason=None
            )
        )


@contextmanager
def running_hub(
    data: Path, pace: Timings | None = None, also: Dialect = TINY, **settings: Any
) -> Iterator[Hub]:
    """A fresh hub that runs until the context ends, speaks `tiny`, and is known as `hub.example.org` too."""
    chosen = {"port": 0, "public_url": f"https://{PUBLIC_HOST}", "watch_loop": WATCH_LOOP, **settings}
    served = app.Hub(Settings(data=migrated(data), **chosen))
    served.dialects |= {TINY.name: TINY, also.name: also}
    served.pace = pace or served.pace
    with serving(served):
        yield _known(served, (data / app.OWNER_TOKEN).read_text().strip())


def anew(hub: Hub) -> Hub:
    """The same hub, which runs on, in a world that is new: an owner with a project, and nobody and nothing else."""

    def begin(tx: Tx) -> str:
        _clear(tx, isinstance(hub.store, SQLite))
        secret = users.first_start(tx)
        assert secret is not None
        return secret

    return _known(hub.served, hub.do(begin))


def _known(served: app.Hub, secret: str) -> Hub:
    """A running hub and what its owner's token leads to."""
    owner = served.store.read_now(SYSTEM, lambda tx: access.authenticate(tx, secret))
    project = served.store.read_now(owner, lambda tx: projects.show(tx, projects.DEFAULT))
    return Hub(served, served.url, served.store, owner, secret, project)


def _clear(tx: Tx, is_sqlite: bool) -> None:
    """Clear everything except the projects, under other names, so that the hub's pending notes still find them."""
    if is_sqlite:
        tables = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
        tx.run("PRAGMA defer_foreign_keys = ON")
    else:
        tables = "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'"
        tx.run("SET LOCAL session_replication_role = replica")
    tx.run(
        "UPDATE projects SET slug = 'gone-' || CAST(:now AS TEXT) || slug, number = NULL, run_id = NULL",
        now=tx.now,
    )
    names = {row["name"] for row in tx.all(tables)} - {"migrations", "projects"}
    if is_sqlite:  # where one look at all takes less than emptying those to which the test wrote nothing
        looks = [f"SELECT '{name}' AS name WHERE EXISTS (SELECT 1 FROM {name})" for name in names]
        names = {row["name"] for row in tx.all(" UNION ALL ".join(looks))}
    for name in names:
        tx.run(f"DELETE FROM {name}")
