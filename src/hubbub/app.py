"""The composition root: the only place that knows every part of a hub. Here they are put together, started, stopped."""

import asyncio
import json
import os
import resource
import signal
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.types import ASGIApp

from hubbub.core.fleet.requesters import OwnMachine
from hubbub.core.mail import messages
from hubbub.core.people import access, logins, projects, users
from hubbub.core.people.quotas import MIB, Limits, Quotas
from hubbub.core.transaction import Transactions
from hubbub.dialects import addresses, discover
from hubbub.model import data_folder
from hubbub.model.cost import prices
from hubbub.model.errors import HubError, Invalid, Unauthorized
from hubbub.model.ids import new_id
from hubbub.model.people.rights import SYSTEM
from hubbub.model.programs import extras
from hubbub.model.redaction import Redactor
from hubbub.node.audit.witness import open_witness
from hubbub.node.commands.job_folder import end_all
from hubbub.node.system.load import measure
from hubbub.processes import durable_files
from hubbub.processes.log import structlog
from hubbub.serve import outbox
from hubbub.serve.application import AppContext, application
from hubbub.serve.background.breaker_watch import BreakerWatch
from hubbub.serve.background.echo_agents import EchoAgents
from hubbub.serve.background.last_tools import LastTools
from hubbub.serve.background.log_retention import LogRetention
from hubbub.serve.background.maintenance import Maintenance
from hubbub.serve.background.node_heartbeat import OwnMachinePresence
from hubbub.serve.background.relay_folder import mirror_project
from hubbub.serve.background.storage_usage import StorageUsage
from hubbub.serve.fleet.hub_services import HubServices, InProcessWire
from hubbub.serve.fleet.linked_nodes import LinkedNodes
from hubbub.serve.fleet.other_hubs import OtherHubs
from hubbub.serve.fleet.proof_signing import ProofSigning
from hubbub.serve.fleet.timings import Timings
from hubbub.serve.http.listener import exposure, listen, url_of
from hubbub.serve.http.page_paths import LOGIN
from hubbub.serve.http.server import HubServer, gc_frozen, server_config
from hubbub.serve.live.activity_source import LiveActivitySource
from hubbub.serve.live.delivery_receipts import DeliveryReceipts
from hubbub.serve.live.ephemeral import EphemeralBroadcast
from hubbub.serve.live.log_tail import LogTail
from hubbub.serve.live.subscribers import Subscribers
from hubbub.serve.monitoring import logging_setup as logs
from hubbub.serve.monitoring.loop_watch import LoopWatch
from hubbub.settings import Settings
from hubbub.store.engine import database_address
from hubbub.store.engine.folder_lock import FolderLock
from hubbub.store.engine.sqlite import SQLite
from hubbub.store.tx import Store, Tx, unix_ms
from hubbub.workspace import locations
from hubbub.workspace.locations import Workspace

if TYPE_CHECKING:
    from hubbub.model.work.signatures import Witness
    from hubbub.node.local_node import LocalNode

log = structlog.get_logger("hubbub")

OWNER_TOKEN = "owner-token"
HUB_FILE = "hub.json"  # in the data folder while the hub runs: its address
WORKSPACE_VARIABLES = ("RELAY_DIR", "RELAY_PROJECT_ROOT")
SWITCH_INTERVAL = 0.0005  # seconds; at Python's own 5 ms a busy event loop starves the writer thread


def run(settings: Settings, *, is_quiet: bool = False) -> None:
    """Run a hub until a signal stops it. It greets the person who started it, unless it `is_quiet`.

    Raises a `HubError` with one sentence if it cannot start: the port is taken, the data folder is in use or
    belongs to a newer program, the database is out of reach.
    """
    prepare_process(settings)
    hub = Hub(settings)
    logs.keep_file(settings.data / logs.DAEMON, Redactor([settings.github_token or ""]).text)
    hub.serve(None if is_quiet else _greet)


def prepare_process(settings: Settings) -> None:
    """Prepare this process for a hub: its log, its turns between threads, its open files."""
    logs.configure(form=settings.log_format, level=settings.log_level)
    sys.setswitchinterval(SWITCH_INTERVAL)
    _raise_file_limit()


class Hub:
    """A hub that listens already and has its data; calls are answered while `serve` runs."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.dialects = discover()
        self.pace = Timings()
        if settings.root_dialect not in self.dialects:
            known = ", ".join(self.dialects)
            raise Invalid(f"there is no dialect {settings.root_dialect!r}; the hub speaks {known}")
        self._socket = listen(settings.host, settings.port)
        try:
            self.port: int = self._socket.getsockname()[1]
            self.url = url_of(settings.host, self.port)
            self._lock, self.store = _open(settings, self.url)
        except BaseException:
            self._socket.close()
            raise
        self._started = threading.Event()
        self._server: HubServer | None = None
        self._is_stopping = False
        self._announce: Callable[[Hub], None] | None = None

    def serve(self, announce: "Callable[[Hub], None] | None" = None) -> None:
        """Answer calls until a signal or `stop`, and then close everything. `announce` is called when it is ready."""
        self._announce = announce
        try:
            self.store.write_now(SYSTEM, self._let_owner_in)
            app, release = self._compose()
            is_proxied = self.settings.public_url is not None
            config = server_config(app, self.settings.host, self.port, behind_proxy=is_proxied)
            self._server = HubServer(config, release)
            if self._is_stopping:  # before there was a server; only ever set, so that no `stop` is lost
                self._server.should_exit = True
            with _signals_caught(self.stop), gc_frozen():
                self._server.run([self._socket])
            end_all(self.settings.data)
        finally:
            self._socket.close()
            self.store.close()
            if self._lock is not None:
                self._lock.release()
            self._started.set()  # releases those who wait for it
            log.info("the hub has stopped", url=self.url)

    def wait_until_ready(self) -> None:
        """Block until calls are answered, or never will be. For other threads than the one that serves."""
        self._started.wait()

    def stop(self) -> None:
        """Have `serve` end soon. May be called from any thread."""
        self._is_stopping = True
        if self._server is not None:
            self._server.should_exit = True

    def _compose(self) -> tuple[ASGIApp, Callable[[], Awaitable[None]]]:
        quotas = Quotas(_limits(self.settings))
        transactions = Transactions(self.store, quotas)
        feed, followers, notified = LogTail(self.store), Subscribers(quotas), DeliveryReceipts(transactions)
        sightings, usage = LastTools(transactions), StorageUsage(self.store, quotas)
        fleet = LinkedNodes(transactions, str(new_id()), self.pace)
        signing = ProofSigning(fleet, self._witness())
        workspace, slug = _workspace(), os.environ.get("HUBBUB_PROJECT") or projects.DEFAULT
        leaving = outbox.build(self.store, self.settings, self.settings.public_url or self.url)
        echoes, breakers = EchoAgents(transactions), BreakerWatch(transactions)
        for each in (followers, OtherHubs(fleet), signing, leaving, echoes, breakers):
            feed.listen(each.hear)
        archive = LogRetention(self.store, self.settings.keep_log_days)
        upkeep = Maintenance(self.store, timedelta(hours=self.settings.dead_letter_hours))
        watch, news = LoopWatch(self.settings.watch_loop), LiveActivitySource(feed, followers)
        hub_services = HubServices(transactions, news, prices.read(self.settings.prices))
        services = feed, notified, sightings, leaving, archive, upkeep, usage, watch, echoes, breakers
        work = [each.run for each in services]
        if workspace is not None:
            work.append(partial(mirror_project, transactions, feed, workspace, slug))
        node = None if self.settings.no_node else self._machine(hub_services, slug, fleet.instance)
        parts = AppContext(
            transactions=transactions,
            dialects=self.dialects,
            feed=feed,
            followers=followers,
            notified=notified,
            whispers=EphemeralBroadcast(self.store),
            sightings=sightings,
            settings=self.settings,
            url=self.url,
            port=self.port,
            workspace=workspace,
            workspace_project=slug,
            copier=self.store if isinstance(self.store, SQLite) else None,
            node=node,
            fleet=fleet,
            signing=signing,
        )
        return application(parts, partial(self._alive, parts, node, work)), partial(_let_go, followers, fleet)

    @asynccontextmanager
    async def _alive(
        self,
        parts: AppContext,
        node: "LocalNode | None",
        work: Sequence[Callable[[], Coroutine[None, None, None]]],
    ) -> AsyncIterator[None]:
        """Run the hub's own work while it is served."""
        parts.whispers.start()
        # Others see it once it listens to them; they take the machines of a hub that they do not see for gone.
        self.store.be_seen(parts.fleet.instance)
        await parts.feed.start()
        await self.store.read(SYSTEM, messages.follow_last)  # the clock may have been set back meanwhile
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self._background(*work))
            await stack.enter_async_context(parts.fleet.alive())
            if node is not None:
                slug = parts.workspace_project
                presence = OwnMachinePresence(parts.transactions, node, measure)
                parts.feed.listen(presence.hear)
                await stack.enter_async_context(presence.kept())
                with suppress(HubError):  # another machine has that name
                    await parts.signing.begin(slug, node.name)
                await stack.enter_async_context(node.alive())
            await stack.enter_async_context(self._findable())
            yield

    def _witness(self) -> "Witness | None":
        """Return the machine that the hub runs on as a witness; None if its requirements are not installed."""
        if self.settings.no_node:
            return None
        try:
            extras.require("machine")
        except extras.NotInstalled:
            return None
        return open_witness(self.settings.data)

    def _machine(self, hub_services: HubServices, slug: str, instance: str) -> "LocalNode | None":
        """Return the machine that the hub runs on, for agents to use; None if its requirements are not installed.

        `instance` is the hub's name for itself.
        """
        from hubbub.dialects.cmdop import DIALECT
        from hubbub.node.gate import host_facts
        from hubbub.node.requests import hub_client

        try:
            with extras.required():
                from hubbub.node.factory import (
                    open_node,  # takes a while to import, and not every hub has one
                )
        except extras.NotInstalled as error:
            log.warning("agents cannot use this machine", reason=str(error))
            return None
        name = host_facts.describe(self.settings.data).name
        return open_node(
            data=self.settings.data,
            log_file=self.settings.data / logs.DAEMON,
            config=self.settings.config,
            cwd=Path.cwd(),
            hub=hub_client.HubClient(
                InProcessWire(hub_services, OwnMachine(project=slug, node=name, instance=instance), self.url)
            ),
            catalogue=DIALECT.catalogue(),
            secrets=[
                *data_folder.secrets(self.settings.data),
                *([self.settings.github_token] if self.settings.github_token else []),
            ],
            name=name,
            keeps_agents=True,
        )

    @asynccontextmanager
    async def _background(self, *work: Callable[[], Coroutine[None, None, None]]) -> AsyncIterator[None]:
        """Run the hub's background work. It never ends; a failure in it is a bug, and stops the hub."""

        def ended(task: "asyncio.Task[None]") -> None:
            if not task.cancelled() and (error := task.exception()):
                log.critical("the hub stops, as it cannot go on", exc_info=error)
                self.stop()

        tasks = [asyncio.create_task(each()) for each in work]
        for task in tasks:
            task.add_done_callback(ended)
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    @asynccontextmanager
    async def _findable(self) -> AsyncIterator[None]:
        """Write down the hub's address: commands on this machine read it from the data folder."""
        file = self.settings.data / HUB_FILE
        durable_files.write(file, json.dumps({"url": self.url, "pid": os.getpid(), "started_at": unix_ms()}))
        log.info("the hub is ready", url=self.url)
        if warning := exposure(self.settings.host, self.settings.public_url):
            log.warning(warning)
        if self._announce is not None:
            self._announce(self)
        self._started.set()
        try:
            yield
        finally:
            file.unlink(missing_ok=True)

    def _let_owner_in(self, tx: Tx) -> None:
        """Ensure that the data folder holds a token of the owner, whom a new hub creates first.

        A new token is made if the file is gone, or is of another database: whoever holds the data owns the hub. It
        is in the file before it is in the store, so that it cannot get lost.
        """
        file = self.settings.data / OWNER_TOKEN
        secret = users.first_start(tx)
        if secret is None and not _is_good(tx, file):
            secret = users.owner_token(tx)
        if secret is not None:
            durable_files.write(file, f"{secret}\n")


async def _let_go(followers: Subscribers, fleet: LinkedNodes) -> None:
    """End every open stream, and tell the machines."""
    followers.close()
    await fleet.close()


@contextmanager
def _signals_caught(stop: Callable[[], None]) -> Iterator[None]:
    """Let a signal only `stop` the hub: uvicorn raises it again when it is done, before the store is closed."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {each: signal.signal(each, lambda *_: stop()) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def _open(settings: Settings, url: str) -> tuple[FolderLock | None, Store]:
    """Return the store, and the lock of the data folder if the store is elsewhere and does not hold it itself."""
    if settings.database is None:
        return None, SQLite.open(settings.data, url=url)
    with extras.required():
        from hubbub.store.engine.postgres import (
            Postgres,  # takes a while to import, and most hubs never need it
        )

    settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = FolderLock.take(settings.data, url=url)
    try:
        store = Postgres.open(settings.database)
        database_address.remember(settings.data, settings.database)
        return lock, store
    except BaseException:
        lock.release()
        raise


def _limits(settings: Settings) -> Limits:
    """Return the limits of each token's use of the hub."""
    return Limits(
        rate=settings.token_rate,
        burst=settings.token_burst,
        streams=settings.token_streams,
        connections=settings.mcp_connections,
        stored=settings.token_megabytes * MIB,
    )


def _workspace() -> Workspace | None:
    """Return the relay folder of the hub itself: if the environment names one, or the hub was started beside one."""
    found = locations.find(os.environ, Path.cwd())
    is_named = any(os.environ.get(name) for name in WORKSPACE_VARIABLES)
    return found if is_named or found.folder.is_dir() else None


def _is_good(tx: Tx, token_file: Path) -> bool:
    """Tell whether the file holds a valid token."""
    try:
        access.authenticate(tx, token_file.read_text("utf-8").strip())
    except (FileNotFoundError, UnicodeDecodeError, Unauthorized):
        return False
    return True


def _raise_file_limit() -> None:
    """Raise the limit of open files: each stream is one, and the usual limit of 1,024 is soft."""
    _soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):  # the system allows less than it says
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def _greet(hub: Hub) -> None:
    """Print the hub's address and how to connect; for a program, the bare address on a line of its own first."""
    token = hub.settings.data / OWNER_TOKEN
    code = hub.store.write_now(SYSTEM, logins.owners_link)
    is_person = sys.stdout.isatty()
    url = hub.settings.public_url or hub.url  # for whoever is to follow a link
    mcp, *others = addresses(url, hub.settings.root_dialect, in_full=not is_person)
    lines = [
        f"hubbub is ready at {hub.url}" + (f", from outside at {url}" if url != hub.url else ""),
        f"  dashboard    {url}{LOGIN}/{code}",
        "               signs you in once, within ten minutes; after that: hubbub open",
        f"  docs         {url}/docs",
        f"  MCP          {mcp}",
        *(f"               {each}" for each in others),
        f"  your token   in {token}",
        "  an agent     hubbub work NAME --run COMMAND",
        "  a client     give it the MCP address and the header  Authorization: Bearer TOKEN",
        "               with a token from  hubbub token create --project default --agent NAME",
        "  to stop      Ctrl-C",
    ]
    if not is_person:
        lines.insert(0, hub.url)
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()
