"""Forecast for a letter's sender: how its receiver is woken, and whether it will probably look soon."""

from collections.abc import Iterator
from uuid import UUID

from hubbub.model.mail.wakes import (
    BUSY,
    DOORS,
    DeliveryChannel,
    DeliveryChannels,
    DeliveryForecast,
    WakeMethod,
    Waker,
)
from hubbub.model.people.rights import HUB
from hubbub.model.timestamps import milliseconds
from hubbub.store.agents import agents, last_activity
from hubbub.store.log import projection
from hubbub.store.mail import wakes
from hubbub.store.tx import Tx

WORKER = "work"  # the runtime of agents that `hubbub work` runs
BUILT_IN = "echo, built in"  # the runtime of the echo, which the hub itself runs
NOTES = {
    "people": "People read it when they look at the dashboard.",
    "worker": "It is a worker: it shows messages and runs only tasks.",
    "built_in": "The hub itself runs it: it answers at once.",
    "here": "It is online, but nothing wakes it: it sees this when it next reads its inbox.",
    "away": "It is offline: it sees this when it starts.",
    "acts": "It sends no heartbeat: it sees this when it next looks.",
    "door": "Its client wakes it, also while it is idle.",
    "wait": "It waits for mail in a call at this moment.",
    "stream": "Its program follows its inbox.",
    "hook": "A hook of its client wakes it, also while idle.",
    "busy": "It is busy, and is told at the next step of its turn.",
    "idle": "It is idle, and is told when its next turn begins.",
}


def forecast(tx: Tx, project_id: UUID, agent: str, ways: DeliveryChannels | None = None) -> DeliveryForecast:
    """Forecast how `agent` would be told of a letter now, by at most three reads; changes nothing.

    `ways` are the calls and streams held open at this hub, where the caller can know them.
    """
    presence = agents.presence(tx, project_id, agent) if agent != HUB else None
    is_live = presence is not None and presence.is_live(tx.now)
    acted_at = last_activity.last_act(tx, project_id, agent) if agent != HUB and not is_live else None
    is_known = is_live or acted_at is not None
    if agent == HUB or (not is_known and projection.is_person(tx, project_id, agent)):
        return DeliveryForecast(wake="none", likely_seen=False, note=NOTES["people"])
    if is_live and presence is not None and presence.runtime == WORKER:
        return DeliveryForecast(wake="worker", likely_seen=True, note=NOTES["worker"])
    if is_live and presence is not None and presence.runtime == BUILT_IN:
        return DeliveryForecast(wake="native", likely_seen=True, note=NOTES["built_in"])
    asking = wakes.wakers(tx, project_id, agent) if is_known else []  # an agent with wakers is known
    there = [waker for waker in asking if waker.is_there(tx.now)]
    known = next(_known(tx, there, ways.way_to(project_id, agent) if ways else None), None)
    if known is not None:
        return known
    if is_live:
        return DeliveryForecast(wake="none", likely_seen=False, note=NOTES["here"])
    return DeliveryForecast(wake="none", likely_seen=False, note=NOTES["acts" if acted_at else "away"])


def key_of(outlook: DeliveryForecast) -> str:
    """Return the key of a forecast's note."""
    return next(key for key, note in NOTES.items() if note == outlook.note)


def _known(tx: Tx, there: list[Waker], way: DeliveryChannel | None) -> Iterator[DeliveryForecast]:
    """Yield a forecast for each available way, the surest first."""
    able = [waker for waker in there if waker.idle and waker.can_wake(tx.now)]
    if any(waker.method in DOORS for waker in able):
        yield DeliveryForecast(wake="native", likely_seen=True, note=NOTES["door"])
    if way is DeliveryChannel.WAIT:
        yield DeliveryForecast(wake="native", likely_seen=True, note=NOTES["wait"])
    if way is DeliveryChannel.STREAM:
        yield DeliveryForecast(wake="native", likely_seen=True, note=NOTES["stream"])
    if able:
        yield DeliveryForecast(wake="hook", likely_seen=True, note=NOTES["hook"])
    turns = [waker for waker in there if waker.method in (WakeMethod.TURN, WakeMethod.REWAKE)]
    if any(waker.busy and waker.asked_at + milliseconds(BUSY) > tx.now for waker in turns):
        yield DeliveryForecast(wake="hook", likely_seen=True, note=NOTES["busy"])
    if turns:
        yield DeliveryForecast(wake="hook", likely_seen=False, note=NOTES["idle"])
