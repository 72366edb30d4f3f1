"""Edit guard: a client's hook asks before its agent changes a file, and reports after it has read or changed one.

The answer is one sentence for a model. Its only words from other agents are their names and their branches' names:
cleaned, cut short, in quotes.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum, auto

from hubbub.core.agents import agents, file_claims
from hubbub.core.presence import presences
from hubbub.model.agents.file_claims import TTL, Claim
from hubbub.model.agents.scopes import AgentConflict, entries
from hubbub.model.errors import ScopeConflict
from hubbub.model.records import Condition, Presence, Profile, Project
from hubbub.model.timestamps import milliseconds
from hubbub.model.visible_text import visible
from hubbub.store.agents import file_claims as claim_rows
from hubbub.store.tx import Tx

KEEP = timedelta(days=7)  # how long the last editor of a file is remembered
NAME_LENGTH = 64  # characters of another's name, or of a branch, in a sentence
PATH_LENGTH = 200


class EditDecision(StrEnum):
    """The decision on an edit."""

    ALLOW = auto()
    WARN = auto()  # the edit may go on, and the model should know the reason
    DENY = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Editor:
    """An editor and its place: a run of the agent's client, in a repository."""

    agent: str
    instance: str
    client: str | None
    host: str | None
    repository: str
    branch: str | None
    worktree: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TouchedFile:
    """A file as its editor finds it; `changed` says that it has changed since the editor read it."""

    path: str
    digest: str | None = None
    changed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EditVerdict:
    """The decision on an edit, the reason, and the holder in its way, with the time since when."""

    decision: EditDecision = EditDecision.ALLOW
    sentence: str | None = None
    holder: str | None = None
    since: int | None = None


def before(
    tx: Tx, project: Project, editor: Editor, files: Sequence[TouchedFile], *, ttl: timedelta = TTL
) -> EditVerdict:
    """Claim the files for an editor, all or none, and decide whether the edit may go on.

    Records like `file_claims.claim` and `presences.report`, and `file.refused` for a denied one. Raises `Invalid`.
    """
    presence = _attend(tx, project, editor, ttl)
    mine = {
        each.path: each
        for each in file_claims.of_presence(tx, presence)
        if each.repository == editor.repository
    }
    try:
        conflicts = file_claims.claim(
            tx,
            project,
            presence,
            [each.path for each in files],
            repository=editor.repository,
            ttl=ttl,
            instance=editor.instance,
            branch=editor.branch,
            worktree=editor.worktree,
            seen=True,
        )
    except ScopeConflict as refused:
        return _refuse(tx, project, presence, files, refused.conflicts)
    told = _join(_contested(tx, conflicts, mine, files), _changed(tx, project, editor, files))
    return _join(_doubled(editor, mine, files), told)


def after(
    tx: Tx, project: Project, editor: Editor, files: Sequence[TouchedFile], *, ttl: timedelta = TTL
) -> EditVerdict:
    """Store the new state of the files and its author. Claimed files stay claimed for another `ttl`."""
    presence = _attend(tx, project, editor, ttl)
    held = {
        each.path: each.entry
        for each in file_claims.of_presence(tx, presence)
        if each.repository == editor.repository
    }
    renewed = [held[path] for path in _paths(files) if path in held]
    claim_rows.renew(tx, presence.id, renewed, expires_at=tx.now + milliseconds(ttl))
    for path, each in zip(_paths(files), files, strict=True):
        if each.digest is not None:
            file = _file(editor.repository, path)
            claim_rows.put_edit(tx, project.id, file=file, agent=editor.agent, digest=each.digest)
    return EditVerdict()


def read(tx: Tx, project: Project, editor: Editor) -> EditVerdict:
    """Note that the agent is there, and reads files."""
    _attend(tx, project, editor, TTL)
    return EditVerdict()


def release(
    tx: Tx,
    project: Project,
    agent: str,
    *,
    instance: str,
    repository: str | None,
    paths: Sequence[str] | None,
    why: str,
) -> list[str]:
    """Release the claims of a run of the agent's client; return their entries."""
    presence = agents.presence(tx, project.id, agent, lock=True)
    if presence is None:
        return []
    return file_claims.release(
        tx, project, presence, paths, repository=repository, instance=instance, why=why
    )


def forget(tx: Tx) -> None:
    """Drop edits from long ago."""
    claim_rows.forget_edits(tx, before=tx.now - milliseconds(KEEP))


def _attend(tx: Tx, project: Project, editor: Editor, ttl: timedelta) -> Presence:
    """Note the editor's presence, for at least as long as its claims last."""
    return presences.attend(
        tx,
        project.id,
        editor.agent,
        instance=editor.instance,
        condition=Condition.WORKING,
        profile=Profile(runtime=editor.client, hostname=editor.host),
        ttl=max(ttl, TTL),
    )


def _paths(files: Sequence[TouchedFile]) -> list[str]:
    return [path for each in files for path in entries([each.path])]


def _refuse(
    tx: Tx,
    project: Project,
    presence: Presence,
    files: Sequence[TouchedFile],
    conflicts: Sequence[AgentConflict],
) -> EditVerdict:
    claim = file_claims.behind(tx, conflicts[0])
    holder = conflicts[0].agent
    tx.record(
        "file.refused",
        project_id=project.id,
        actor=presence.agent,
        agent=presence.agent,
        detail={"file": _paths(files)[0], "files": _paths(files), "holder": holder},
    )
    sentence = (
        f"hubbub: {_whose(tx, conflicts[0], claim, files)}, and this project lets nobody edit what another holds. "
        f"Work on something else, or ask {_named(holder)} to release it{_how_to_ask(holder)}."
    )
    return EditVerdict(
        decision=EditDecision.DENY,
        sentence=sentence,
        holder=holder,
        since=claim.claimed_at if claim else None,
    )


def _warning(
    tx: Tx, conflict: AgentConflict, claim: Claim | None, files: Sequence[TouchedFile]
) -> EditVerdict:
    sentence = (
        f"hubbub: {_whose(tx, conflict, claim, files)}. "
        f"You may go on, but agree with {_named(conflict.agent)} first{_how_to_ask(conflict.agent)}."
    )
    return EditVerdict(
        decision=EditDecision.WARN,
        sentence=sentence,
        holder=conflict.agent,
        since=claim.claimed_at if claim else None,
    )


def _contested(
    tx: Tx, conflicts: Sequence[AgentConflict], mine: Mapping[str, Claim], files: Sequence[TouchedFile]
) -> EditVerdict:
    """Warn of other holders of the files: once, and again after one of them has edited since."""
    known = min((mine[path].edited_at for path in _paths(files) if path in mine), default=None)
    for conflict in conflicts:
        claim = file_claims.behind(tx, conflict)
        if known is None or (claim is not None and claim.edited_at > known):
            return _warning(tx, conflict, claim, files)
    return EditVerdict()


def _doubled(editor: Editor, mine: Mapping[str, Claim], files: Sequence[TouchedFile]) -> EditVerdict:
    """Warn of another run of the same agent that edits the same file."""
    for path in _paths(files):
        if path in mine and mine[path].instance not in (None, editor.instance):
            sentence = f"hubbub: {_shown(path)} is edited in another window of yours as well. Look at it again first."
            return EditVerdict(decision=EditDecision.WARN, sentence=sentence)
    return EditVerdict()


def _changed(tx: Tx, project: Project, editor: Editor, files: Sequence[TouchedFile]) -> EditVerdict:
    """Warn of a file that another agent has changed since its editor read it."""
    for path, each in zip(_paths(files), files, strict=True):
        file = _file(editor.repository, path)
        last = claim_rows.last_edit(tx, project.id, file=file, digest=each.digest or "")
        if not each.changed or (last is not None and last[0] == editor.agent):
            continue
        by = f" by {_named(last[0])} ({_ago(tx.now - last[1])})" if last is not None else ""
        sentence = (
            f"hubbub: {_shown(path)} was changed{by} since you read it. Read it again before you edit it."
        )
        return EditVerdict(decision=EditDecision.WARN, sentence=sentence)
    return EditVerdict()


def _join(first: EditVerdict, second: EditVerdict) -> EditVerdict:
    """Join two verdicts: both sentences, and one holder, the first."""
    if first.sentence is None or second.sentence is None:
        return first if second.sentence is None else second
    told = first if first.holder is not None else second
    return replace(told, sentence=f"{first.sentence} {second.sentence}")


def _whose(tx: Tx, conflict: AgentConflict, claim: Claim | None, files: Sequence[TouchedFile]) -> str:
    path = _shown(claim.path if claim and claim.path in _paths(files) else files[0].path)
    if claim is None:
        return f"{path} is in the declared scope of {_named(conflict.agent)}"
    where = [f"on branch {_named(claim.branch)}"] if claim.branch else []
    where += [f"in worktree {_named(claim.worktree)}"] if claim.worktree else []
    at = datetime.fromtimestamp(claim.claimed_at / 1000, UTC)
    since = f"{at:%H:%M} UTC ({_ago(tx.now - claim.claimed_at)})"
    return f"{path} is held by {_named(conflict.agent)} since {since}{', ' if where else ''}{' '.join(where)}"


def _how_to_ask(holder: str) -> str:
    return f": hubbub's tool `send` with to={_named(holder)}"


def _ago(milliseconds: int) -> str:
    minutes = milliseconds // 60_000
    if minutes < 1:
        return "just now"
    if minutes < 120:
        return f"{minutes} minute{'s' if minutes > 1 else ''} ago"
    return f"{minutes // 60} hours ago"


def _named(text: str) -> str:
    return f"'{_cut(text, NAME_LENGTH)}'"


def _shown(path: str) -> str:
    return _cut(path, PATH_LENGTH)


def _cut(text: str, length: int) -> str:
    plain = visible(text[: 4 * length]).replace("'", "’").replace("`", "’")
    return plain if len(plain) <= length else plain[: length - 1] + "…"


def _file(repository: str, path: str) -> str:
    return hashlib.sha256(f"{repository}\n{path}".encode()).hexdigest()
