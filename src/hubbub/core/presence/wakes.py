"""Waking agents: a letter is stored first, then its receiver's client is told that there is one, and no more.

A waker runs beside the client and asks for its agent's wake; it gets one when there are unread letters that no wake
points at. The wake is made in the transaction that hands it out, under the lock of the agent's name, so that exactly
one of many wakers gets it, at one hub or at several. Each agent has at most one unanswered wake; looking into its
inbox answers it. Letters that were read or withdrawn are never a reason.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from uuid import UUID

from hubbub.core.agents import agents
from hubbub.core.limits import accounts, breakers, budgets
from hubbub.core.mail import messages
from hubbub.core.people import access
from hubbub.model.errors import Conflict, NotFound
from hubbub.model.ids import new_id, parse_id
from hubbub.model.mail.wakes import (
    GATHER,
    GRACE,
    LAPSE,
    SHOWN,
    TURNS,
    HookPhase,
    Wake,
    WakeEnding,
    WakeMethod,
    Waker,
    WakeResult,
    wake_text,
)
from hubbub.model.people.rights import HUB
from hubbub.model.records import Delivery
from hubbub.model.timestamps import milliseconds
from hubbub.store.mail import wakes
from hubbub.store.mail.wakes import PointedLetters
from hubbub.store.tx import MustWrite, Tx

STOPPED = timedelta(minutes=1)  # how soon to check again whether an agent without a budget may go on

RENEW = timedelta(seconds=60)  # a hook that asks more often changes nothing by it
KEPT = timedelta(days=7)  # how long the result of a wake is known
BESIDE = "mcp"  # the name of the waker whose answers tell of mail
TRIED = "This is a test of how you are woken. There is nothing to do but to acknowledge it."

# These need no rule of their own, so they are the store's functions.
leave = wakes.drop_wakers
hang_up = wakes.drop_waker
last = wakes.last_of


@dataclass(frozen=True, slots=True)
class PollResult:
    """Answer to a waker: a wake to bring; or none yet, and when to look again if nothing happens before."""

    wake: Wake | None = None
    again_at: int | None = None


@dataclass(frozen=True, slots=True)
class InboxHint:
    """Answer to a hook: the text for the agent, if any, and the number of unread letters."""

    text: str | None
    unread: int
    wake: Wake | None = None


def register(tx: Tx, waker: Waker, wait: timedelta) -> None:
    """Store that a waker is there, for as long as it waits, and a little longer. Raises `Invalid`."""
    agents.meet(tx, waker.project_id, waker.agent)
    expires_at = tx.now + milliseconds(wait + GRACE)
    _put(tx, replace(waker, asked_at=tx.now, expires_at=expires_at))


def take(tx: Tx, waker: Waker, *, gather: timedelta = GATHER) -> PollResult:
    """Return the wake that the waker is to bring now, if there is one for it.

    Of several wakers, the newest that wakes an idle client gets it. One wake points at all letters that come within
    `gather` of the first.
    """
    wakes.lock_agent(tx, waker.project_id, waker.agent)
    there = [each for each in _wakers(tx, waker) if each.is_there(tx.now)]
    state = _State.of(tx, waker.project_id, waker.agent, there)
    if state.is_quiet:
        return PollResult(again_at=state.quiet_until)
    goes_on_at = accounts.goes_on(tx, waker.project_id, waker.agent)
    if goes_on_at is not None:
        return PollResult(again_at=goes_on_at)
    place = waker.project_id, waker.agent
    if breakers.stopping(tx, *place) is not None or budgets.stopping(tx, *place) is not None:
        return PollResult(again_at=tx.now + milliseconds(STOPPED))
    first = _first(tx, there)
    if first is None or (first.instance, first.method) != (waker.instance, waker.method):
        return PollResult(again_at=first.expires_at if first is not None else None)
    ripe_at = state.ripe_at(gather)
    if tx.now < ripe_at:
        return PollResult(again_at=ripe_at)
    return PollResult(_hand_out(tx, state, waker))


def glance(tx: Tx, waker: Waker, moment: HookPhase) -> InboxHint:
    """Tell an agent by a hook, at a boundary of a turn, of letters that no wake or hint has pointed at.

    A client that begins, or has lost its memory, is told of everything unread, unless it was told already. The hook
    counts as a waker that tells and wakes nobody.
    """
    agents.meet(tx, waker.project_id, waker.agent)
    wakes.lock_agent(tx, waker.project_id, waker.agent)
    there = [each for each in _wakers(tx, waker) if each.is_there(tx.now)]
    told = next(
        (each for each in there if (each.instance, each.method) == (waker.instance, waker.method)), None
    )
    if told is None or told.busy != moment.is_busy or told.asked_at + milliseconds(RENEW) < tx.now:
        expires_at = tx.now + milliseconds(TURNS)
        _put(tx, replace(waker, busy=moment.is_busy, asked_at=tx.now, expires_at=expires_at))
    state = _State.of(tx, waker.project_id, waker.agent, there)
    untold = state.unknown_to(waker.instance) if moment is HookPhase.START else state.due
    if not untold:
        return InboxHint(None, state.unread)
    wake = _hand_out(tx, replace(state, due=untold), waker)
    wake = _told(tx, wake, WakeResult.WOKEN, None, None)
    return InboxHint(wake.text, wake.unread, wake)


def mention(tx: Tx, project_id: UUID, agent: str) -> str | None:
    """Return text about unread mail to add to an answer, for an agent without a waker, once for new mail.

    None if there is a waker, if all letters are pointed at already, and for callers that only look on.
    """
    if not access.reads_for_agent(tx) or not access.may_read_inbox(tx, agent):
        return None
    wakes.lock_agent(tx, project_id, agent)
    if wakers(tx, project_id, agent):
        return None
    state = _State.of(tx, project_id, agent, [])
    untold = [each for each in state.letters if each.wake_id is None]
    if not untold:
        return None
    beside = Waker(
        project_id=project_id, agent=agent, instance=BESIDE, method=WakeMethod.TURN, client=BESIDE, idle=False
    )
    wake = _hand_out(tx, replace(state, due=untold), beside)
    return _told(tx, wake, WakeResult.WOKEN, None, None).text


def report(
    tx: Tx, wake: Wake, result: WakeResult, *, said: str | None = None, took_ms: int | None = None
) -> Wake:
    """Store the result of a wake, as its waker reports it. The first report counts. Records `agent.woken`.

    Raises `Conflict` for a wake that no waker has taken.
    """
    if wake.taken_at is None:
        raise Conflict("nobody has taken this wake, so it has no outcome")
    return wake if wake.result is not None else _told(tx, wake, result, said, took_ms)


def take_back(tx: Tx, project_id: UUID, agent: str) -> None:
    """Point at the agent's unread letters anew: a limit has ended the turn in which it was told of them."""
    wakes.lock_agent(tx, project_id, agent)
    current = wakes.open_of(tx, project_id, agent)
    if current is not None and current.taken_at is not None:
        _end(tx, current, WakeEnding.LOST)
    wakes.unpoint(tx, project_id, agent)


def probe(tx: Tx, project_id: UUID, agent: str) -> Wake:
    """Test how an agent is woken: send it a message that says so, and have any waker wake it at once.

    Raises `UnknownAgent`.
    """
    agents.require_known(tx, project_id, agent)
    wakes.lock_agent(tx, project_id, agent)
    letter = messages.send(tx, project_id, sender=HUB, to=agent, body=TRIED)
    before = wakes.open_of(tx, project_id, agent)
    if before is not None:
        _end(tx, before, WakeEnding.REPLACED)
    said = wake_text([f"M-{letter.number}"], 1)
    probing = Wake(
        id=new_id(), project_id=project_id, agent=agent, probe=True, text=said, unread=1, asked_at=tx.now
    )
    wakes.insert(tx, probing)
    wakes.point(tx, probing, [])
    return probing


def find(tx: Tx, project_ids: Iterable[UUID], ref: str, *, lock: bool = False) -> Wake:
    """Return the wake with that id; `lock` it to change it. Raises `NotFound`."""
    wake_id = parse_id(ref)
    wake = wakes.find(tx, wake_id) if wake_id else None
    if wake is None or wake.project_id not in project_ids:
        raise NotFound("wake", ref)
    if lock:
        wakes.lock_agent(tx, wake.project_id, wake.agent)
        wake = wakes.find(tx, wake.id) or wake
    return wake


def results(tx: Tx, deliveries: Iterable[Delivery]) -> dict[UUID, WakeResult]:
    """Return the known results of the wakes that pointed at these letters, by the ids of the wakes."""
    pointing = {each.wake_id for each in deliveries if each.wake_id is not None}
    return {wake.id: wake.result for wake in wakes.some(tx, pointing).values() if wake.result is not None}


def wakers(tx: Tx, project_id: UUID, agent: str) -> list[Waker]:
    """Return the present wakers and tellers of the agent; the newest last."""
    return [each for each in wakes.wakers(tx, project_id, agent) if each.is_there(tx.now)]


def forget(tx: Tx) -> None:
    """Drop wakes and wakers that ended long ago."""
    wakes.forget(tx, before=tx.now - milliseconds(KEPT))


@dataclass(frozen=True, slots=True, kw_only=True)
class _State:
    """The state of waking one agent."""

    now: int
    known: Mapping[UUID, Wake]  # those that are open, or pointed at something that is unread
    current: Wake | None  # the one that has not ended
    letters: Sequence[PointedLetters]
    due: Sequence[PointedLetters]  # unread letters not pointed at, or in vain

    @classmethod
    def of(cls, tx: Tx, project_id: UUID, agent: str, there: Sequence[Waker]) -> "_State":
        letters, current = wakes.unread(tx, project_id, agent), wakes.open_of(tx, project_id, agent)
        known = wakes.some(tx, [each.wake_id for each in letters if each.wake_id is not None])
        instances = {waker.instance for waker in there}
        due = [each for each in letters if _is_in_vain(tx.now, known.get(each.wake_id or _NOBODY), instances)]
        return cls(now=tx.now, known=known, current=current, letters=letters, due=due)

    @property
    def unread(self) -> int:
        return sum(each.letters for each in self.letters)

    @property
    def is_quiet(self) -> bool:
        """Tell whether nobody is to be woken now: nothing is new, or the last wake still waits for its answer."""
        return self.quiet_until is not None or not self.due

    @property
    def quiet_until(self) -> int | None:
        """Return the latest time for an answer to the last wake; None if none is awaited."""
        current = self.current
        if current is None or current.taken_at is None or self.ending_of_current() is not WakeEnding.REPLACED:
            return None
        return current.taken_at + milliseconds(LAPSE)

    def ending_of_current(self) -> WakeEnding:
        """Determine how the open wake ends when another is made now."""
        current = self.current
        if current is None or current.taken_at is None:
            return WakeEnding.REPLACED
        if current.id not in {each.wake_id for each in self.letters}:
            return WakeEnding.NEEDLESS
        if current.id in {each.wake_id for each in self.due}:
            return WakeEnding.LOST
        return (
            WakeEnding.IGNORED if current.taken_at + milliseconds(LAPSE) <= self.now else WakeEnding.REPLACED
        )

    def ripe_at(self, gather: timedelta) -> int:
        """Return the time when a wake may point at the letters; a probe waits for no others."""
        if self.current is not None and self.current.taken_at is None:
            return self.now
        return min(each.first_at for each in self.due) + milliseconds(gather)

    def unknown_to(self, instance: str) -> list[PointedLetters]:
        """Return the unread letters that this instance has not been told of."""
        return [each for each in self.letters if not self._has_told(each.wake_id, instance)]

    def _has_told(self, wake_id: UUID | None, instance: str) -> bool:
        wake = self.known.get(wake_id or _NOBODY)
        return wake is not None and wake.instance == instance and wake.result is not WakeResult.CANNOT


_NOBODY = UUID(int=0)  # no wake has this id


def _is_in_vain(now: int, wake: Wake | None, instances: set[str]) -> bool:
    """Tell whether the letters of this wake must be pointed at again; None stands for no wake."""
    if wake is None or wake.taken_at is None or wake.result is WakeResult.CANNOT:
        return True
    is_there, is_old = wake.instance in instances, wake.taken_at + milliseconds(LAPSE) <= now
    return is_old if wake.result is None and is_there else not is_there and (is_old or wake.result is None)


def _first(tx: Tx, there: Sequence[Waker]) -> Waker | None:
    """Choose the waker that brings the next wake."""
    able = [each for each in there if each.can_wake(tx.now)]
    return max(able, key=lambda each: (each.idle, each.since, each.instance, each.method), default=None)


def _wakers(tx: Tx, waker: Waker) -> list[Waker]:
    return wakes.wakers(tx, waker.project_id, waker.agent)


def _put(tx: Tx, waker: Waker) -> None:
    """Store a waker; one that stayed keeps its age and its last refusal."""
    if tx.is_read:
        raise MustWrite
    wakes.lock_agent(tx, waker.project_id, waker.agent)
    same = (
        each for each in _wakers(tx, waker) if (each.instance, each.method) == (waker.instance, waker.method)
    )
    before = next(same, None)
    since = before.since if before is not None and before.is_there(tx.now) else tx.now
    refused_at = before.refused_at if before is not None else None
    wakes.put_waker(tx, replace(waker, since=since, refused_at=refused_at))


def _hand_out(tx: Tx, state: _State, waker: Waker) -> Wake:
    """Return the wake that is due to the waker: one that waits to be taken, or a new one."""
    if tx.is_read:
        raise MustWrite
    current = state.current
    is_waiting = current is not None and current.taken_at is None
    refs = wakes.refs(tx, waker.project_id, waker.agent, SHOWN)
    wake = Wake(
        id=current.id if current is not None and is_waiting else new_id(),
        project_id=waker.project_id,
        agent=waker.agent,
        probe=is_waiting,  # only a probe is made before a waker can take it
        text=wake_text(refs, state.unread),
        unread=state.unread,
        asked_at=current.asked_at if current is not None and is_waiting else tx.now,
        taken_at=tx.now,
        instance=waker.instance,
        client=waker.client,
        method=waker.method,
    )
    wakes.point(tx, wake, [each.wake_id for each in state.due if each.wake_id is not None])
    if is_waiting:
        return wakes.hand_out(tx, wake)
    if current is not None:
        _end(tx, current, state.ending_of_current())
    return wakes.insert(tx, wake)


def _told(tx: Tx, wake: Wake, result: WakeResult, said: str | None, took_ms: int | None) -> Wake:
    """Store the result of a wake; if it failed, another waker may try."""
    told = wakes.tell_of(tx, wake.id, result, said, took_ms) or wake
    if result is WakeResult.CANNOT:
        _refused(tx, wake)
        told = _end(tx, told, WakeEnding.REFUSED)
    else:
        wakes.mark_notified(tx, wake)
    tx.record(
        "agent.woken",
        project_id=wake.project_id,
        actor=wake.agent,
        agent=wake.agent,
        detail={
            "result": result,
            "method": wake.method,
            "client": wake.client,
            "unread": wake.unread,
            "probe": wake.probe,
        },
    )
    return told


def _refused(tx: Tx, wake: Wake) -> None:
    for each in wakes.wakers(tx, wake.project_id, wake.agent):
        if (each.instance, each.method) == (wake.instance, wake.method):
            wakes.put_waker(tx, replace(each, refused_at=tx.now))


def _end(tx: Tx, wake: Wake, ending: WakeEnding) -> Wake:
    """End a wake that has not ended meanwhile."""
    return wakes.end(tx, wake.id, ending) or wake
