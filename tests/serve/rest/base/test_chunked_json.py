"""Large answers on their way."""

import asyncio
from collections.abc import Awaitable, Callable

from starlette.types import Message

from hubbub.serve.mcp.plain_calls import _send
from hubbub.serve.rest.base.chunked_json import SORTED, in_order, one_by_one

PIECES = [b"x"] * 20


def turns_beside(work: Callable[[], Awaitable[object]]) -> int:
    """Count the turns that another task of the event loop gets while `work` runs."""

    async def both() -> int:
        turns = 0

        async def other() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        going = asyncio.create_task(other())
        await work()
        going.cancel()
        return turns

    return asyncio.run(both())


def test_others_have_a_turn_after_each_piece_of_an_answer() -> None:
    """However fast somebody takes a large answer, others have a turn after each piece."""

    async def taken() -> None:
        assert [piece async for piece in one_by_one(PIECES)] == PIECES

    assert turns_beside(taken) >= len(PIECES)


def test_others_have_a_turn_after_each_piece_of_a_tools_reply() -> None:
    """So they have between the pieces of what a tool tells, which go out in order, the last as the last."""
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    assert turns_beside(lambda: _send({}, send, 200, [(b"content-length", b"20")], PIECES)) >= len(PIECES) - 1
    assert sent[0] == {"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"20")]}
    assert [each["body"] for each in sent[1:]] == PIECES
    assert [each.get("more_body", False) for each in sent[1:]] == [True] * (len(PIECES) - 1) + [False]


def test_many_are_sorted_some_at_a_time() -> None:
    """However many there are, they come in order, and no more than some of them are sorted at once."""
    many = [((number * 7919) % 10_007, b"x") for number in range(5 * SORTED + 1)]

    assert list(in_order(many)) == sorted(many)
    assert list(in_order([])) == []
