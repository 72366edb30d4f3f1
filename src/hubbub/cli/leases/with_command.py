"""`hubbub with`: run a command under a lease.

Loaded without the modules by which other commands talk to the hub, since it delays each run of a test.
"""

import json
import os
import shutil
import signal
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn
from uuid import uuid4

import click

from hubbub.cli.leases import renewer
from hubbub.cli.leases.renewer import Held, Keeper
from hubbub.clients.hook import http_request
from hubbub.clients.hook.hub_target import Target, data_folder
from hubbub.model.data_folder import login, owner_token, running_hub
from hubbub.model.fleet import call_chain
from hubbub.model.hub_address import origin
from hubbub.terminal import display
from hubbub.terminal.durations import Duration, Seconds
from hubbub.terminal.exit_codes import TIMED_OUT, UNREACHABLE
from hubbub.terminal.hub_remedies import remedy
from hubbub.terminal.wrong_words import OneOf

NOT_RUN, NOT_FOUND = 126, 127  # exit codes, as those of shells
AT_A_TIME = 20.0  # seconds for which one call waits
PATIENCE = 10.0  # seconds for one answer of the hub
TAKEN, GONE = "taken", 404
SAID: list[str] = []  # stands for those ahead when the command began to wait
PERSON, USUAL_PROJECT = "utok_", "default"
PRIORITIES = ("critical", "high", "medium", "low")
Json = dict[str, Any]

EXAMPLE = (
    "hubbub with port:8000 -- make test\n  hubbub with gpu:2 db --wait 600 --priority high -- ./train.sh"
)


class Refused(click.ClickException):
    """The reason why the command is not run, in one sentence."""

    def __init__(self, message: str) -> None:
        super().__init__(display.clean(message))


class NotGranted(Refused):
    """The things were not free, or not in time."""

    exit_code = TIMED_OUT


class NoHub(Refused):
    """The hub cannot be reached."""

    exit_code = UNREACHABLE


class NotFound(Refused):
    """There is no such command."""

    exit_code = NOT_FOUND


class NotRun(Refused):
    """The command cannot be run."""

    exit_code = NOT_RUN


class Interrupted(Exception):
    """A signal came while the lease was waited for."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


class WithCommand(click.Command):
    """A command whose words end at `--`: the rest is another's."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        at = args.index("--") if "--" in args else len(args)
        ctx.meta[__name__] = args[at + 1 :]
        return super().parse_args(ctx, args[:at])

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        return [*super().collect_usage_pieces(ctx), "-- COMMAND..."]


@click.command(
    "with",
    cls=WithCommand,
    short_help="Run a command while no other uses a port, a database or a GPU.",
    epilog=f"\b\nExample:\n  {EXAMPLE}",
)
@click.argument("things", nargs=-1, required=True, metavar="THING...")
@click.option(
    "--wait",
    type=Seconds(),
    metavar="S",
    help="Wait S seconds at most. [default: forever]",
)
@click.option("--no-wait", is_flag=True, help="Do not wait; if something is held, say who holds it.")
@click.option(
    "--priority",
    type=OneOf(PRIORITIES),
    default="medium",
    show_default=True,
    help="Priority among those who wait.",
)
@click.option(
    "--ttl",
    type=Duration("30s", bare=True, between=(5, 86_400)),
    default="30s",
    show_default=True,
    metavar="D",
    help="Time without contact to this machine after which others may have it, such as 30s or 5m.",
)
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print the lease as JSON on standard error before the command begins.",
)
@click.option(
    "--agent",
    metavar="NAME",
    envvar="HUBBUB_AGENT",
    help="Agent that holds it, if the token is not bound to one.",
)
@click.option(
    "--url", metavar="URL", envvar="HUBBUB_URL", help="Hub to use. [default: the one of the data folder]"
)
@click.option(
    "--token", metavar="TOKEN", envvar="HUBBUB_TOKEN", help="Token to use. [default: the hub owner's]"
)
@click.option(
    "--project", metavar="SLUG", envvar="HUBBUB_PROJECT", help="Project to work in. [default: default]"
)
@click.option("--data", metavar="FOLDER", envvar="HUBBUB_DATA", help="Data folder of the hub.")
@click.pass_context
def with_(
    ctx: click.Context,
    /,
    *,
    things: Sequence[str],
    wait: float | None,
    no_wait: bool,
    priority: str,
    ttl: int,
    as_json: bool,
    agent: str | None,
    **where: str | None,
) -> None:
    """Run COMMAND while it holds the THINGs, such as `port:8000` or `gpu:2`; wait until they are free.

    The command has this terminal, and gets its signals. When it ends, however it ends, the things are free. Its
    environment has HUBBUB_LEASE, a number that rises with every lease, HUBBUB_LEASE_ID, HUBBUB_LEASE_THINGS, and for
    counted things their numbers, as in HUBBUB_LEASE_UNITS_GPU=0,1.

    Exit status: that of the command; 4 if the things were not free in time, 1 if the hub refuses, 3 if it cannot be
    reached, 126 and 127 if the command cannot be run or found.
    """
    command: list[str] = ctx.meta[__name__]
    if not command:
        raise click.UsageError("say which command to run, after --", ctx)
    if no_wait and wait is not None:
        raise click.UsageError("--wait and --no-wait exclude each other", ctx)
    if shutil.which(command[0]) is None:
        raise NotFound(f"{command[0]!r} cannot be found as a program on the PATH")
    asking = {
        "things": things,
        "agent": agent or None,
        "priority": priority,
        "ttl_seconds": ttl,
        "waits": not no_wait,
        "purpose": " ".join(command)[:1000],
        "host": os.uname().nodename,
        "within": os.environ.get("HUBBUB_LEASE_ID"),
    }
    target = _target(**where)
    keeper = renewer.begin(
        target, agent or None
    )  # first, so that it gives back what is granted to a dead process
    try:
        lease, since = _granted(target, keeper, asking, 0 if no_wait else wait)
    except Refused:
        keeper.leave()
        raise
    if as_json:
        sys.stderr.write(json.dumps(lease, ensure_ascii=False) + "\n")
    _become(command, lease, keeper, Held(target, agent or None, lease["id"], ttl, since))


def _become(command: Sequence[str], lease: Json, keeper: Keeper, held: Held) -> NoReturn:
    """Become the command, with another process beside it that keeps the lease."""
    sys.stdout.flush()
    sys.stderr.flush()
    if lease["id"] == os.environ.get("HUBBUB_LEASE_ID"):
        keeper.leave()  # its holder renews it
    else:
        keeper.holds(held)
    try:
        os.execvpe(command[0], [*command], {**os.environ, **_variables(lease)})  # noqa: S606, what the caller says
    except OSError as error:
        raise NotRun(f"{command[0]!r} cannot be run: {error.strerror}") from None


def _variables(lease: Json) -> Mapping[str, str]:
    """Return environment variables that describe the lease to its command."""
    told = {
        "HUBBUB_LEASE_ID": lease["id"],
        "HUBBUB_LEASE_THINGS": " ".join(lease["things"]),
        "HUBBUB_LEASE": str(lease["fence"]),
    }
    for thing, numbers in lease["units"].items():
        name = "".join(each if each.isalnum() else "_" for each in thing.upper())
        told[f"HUBBUB_LEASE_UNITS_{name}"] = ",".join(map(str, numbers))
    return told


def _granted(target: Target, keeper: Keeper, asking: Json, wait: float | None) -> tuple[Json, float]:
    """Return the lease when it is held, and the start of its time. Raises `Refused` if it is not in time."""
    waits, told, found = asking["waits"] and wait != 0 and asking["within"] is None, list[str](), None
    try:
        with _interruptible():
            try:
                found = _at_once(target, keeper, asking) if waits else None
            except NotGranted as error:
                _say_wait(error.message)
                told = SAID
            return found or _in_turn(target, keeper, asking, wait, told)
    except Interrupted as error:
        sys.exit(128 + error.number)


def _in_turn(
    target: Target, keeper: Keeper, asking: Json, wait: float | None, told: list[str]
) -> tuple[Json, float]:
    """Wait for the lease; `told` are the ids of those ahead that the caller knows of."""
    ends_at = None if wait is None else time.monotonic() + wait
    lease: Json | None = None
    try:
        while True:
            left = AT_A_TIME if ends_at is None else max(0.0, min(AT_A_TIME, ends_at - time.monotonic()))
            since = renewer.clock()
            answer = _answer(
                target, keeper, lease, {**asking, "wait_seconds": left}, patient=ends_at is None or left > 0
            )
            lease = answer.get("lease")
            if lease is not None and lease["status"] == "held":
                return lease, since
            if lease is not None and left <= 0:
                raise NotGranted(f"not in time: {answer['sentence']}")
            if lease is not None and (ahead := _ahead(answer)) != told:
                if told is not SAID:
                    _say_wait(answer["sentence"])
                told = ahead
    except (Interrupted, Refused):
        if lease is not None:
            renewer.release(Held(target, asking["agent"], lease["id"], 0, 0))
        raise


def _at_once(target: Target, keeper: Keeper, asking: Json) -> tuple[Json, float] | None:
    """Return the lease if the things are free, or None if the hub is slow.

    Raises `NotGranted`, which tells the holders at once; a call that waits tells them only at its end.
    """
    since = renewer.clock()
    answer = _answer(target, keeper, None, {**asking, "waits": False, "wait_seconds": 0.0}, patient=True)
    return (answer["lease"], since) if answer else None


def _say_wait(sentence: str) -> None:
    click.echo(f"hubbub: waiting: {display.clean(sentence)}", err=True)


def _ahead(answer: Json) -> list[str]:
    """Return the ids of the leases ahead: those that hold the things, and those that asked before."""
    return [each["id"] for each in (*answer.get("holders", ()), *answer.get("waiting", ()))]


def _answer(target: Target, keeper: Keeper, lease: Json | None, asking: Json, *, patient: bool) -> Json:
    """Ask the hub for the lease, or renew the one that waits; nothing is in the answer if the caller should ask again.

    A slow hub may still grant what it was asked, so a patient caller gives that back before it asks again.
    """
    path = f"/leases/{lease['id']}/renew" if lease is not None else "/leases"
    if lease is not None:
        body = {name: asking[name] for name in ("agent", "wait_seconds")}
    else:
        body = {**asking, "id": str(uuid4())}
        keeper.asks(body["id"])
    try:
        status, answer = http_request.call(
            target, "POST", path, body, until=time.monotonic() + asking["wait_seconds"] + PATIENCE
        )
    except OSError as error:
        is_slow = isinstance(error, http_request.TimedOut)
        if not patient or (lease is None and not is_slow):
            raise NoHub(
                f"the hub at {target.url} cannot be reached ({str(error) or type(error).__name__})"
            ) from None
        if lease is None:
            _say_wait("the hub takes long to answer")
            renewer.release(Held(target, asking["agent"], body["id"], 0, 0))
            return {}
        time.sleep(renewer.PAUSE)
        return {"lease": lease, "sentence": "the hub cannot be reached"}
    if status < 400:
        return answer
    if status == GONE and lease is not None:  # this machine slept for too long
        return {}
    refused = NotGranted if answer.get("error") == TAKEN else Refused
    raise refused(str(answer.get("message", f"the hub answers {status}")))


@contextmanager
def _interruptible() -> Iterator[None]:
    """Raise `Interrupted` on a signal that asks for the end."""

    def stop(number: int, _frame: FrameType | None) -> None:
        raise Interrupted(number)

    before = {each: signal.signal(each, stop) for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def _target(*, url: str | None, token: str | None, project: str | None, data: str | None) -> Target:
    """Return the hub, the caller and the project: by default a person's `default`, if it exists."""
    folder = Path(data).expanduser().absolute() if data else Path(data_folder())
    is_for_another = bool(os.environ.get(call_chain.VARIABLE))  # so it is not the hub's owner
    if token is None and not is_for_another and (kept := login(folder, url)):
        url, token, project = kept.url, kept.token, project or kept.project
    url = origin(url) if url else running_hub(folder)
    token = token or (None if is_for_another else owner_token(folder))
    if url is None:
        raise NoHub(f"no hub is running on the data folder {folder}; {remedy(None, folder)}")
    if token is None:
        raise click.UsageError("no token: sign in with hubbub login, or give --token or HUBBUB_TOKEN")
    target = Target(url=url, token=token, agent="", project=project or None)
    if target.project is None and token.startswith(PERSON):
        target.project = _only_project(target)
    return target


def _only_project(target: Target) -> str | None:
    try:
        _, me = http_request.call(target, "GET", "/me", until=time.monotonic() + PATIENCE)
    except OSError as error:
        raise NoHub(f"the hub at {target.url} cannot be reached ({error})") from None
    slugs = [each["slug"] for each in me.get("projects", [])]  # type: ignore[attr-defined]
    return USUAL_PROJECT if USUAL_PROJECT in slugs else None
