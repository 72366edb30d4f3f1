"""The world of a run: a database, the hub's present process, and everyone who calls it."""

import asyncio
import json
from collections import defaultdict
from collections.abc import Awaitable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

from hubbub.core.agents import agents
from hubbub.core.fleet import enrolment
from hubbub.core.people import access, projects, tokens, users
from hubbub.core.people.access import StaleToken
from hubbub.core.transaction import Transactions, VouchedTransactions
from hubbub.dialects import discover
from hubbub.dialects.call import Call, HubContext, NotYet
from hubbub.dialects.cmdop import DIALECT as CMDOP
from hubbub.dialects.relay import message_tools, task_tools
from hubbub.model.errors import HubError, StoreUnavailable
from hubbub.model.fleet.calls import NodeInfo, ToolResult
from hubbub.model.ids import new_id
from hubbub.model.people.rights import SYSTEM, Actor, Role
from hubbub.model.records import Activity, Project
from hubbub.serve.background.maintenance import Maintenance
from hubbub.serve.fleet.hub_services import HubServices
from hubbub.serve.fleet.link_endpoint import LinkEndpoint
from hubbub.serve.fleet.linked_nodes import LinkedNodes
from hubbub.serve.fleet.node_reports import NodeReports
from hubbub.serve.fleet.node_requests import NodeRequests
from hubbub.serve.fleet.other_hubs import OtherHubs
from hubbub.serve.fleet.proof_signing import ProofSigning
from hubbub.serve.fleet.remote_nodes import RemoteNodes
from hubbub.serve.live.activity_source import LiveActivitySource
from hubbub.serve.live.delivery_receipts import DeliveryReceipts
from hubbub.serve.live.log_tail import LogTail
from hubbub.serve.live.subscribers import Subscribers
from hubbub.store.tx import Operation, Tx
from simulate.machines import Deeds, Machine
from simulate.store import Disk, Process

T = TypeVar("T")

PROJECTS = ("red", "blue")
CREW = ("ann", "bob", "cat")
PERSON = "eve"
DEAD_LETTERS = timedelta(hours=1)
MACHINE = "m1"
DIALECTS = discover()


class Broken(AssertionError):
    """A promise was broken; the message says which."""


@dataclass(frozen=True, slots=True)
class Place:
    """A machine of the simulation: its folder, and its record of performed work."""

    folder: Path
    deeds: Deeds


class NoAnswer(Exception):
    """The hub died before it answered: nobody knows the outcome of the call."""


@dataclass(slots=True)
class Prepared:
    """A prepared call of a tool: it may be sent again, or later."""

    dialect: str
    tool: str
    arguments: Mapping[str, Any]
    key: str | None
    marks: str | None  # the table that stores the mark exactly once if the call succeeds
    mark: str
    answer: str | None = None  # the answer to the first call, if there was one
    attempt: int | None = None  # the number of the last attempt at an order, if its caller counts


@dataclass(slots=True)
class Speaker:
    """An agent of one project, or the person of all projects, with their token."""

    project: Project
    name: str
    secret: str
    actor: Actor
    stay: str | None = None  # the session token of GolemXV's checkin
    last: Prepared | None = None
    held: list[Prepared] = field(default_factory=list)  # delayed calls
    is_revoked: bool = False


class Hub:
    """One process of the hub, with its state outside the database."""

    def __init__(self, disk: Disk, *, has_machines: bool) -> None:
        _forget()
        self.process = Process(disk)
        self.transactions = Transactions(self.process)
        self.feed, self.followers = LogTail(self.process), Subscribers(self.transactions.quotas)
        self.notified = DeliveryReceipts(self.transactions)
        self.upkeep = Maintenance(self.process, DEAD_LETTERS)
        self.heard: list[int] = []  # the lines that the feed has passed on
        news, self.fleet = (
            LiveActivitySource(self.feed, self.followers),
            LinkedNodes(self.transactions, str(new_id())),
        )
        self.site = HubContext(
            url="http://hub",
            port=1,
            instance=self.fleet.instance,
            news=news,
            tell=lambda _project, _content: None,
            note=self.notified.do,
            fleet=RemoteNodes(self.fleet),
        )
        needs = NodeRequests(self.fleet, HubServices(self.transactions, news), self.site, CMDOP)
        hearing = NodeReports(self.fleet, needs, lambda _outcome: None)
        signing = ProofSigning(self.fleet, None)
        self.links = (
            LinkEndpoint(self.fleet, hearing, signing, self.followers, None) if has_machines else None
        )
        self._work: list[asyncio.Task[None]] = []
        self.feed.listen(OtherHubs(self.fleet).hear)
        self.feed.listen(self.followers.hear)
        self.feed.listen(self._hear)

    async def start(self) -> None:
        await self.feed.start()
        self._work = [asyncio.create_task(each.run()) for each in (self.feed, self.notified)]
        if self.links is not None:
            self._work.append(asyncio.create_task(self._with_machines()))

    async def _with_machines(self) -> None:
        async with self.fleet.alive():
            await asyncio.Event().wait()

    async def die(self) -> None:
        """Die at once: calls under way get no answer."""
        self.process.close()
        for each in self._work:
            each.cancel()
        await asyncio.gather(*self._work, return_exceptions=True)

    def _hear(self, activities: Sequence[Activity]) -> None:
        self.heard.extend(each.seq for each in activities)


def _forget() -> None:
    """Clear the process's caches, as in a new process."""
    for dialect in DIALECTS.values():
        for tool in dialect.tools.values():
            if tool.kept is not None:
                tool.kept._replies.clear()
    for rows in (message_tools._ROWS, task_tools._ROWS):
        rows._lists.clear()


class World:
    """Everything that exists in a run."""

    def __init__(self, disk: Disk, machines: dict[str, Machine]) -> None:
        """Begin empty; `machines` will hold the joined machines, by their keys."""
        self.disk, self.machines = disk, machines
        self.projects: dict[str, Project] = {}
        self.speakers: dict[str, Speaker] = {}
        self.marks: dict[str, tuple[str, str]] = {}  # by mark: the table, and the answer, yes, no or unknown
        self.counted = 0
        self.answers: defaultdict[str, int] = defaultdict(int)
        self.settled_at = 0  # the time of the last answered call: nothing is overdue before it
        self.hub: Hub
        self.up = asyncio.Event()  # set while the hub runs
        self._keeper: list[asyncio.Task[None]] = []
        self.machine: Machine | None = None
        self.orders: defaultdict[str, set[str]] = defaultdict(set)  # the answers to each order, by its mark
        self.refused: set[str] = set()  # the marks of the orders whose last attempt was answered as not done
        self.beside: set[asyncio.Task[Any]] = set()  # calls that wait long

    async def begin(self, modes: Mapping[str, str], place: Place | None = None) -> None:
        """Create both projects and their crew; `modes` has each project's mode for conflicts.

        With a `place` there is a machine in the first project, with its folder there.
        """
        self.hub = Hub(self.disk, has_machines=place is not None)
        await self.hub.start()
        self.up.set()
        self._keeper = [asyncio.create_task(self._keep_up())]
        owner_secret = await self.write(SYSTEM, users.first_start)
        assert owner_secret is not None
        for slug in PROJECTS:
            await self._people(slug, owner_secret, modes[slug])
        if place is not None:
            await self._join(place)
        await asyncio.sleep(1)

    async def _people(self, slug: str, owner_secret: str, mode: str) -> None:
        def make(tx: Tx) -> None:
            owner = tx.actor = access.authenticate(tx, owner_secret)
            project = projects.create(tx, slug, conflict_mode=mode)
            self.projects[slug] = project
            for name in CREW:
                agents.meet(tx, project.id, name)
                _token, secret = tokens.for_project(tx, project, role=Role.MEMBER, agent=name)
                actor = access.authenticate(tx, secret)
                self.speakers[f"{slug}/{name}"] = Speaker(project, name, secret, actor)
            self.speakers[f"{slug}/{PERSON}"] = Speaker(project, PERSON, owner_secret, owner)

        await self.write(SYSTEM, make)

    async def _join(self, place: Place) -> None:
        owner = self.speakers[f"{PROJECTS[0]}/{PERSON}"]
        about = NodeInfo(name=MACHINE, machine_id="m", platform="linux", version="1", sandbox="bwrap")
        joined = await self.write(owner.actor, lambda tx: enrolment.join(tx, owner.project, about))
        links = lambda: None if self.hub.process.died.is_set() else self.hub.links  # noqa: E731
        self.machine = Machine(about, joined.token, place.folder, place.deeds, links)
        self.machines[joined.token] = self.machine
        self.machine.start()

    # ---- calls ---------------------------------------------------------------------------------------------------

    async def write(self, actor: Actor, operation: Operation[T]) -> T:
        return await self.answered(self.hub.transactions.write(actor, operation))

    async def answered(self, call: Awaitable[T]) -> T:
        """Await the answer to a call. Raises `NoAnswer` if the hub dies first."""
        process = self.hub.process
        asked, died = asyncio.ensure_future(call), asyncio.ensure_future(process.died.wait())
        await asyncio.wait({asked, died}, return_when=asyncio.FIRST_COMPLETED)
        died.cancel()
        if process.died.is_set():
            asked.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await asked
            raise NoAnswer
        return asked.result()

    async def call(self, speaker: Speaker, prepared: Prepared) -> ToolResult | None:
        """Return a dialect's answer to a call of a tool; None if there is none."""
        dialect = DIALECTS[prepared.dialect]
        around = Call(
            site=self.hub.site,
            may_wait=False,
            headers=self._headers(speaker, prepared.dialect),
            attempt=prepared.attempt,
        )
        mark = access.fingerprint(speaker.secret)
        verdict, now = "unknown", self.disk.clock()
        try:
            outcome: ToolResult = await self.answered(
                dialect.call(
                    VouchedTransactions(self.hub.transactions, mark),
                    speaker.actor,
                    prepared.tool,
                    prepared.arguments,
                    prepared.key,
                    around,
                )
            )
            verdict = "yes" if is_yes(outcome) else "no"
            if verdict == "yes":
                self.settled_at = max(self.settled_at, now)
        except NoAnswer:
            return None
        except (StoreUnavailable, StaleToken, NotYet, HubError):
            verdict = "no"
            return None
        finally:
            self.answers[f"{prepared.dialect}.{prepared.tool} {verdict}"] += 1
            if prepared.marks is not None:
                self._note(prepared, verdict)
        return outcome

    def _note(self, prepared: Prepared, verdict: str) -> None:
        _table, known = self.marks.get(prepared.mark, ("", "no"))
        assert prepared.marks is not None
        told = "yes" if "yes" in (known, verdict) else "unknown" if "unknown" in (known, verdict) else "no"
        self.marks[prepared.mark] = prepared.marks, told

    def _headers(self, speaker: Speaker, dialect: str) -> dict[str, str]:
        headers = {"x-hubbub-project": speaker.project.slug} if dialect in ("cmdop", "hub") else {}
        if dialect == "golemxv" and speaker.stay is not None:
            headers["x-gxv-session"] = speaker.stay
        return headers

    def mark(self, speaker: Speaker) -> str:
        """Return a new word of this project, which no other text contains."""
        self.counted += 1
        return f"@{speaker.project.slug}{self.counted:05}."

    # ---- death -----------------------------------------------------------------------------------------------------

    async def restart(self) -> None:
        """Kill the hub; another process takes its place."""
        self.up.clear()
        self.hub.process.close()
        await self.up.wait()

    async def _keep_up(self) -> None:
        """Start the hub again whenever it has died."""
        while True:
            await self.hub.process.died.wait()
            self.up.clear()
            if self.machine is not None and self.machine.wire is not None:
                self.machine.wire.cut()
                self.machine.wire.hub.cancel()
            await self.hub.die()
            self.hub = Hub(self.disk, has_machines=self.machine is not None)
            await self.hub.start()
            self.up.set()

    async def close(self) -> None:
        """End everything that runs."""
        if self.machine is not None:
            await self.machine.stop()
        ending = [*self.beside, *self._keeper]
        for task in ending:
            task.cancel()
        await asyncio.gather(*ending, return_exceptions=True)
        await self.hub.die()

    def ended_orders(self) -> set[str]:
        """Return the marks of the orders that have ended at the hub."""
        return {
            mark_of(given)
            for (given,) in self.rows("SELECT arguments FROM dispatches WHERE status = 'ended'")
        }

    def rows(self, sql: str, /, **values: object) -> list[tuple[Any, ...]]:
        return self.disk.rows(sql, **values)


def mark_of(arguments: str) -> str:
    """Return the mark of an order, if the hub still has its arguments."""
    return str(json.loads(arguments).get("command", "")).partition(" ")[0]


def is_yes(outcome: ToolResult) -> bool:
    """Tell whether an answer reports success, in the words of any tool set."""
    value = outcome.value
    if outcome.is_error or not isinstance(value, Mapping):
        return not outcome.is_error
    return "error" not in value and value.get("ok") is not False and value.get("success") is not False
