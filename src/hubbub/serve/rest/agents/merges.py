"""Predicted merges: hooks report the heads of branches and git's judgements on pairs; people see the conflicts."""

from typing import Annotated

from pydantic import Field

from hubbub.core.people import access
from hubbub.core.work import merge_radar
from hubbub.core.work.merge_radar import Judgement
from hubbub.model.agents.merges import MOST_FILES, MOST_PATHS, BranchHead, MergeForecast
from hubbub.model.people.rights import Right
from hubbub.model.records import Project
from hubbub.serve.rest.base.call import Call
from hubbub.serve.rest.base.router import Router
from hubbub.serve.rest.base.shapes import Body, Line, Model, Name
from hubbub.store.tx import Tx

router = Router("merges")

Oid = Annotated[str, Field(pattern=r"^[0-9a-f]{40,64}$")]
Path = Annotated[str, Field(min_length=1, max_length=1_024)]
Branch = Annotated[str, Field(min_length=1, max_length=300)]


class HeadBody(Body):
    """The newest commit of an agent on a branch."""

    repository: Annotated[str, Field(min_length=1, max_length=300)]
    branch: Branch
    head: Oid
    agent: Name | None = Field(
        None, description="whose branch it is, where the token is not bound to an agent"
    )

    def record(self, tx: Tx, project: Project, **more: object) -> BranchHead:
        blank: dict[str, object] = {"tree": "", "paths": (), "emptied": (), "host": None}
        return BranchHead(
            project_id=project.id,
            repository=self.repository.lower(),
            agent=access.speak(tx, project.id, self.agent),
            branch=self.branch,
            head=self.head,
            told_at=tx.now,
            **{**blank, **more},  # type: ignore[arg-type]
        )


class TellHead(HeadBody):
    tree: Oid
    paths: list[Path] = Field(
        [], max_length=MOST_PATHS, description="changed on the branch since it began; none where it is merged"
    )
    emptied: list[Path] = Field(
        [], max_length=MOST_PATHS, description="folders from which it has taken files"
    )
    host: Line | None = None


class OtherHead(Model):
    agent: str
    branch: str
    head: str


class ToCompare(Model):
    compare: list[OtherHead] = Field(description="branches of others that touch the same places")


class JudgementBody(Body):
    agent: Name
    branch: Branch
    head: Oid
    files: list[Path] = Field(
        [], max_length=MOST_FILES, description="in conflict; none where git merges them"
    )
    merged: bool = Field(False, description="the branch is merged into the base of the other")


class TellJudgements(HeadBody):
    judgements: list[JudgementBody] = Field(max_length=merge_radar.MOST_PAIRS)


class MergeEnd(Model):
    agent: str
    branch: str
    head: str


class ConflictBody(Model):
    repository: str
    branches: list[MergeEnd]
    files: list[str] = Field(description="at most 50")
    first: str = Field(description="the agent whose branch is better merged first")
    found_at: int


class MergeConflicts(Model):
    conflicts: list[ConflictBody]


@router.post("/merges/heads")
async def tell_head(call: Call, body: TellHead) -> ToCompare:
    """Report the newest commit of an agent on a branch, for hooks; returns those that git has to compare it with."""

    def tell(tx: Tx) -> ToCompare:
        project = call.enter(tx)
        head = body.record(
            tx,
            project,
            tree=body.tree,
            paths=tuple(body.paths),
            emptied=tuple(body.emptied),
            host=body.host,
        )
        found = merge_radar.tell_head(tx, project, head)
        return ToCompare(
            compare=[OtherHead(agent=each.agent, branch=each.branch, head=each.head) for each in found]
        )

    return await call.write(tell)


@router.post("/merges/judgements")
async def tell_judgements(call: Call, body: TellJudgements) -> MergeConflicts:
    """Report git's judgements on merging other branches with this one, for hooks; returns the conflicts."""

    def tell(tx: Tx) -> MergeConflicts:
        project = call.enter(tx)
        judgements = [
            Judgement(
                agent=each.agent,
                branch=each.branch,
                head=each.head,
                files=tuple(each.files),
                is_merged=each.merged,
            )
            for each in body.judgements
        ]
        found = merge_radar.tell_judgements(tx, project, body.record(tx, project), judgements)
        return MergeConflicts(conflicts=[_shape(each) for each in found])

    return await call.write(tell)


@router.get("/merges")
async def list_conflicts(call: Call) -> MergeConflicts:
    """List the pairs of branches that will conflict, newest first."""

    def look(tx: Tx) -> MergeConflicts:
        project = call.enter(tx, Right.READ)
        return MergeConflicts(conflicts=[_shape(each) for each in merge_radar.conflicts(tx, project.id)])

    return await call.read(look)


def _shape(each: MergeForecast) -> ConflictBody:
    return ConflictBody(
        repository=each.repository,
        branches=[
            MergeEnd(agent=each.one_agent, branch=each.one_branch, head=each.one_head),
            MergeEnd(agent=each.other_agent, branch=each.other_branch, head=each.other_head),
        ],
        files=list(each.files),
        first=each.first,
        found_at=each.found_at,
    )
