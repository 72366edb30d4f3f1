"""The same write, sent twice, happens once."""

from collections.abc import Mapping
from datetime import timedelta

import pytest

from hubbub.core import expiry
from hubbub.core.log import idempotency
from hubbub.core.log.idempotency import KEY_LENGTH, Reply, once
from hubbub.core.work import task_search, tasks
from hubbub.model.errors import Conflict, Invalid, UnknownAgent
from hubbub.model.fleet.calls import ToolResult
from hubbub.store.tx import Operation, Tx
from tests.core.conftest import RACERS, World, errors_of, member, on_one_engine


def sending(world: World, to: str = "bob", text: str = "count the lines") -> Operation[Reply]:
    def send(tx: Tx) -> Mapping[str, object]:
        task = tasks.send(tx, world.id, sender="ann", to=to, text=text)
        return {"id": str(task.id), "文": text}

    return send


def sent(world: World) -> int:
    return len(world.do(task_search.search, [world.id], limit=100))


def test_a_repeated_write_gets_the_first_answer(world: World) -> None:
    """A write with the key of an earlier one gets the answer of that one, and nothing happens again."""
    answers = [world.do(once("key", "digest", sending(world))) for _ in range(3)]

    assert answers[0] == answers[1] == answers[2]
    assert answers[0]["文"] == "count the lines"
    assert sent(world) == 1
    assert world.kinds().count("task.sent") == 1


def test_a_secret_is_told_once(world: World) -> None:
    """The field of an answer that holds a secret is not kept; whoever repeats the write is told that it was done."""

    def reply(_tx: Tx) -> Reply:
        return {"token": "hush", "name": "ann"}

    assert world.do(once("key", "digest", reply, told_once="token"))["token"] == "hush"
    with pytest.raises(Conflict, match="token is told only once"):
        world.do(once("key", "digest", reply, told_once="token"))
    assert "hush" not in repr(world.do(lambda tx: tx.all("SELECT * FROM idempotency")))


def test_other_keys_are_other_writes(world: World) -> None:
    """Another key is another write, and so is one without a key."""
    for key in ("one", "two", None, None):
        world.do(once(key, "digest", sending(world)))
    assert sent(world) == 4


def test_a_key_stands_for_one_call(world: World) -> None:
    """The key of another call is refused, and changes nothing."""
    world.do(once("key", "digest", sending(world)))
    with pytest.raises(Conflict, match="'key' was used for another call"):
        world.do(once("key", "another", sending(world)))
    assert sent(world) == 1


def test_keys_belong_to_a_token(world: World) -> None:
    """Two tokens may use the same key, for different calls even."""
    other = world.acting(member(world.project))
    world.do(once("key", "digest", sending(world)))
    other.do(once("key", "another", sending(world)))
    assert sent(world) == 2


def test_a_refusal_is_not_kept(world: World) -> None:
    """A call that was refused may be tried again with its key, and then counts."""
    with pytest.raises(UnknownAgent):
        world.do(once("key", "digest", sending(world, to="nobody")))
    world.do(once("key", "another digest", sending(world)))
    assert sent(world) == 1


def test_racing_repetitions_are_one(world: World) -> None:
    """However often the same write is sent at once, it happens once, and all get the same answer."""
    for turn in range(1, 5):
        outcomes = world.race(*[once(f"key {turn}", "digest", sending(world))] * RACERS)

        assert errors_of(outcomes) == []
        assert all(outcome == outcomes[0] for outcome in outcomes)
        assert sent(world) == turn


def test_racing_calls_under_one_key(world: World) -> None:
    """One of several different calls under one key happens, and the others are refused."""
    outcomes = world.race(*[once("key", f"digest {n}", sending(world)) for n in range(RACERS)])

    assert errors_of(outcomes) == [Conflict] * (RACERS - 1)
    assert sent(world) == 1


@on_one_engine
@pytest.mark.parametrize(
    ("key", "is_good"), [("", False), ("k", True), ("键" * KEY_LENGTH, True), ("k" * 257, False)]
)
def test_a_key_has_a_length(world: World, key: str, is_good: bool) -> None:
    """A key has 1 to 256 characters; any other is refused before anything happens."""
    if is_good:
        world.do(once(key, "digest", sending(world)))
    else:
        with pytest.raises(Invalid, match="has 1 to 256 characters"):
            once(key, "digest", sending(world))
    assert sent(world) == is_good


def test_answers_are_kept_for_a_day(world: World) -> None:
    """An answer is kept for a day at least, and forgotten by the sweep after that; then the key is new."""
    world.do(once("key", "digest", sending(world)))
    world.clock.advance(idempotency.KEEP - timedelta(minutes=1))
    world.do(expiry.forget)
    world.do(once("key", "digest", sending(world)))
    assert sent(world) == 1

    world.clock.advance(timedelta(minutes=2))
    world.do(expiry.forget)
    world.do(once("key", "digest", sending(world)))
    assert sent(world) == 2


DONE = ToolResult({"done": True}, texts=("done",))


@pytest.mark.parametrize(
    ("outcome", "again"),
    [
        (ToolResult({"a": "代码"}), ToolResult({"a": "代码"}, texts=('{"a":"代码"}',))),
        (ToolResult([1]), ToolResult({"result": [1]}, texts=("[1]",))),
        (
            ToolResult({"error": "no"}, is_error=True, texts=("no",)),
            ToolResult({"error": "no"}, is_error=True, texts=("no",)),
        ),
        (
            ToolResult([1], texts=("one",), structured={"result": [1], "truncated": True}),
            ToolResult({"result": [1], "truncated": True}, texts=("one",)),
        ),
    ],
)
def test_an_outcome_is_told_again_as_it_was_read(
    world: World, outcome: ToolResult, again: ToolResult
) -> None:
    """The outcome of a call outside of a transaction is told again as programs and people read it the first time."""
    assert world.do(idempotency.begin, "key", "digest") is None
    with pytest.raises(Conflict, match="not known how it ended"):
        world.do(idempotency.begin, "key", "digest")
    world.do(idempotency.end, "key", outcome)

    known = world.do(idempotency.begin, "key", "digest")
    assert known == again
    assert (known.content, known.shown) == (outcome.content, outcome.shown)


def test_a_refused_attempt_is_told_again_and_a_later_one_begins(world: World) -> None:
    """After a refusal attempts up to its number get it; a later one, or any if they are not counted, begins anew."""
    refusal = ToolResult({"error": "no", "code": "denied"}, is_error=True, texts=("no",))

    def begin(attempt: int | None) -> ToolResult | None:
        return world.do(idempotency.begin, "key", "digest", attempt=attempt)

    assert begin(2) is None
    world.do(idempotency.refuse, "key", refusal, attempt=2)
    assert [begin(attempt) for attempt in (1, 2, None)] == [refusal] * 3
    assert begin(3) is None
    world.do(idempotency.end, "key", DONE)
    assert [begin(attempt) for attempt in (1, 4, None)] == [DONE] * 3

    assert world.do(idempotency.begin, "uncounted", "digest") is None
    world.do(idempotency.refuse, "uncounted", refusal)
    assert world.do(idempotency.begin, "uncounted", "digest") is None
    world.do(idempotency.give_back, "uncounted")
    assert world.do(idempotency.begin, "uncounted", "digest") is None
