"""Pictures of a project, present and past: for clients that show it and go on with the live events."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, Self

from fastapi import Query, Request
from fastapi.responses import Response
from pydantic import Field

from hubbub.core.snapshots import keyframes
from hubbub.core.snapshots.full_snapshot import SnapshotText, moment, nouns
from hubbub.model.json_text import compact
from hubbub.model.log.attention import Needed, needing
from hubbub.model.people.rights import Right
from hubbub.model.records import Activity
from hubbub.serve.live.sse import activity_json, with_patch
from hubbub.serve.rest.base.call import Call
from hubbub.serve.rest.base.chunked_json import chunked_response, in_order, list_object, takes_gzip
from hubbub.serve.rest.base.router import Router
from hubbub.serve.rest.base.shapes import ActivityShape, Model, NeedShape
from hubbub.store.tx import Tx

router = Router("hub")


class Moment(Model):
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


class Needs(Model):
    at: int
    needs: list[NeededShape]


class ReelStart(Moment):
    seen: list[int]
    picture: dict[str, dict[str, Any]]


class PatchedActivity(ActivityShape):
    """An activity, and its effect on the project's picture: cards by noun and key, null for removed ones."""

    patch: dict[str, dict[str, Any]] | None

    @classmethod
    def told(cls, activity: Activity) -> Self:
        patch = json.loads(activity.patch) if activity.patch else None
        return cls.model_validate({**activity_json(activity), "patch": patch})


class Reel(Model):
    start: ReelStart
    activities: list[PatchedActivity]
    earlier: bool = Field(description="there is more before `start`: ask for it with `until=start.id`")


@router.get("/snapshot", response_class=Response, responses={200: {"model": Snapshot}})
async def snapshot(call: Call, request: Request) -> Response:
    """Show the project as it is: all its cards, and the place in the log from which the live events go on."""
    is_packed = takes_gzip(request)

    def look(tx: Tx) -> Response:
        project = call.enter(tx, Right.READ)
        taken = moment(tx, project.id)
        about = {
            "project": project.slug,
            "id": taken.position.seq,
            "seen": sorted(taken.seen),
            "at": taken.at,
            "first": _moment(keyframes.first(tx, project.id)),
        }
        return chunked_response(_with_picture(about, SnapshotText(tx, project.id)), is_packed=is_packed)

    return await call.read(look, long=True)


@router.get("/needs", response_class=Response, responses={200: {"model": Needs}})
async def list_needs(call: Call, request: Request) -> Response:
    """List the needs of people now, the most urgent first: the same on the page, in the terminal and here."""
    is_packed = takes_gzip(request)

    def look(tx: Tx) -> Response:
        found = nouns(tx, call.enter(tx, Right.READ).id, pressing=True)
        needs = in_order(
            (each.urgency, _need(each)) for noun, cards in found for each in needing(noun, cards, tx.now)
        )
        told = list_object({"at": tx.now}, "needs", (text for _urgency, text in needs))
        return chunked_response(told, is_packed=is_packed)

    return await call.read(look, long=True)


@router.get("/replay", response_class=Response, responses={200: {"model": Reel}})
async def replay(
    call: Call,
    request: Request,
    until: Annotated[
        int | None, Query(ge=0, le=2**62, description="the last activity; by default the latest")
    ] = None,
) -> Response:
    """Show a past picture and the activities after it, up to one: each moment between follows from them."""
    is_packed = takes_gzip(request)

    def look(tx: Tx) -> Response:
        reel = keyframes.replay(tx, call.enter(tx, Right.READ).id, until)
        return chunked_response(_told(reel, keyframes.activities(tx, reel)), is_packed=is_packed)

    return await call.read(look, long=True)


def _with_picture(about: Mapping[str, object], picture: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the JSON of a moment, with its picture, which is JSON already."""
    yield f'{compact(about)[:-1]},"picture":'.encode()
    yield from picture
    yield b"}"


def _need(of: Needed) -> bytes:
    """Encode a `NeededShape`: its parts are JSON already, and checking each of thousands took most of the time."""
    return compact({**of.need.shape(), "noun": of.noun, "key": of.key, "card": of.card}).encode()


def _told(reel: keyframes.Replay, activities: Iterable[Activity]) -> Iterator[bytes]:
    """Yield the JSON of a replay."""
    start = {"id": reel.start.position.seq, "at": reel.start.at, "seen": list(reel.start.seen)}
    yield b'{"start":'
    yield from _with_picture(start, reel.start.text())
    comma = ',"activities":['
    for each in activities:
        yield (comma + with_patch(compact(activity_json(each)), each)).encode()
        comma = ","
    yield f'{"" if comma == "," else comma}],"earlier":{compact(reel.earlier)}}}'.encode()


def _moment(place: keyframes.KeyframePlace | None) -> dict[str, int] | None:
    return {"id": place.position.seq, "at": place.at} if place is not None else None
