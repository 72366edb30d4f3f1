"""`hubbub audit`: verification of an audit log."""

from pathlib import Path

import click

from hubbub.cli import Group
from hubbub.client import HubRefused, HubUnreachable
from hubbub.daemons import membership
from hubbub.model.fleet.nodes import beside
from hubbub.node.audit.audit_log import FILE, verify
from hubbub.node.audit.hash_chain import ChainFault, ChainHead
from hubbub.node.gate.host_facts import describe
from hubbub.terminal import display
from hubbub.terminal.command import DEFAULT_PROJECT, PERSON, Choice, chooses_hub, command
from hubbub.terminal.exit_codes import REFUSED

MOST = 5000  # heads requested from the hub: those of the last days, and the farthest


@click.group("audit", cls=Group, short_help="Verify this machine's log of what agents did.")
def audit() -> None:
    """Verify the record of what agents did."""


@command("verify", example="hubbub audit verify")
@click.option(
    "--file", type=click.Path(dir_okay=False, path_type=Path), help="Log to verify, if it is elsewhere."
)
@click.option("--node", metavar="NAME", help="Machine whose log it is, if not this one's.")
@chooses_hub
def verify_(*, choice: Choice, file: Path | None, node: str | None, as_json: bool) -> None:
    """Check that no line of the log was edited, deleted, moved or rewritten, and that none is missing at the end.

    If a hub can be reached, what it remembers of the log is compared, too: for the log in the data folder under this
    machine's name, for another only with --node. Exit code 1 when something is wrong.
    """
    log = file or choice.data / FILE
    name = node or (None if file else _own_name(choice.data))
    heads, unasked = _heads(choice, name)
    try:
        faults = verify(log, heads)
    except OSError as error:
        raise click.ClickException(
            f"the log cannot be read: {(error.strerror or 'unknown').lower()}"
        ) from None
    if not faults and file is not None and not file.exists():
        raise click.ClickException("there is no such file")
    if as_json:
        display.show_json(_facts(faults, unasked))
    else:
        _tell(log, faults, unasked)
    if faults:
        raise SystemExit(REFUSED)


audit.add_command(verify_)


def _own_name(data: Path) -> str:
    """Return the machine's name at its hub, by its data folder."""
    joined = membership.read(data)
    return describe(data).name if joined is None else joined.name


def _heads(choice: Choice, name: str | None) -> tuple[list[tuple[str, ChainHead]], str | None]:
    """Return the hub's heads of a machine's log, with their reporters; or the reason why it was not asked."""
    if name is None:
        return [], "whose log it is was not said"
    try:
        hub = choice.connect()
        if hub.token.startswith(PERSON) and hub.project is None:
            hub.project = DEFAULT_PROJECT
        rows = hub.get("/audit/heads", node=name, limit=MOST)["heads"]
        hub.close()
    except (HubRefused, HubUnreachable) as error:
        return [], str(error)
    except click.UsageError as error:
        return [], error.message
    told = [(row["node"].removesuffix(beside("", name)), row) for row in rows if not row["broken"]]
    told.sort(
        key=lambda each: each[0] != name
    )  # one fault of each kind is shown: first by the machine's own word
    return [(_knows(who, name), ChainHead(row["seq"], row["hash"])) for who, row in told], None


def _knows(who: str, name: str) -> str:
    """Word the holder of a head: the hub, by the machine itself, or by a program that may be anything."""
    return "the hub" if who == name else f"the hub, by the program beside {who},"


def _facts(faults: list[ChainFault], unasked: str | None) -> dict[str, object]:
    return {
        "sound": not faults,
        "faults": [
            {"kind": str(fault.kind), "line": fault.line, "sentence": fault.sentence} for fault in faults
        ],
        "hub_was_asked": unasked is None,
    }


def _tell(log: Path, faults: list[ChainFault], unasked: str | None) -> None:
    if unasked is not None:
        click.echo(display.clean(f"Note: the hub was not asked: {unasked}"), err=True)
    for fault in faults:
        click.echo(display.clean(f"Error: {fault.sentence}"), err=True)
    if not faults:
        display.show("the log is sound" if log.exists() else "nothing has been written down yet")
