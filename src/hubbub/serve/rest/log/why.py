"""Explanations: the hub's facts about something, and one paragraph made from them."""

from typing import Annotated, Any

from fastapi import Query
from pydantic import Field

from hubbub.core import why
from hubbub.core.why import SubjectKind
from hubbub.model.people.rights import Right
from hubbub.serve.rest.base.call import Call
from hubbub.serve.rest.base.router import Router
from hubbub.serve.rest.base.shapes import Model, Shape
from hubbub.store.tx import Tx

router = Router("why")


class FactShape(Shape):
    kind: str = Field(description="stable; what the detail holds goes by it")
    sentence: str
    words: dict[str, Any] = Field(
        description="the sentence by the `key` of its words and their `values`, for who tells it in another language"
    )
    detail: dict[str, Any] = Field(description="what the sentence is made from; times are Unix milliseconds")


class Why(Model):
    kind: SubjectKind
    name: str = Field(
        description="the number of a task, the name of an agent or a machine, the path of a file"
    )
    sentence: str = Field(description="all of it in one paragraph, for people")
    facts: list[FactShape]
    now: int = Field(description="the hub's time, at which all of it was so")


@router.get("/why/{ref:path}")
async def explain(
    call: Call,
    ref: str,
    kind: Annotated[SubjectKind | None, Query(description="else the first of these that there is")] = None,
) -> Why:
    """Explain why a task is queued or blocked, an agent offline, a file taken: the holder, and what would free it."""

    def look(tx: Tx) -> Why:
        account = why.explain(tx, call.enter(tx, Right.READ), ref, kind)
        return Why(
            kind=account.kind,
            name=account.name,
            sentence=account.sentence,
            facts=[FactShape.of(fact) for fact in account.facts],
            now=tx.now,
        )

    return await call.read(look, long=True)
