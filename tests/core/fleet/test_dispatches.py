"""Orders on their way to machines: kept before they leave, never lost, never done twice."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID

import pytest

from hubbub.core import expiry
from hubbub.core.fleet import dispatches, enrolment, nodes
from hubbub.model.errors import Conflict, Forbidden, Invalid, ProjectDenied
from hubbub.model.fleet.calls import NodeCall, NodeInfo, Principal, RefusalCode, ToolResult, refused
from hubbub.model.fleet.dispatches import ENDED, STEPS, Dispatch
from hubbub.model.fleet.dispatches import DispatchStatus as S
from hubbub.model.fleet.dispatches import DispatchStep as Step
from hubbub.model.fleet.nodes import Machine
from hubbub.model.ids import new_id
from hubbub.model.people.rights import SYSTEM, Role
from hubbub.model.records import Project
from hubbub.store.tx import Tx
from tests.core.conftest import RACERS, World, errors_of, member, on_one_engine, person

DONE = ToolResult(
    value={"stdout": "fine\n", "exit_code": 0}, texts=("fine", "a \ud800 \0 b"), structured={"n": 1}
)
SECRET = "s3cret-word"
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
TOKEN = str(new_id())


@pytest.fixture
def machine(world: World) -> Machine:
    """A machine that has joined the project."""
    people = world.acting(person(world, "eve", Role.MEMBER))
    about = NodeInfo(name="web1", machine_id="m", platform="Linux", version="1", sandbox="none")
    return people.do(enrolment.join, world.project, about).machine


def order(command: str = f"echo {SECRET}", **more: Any) -> NodeCall:
    who = Principal(project="lab", name="ann", token_id=TOKEN)
    return NodeCall(**{"who": who, "tool": "connect", "arguments": {"command": command}, **more})


def begin(
    world: World, machine: Machine, asked: NodeCall | None = None, *, sent: bool = True
) -> tuple[Dispatch, bool]:
    return world.do(dispatches.begin, world.project, machine, asked or order(), sent=sent)


def found(world: World, dispatch: Dispatch) -> Dispatch:
    kept = world.do(dispatches.find, dispatch.id)
    assert kept is not None
    return kept


def do(world: World, step: Step, dispatch: Dispatch) -> bool:
    """Tell whether the step was taken."""
    match step:
        case Step.SEND:
            return world.do(dispatches.send, dispatch.id) is not None
        case Step.TAKE:
            return bool(world.do(dispatches.take, [dispatch.id]))
        case Step.END:
            return world.do(dispatches.end, dispatch.id, DONE) is not None
        case Step.WITHDRAW:
            return world.do(dispatches.withdraw, dispatch.id)
        case Step.LOSE:
            return world.do(dispatches.lose, dispatch.id)


WAYS: dict[S, list[Step]] = {
    S.QUEUED: [],
    S.SENT: [Step.SEND],
    S.TAKEN: [Step.SEND, Step.TAKE],
    S.ENDED: [Step.SEND, Step.TAKE, Step.END],
    S.WITHDRAWN: [Step.WITHDRAW],
    S.LOST: [Step.SEND, Step.LOSE],
}


def in_status(world: World, machine: Machine, status: S, **more: Any) -> Dispatch:
    dispatch, _is_new = begin(world, machine, order(**more), sent=False)
    assert all(do(world, step, dispatch) for step in WAYS[status])
    return found(world, dispatch)


def told(world: World) -> list[str]:
    return [each.kind.removeprefix("dispatch.") for each in world.log() if each.kind.startswith("dispatch.")]


def test_an_order_is_kept_as_it_was_given(world: World, machine: Machine) -> None:
    """An order found again names its giver, its machine, its way, and the task of the machine."""
    deep = {"command": "x", "deep": [{"a": None}, "\ud800\0é"]}
    asked = order(chain=("ann", "web2"), arguments=deep, patience=timedelta(milliseconds=1500))
    dispatch, is_new = begin(world, machine, asked)
    kept = found(world, dispatch)
    assert is_new
    assert (kept.machine, kept.node, kept.status) == (machine.id, "web1", S.SENT)
    assert kept.order == asked
    assert kept == dispatch


@on_one_engine
@pytest.mark.parametrize("status", list(S))
def test_steps_are_those_of_the_table(world: World, machine: Machine, status: S) -> None:
    """An order changes state only as the table says; anything else changes nothing."""
    for step, (allowed_from, to) in STEPS.items():
        dispatch = in_status(world, machine, status)
        taken = do(world, step, dispatch)
        assert taken == (status in allowed_from), step
        assert found(world, dispatch).status is (to if taken else status), step
        assert (found(world, dispatch).ended_at is not None) == (found(world, dispatch).status in ENDED)


def test_the_life_of_an_order_is_told(world: World, machine: Machine) -> None:
    """The log says that it was queued, sent and ended, for whom, where and how long it took, and no word of it."""
    dispatch, _is_new = begin(world, machine, sent=False)
    do(world, Step.SEND, dispatch)
    do(world, Step.TAKE, dispatch)
    world.clock.advance(timedelta(seconds=3))
    do(world, Step.END, dispatch)
    assert told(world) == ["queued", "sent", "ended"]
    lines = [each for each in world.log() if each.kind.startswith("dispatch.")]
    assert [(each.actor, each.agent) for each in lines] == [
        ("ann", "ann"),
        ("hub", "ann"),
        ("node:web1", "ann"),
    ]
    end = lines[-1].detail
    assert (end["dispatch_id"], end["node"], end["tool"]) == (str(dispatch.id), "web1", "connect")
    assert (end["status"], end["code"]) == ("ended", None)
    assert 3_000 <= int(str(end["duration_ms"])) < 60_000
    assert all(word not in str(each) for each in lines for word in (SECRET, "fine"))


def test_what_has_ended_keeps_no_arguments(world: World, machine: Machine) -> None:
    """Once an order has ended, however that was, what it said is not kept; what came of it is, to the letter."""
    ended = in_status(world, machine, S.ENDED)
    assert ended.outcome == DONE
    for status in ENDED:
        assert in_status(world, machine, status).order.arguments == {}
    world.do(expiry.forget)
    kept = world.do(lambda tx: tx.all("SELECT arguments FROM dispatches"))
    assert {row["arguments"] for row in kept} == {"{}"}


def test_an_order_ends_once(world: World, machine: Machine) -> None:
    """The first of two outcomes is kept, and the second changes nothing."""
    dispatch = in_status(world, machine, S.ENDED)
    assert world.do(dispatches.end, dispatch.id, refused(RefusalCode.DENIED, "no")) is None
    assert found(world, dispatch).outcome == DONE
    assert world.do(dispatches.end, new_id(), DONE) is None
    assert told(world).count("ended") == 1


def test_a_lost_order_may_turn_up(world: World, machine: Machine) -> None:
    """A machine that comes back with the outcome of what counted as lost is believed."""
    lost = in_status(world, machine, S.LOST)
    assert (lost.code, lost.outcome) == (RefusalCode.FAILED, None)
    ended = world.do(dispatches.end, lost.id, DONE)
    assert ended is not None
    assert (ended.status, ended.code, ended.outcome) == (S.ENDED, None, DONE)


@on_one_engine
@pytest.mark.parametrize(
    ("outcome", "code"),
    [
        (DONE, None),
        (refused(RefusalCode.DENIED, "no"), RefusalCode.DENIED),
        (ToolResult(value={"error": "x", "code": SECRET}, is_error=True), RefusalCode.FAILED),
        (ToolResult(value={"error": "x", "code": [1]}, is_error=True), RefusalCode.FAILED),
        (ToolResult(value=[1], is_error=True), RefusalCode.FAILED),
        (ToolResult(value={"code": "denied"}), None),
    ],
)
def test_the_code_of_an_outcome_is_one_of_ours(
    world: World, machine: Machine, outcome: ToolResult, code: RefusalCode | None
) -> None:
    """A machine's reason for doing nothing goes into the log only if it is a word of the contract."""
    dispatch, _is_new = begin(world, machine)
    ended = world.do(dispatches.end, dispatch.id, outcome)
    assert ended is not None
    assert (ended.code, ended.outcome) == (code, outcome)
    assert world.log()[-1].detail["code"] == code


def test_the_same_call_with_the_same_key_is_one_order(world: World, machine: Machine) -> None:
    """A repeated call with its key gets the order of the first, and later its outcome."""
    first, is_new = begin(world, machine, order(key="k"))
    again, is_new_again = begin(world, machine, order(key="k"), sent=False)
    assert (again.id, again.status, is_new, is_new_again) == (first.id, S.SENT, True, False)
    do(world, Step.END, first)
    assert begin(world, machine, order(key="k"))[0].outcome == DONE
    assert told(world) == ["sent", "ended"]
    other = replace(order(key="k"), who=replace(order().who, token_id=str(new_id())))
    assert begin(world, machine, other)[1]
    assert begin(world, machine)[0].id != begin(world, machine)[0].id


def test_a_key_is_for_one_call(world: World, machine: Machine) -> None:
    """The same key of the same token for anything else is a conflict, also when the first has ended."""
    elsewhere = replace(machine, id=new_id(), name="web2")
    first, _is_new = begin(world, machine, order(key="k"))
    for _ in range(2):
        for asked, where in (
            (order("ls", key="k"), machine),
            (order(key="k", tool="ask_agent"), machine),
            (order(key="k"), elsewhere),
        ):
            with pytest.raises(Conflict, match="was used for another call"):
                begin(world, where, asked)
        do(world, Step.END, first)
    for wrong in ("", "k" * 257):
        with pytest.raises(Invalid):
            begin(world, machine, order(key=wrong))


@pytest.mark.parametrize(
    "code",
    [
        RefusalCode.DENIED,
        RefusalCode.NEEDS_APPROVAL,
        RefusalCode.INVALID,
        RefusalCode.NOT_FOUND,
        RefusalCode.OFFLINE,
    ],
)
def test_where_nothing_was_done_the_key_is_free(world: World, machine: Machine, code: RefusalCode) -> None:
    """A call that was refused may be made again with its key, and so may one that never left the hub."""
    first, _is_new = begin(world, machine, order(key="k"))
    world.do(dispatches.end, first.id, refused(code, "not done"))
    second, is_new = begin(world, machine, order(key="k"), sent=False)
    assert is_new
    assert world.do(dispatches.withdraw, second.id)
    assert begin(world, machine, order(key="k"))[1]


@pytest.mark.parametrize("is_withdrawn", [True, False])
def test_up_to_the_refused_attempt_it_is_one_order(
    world: World, machine: Machine, *, is_withdrawn: bool
) -> None:
    """Attempts up to the one that was refused get the same refusal for a day; a later one is another order."""

    def attempt(number: int | None) -> tuple[Dispatch, bool]:
        return begin(world, machine, order(key="k", attempt=number), sent=False)

    def refuse(dispatch: Dispatch) -> None:
        if is_withdrawn:
            assert world.do(dispatches.withdraw, dispatch.id)
        else:
            assert world.do(dispatches.send, dispatch.id)
            assert world.do(dispatches.end, dispatch.id, refused(RefusalCode.DENIED, "no"))

    first, _is_new = attempt(1)
    assert attempt(3) == (first, False)
    refuse(first)
    told = found(world, first)
    for number in (1, 2, 3, None):
        assert attempt(number) == (told, False)
    assert not world.do(dispatches.send, first.id)

    later, is_new = attempt(4)
    assert (is_new, later.id == first.id) == (True, False)
    assert attempt(2)[0].id == later.id
    refuse(later)
    assert attempt(4) == (found(world, later), False)

    world.clock.advance(DAY + HOUR)
    world.do(expiry.forget)
    assert attempt(1)[1]


def test_later_attempts_race(world: World, machine: Machine) -> None:
    """Of later attempts that come at once after a refusal, one is a new order, and the others are the same."""
    first, _is_new = begin(world, machine, order(key="k", attempt=1), sent=False)
    assert world.do(dispatches.withdraw, first.id)

    def racer(number: int, tx: Tx) -> tuple[Dispatch, bool]:
        return dispatches.begin(tx, world.project, machine, order(key="k", attempt=number), sent=True)

    outcomes = world.race(*(partial(racer, number) for number in range(2, 2 + RACERS)))
    assert errors_of(outcomes) == []
    begun = [each for each in outcomes if isinstance(each, tuple)]
    assert sorted(is_new for _dispatch, is_new in begun) == [False] * (RACERS - 1) + [True]
    (order_id,) = {dispatch.id for dispatch, _is_new in begun}
    assert found(world, begun[0][0]).id == order_id
    assert found(world, begun[0][0]).attempt == 1 + RACERS


@pytest.mark.parametrize("code", [RefusalCode.TIMEOUT, RefusalCode.FAILED, RefusalCode.TOO_LARGE])
def test_what_may_have_been_done_is_not_done_again(world: World, machine: Machine, code: RefusalCode) -> None:
    """A call that failed half-way, or whose fate nobody knows, is not made anew by its key."""
    first, _is_new = begin(world, machine, order("a", key="a"))
    world.do(dispatches.end, first.id, refused(code, "half done"))
    lost, _is_new = begin(world, machine, order("b", key="b"))
    world.do(dispatches.lose, lost.id)
    assert begin(world, machine, order("a", key="a"))[0].code is code
    assert begin(world, machine, order("b", key="b"))[0].status is S.LOST


def test_the_same_key_races(world: World, machine: Machine) -> None:
    """However often a call is made at once with one key, it is one order."""

    def racer(tx: Tx) -> tuple[Dispatch, bool]:
        return dispatches.begin(tx, world.project, machine, order(key="k"), sent=True)

    outcomes = world.race(*[racer] * RACERS)
    assert errors_of(outcomes) == []
    begun = [each for each in outcomes if isinstance(each, tuple)]
    assert len({dispatch.id for dispatch, _is_new in begun}) == 1
    assert sorted(is_new for _dispatch, is_new in begun) == [False] * (RACERS - 1) + [True]
    assert told(world) == ["sent"]


RIVALS: dict[Step, Callable[[UUID, Tx], object]] = {
    Step.END: lambda dispatch_id, tx: dispatches.end(tx, dispatch_id, DONE),
    Step.LOSE: lambda dispatch_id, tx: dispatches.lose(tx, dispatch_id),
    Step.SEND: lambda dispatch_id, tx: dispatches.send(tx, dispatch_id),
    Step.WITHDRAW: lambda dispatch_id, tx: dispatches.withdraw(tx, dispatch_id),
}


@pytest.mark.parametrize("rivals", [(Step.END, Step.LOSE), (Step.WITHDRAW, Step.SEND), (Step.END, Step.END)])
def test_steps_race(world: World, machine: Machine, rivals: tuple[Step, Step]) -> None:
    """A machine's word and the hub's giving up never both hold, and a withdrawn order never leaves."""
    status = S.QUEUED if Step.WITHDRAW in rivals else S.TAKEN
    for _ in range(4):
        dispatch = in_status(world, machine, status)
        outcomes = world.race(*[partial(RIVALS[each], dispatch.id) for each in rivals * (RACERS // 2)])
        assert errors_of(outcomes) == []
        kept = found(world, dispatch)
        if status is S.QUEUED:
            assert kept.status is (S.WITHDRAWN if True in outcomes else S.SENT)
        else:
            assert kept.outcome == DONE
            assert sum(isinstance(each, Dispatch) for each in outcomes) == 1


def test_a_machine_is_asked_for_what_it_has_not_ended(world: World, machine: Machine) -> None:
    """The open orders of a machine are those that it has not ended, oldest first, and nothing of another's."""
    elsewhere = replace(machine, id=new_id(), name="web2")
    begin(world, elsewhere)
    ids = [in_status(world, machine, status).id for status in (S.QUEUED, S.ENDED, S.TAKEN, S.LOST, S.SENT)]
    assert [each.id for each in world.do(dispatches.open_of, machine.id)] == [ids[0], ids[2], ids[4]]


def test_takes_are_noted_together(world: World, machine: Machine) -> None:
    """Of many orders that machines have noted, only those are told that had just been sent."""
    sent = [begin(world, machine)[0].id for _ in range(3)]
    queued = begin(world, machine, sent=False)[0].id
    assert world.do(dispatches.take, [*sent, queued, new_id()]) == frozenset(sent)
    assert world.do(dispatches.take, sent) == frozenset()


@pytest.mark.parametrize(("status", "then"), [(S.QUEUED, S.WITHDRAWN), (S.SENT, S.LOST)])
def test_nothing_leaves_when_nobody_waits_any_more(
    world: World, machine: Machine, status: S, then: S
) -> None:
    """An order that its machine has not noted in two minutes is not sent, however soon the machine is back."""
    dispatch = in_status(world, machine, status)
    world.clock.advance(dispatches.LATEST - timedelta(seconds=30))
    assert world.do(dispatches.send, dispatch.id) is not None
    late = in_status(world, machine, status)
    world.clock.advance(dispatches.LATEST)
    assert world.do(dispatches.send, late.id) is None
    assert found(world, late).status is then


def test_what_is_over_is_forgotten(world: World, machine: Machine) -> None:
    """Outcomes that nobody can come for go after an hour, the others and all else after a day."""
    keyed, bare = in_status(world, machine, S.ENDED, key="k"), in_status(world, machine, S.ENDED)
    world.clock.advance(HOUR + timedelta(seconds=1))
    world.do(expiry.forget)
    assert (found(world, keyed).outcome, found(world, bare).outcome) == (DONE, None)
    assert begin(world, machine, order(key="k"))[0].outcome == DONE
    world.clock.advance(DAY)
    world.do(expiry.forget)
    assert [world.do(dispatches.find, each.id) for each in (keyed, bare)] == [None, None]
    assert begin(world, machine, order(key="k"))[1]


def test_what_was_left_behind_ends(world: World, machine: Machine) -> None:
    """An order that never left a hub is withdrawn in the end, and one without an answer is lost after a day."""
    queued, sent, taken = (in_status(world, machine, status) for status in (S.QUEUED, S.SENT, S.TAKEN))
    world.clock.advance(HOUR)
    world.do(expiry.forget)
    assert [found(world, each).status for each in (queued, sent, taken)] == [S.WITHDRAWN, S.SENT, S.TAKEN]
    world.clock.advance(DAY)
    world.do(expiry.forget)
    assert [found(world, each).status for each in (sent, taken)] == [S.LOST, S.LOST]
    assert found(world, sent).order.arguments == {}


def test_a_removed_machine_leaves_nothing_open(world: World, machine: Machine) -> None:
    """Removing a machine withdraws its orders that never left and loses the others; outcomes stay."""
    statuses = (S.QUEUED, S.SENT, S.TAKEN, S.ENDED)
    begun = [in_status(world, machine, status, key=str(status)) for status in statuses]
    people = world.acting(person(world, "adam", Role.MEMBER))
    people.do(nodes.remove, world.project, "web1")
    assert [found(world, each).status for each in begun] == [S.WITHDRAWN, S.LOST, S.LOST, S.ENDED]
    assert found(world, begun[-1]).outcome == DONE
    assert told(world).count("ended") == 4


def test_people_see_what_a_machine_was_ordered(world: World, machine: Machine) -> None:
    """People of the project see it, newest first; agents' tokens, whatever their role, and strangers do not."""
    ids = [begin(world, machine)[0].id for _ in range(3)]

    def look(home: World, project: Project | None = None) -> list[UUID]:
        found = home.do(dispatches.of_machine, project or world.project, machine, 2)
        return [each.id for each in found]

    assert look(world.acting(person(world, "adam", Role.VIEWER))) == [ids[2], ids[1]]
    for actor, refusal in (
        (member(world.project, Role.OWNER), Forbidden),
        (member(world.project, Role.NODE, "node:web1"), Forbidden),
        (SYSTEM, Forbidden),
        (person(world, "stranger"), ProjectDenied),
    ):
        with pytest.raises(refusal):
            look(world.acting(actor))
