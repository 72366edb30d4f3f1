"""What a project looks like now, and what it looked like: for whoever shows it and goes on with the live events."""

import gzip
import json
from collections.abc import Iterable
from typing import Annotated, Any, Self

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel, Field

from hubbub.core.snapshots import keyframes
from hubbub.core.snapshots.take import picture, take
from hubbub.model.records import Activity
from hubbub.model.rights import Right
from hubbub.model.standing import needed
from hubbub.serve.events import content_of, with_patch
from hubbub.serve.rest.call import Call
from hubbub.serve.rest.shapes import ActivityShape, NeedShape
from hubbub.store.tx import Tx

router = APIRouter(tags=["hub"])

LEVEL = 1  # of gzip: pictures are as large as projects, and asked for by browsers that are near
_to_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class Moment(BaseModel):
    id: int = Field(description="a place in the log")
    at: int


class Snapshot(Moment):
    project: str
    seen: list[int] = Field(description="activities after `id` that are in the picture already")
    first: Moment | None = Field(description="from where the project can be replayed")
    picture: dict[str, dict[str, Any]] = Field(description="cards by noun and key")


class NeededShape(NeedShape):
    noun: str = Field(
        description="of the card, as in the picture: tasks, agents, approvals, letters, overlaps"
    )
    key: str
    card: dict[str, Any]


class Needs(BaseModel):
    at: int
    needs: list[NeededShape]


class Start(Moment):
    seen: list[int]
    picture: dict[str, dict[str, Any]]


class PatchedActivity(ActivityShape):
    """What happened, and what it made of the project's picture: cards by noun and key, null for what is gone."""

    patch: dict[str, dict[str, Any]] | None

    @classmethod
    def told(cls, activity: Activity) -> Self:
        patch = json.loads(activity.patch) if activity.patch else None
        return cls.model_validate({**content_of(activity), "patch": patch})


class Reel(BaseModel):
    start: Start
    activities: list[PatchedActivity]
    earlier: bool = Field(description="there is more before `start`: ask for it with `until=start.id`")


@router.get("/snapshot", response_class=Response, responses={200: {"model": Snapshot}})
async def snapshot(call: Call, request: Request) -> Response:
    """The project as it is: all its cards, and the place in the log from which the live events go on."""
    is_packed = _takes_gzip(request)

    def look(tx: Tx) -> Response:
        project = call.enter(tx, Right.READ)
        taken = take(tx, project.id)
        content = {
            "project": project.slug,
            "id": taken.position.seq,
            "seen": sorted(taken.seen),
            "at": taken.at,
            "first": _moment(keyframes.first(tx, project.id)),
            "picture": taken.picture,
        }
        return _answer(_to_json(content), is_packed=is_packed)

    return await call.read(look, long=True)


@router.get("/needs")
async def list_needs(call: Call) -> Needs:
    """What needs a person now, the most urgent first: the same on the page, in the terminal and here."""

    def look(tx: Tx) -> Needs:
        found = needed(picture(tx, call.enter(tx, Right.READ).id), tx.now)
        told = [
            NeededShape.of(each.need, noun=each.noun, key=each.key, card=dict(each.card)) for each in found
        ]
        return Needs(at=tx.now, needs=told)

    return await call.read(look, long=True)


@router.get("/replay", response_class=Response, responses={200: {"model": Reel}})
async def replay(
    call: Call,
    request: Request,
    until: Annotated[
        int | None, Query(ge=0, le=2**62, description="the last activity; by default the latest")
    ] = None,
) -> Response:
    """A picture of the past and what followed it up to an activity: each moment between can be made of them."""
    is_packed = _takes_gzip(request)

    def look(tx: Tx) -> Response:
        reel = keyframes.reel(tx, call.enter(tx, Right.READ).id, until)
        start = {"id": reel.start.position.seq, "at": reel.start.at, "seen": list(reel.start.seen)}
        text = (
            f'{{"start":{_to_json(start)[:-1]},"picture":{reel.start.picture}}},'
            f'"activities":{_list(reel.activities)},"earlier":{_to_json(reel.earlier)}}}'
        )
        return _answer(text, is_packed=is_packed)

    return await call.read(look, long=True)


def _list(activities: Iterable[Activity]) -> str:
    return f"[{','.join(with_patch(_to_json(content_of(each)), each) for each in activities)}]"


def _moment(place: keyframes.Place | None) -> dict[str, int] | None:
    return {"id": place.position.seq, "at": place.at} if place is not None else None


def _answer(text: str, *, is_packed: bool) -> Response:
    body = text.encode()
    headers = {"Cache-Control": "no-store", "Vary": "Accept-Encoding"}
    if is_packed:
        body, headers["Content-Encoding"] = gzip.compress(body, LEVEL), "gzip"
    return Response(body, media_type="application/json", headers=headers)


def _takes_gzip(request: Request) -> bool:
    offered = request.headers.get("accept-encoding", "").replace(" ", "").lower().split(",")
    return "gzip" in offered or "gzip;q=1" in offered
