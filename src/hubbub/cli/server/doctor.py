"""`hubbub doctor`: the state of this machine's hub, and remedies."""

import os
import resource
import shlex
import shutil
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import apsw
import click

from hubbub import __version__, settings
from hubbub.cli.clients.left_behind import left_behind
from hubbub.cli.mail.wake_probe import probe
from hubbub.cli.server.serve import about_unknown
from hubbub.client import OWNER_FILE, Hub, HubRefused, HubUnreachable, owner_token, quoted, running_hub
from hubbub.clients import install_record
from hubbub.clients.hook import hook_state, ringer_process
from hubbub.clients.hook.main import CLIENTS as HOOKED
from hubbub.clients.hook.main import DEADLINE, RUNG
from hubbub.clients.hook.permission_prompts import ASKING
from hubbub.clients.install.verify import verify
from hubbub.daemons import hub_starter
from hubbub.model.data_folder import LOGINS_FILE
from hubbub.model.errors import StoreRefused
from hubbub.model.mail.wakes import WakeMethod
from hubbub.model.programs import extras
from hubbub.store import migrate
from hubbub.store.engine import database_address
from hubbub.store.engine.folder_lock import FolderLock
from hubbub.store.engine.sqlite import DATABASE
from hubbub.terminal import display, versions
from hubbub.terminal.command import SIGN_IN, Choice, chooses_hub, command, sentence
from hubbub.terminal.durations import Seconds
from hubbub.terminal.exit_codes import REFUSED
from hubbub.terminal.hub_remedies import remedy

MIB = 1024 * 1024
LEAST_DISK = 512 * MIB
PRIVATE = (OWNER_FILE, LOGINS_FILE, DATABASE)  # in the data folder
CONNECT_SECONDS = 5  # for a connection to a database
LEAST_FILES = 4096  # a live stream is an open file
OTHERS = 0o077
RECENT = 24 * 3600  # seconds for which failures of a hook are reported
AMOUNTS = {
    "calls": "calls a second",
    "streams": "streams and waiting calls",
    "connections": "MCP sessions",
    "stored": "MiB stored a day",
}
MORE = {
    "calls": "look for a loop in its user, or make a token with a higher limit: hubbub token create --rate N",
    "streams": "close tabs and programs that no longer need the hub, or allow more: HUBBUB_TOKEN_STREAMS",
    "connections": "the longest idle one gives way; make a token for each agent, or set HUBBUB_MCP_CONNECTIONS",
    "stored": "at the limit it is refused; allow more: HUBBUB_TOKEN_MEGABYTES",
}
SEE_LOG = "see its log, hub.log in the data folder, or the journal of its service"
AGAIN = "hubbub down, then hubbub up"
WAKERS = frozenset({*WakeMethod})


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One check; `do` is the remedy if it failed."""

    subject: str
    well: bool
    found: str
    do: str | None = None


@command(
    "doctor",
    short_help="Check the installation, and say how to fix it.",
    example="hubbub doctor\nhubbub doctor --wake ember",
)
@click.option("--wake", metavar="NAME", help="Only wake this agent, and report what came of it.")
@click.option("--timeout", type=Seconds(), metavar="S", default=60, help="Seconds to wait for that.")
@chooses_hub
def doctor(*, choice: Choice, wake: str | None, timeout: float, as_json: bool) -> None:
    """Check the data folder, the machine, the hub and the installed clients. Exit code 1 when something is wrong."""
    if wake is not None:
        probe(choice, wake, patience=timeout, as_json=as_json)
        return
    looked_at = [*_machine(), *_folder(choice.data), *_hub(choice), *_clients(choice.data)]
    findings = [replace(each, do=None) if each.well else each for each in looked_at]
    if as_json:
        display.show_json([asdict(each) for each in findings])
    else:
        for each in findings:
            advice = f"; {each.do}" if each.do else ""
            mark = display.coloured("ok") + "  " if each.well else display.coloured("BAD") + " "
            print(f"{mark} {display.clean(f'{each.subject}: {each.found}{advice}')}", flush=True)
    if not all(each.well for each in findings):
        click.get_current_context().exit(REFUSED)


def _machine() -> Iterator[CheckResult]:
    yield CheckResult("versions", True, versions.line())
    _soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    enough = hard == resource.RLIM_INFINITY or hard >= LEAST_FILES
    shown = "unlimited" if hard == resource.RLIM_INFINITY else str(hard)
    for name, meant in settings.unknown_variables(os.environ).items():
        yield CheckResult("environment", meant is None, about_unknown(name, meant), "correct its name")
    yield CheckResult("open files", enough, f"{shown} allowed", f"as root: ulimit -Hn {LEAST_FILES}")


def _folder(data: Path) -> Iterator[CheckResult]:
    if data.exists() and not data.is_dir():
        yield CheckResult("data folder", False, f"{data} is a file", "choose a folder with --data")
        return
    if not data.is_dir():
        yield CheckResult("data folder", False, f"{data} does not exist", "make it with: hubbub up")
        return
    usable, quoted_data = os.access(data, os.R_OK | os.W_OK | os.X_OK), shlex.quote(str(data))
    yield CheckResult(
        "data folder", usable, str(data), f"let yourself use it with: chmod u+rwx {quoted_data}"
    )
    private = [each for each in (data, *(data / name for name in PRIVATE)) if each.exists()]
    open_to_others = [file.name for file in private if file.stat().st_mode & OTHERS]
    yield CheckResult(
        "rights",
        not open_to_others,
        f"others may use {', '.join(open_to_others)}" if open_to_others else "only you may read it",
        f"take their rights away with: chmod -R go= {quoted_data}",
    )
    free = shutil.disk_usage(data).free
    yield CheckResult(
        "disk",
        free >= LEAST_DISK,
        f"{free // MIB} MiB free",
        f"delete files there, for {LEAST_DISK // MIB} MiB",
    )
    url = settings.read().database
    if url is not None:
        yield _postgres(url)
    elif (elsewhere := database_address.remembered(data)) is not None:
        yield _forgotten(data, elsewhere)
    else:
        yield _sqlite(data / DATABASE)


def _forgotten(data: Path, address: str) -> CheckResult:
    """Check a hub whose data is elsewhere while nothing here says where: it cannot start, but it may run."""
    file = shlex.quote(str(data / database_address.FILE))
    runs = hub_starter.running_address(data) is not None
    return CheckResult(
        "database",
        runs,
        f"PostgreSQL, at {address}" + ("" if runs else ", which HUBBUB_DATABASE does not say here"),
        f"set HUBBUB_DATABASE to that address; for an empty hub on SQLite: rm {file}",
    )


def _sqlite(file: Path) -> CheckResult:
    if not file.exists():
        return CheckResult("database", True, "none here yet")
    try:
        with closing(apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READONLY)) as db:
            missing = migrate.missing(migrate.known(), migrate.applied_sqlite(db))
    except (StoreRefused, apsw.Error) as error:
        return CheckResult("database", False, str(error), "or bring back a backup: hubbub restore FILE")
    if missing:
        behind = f"{len(missing)} migration{'' if len(missing) == 1 else 's'} behind"
        return CheckResult("database", False, behind, "apply them: hubbub migrate")
    return CheckResult("database", True, "at this version")


def _postgres(url: str) -> CheckResult:
    try:
        with extras.required():
            import psycopg  # takes a while to import, and most hubs never need it

            from hubbub.store.engine.connection_faults import readable, unconnected
    except extras.NotInstalled as error:
        return CheckResult("database", False, "PostgreSQL's driver is not installed", str(error))
    try:
        with psycopg.connect(readable(url), connect_timeout=CONNECT_SECONDS) as db:
            migrate.check_postgres(db)
    except StoreRefused as error:
        return CheckResult("database", False, str(error))
    except psycopg.OperationalError as error:
        return CheckResult("database", False, str(unconnected(error, url)))
    return CheckResult("database", True, "PostgreSQL, at this version")


def _hub(choice: Choice) -> Iterator[CheckResult]:
    if choice.data.is_dir():
        yield CheckResult("lock", True, _holder(choice.data))
    choice = choice.signed_in()
    url = choice.url or running_hub(choice.data)
    if url is None:
        yield CheckResult("hub", False, "none runs on the data folder", remedy(None, choice.data))
        return
    token = choice.token or owner_token(choice.data)
    hub = Hub(url, token or "")
    try:
        version = hub.health().get("version")
        same = version == __version__
        yield CheckResult(
            "hub", same, f"{url} answers, version {version}", f"restart it for version {__version__}: {AGAIN}"
        )
        yield _token(hub) if token else CheckResult("token", False, "none", SIGN_IN)
        if token:
            yield from _quotas(hub)
    except (HubUnreachable, HubRefused) as error:
        yield CheckResult("hub", False, str(error), remedy(url, choice.data))
    finally:
        hub.close()


def _holder(data: Path) -> str:
    try:
        FolderLock.take(data).release()
    except StoreRefused as error:
        url = running_hub(data)
        return f"held by the hub at {url}" if url else str(error).partition(";")[0]
    return "no hub holds the data folder"


def _token(hub: Hub) -> CheckResult:
    try:
        me = hub.get("/me")
    except HubRefused as error:
        if error.is_temporary:
            return CheckResult("hub", False, f"it cannot answer: {error}", SEE_LOG)
        return CheckResult("token", False, sentence(error), SIGN_IN)
    return CheckResult("token", True, f"valid, as {me['user'] or me['agent'] or 'any agent of its project'}")


def _quotas(hub: Hub) -> Iterator[CheckResult]:
    """Report the limits of tokens, or every token that is near one, or was refused more."""
    try:
        reply = hub.get("/tokens")
    except HubRefused:
        return  # the check of the token has reported it
    used = [each for each in reply["tokens"] if each["use"] is not None and each["revoked_at"] is None]
    found = [finding for each in used if (finding := _quota(each)) is not None]
    if not found:
        most = ", ".join(_amount(quota, number) for quota, number in _most(reply["limits"]))
        told = f"a token may use {most or 'as much as it likes'}; none of {len(used):,} in use is near that"
        yield CheckResult("quotas", True, told)
    yield from found


def _quota(token: dict[str, Any]) -> CheckResult | None:
    """Check a token that is near its limits, or was refused; None for any other."""
    use, limits = token["use"], token["limits"]
    used = {"calls": use["rate"], **{each: use[each] for each in ("streams", "connections")}}
    used["stored"] = use["stored_today"]
    near = [(quota, most) for quota, most in _most(limits) if quota in use["near"]]
    told = [_amount(quota, used[quota], most) for quota, most in near]
    advice = [MORE[quota] for quota, _most in near]
    if use["refused_at"] is not None:
        counts = ", ".join(f"{number:,} for {quota}" for quota, number in use["refused"].items())
        since, last = display.moment(use["refused_since"]), display.moment(use["refused_at"])
        told.insert(0, f"calls were refused since {since} ({counts}), last {last}")
        advice = ["look for a loop in its user, or allow more: HUBBUB_TOKEN_RATE and the like"]
    if not told:
        return None
    whose = f"quota of token {token['id']} ({token['agent'] or 'a person or any agent'})"
    return CheckResult(whose, False, "; ".join(told), "; ".join(advice))


def _most(limits: dict[str, int]) -> list[tuple[str, int]]:
    """List the existing limits, by quota."""
    each = {"calls": limits["rate"], **{name: limits[name] for name in ("streams", "connections", "stored")}}
    return [(quota, most) for quota, most in each.items() if most]


def _amount(quota: str, number: float, most: int | None = None) -> str:
    """Write an amount of a quota: `12 of 500 calls a second`."""
    unit = MIB if quota == "stored" else 1
    of = f" of {most // unit:,}" if most is not None else ""
    return f"{number / unit:,.0f}{of} {AMOUNTS[quota]}"


def _clients(data: Path) -> Iterator[CheckResult]:
    """Check every installed client, connecting like the client itself."""
    config, here = settings.read().config, hub_starter.running_address(data)
    try:
        installs = install_record.read(config)
        behind = left_behind(config, here) if here is not None else []
    except install_record.BadRecord as error:
        yield CheckResult("clients", False, str(error), "then install them again: hubbub install")
        return
    for install in installs:
        where = f" in {install.folder}" if install.folder else ""
        verdict = verify(install, others=installs)
        heard = _heard(install) if verdict.well and install.client in HOOKED else ""
        move = f"the hub runs at {here}; connect it there: {install.again}" if install in behind else None
        do = move or verdict.do
        yield CheckResult(f"client {install.client}{where}", verdict.well, verdict.found + heard, do)
    if installs:
        yield _prompts({each.client for each in installs})
    yield from _unclaimed()
    if any(each.client in RUNG for each in installs):
        rings = ringer_process.runs(str(settings.read().config))
        found = "it wakes idle clients" if rings else "it does not run, so that nothing wakes an idle Codex"
        yield CheckResult("ringer", rings, found, "start it with: hubbub up")


def _prompts(clients: set[str]) -> CheckResult:
    """Say whose permission prompts come to the people of the hub, and whose stay where they are."""
    come, stay = (", ".join(sorted(each)) for each in (clients & {*ASKING}, clients - {*ASKING}))
    told = [f"those of {come} come to the hub too"] if come else []
    told += [f"those of {stay} are answered at the client alone"] if stay else []
    return CheckResult("permission prompts", True, "; ".join(told))


def _unclaimed() -> Iterator[CheckResult]:
    """Check for recent unclaimed edits: a hook does not keep its client waiting for a slow hub."""
    counted = hook_state.unclaimed()
    if counted is None:
        return
    number, last = counted
    edits = "1 edit" if number == 1 else f"{number} edits"
    at = datetime.fromtimestamp(last).astimezone().isoformat(" ", "seconds")
    found = f"{edits} went on unclaimed, as the hub did not answer within {DEADLINE:g} s; the last at {at}"
    yield CheckResult(
        "claims",
        last < time.time() - RECENT,
        found,
        "see what keeps this machine busy, or the hub: hubbub log --all",
    )


def _heard(install: install_record.Install) -> str:
    """Say whether a hook or a waker of the client has reported to the hub: its mere presence proves nothing."""
    with closing(Hub(install.url, install.token() or "", project=install.project)) as hub:
        try:
            method = hub.get(f"/agents/{quoted(install.agent)}")["agent"]["wake"]["method"]
        except (HubRefused, HubUnreachable):
            return ""
    if method in WAKERS:
        return f"; its hooks are heard ({method})"
    return "; no hook heard yet, which is normal until you start it"
