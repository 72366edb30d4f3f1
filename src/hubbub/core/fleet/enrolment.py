"""Enrolment of machines, by a code that a person made for it, or by that person's own token.

From then on the machine has a key of its own, with the role `node`, which opens its link to the hub and nothing else.
Its name stays its own until it is removed.
"""

import re
import secrets
from dataclasses import dataclass, field, replace
from datetime import timedelta

from hubbub.core.fleet import nodes
from hubbub.core.people import access, tokens
from hubbub.model.errors import Conflict, Forbidden, Invalid, Unauthorized
from hubbub.model.fleet.calls import NodeInfo
from hubbub.model.fleet.nodes import HERE, JoinCode, Machine, board_name
from hubbub.model.people.rights import Right, Role
from hubbub.model.records import Project
from hubbub.model.timestamps import milliseconds
from hubbub.store.fleet import enrolment as rows
from hubbub.store.fleet import nodes as node_rows
from hubbub.store.people import projects
from hubbub.store.tx import Tx

PREFIX = "join_"
LASTS = timedelta(hours=1)  # unless the caller says otherwise
SHORTEST, LONGEST = timedelta(minutes=1), timedelta(days=7)
KEEP = timedelta(days=1)
_NAME = re.compile(rf"\w[\w.-]{{0,{nodes.LINE - 1}}}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined:
    """Result of joining. The machine's key is returned only here."""

    project: Project
    machine: Machine
    token: str = field(repr=False)


def invite(
    tx: Tx, project: Project, *, node: str | None = None, expires_in: timedelta = LASTS
) -> tuple[JoinCode, str]:
    """Create a code by which one machine may join the project once; return it and its secret.

    `node` fixes the machine's name. Any person who may write in the project can create one. Records `node.invited`.
    Raises `Forbidden` and `Invalid`.
    """
    access.require_person(tx, "let a machine join")
    access.enter(tx, str(project.id), Right.WRITE)
    if node is not None:
        _require_name(node)
    if not SHORTEST <= expires_in <= LONGEST:
        raise Invalid(f"a join code must be valid for a minute to {LONGEST // timedelta(days=1)} days")
    secret = f"{PREFIX}{secrets.token_hex(16)}"
    code = JoinCode(
        project_id=project.id,
        node=node,
        created_by=tx.actor.label,
        created_at=tx.now,
        expires_at=tx.now + milliseconds(expires_in),
    )
    rows.insert(tx, code, access.fingerprint(secret))
    detail = {"node": node, "expires_at": code.expires_at}
    tx.record("node.invited", project_id=project.id, detail=detail)
    return code, secret


def redeem(tx: Tx, secret: str, about: NodeInfo, *, is_chosen: bool = True) -> Joined:
    """Admit a machine by a code, which is then used up; a refusal does not use it up. Records `node.joined`.

    The code's name replaces a name that nobody has chosen. Raises `Unauthorized` for a code that is wrong, used or too
    old, all alike; `Forbidden` for another name than the code's; and the errors of `join`.
    """
    code = rows.use(tx, access.fingerprint(secret))
    project = projects.find(tx, code.project_id) if code is not None else None
    if code is None or project is None:
        raise Unauthorized
    if code.node is not None and not is_chosen:
        about = replace(about, name=code.node)
    if code.node is not None and code.node.casefold() != about.name.casefold():
        raise Forbidden(f"this code is for a machine that is called {code.node!r}")
    return _admit(tx, project, about, by=code.created_by)


def join(tx: Tx, project: Project, about: NodeInfo) -> Joined:
    """Admit a machine by a person's own token, which the machine does not keep. Records `node.joined`.

    A machine may join again by its name while it is not linked: its old key ends. Raises `Forbidden` to
    those who may not invite, `Invalid`, and `Conflict` if the name is another machine's.
    """
    access.require_person(tx, "let a machine join")
    access.enter(tx, str(project.id), Right.WRITE)
    return _admit(tx, project, about, by=tx.actor.label)


def forget(tx: Tx) -> None:
    """Drop the codes that expired a while ago."""
    rows.forget(tx, tx.now - milliseconds(KEEP))


def _admit(tx: Tx, project: Project, about: NodeInfo, *, by: str) -> Joined:
    _require_name(about.name)
    if node_rows.is_of_hub(tx, about.name):
        raise Conflict(f"{about.name!r} is the machine that the hub runs on; choose another name")
    before, machine = nodes.claim(tx, project, about)
    if before is not None:
        _require_same(before, about, tx.now)
        nodes.end_key(tx, before)
    token, secret = tokens.granted(tx, project, role=Role.NODE, agent=board_name(about.name))
    joined = node_rows.update(tx, machine.id, about, expires_at=tx.now, token_id=token.id, online=False)
    nodes.record(tx, "node.joined", joined, actor=by, patch=nodes.succeeding(tx, before, joined))
    return Joined(project=project, machine=joined, token=secret)


def _require_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise Invalid(
            f"a machine's name has 1 to {nodes.LINE} letters, digits, '_', '-' and '.', the first no '-' or '.'"
        )
    if name.casefold() == HERE:
        raise Invalid(f"{name!r} already means another machine; choose another name")


def _require_same(before: Machine, about: NodeInfo, now: int) -> None:
    """Raise `Conflict` unless the machine of that name is this one, and gone."""
    if before.machine_id != about.machine_id:
        raise Conflict(
            f"another machine is called {before.name!r} in this project; choose another name, or remove that one first"
        )
    if nodes.is_linked(before, now):
        raise Conflict(
            f"{before.name!r} is linked to the hub just now; stop it there, or choose another name"
        )
