"""Edits: questions of clients' hooks before a file is changed, and reports after."""

from datetime import timedelta
from typing import Annotated, Literal

from fastapi import Request
from pydantic import Field, model_validator

from hubbub.core.actions import next_tool
from hubbub.core.people import access
from hubbub.core.presence import edit_guard
from hubbub.core.presence.edit_guard import EditDecision, Editor, EditVerdict, TouchedFile
from hubbub.model.agents import file_claims
from hubbub.serve.rest.base.call import Call
from hubbub.serve.rest.base.router import Router
from hubbub.serve.rest.base.shapes import Body, Line, Model, Name, Shape
from hubbub.store.tx import Tx

router = Router("edits")

Path = Annotated[str, Field(min_length=1, max_length=1_024)]
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{40,64}$", description="the SHA-256 of the file's content")]
Instance = Annotated[
    Name, Field(description="which run of the agent's client this is, in that client's words")
]
Repository = Annotated[
    str,
    Field(
        min_length=1,
        max_length=300,
        description="such as `github.com/owner/name`, wherever it is checked out",
    ),
]
MOST = 200  # files of one edit


class FileBody(Body):
    path: Path = Field(description="from the root of the repository")
    digest: Digest | None = None
    changed: bool = Field(False, description="it is not any more what the agent has read")


class Edit(Body):
    instance: Instance
    repository: Repository
    moment: Literal["before", "after", "read"]
    path: Path | None = Field(None, description="from the root of the repository; or `files`")
    digest: Digest | None = None
    changed: bool = Field(False, description="the file is not any more what the agent has read")
    files: list[FileBody] = Field([], max_length=MOST, description="more files of the same edit: all or none")
    agent: Name | None = Field(None, description="who edits, where the token is not bound to an agent")
    client: Line | None = Field(None, description="the agent's client, such as `claude-code`")
    host: Line | None = Field(None, description="the machine")
    tool: Line | None = Field(None, description="what the client calls the tool")
    branch: Line | None = None
    worktree: Line | None = Field(None, description="what people call the folder it is checked out in")

    @model_validator(mode="after")
    def _names_a_file(self) -> "Edit":
        if self.path is None and not self.files:
            raise ValueError("an edit needs either a `path` or `files`")
        return self

    def touched(self) -> list[TouchedFile]:
        one = [TouchedFile(path=self.path, digest=self.digest, changed=self.changed)] if self.path else []
        return one + [
            TouchedFile(path=each.path, digest=each.digest, changed=each.changed) for each in self.files
        ]


class Decided(Shape):
    """The decision on an edit, and the sentence for the model: who is in its way, and since when."""

    decision: EditDecision
    sentence: str | None
    holder: str | None
    since: int | None


class EditRelease(Body):
    instance: Instance
    repository: Repository | None = Field(None, description="only claims made there")
    paths: list[Path] | None = Field(None, max_length=1_000, description="only these")
    agent: Name | None = Field(None, description="whose claims, where the token is not bound to an agent")
    why: Line = "released"


class ReleasedEdits(Model):
    released: list[str] = Field(description="the released entry, as it was among declared scopes")


@router.post("/edits")
async def edit(request: Request, call: Call, body: Edit) -> Decided:
    """Claim a file before it is edited, or report its new state; also a heartbeat of the agent.

    The project's conflict mode decides: `warn` tells, `block` refuses, `off` ignores conflicts.
    """
    ttl: timedelta = request.app.state.claim_ttl
    repository = file_claims.repository(body.repository)

    def decide(tx: Tx) -> EditVerdict:
        project = call.enter(tx)
        editor = Editor(
            agent=access.speak(tx, project.id, body.agent),
            instance=body.instance,
            client=body.client,
            host=body.host,
            repository=repository,
            branch=body.branch,
            worktree=body.worktree,
        )
        if body.moment == "before":
            if (denied := next_tool.denial(tx, project, editor.agent)) is not None:
                return EditVerdict(decision=EditDecision.DENY, sentence=denied)
            return edit_guard.before(tx, project, editor, body.touched(), ttl=ttl)
        if body.moment == "after":
            return edit_guard.after(tx, project, editor, body.touched(), ttl=ttl)
        return edit_guard.read(tx, project, editor)

    return Decided.of(await call.write(decide))


@router.post("/edits/release")
async def release_edits(call: Call, body: EditRelease) -> ReleasedEdits:
    """Release the claims of a run of an agent's client: all of them, or the named ones."""

    def release(tx: Tx) -> list[str]:
        project = call.enter(tx)
        agent = access.speak(tx, project.id, body.agent)
        return edit_guard.release(
            tx,
            project,
            agent,
            instance=body.instance,
            repository=body.repository,
            paths=body.paths,
            why=body.why,
        )

    return ReleasedEdits(released=await call.write(release))
