"""`files`: claims of files and things, so that two agents do not undo each other's work."""

from typing import Annotated, Literal

from pydantic import Field, WithJsonSchema

from hubbub.core.agents import agents, file_claims, scopes
from hubbub.core.work import leases
from hubbub.dialects.call import Call
from hubbub.dialects.dialect import Reply
from hubbub.dialects.hub import vocabulary
from hubbub.dialects.hub.tool_set import DIALECT, OwnContext, Paths, act, look
from hubbub.model.errors import Invalid
from hubbub.model.people.rights import HUB
from hubbub.model.records import Presence
from hubbub.model.work.leases import TOOL_TTL
from hubbub.store.tx import Tx

READS = ("check", "list")  # the actions that change nothing; wrong values need not be hashable

Repository = Annotated[str, Field(min_length=1, max_length=300), WithJsonSchema({"type": "string"})]


@DIALECT.tool(looks=lambda given: given.get("action") in READS)
def files(
    tx: Tx,
    call: Call,
    action: Literal["claim", "check", "release", "list"],
    paths: Paths | None = None,
    things: Paths | None = None,
    repository: Repository | None = None,
) -> Reply:
    """Claim files or globs before you edit them; check changes nothing; release lets go, without paths of all.

    paths: relative to the repository, by default the project's. list: who holds what. things: ports, databases...
    that all share, such as port:8000; in a shell rather: hubbub with port:8000 -- command.
    """
    here = look(tx, call) if action in READS else act(tx, call)
    if action == "list":
        return _listed(tx, here)
    if action != "release" and not paths and not things:
        raise Invalid(f"paths is missing: say which files to {action}")
    mine = agents.presence(tx, here.project.id, here.name)
    if action == "check":
        but = mine.id if mine is not None else None
        found = file_claims.check(tx, here.project, paths, repository=repository, but=but) if paths else []
        taken = leases.taken(tx, here.project, things, by=here.name) if things else None
        return {
            "is_free": not found and taken is None,
            **vocabulary.known(conflicts=vocabulary.conflicts(found), taken=taken),
        }
    presence = _present(here, mine)
    if action == "release":
        return {"released": _released(tx, here, presence, paths, things, repository)}
    if len(paths or ()) > file_claims.MOST:
        raise Invalid(f"paths: an agent holds {file_claims.MOST} at most; claim patterns, such as src/**")
    held = leases.hold_by_tool(tx, here.project, things, by=here.name, ttl=TOOL_TTL) if things else []
    found = file_claims.claim(tx, here.project, presence, paths, repository=repository) if paths else []
    return {
        "claimed": list(paths or ()),
        **vocabulary.known(conflicts=vocabulary.conflicts(found), leased=list(map(vocabulary.lease, held))),
    }


def _released(
    tx: Tx,
    here: OwnContext,
    presence: Presence,
    paths: Paths | None,
    things: Paths | None,
    repository: str | None,
) -> list[str]:
    """Release the named files and things, or all if none is named."""
    is_all = not paths and not things
    files = (
        file_claims.release(tx, here.project, presence, paths, repository=repository)
        if paths or is_all
        else []
    )
    used = leases.release_by_tool(tx, here.project, things or None, by=here.name) if things or is_all else []
    return [*files, *used]


def _present(here: OwnContext, presence: Presence | None) -> Presence:
    """Return the presence that holds files. Raises `Invalid` for a person, who edits none here."""
    if here.name == HUB or presence is None:
        raise Invalid("only an agent holds files: join with a name first")
    return presence


def _listed(tx: Tx, here: OwnContext) -> Reply:
    """List all claims and declared scopes."""
    standing = [
        {
            "agent": each.agent,
            "files": [*filter(None, [each.scope.area]), *each.scope.files][: vocabulary.LISTED],
        }
        for each in scopes.live(tx, here.project.id)
    ]
    used = [vocabulary.lease(each) for each in leases.of_project(tx, here.project.id)[: vocabulary.LISTED]]
    return {"held": standing, **vocabulary.known(leased=used)}
