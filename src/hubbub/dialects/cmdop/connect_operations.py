"""The hub's own part of `connect`: its machines, links to look at one, the project's key, the workspaces."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta

from hubbub.core.fleet import api_keys, nodes, own_machine, shares
from hubbub.core.people import access
from hubbub.dialects.call import Call
from hubbub.dialects.cmdop import vocabulary
from hubbub.dialects.cmdop.node_routing import Offline
from hubbub.dialects.cmdop.tool_set import choose, enter
from hubbub.dialects.dialect import Reply
from hubbub.model.errors import Conflict, Invalid, ProjectRequired
from hubbub.model.fleet.calls import as_json
from hubbub.model.fleet.nodes import Machine
from hubbub.model.people.rights import Right
from hubbub.model.records import Project
from hubbub.store.tx import Tx


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectArguments:
    """The arguments of the operations that the hub does."""

    hostname: str | None
    lasts: timedelta | None
    key: str | None
    workspace: str | None


def shown(reply: Reply) -> str:
    """Format a reply as text; an array stands alone."""
    return as_json(reply.get("result", reply))


def _list(tx: Tx, call: Call, _wanted: ConnectArguments) -> Reply:
    project = enter(tx, call).project
    _greet_own(tx, call, project)
    return {"result": [vocabulary.machine_row(each, tx.now) for each in nodes.listed(tx, project)]}


def _share(tx: Tx, call: Call, wanted: ConnectArguments) -> Reply:
    project = enter(tx, call).project
    own = _greet_own(tx, call, project)
    machine = nodes.find(tx, project, wanted.hostname) if wanted.hostname is not None else own
    if machine is None:
        raise Invalid("hostname is missing: say which machine to look at")
    share, secret = shares.mint(tx, project, machine, expires_in=wanted.lasts or shares.LASTS)
    return {
        "url": f"{call.site.url}/share/{secret}",
        "expires_at": vocabulary.moment(share.expires_at),
        "hostname": machine.name,
    }


def _key_set(tx: Tx, call: Call, wanted: ConnectArguments) -> Reply:
    assert wanted.key is not None  # checked with the arguments
    return {"key": api_keys.put(tx, enter(tx, call).project, wanted.key).masked}


def _key_show(tx: Tx, call: Call, _wanted: ConnectArguments) -> Reply:
    key = api_keys.find(tx, enter(tx, call).project)
    return {"key": key.masked if key is not None else None}


def _key_clear(tx: Tx, call: Call, _wanted: ConnectArguments) -> Reply:
    return {"cleared": api_keys.clear(tx, enter(tx, call).project)}


def _workspaces(tx: Tx, call: Call, _wanted: ConnectArguments) -> Reply:
    try:
        used = enter(tx, call, Right.READ).project
    except ProjectRequired:
        used = None
    known = access.memberships(tx)
    return {"result": [vocabulary.workspace_row(project, role, used) for project, role in known]}


def _use_workspace(tx: Tx, call: Call, wanted: ConnectArguments) -> Reply:
    assert wanted.workspace is not None  # checked with the arguments
    slug = access.enter(tx, wanted.workspace, Right.READ).slug
    choose(tx, call, slug)
    return {"workspace": slug}


def _sync_workspaces(tx: Tx, call: Call, _wanted: ConnectArguments) -> Reply:
    """Report the workspaces. There is nothing to copy: all members see the hub's own data."""
    project = enter(tx, call, Right.READ).project
    return {
        "synced": True,
        "workspace": project.slug,
        "workspaces": len(access.memberships(tx)),
        "machines": len(nodes.listed(tx, project)),
    }


def _elsewhere(tx: Tx, call: Call, wanted: ConnectArguments) -> Reply:
    """Raise `NotServed` or `Offline`: only a machine can do this, and there is none for the project."""
    if call.site.node is None:
        raise Offline(wanted.hostname)
    raise own_machine.NotServed(enter(tx, call, Right.READ).project.slug)


def _greet_own(tx: Tx, call: Call, project: Project) -> Machine | None:
    """Make the hub's own machine known to a project that it serves, and return it.

    None if there is none, or if another machine of the project had its name before.
    """
    if call.site.node is None or not own_machine.serves(tx, project.id):
        return None
    with suppress(Conflict):
        return nodes.report(tx, project, call.site.node.about, runtime=call.site.node.runtime)
    return None


OPERATIONS: Mapping[str, Callable[[Tx, Call, ConnectArguments], Reply]] = {
    "list": _list,
    "exec": _elsewhere,
    "share": _share,
    "key_set": _key_set,
    "key_show": _key_show,
    "key_clear": _key_clear,
    "workspace_list": _workspaces,
    "workspace_use": _use_workspace,
    "workspace_sync": _sync_workspaces,
    "whoami": _elsewhere,
}
