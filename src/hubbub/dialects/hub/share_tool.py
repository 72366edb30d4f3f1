"""`share`: agents' artifacts, reviews of them, and memories."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field, WithJsonSchema

from hubbub.core.people import runs
from hubbub.core.work import artifacts, memory, reviews
from hubbub.dialects.call import Call
from hubbub.dialects.dialect import Reply
from hubbub.dialects.hub import short_ids, vocabulary
from hubbub.dialects.hub.tool_set import DIALECT, Cursor, Key, Name, OwnContext, Ref, act, look
from hubbub.model.errors import Conflict, Invalid, NotFound
from hubbub.model.people.rights import HUB
from hubbub.model.records import Artifact, ReviewVerdict
from hubbub.store.tx import Tx

MOST = 20  # artifacts of a page
READS = (
    "read",
    "list",
    "recall",
)  # the actions that change nothing; wrong values need not be hashable
KIND = "document"  # of an artifact without a kind

Title = Annotated[str, Field(min_length=1, max_length=256), WithJsonSchema({"type": "string"})]
Content = Annotated[str, Field(max_length=524_288), WithJsonSchema({"type": "string"})]
Word = Annotated[str, Field(min_length=1, max_length=64), WithJsonSchema({"type": "string"})]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Given:
    """The arguments beside the action."""

    name: str | None
    text: str | None
    artifact: str | None
    task: str | None
    kind: str | None
    to: str | None
    verdict: ReviewVerdict | None
    of: str
    before: int | None

    def need(self, argument: str, what: str) -> str:
        """Return an argument. Raises `Invalid` if it was left out; `what` says its meaning."""
        value = getattr(self, argument)
        if not value:
            raise Invalid(f"{argument} is missing: {what}")
        return str(value)


@DIALECT.tool(looks=lambda given: given.get("action") in READS)
def share(
    tx: Tx,
    call: Call,
    action: Literal["post", "read", "list", "review", "verdict", "remember", "append", "recall"],
    name: Title | None = None,
    text: Content | None = None,
    artifact: Ref | None = None,
    task: Ref | None = None,
    kind: Word | None = None,
    to: Name | None = None,
    verdict: Literal["approved", "changes_requested"] | None = None,
    of: Literal["me", "project"] = "me",
    before: Cursor | None = None,
    key: Key | None = None,
) -> Reply:
    """Artifacts: post text by a name (kind: report, pr, design...), read one by id or name, list.

    review asks `to` to look at an artifact; verdict answers that. Memory of you or the project: remember text under a
    name, append, recall.
    """
    here = look(tx, call) if action in READS else act(tx, call)
    given = _Given(
        name=name, text=text, artifact=artifact, task=task, kind=kind, to=to,
        verdict=ReviewVerdict(verdict) if verdict is not None else None, of=of, before=before,
    )  # fmt: skip
    return _ACTIONS[action](tx, here, given)


def _post(tx: Tx, here: OwnContext, given: _Given) -> Reply:
    title, text = given.need("name", "say how it is called"), given.need("text", "give what it holds")
    task = str(short_ids.task(tx, here.project.id, given.task).id) if given.task is not None else None
    run = runs.resolve(tx, here.project.id, None)
    made = artifacts.post(tx, run, by=here.name, name=title, kind=given.kind or KIND, content=text, task=task)
    return {"id": short_ids.short(short_ids.ARTIFACT, made.number), "name": made.name}


def _read(tx: Tx, here: OwnContext, given: _Given) -> Reply:
    artifact = _meant(tx, here, given)
    said = [vocabulary.review_row(each, artifact) for each in reviews.of_artifact(tx, artifact)]
    return {
        **vocabulary.artifact_row(artifact),
        "text": artifacts.content(tx, artifact),
        **vocabulary.known(reviews=said),
    }


def _list(tx: Tx, here: OwnContext, given: _Given) -> Reply:
    if given.task is not None:
        found = artifacts.of_task(tx, short_ids.task(tx, here.project.id, given.task))
        return {"artifacts": [vocabulary.artifact_row(each) for each in found]}
    found = artifacts.of_project(tx, here.project.id, before=given.before, limit=MOST + 1)
    more = found[MOST - 1].number if len(found) > MOST else None
    return {
        "artifacts": [vocabulary.artifact_row(each) for each in found[:MOST]],
        **vocabulary.known(next=more),
    }


def _review(tx: Tx, here: OwnContext, given: _Given) -> Reply:
    reviewer = given.need("to", "say who is to look at it")
    artifact = _meant(tx, here, given)
    return vocabulary.review_row(reviews.request(tx, artifact, by=here.name, reviewer=reviewer), artifact)


def _verdict(tx: Tx, here: OwnContext, given: _Given) -> Reply:
    if given.verdict is None:
        raise Invalid("verdict is missing: approved or changes_requested")
    artifact = _meant(tx, here, given)
    mine = [each for each in reviews.of_artifact(tx, artifact) if each.reviewer == here.name]
    asked = [each for each in mine if each.verdict is None]
    ref = short_ids.short(short_ids.ARTIFACT, artifact.number)
    if not mine:
        raise NotFound("review asked of you for", ref)
    if not asked:
        raise Conflict(
            f"you gave your verdict on {ref} already: {mine[-1].verdict}; another review asks again"
        )
    return vocabulary.review_row(
        reviews.submit(tx, asked[0], given.verdict, by=here.name, comments=given.text), artifact
    )


def _meant(tx: Tx, here: OwnContext, given: _Given) -> Artifact:
    """Return the artifact with that id, else the newest of that name. Raises `NotFound`, `Invalid` without either."""
    if given.artifact is not None:
        with suppress(NotFound):
            return short_ids.artifact(tx, here.project.id, given.artifact)
    name = given.artifact or given.need("name", "say which artifact, by its id as `artifact` or by its name")
    return artifacts.newest_of_project(tx, here.project.id, name)


def _remember(tx: Tx, here: OwnContext, given: _Given) -> Reply:
    key = given.need("name", "say under which name to remember it")
    memory.write(tx, here.project.id, _whose(here, given), key, given.text or "", by=here.name)
    return {"remembered": key, "of": given.of}


def _append(tx: Tx, here: OwnContext, given: _Given) -> Reply:
    text = given.need("text", "give what to add")
    memory.append(tx, here.project.id, _whose(here, given), text, by=here.name)
    return {"appended": True, "of": given.of}


def _recall(tx: Tx, here: OwnContext, given: _Given) -> Reply:
    document = memory.read(tx, here.project.id, _whose(here, given))
    if given.name is None:
        return {"text": document.text if document is not None else None, "of": given.of}
    known = {part.key: part.content for part in document.parts} if document is not None else {}
    return {"name": given.name, "text": known.get(given.name), "of": given.of}


def _whose(here: OwnContext, given: _Given) -> str | None:
    """Return the memory's owner; None: the project. Raises `Invalid` for a person, who has none here."""
    if given.of == "project":
        return None
    if here.name == HUB:
        raise Invalid("only an agent has a memory of its own: give of=project, or join with a name first")
    return here.name


_ACTIONS: Mapping[str, Callable[[Tx, OwnContext, _Given], Reply]] = {
    "post": _post, "read": _read, "list": _list, "review": _review, "verdict": _verdict,
    "remember": _remember, "append": _append, "recall": _recall,
}  # fmt: skip
