"""`hubbub node`: this machine as one that agents may use, and the other machines of the project."""

from pathlib import Path

import click

from hubbub import settings
from hubbub.cli import Group
from hubbub.cli.fleet.approver_signatures import approver
from hubbub.client import Hub, segment
from hubbub.daemons import enrolment, membership
from hubbub.daemons.service_options import installs, put, read_settings
from hubbub.daemons.system_service import NodeProgram
from hubbub.model.programs import loading
from hubbub.node.gate.host_facts import host_name
from hubbub.node.policy.node_policy import FILE
from hubbub.terminal import display
from hubbub.terminal.command import Choice, chooses_hub, command, data_option, uses_project
from hubbub.terminal.durations import YEAR, Duration
from hubbub.terminal.loopback import advise_for_others

LABEL_LENGTH, LABELS = 64, 16

policy_option = click.option(
    "--config",
    "policy",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Policy file. [default: node.toml in the configuration folder]",
)


def labels_given(_ctx: click.Context, _param: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    """Return the labels, each once."""
    if len(value) > LABELS or not all(each.strip() and len(each) <= LABEL_LENGTH for each in value):
        raise click.BadParameter(f"at most {LABELS} labels, each of 1 to {LABEL_LENGTH} characters")
    return tuple(dict.fromkeys(value))


@click.group("node", cls=Group, short_help="Connect this machine to a hub, and manage machines.")
def node() -> None:
    """Connect this machine to a hub, and manage the project's machines."""


@command(
    "run",
    short_help="Connect this machine to a hub.",
    example="hubbub node run --join join_…\nhubbub node run",
)
@click.option("--name", metavar="NAME", help="Name of the machine. [default: its host name]")
@click.option("--join", "code", metavar="CODE", help="Code that hubbub node invite printed.")
@policy_option
@click.option(
    "--label",
    "labels",
    metavar="TEXT",
    multiple=True,
    callback=labels_given,
    help="Label to show; may be repeated.",
)
@chooses_hub
def run(
    *,
    choice: Choice,
    name: str | None,
    code: str | None,
    policy: Path | None,
    labels: tuple[str, ...],
    as_json: bool,
) -> None:
    """Connect this machine to a hub, whose agents may use it within its policy. Runs until you press Ctrl-C.

    Join once with a CODE from `hubbub node invite`, or with a person's token. The machine gets a key of its own, which
    is kept in the data folder; from then on it needs neither. Connections are only opened from here; if the hub is
    away, this keeps trying.
    """
    with loading.at_once():
        from hubbub.daemons.node_daemon import NodeDaemon

    chosen = settings.read(data=str(choice.data))
    folder = membership.folder_of(chosen.data, name or host_name())
    with membership.alone(folder):
        NodeDaemon(
            membership=enrolment.enrol(choice, folder, name=name, code=code, labels=labels),
            settings=chosen,
            folder=folder,
            policy_file=(policy or chosen.config / FILE).absolute(),
            as_json=as_json,
        ).run()


@command("invite", example="hubbub node invite\nhubbub node invite --name web1 --expires 10m")
@click.option("--name", metavar="NAME", help="Name that the machine must take. [default: any]")
@click.option(
    "--expires",
    type=Duration("1h", between=(1, YEAR)),
    metavar="1h",
    default="1h",
    show_default=True,
    help="When it ends.",
)
@uses_project
def invite(*, hub: Hub, name: str | None, expires: float, as_json: bool) -> None:
    """Print a code with which one machine may join the project."""
    made = hub.post("/nodes/invites", {"name": name, "expires_in_seconds": int(expires)})
    joins = f"hubbub node run --join {made['code']}" + (f" --name {name}" if name else "")
    if as_json:
        display.show_json({**made, "command": joins})
    else:
        display.show(made["code"])
        display.advise(f"Shown only now. On the other machine: {joins}")
        advise_for_others(enrolment.parts(made["code"])[1] or hub.url)


@command("list", example="hubbub node list", names="name")
@uses_project
def list_(*, hub: Hub, as_json: bool) -> None:
    """List the machines of the project."""
    columns: display.Columns = {
        "name": "name",
        "status": lambda each: "online" if each["online"] else "offline",
        "platform": "platform",
        "sandbox": "sandbox",
        "agent": "runtime",
        "labels": lambda each: ", ".join(each["labels"]),
        "seen": lambda each: display.brief(each["seen_at"]),
        "policy": lambda each: (
            (fault := each["policy_fault"]) and f"does not load, so all is denied: {fault}"
        ),
    }
    empty = "No machines. Add one: hubbub node invite"
    display.show_list(hub.get("/nodes")["nodes"], columns, as_json=as_json, empty=empty)


@command("remove", example="hubbub node remove web1")
@click.argument("name")
@uses_project
def remove(*, hub: Hub, name: str, as_json: bool) -> None:
    """Remove the machine NAME from the project, and revoke its key."""
    removed = hub.delete(f"/nodes/{segment('node', name)}")
    display.show_result(removed, f"removed {name}", as_json=as_json)


@command(
    "keys",
    short_help="Show the keys by which machines sign what they saw.",
    example="hubbub node keys\nhubbub node keys web1 >web1.pem",
    names="keyid",
)
@click.argument("name", required=False)
@uses_project
def keys(*, hub: Hub, name: str | None, as_json: bool) -> None:
    """List the keys that verify machines' signatures on statements; with NAME, print that machine's present key."""
    found = [
        each
        for each in hub.get("/proof/machine-keys")["keys"]
        if name is None or each["machine"].casefold() == name.casefold()
    ]
    if name is not None and not as_json:
        current = [each for each in found if each["until"] is None]
        if not current:
            raise click.ClickException(f"the machine {name!r} has no key")
        display.show(current[0]["public_key"].rstrip())
        return
    columns: display.Columns = {
        "name": "machine",
        "key": "keyid",
        "since": lambda each: display.moment(each["since"]),
        "until": lambda each: display.moment(each["until"]) if each["until"] is not None else "",
    }
    display.show_list(found, columns, as_json=as_json, empty="No machine has a key.")


@command(
    "install-service",
    short_help="Run the node as a system service.",
    example="hubbub node install-service --print\nsudo hubbub node install-service --system --start",
)
@installs
@policy_option
@data_option
def install_service(*, data: str | None, policy: Path | None, whole_system: bool, **chosen: bool) -> None:
    """Install hubbub node run as a service: for systemd on Linux, for launchd on macOS.

    It works with the data folder, the policy and the working folder of this command. Join the hub first.
    """
    ours = read_settings(whole_system=whole_system, data=data)
    kept = NodeProgram(data=ours.data, config=ours.config, policy=policy, cwd=Path.cwd())
    put(kept, whole_system=whole_system, **chosen)
    if membership.read(ours.data) is None:
        click.echo("join the hub first: hubbub node run --join CODE", err=True)


for each in (run, invite, list_, remove, keys, install_service, approver):
    node.add_command(each)
