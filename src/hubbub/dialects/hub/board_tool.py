"""`board`: the project's tasks, and their results."""

from typing import Annotated, Literal

from pydantic import Field, WithJsonSchema

from hubbub.core.agents import agents
from hubbub.core.work import task_search, tasks
from hubbub.dialects.call import Call
from hubbub.dialects.dialect import Reply
from hubbub.dialects.hub import vocabulary
from hubbub.dialects.hub.tool_set import DIALECT, Cursor, Line, Name, glance
from hubbub.store.tx import Tx

Limit = Annotated[int, Field(ge=1, le=100), WithJsonSchema({"type": "integer"})]

Status = Literal[
    "open", "ended", "queued", "delivered", "accepted", "working", "blocked", "in_review", "completed", "failed",
    "cancelled", "expired",
]  # fmt: skip


@DIALECT.tool(reads=True)
def board(
    tx: Tx,
    call: Call,
    find: Line = "",
    status: Status = "open",
    to: Name | None = None,
    sender: Name | None = None,
    area: Name | None = None,
    limit: Limit = 20,
    before: Cursor | None = None,
) -> Reply:
    """Tasks, newest first. find: words, or an id. to: of an assignee. before: `next` of the last page."""
    project = glance(tx, call)
    found = task_search.search(
        tx,
        [project.id],
        find,
        status=() if status == "open" and task_search.is_number(find) else vocabulary.statuses(status),
        assignee=to,
        sender=sender,
        area=area,
        before=before,
        limit=limit + 1,
    )
    if not found and to is not None:
        agents.require_known(tx, project.id, to)
    shown, is_narrowed = found[:limit], bool(find or to or sender or area)
    counts = tasks.counts(tx, [project.id]) if before is None and not is_narrowed else {}
    return {
        "tasks": [vocabulary.task_row(each) for each in shown],
        **vocabulary.known(
            next=shown[-1].number if len(found) > limit else None,
            counts={vocabulary.STATUS[each]: number for each, number in counts.items()},
        ),
    }
