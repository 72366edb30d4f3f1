"""A hub that has gone bad sends orders: nothing is done twice, nothing past the gate, and the machine goes on."""

import asyncio
import os
import sys
from dataclasses import replace
from datetime import timedelta
from http import HTTPStatus
from pathlib import Path
from uuid import UUID

import pytest

from hubbub.model.fleet.link_protocol import HubRequest, MessageKind
from hubbub.model.ids import new_id
from hubbub.node.link.incoming_calls import BUSY, CALLED_OFF, CUT_OFF, PAST, STOPPED, UNKEPT, CallLimits
from hubbub.node.link.journal import JournalLimits
from tests.node.link.evil_hub import ADA, QUICK, EvilHub, Talk, evil_hub, machine, mark
from tests.support.waiting import patience, until_soon

pytestmark = pytest.mark.anyio


async def works(talk: Talk) -> None:
    """The machine does what it is asked, whatever was before."""
    assert await talk.outcome(await talk.run("echo fine")) == {
        "stdout": "fine\n",
        "stderr": "",
        "exit_code": 0,
    }


# ---- once ----------------------------------------------------------------------------------------------------------


async def test_an_order_is_done_and_its_outcome_told(tmp_path: Path) -> None:
    """The machine says that it has noted the order, does it, and tells what came of it."""
    async with evil_hub() as hub, machine(tmp_path, hub) as box:
        talk = await hub.linked()
        order = await talk.run(f"{mark()}; echo done")
        await talk.hear(MessageKind.TAKEN, order=order)
        assert (await talk.outcome(order))["stdout"] == "done\n"
        assert box.ran() == 1


async def test_an_order_that_comes_again_is_not_done_again(tmp_path: Path) -> None:
    """Over the same line, over the next one, and to the next process: it is told the outcome that is kept."""
    order = str(new_id())
    async with evil_hub() as hub:
        async with machine(tmp_path, hub) as box:
            talk = await hub.linked()
            for _ in range(2):
                await talk.run(f"{mark()}; echo done", order)
                assert (await talk.outcome(order))["stdout"] == "done\n"
            await talk.cut()
            talk = await hub.linked()
            assert talk.hello["ended"] == [order]
            await talk.hear(MessageKind.ENDED, order=order)  # by itself
            await talk.run(mark(), order)
            await talk.hear(MessageKind.ENDED, order=order)
        async with machine(tmp_path, hub):
            talk = await hub.linked()
            await talk.hear(MessageKind.ENDED, order=order)
            await talk.run(mark(), order)
            assert (await talk.outcome(order))["stdout"] == "done\n"
            assert box.ran() == 1


async def test_an_order_whose_outcome_the_hub_has_is_not_done_again(tmp_path: Path) -> None:
    """Once the hub has said that it is safe it is gone here; who sends the order anew is told that it was here."""
    async with evil_hub() as hub, machine(tmp_path, hub) as box:
        talk = await hub.linked()
        order = await talk.run(mark())
        await talk.outcome(order)
        await talk.say(MessageKind.KEPT, order=order)
        await talk.run(mark(), order)
        assert (await talk.outcome(order))["error"] == PAST
        assert box.ran() == 1


async def test_an_order_that_comes_twice_at_once_is_done_once(tmp_path: Path) -> None:
    """A hundred of the same are one."""
    order = str(new_id())
    async with evil_hub() as hub, machine(tmp_path, hub) as box:
        talk = await hub.linked()
        for _ in range(100):
            await talk.run(mark(), order)
        await talk.outcome(order)
        await works(talk)
        assert box.ran() == 1


async def test_an_order_from_before_the_horizon_is_not_done(tmp_path: Path) -> None:
    """An id that is older than what the machine remembers may have been here: nobody can tell any more."""
    old = new_id()
    bounds = CallLimits(journal=JournalLimits(remembered=2))
    async with evil_hub() as hub, machine(tmp_path, hub, bounds=bounds) as box:
        talk = await hub.linked()
        first = await talk.run(mark())
        await talk.outcome(first)
        for _ in range(3):
            await works(talk)
        for order in (first, str(old)):
            await talk.run(mark(), order)
            assert (await talk.outcome(order))["error"] == PAST
        assert box.ran() == 1


async def test_a_clock_that_is_hours_off_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether the hub's clock or the machine's jumps, and whichever way: orders are done, and each of them once."""
    hours = 5 * 3_600_000
    async with evil_hub() as hub, machine(tmp_path, hub) as box:
        talk = await hub.linked()
        orders = [UUID(int=new_id().int + (ahead << 80)) for ahead in (0, hours, 0, -1, hours, 1)]
        for number, order in enumerate(orders):
            ahead = (1, -1)[number % 2] * hours
            monkeypatch.setattr("time.time", lambda ahead=ahead: 1.8e9 + ahead)
            monkeypatch.setattr("time.time_ns", lambda ahead=ahead: int(1.8e18) + ahead * 10**6)
            for _ in range(2):
                await talk.run(mark(), order)
                await talk.outcome(str(order))
        assert box.ran() == len(set(orders))


# ---- the link ------------------------------------------------------------------------------------------------------


async def test_the_loss_of_the_link_stops_nothing(tmp_path: Path) -> None:
    """An order at work goes on; over the next line the hub hears that, and later its result."""
    os.mkfifo(tmp_path / "go")
    async with evil_hub() as hub, machine(tmp_path, hub, policy=open_to(tmp_path)) as box:
        talk = await hub.linked()
        order = await talk.run(f"cat {tmp_path}/go; {mark()}")
        await talk.hear(MessageKind.TAKEN, order=order)
        await talk.cut()
        talk = await hub.linked()
        assert (talk.hello["running"], talk.hello["ended"]) == ([order], [])
        await asyncio.to_thread((tmp_path / "go").write_text, "gone\n")
        assert (await talk.outcome(order))["stdout"] == "gone\n"
        assert box.ran() == 1


async def test_an_order_on_a_lost_line_is_named_on_the_next_or_never_done(tmp_path: Path) -> None:
    """What the machine does not name when it is back it has not begun and never will: the hub may say so."""
    done = 0
    async with evil_hub() as hub, machine(tmp_path, hub) as box:
        for _ in range(5):
            talk = await hub.linked()
            order = await talk.run(f"{mark()}; echo done")
            await talk.cut()
            talk = await hub.linked()
            if order in (*talk.hello["running"], *talk.hello["ended"]):
                assert (await talk.outcome(order))["stdout"] == "done\n"
                done += 1
            await works(talk)
            assert box.ran() == done
            await talk.cut()


async def test_what_ends_while_there_is_no_link_is_told_later(tmp_path: Path) -> None:
    """A machine that comes back brings the outcome with it."""
    os.mkfifo(tmp_path / "go")
    async with evil_hub() as hub, machine(tmp_path, hub, policy=open_to(tmp_path)) as box:
        talk = await hub.linked()
        order = await talk.run(f"cat {tmp_path}/go; {mark()}")
        await talk.hear(MessageKind.TAKEN, order=order)
        hub.refuses = HTTPStatus.SERVICE_UNAVAILABLE
        await talk.cut()
        await asyncio.to_thread((tmp_path / "go").write_text, "gone\n")
        await until_soon(
            lambda: any(each.get("result") == "ok" for each in box.audited()), "a result", seen=box.audited
        )
        hub.refuses = None
        talk = await hub.linked()
        assert (await talk.outcome(order))["stdout"] == "gone\n"
        assert box.ran() == 1


async def test_an_order_that_nobody_wants_any_more_is_stopped(tmp_path: Path) -> None:
    """The command is killed, the outcome says so, and other orders go on."""
    async with evil_hub() as hub, machine(tmp_path, hub) as box:
        talk = await hub.linked()
        order = await talk.run(f"{mark()}; exec tail -f /dev/null")
        await until_soon(box.ran, "the run")
        await talk.say(MessageKind.CANCEL, order=order)
        assert (await talk.outcome(order))["error"] == CALLED_OFF
        await talk.say(MessageKind.CANCEL, order=order)  # again: nothing
        await works(talk)
        assert [each["result"] for each in box.audited() if "result" in each] == ["cancelled", "ok"]


async def test_a_machine_that_is_stopped_tells_what_it_stopped(tmp_path: Path) -> None:
    """An orderly end is told while the line stands, and kept for the next process."""
    async with evil_hub() as hub:
        async with machine(tmp_path, hub) as box:
            talk = await hub.linked()
            order = await talk.run(f"{mark()}; exec tail -f /dev/null")
            await until_soon(box.ran, "the run")
        assert (await talk.outcome(order))["error"] == STOPPED
        async with machine(tmp_path, hub):
            assert (await hub.met()).hello["ended"] == [order]


# ---- the gate ------------------------------------------------------------------------------------------------------


def open_to(folder: Path) -> str:
    """A policy under which commands may read a folder beside the one to work in."""
    return f'mode = "bypass"\n[files]\nroots = ["{folder}/work", "{folder}"]\n'


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ({"tool": "rm_everything"}, "this machine has no tool rm_everything"),
        ({"tool": "issue_list", "arguments": {"status": 7}}, "status"),
        ({"arguments": {"command": 7}}, "command"),
        ({"arguments": {}}, "command"),
        ({"arguments": {"command": "echo x >> ran", "timeout_ms": 0}}, "timeout_ms"),
        ({"arguments": ["echo x >> ran"]}, "arguments"),
        ({"tool": "agent_start", "arguments": {"agent": "bot"}}, "command"),
        ({"tool": "agent_start", "arguments": {"agent": "bot", "command": ["sh"]}}, "command"),
        ({"tool": "agent_start", "arguments": {"agent": "b\0t", "command": "sh"}}, "agent"),
        ({"tool": "agent_logs", "arguments": {"agent": "bot", "lines": True}}, "lines"),
        ({"arguments": {"command": "echo x >> ran\0"}}, "NUL"),
        ({"who": {**ADA, "project": "other"}}, "another project"),
        ({"who": {**ADA, "name": ""}}, "name"),
        ({"who": {**ADA, "name": "a" * 10_000}}, "name"),
        ({"who": {**ADA, "is_person": "yes"}}, "is_person"),
        ({"who": "ada"}, "who"),
        ({"chain": ["a"] * 1000}, "chain"),
        ({"chain": [["a"]]}, "chain"),
        ({"chain": None}, "chain"),
    ],
)
async def test_an_order_that_is_none_is_refused(
    tmp_path: Path, said: dict[str, object], sentence: str
) -> None:
    """Unknown tools, arguments that no tool takes, another project, no name: one sentence, and nothing is done."""
    order = str(new_id())
    plain = {"who": ADA, "tool": "execute_command", "arguments": {"command": mark()}, "chain": []}
    async with evil_hub() as hub, machine(tmp_path, hub) as box:
        talk = await hub.linked()
        await talk.say(MessageKind.ORDER, order=order, **{**plain, **said})
        refused = await talk.outcome(order)
        assert refused["code"] == "invalid"
        assert sentence in refused["error"]
        assert box.ran() == 0
        await works(talk)


@pytest.mark.parametrize("who", [ADA, {**ADA, "name": "ann", "is_person": True}], ids=["agent", "person"])
@pytest.mark.parametrize(
    "more",
    [{}, {"approved": mark(".env"), "approval_id": "x", "client": {"approval_id": "x"}, "key": "k"}],
    ids=["plain", "with-leave"],
)
async def test_what_the_floor_denies_is_done_for_nobody(
    tmp_path: Path, who: dict[str, object], more: dict[str, object]
) -> None:
    """In no mode, for no person's name, and whatever leave the hub says that there was."""
    order = str(new_id())
    async with evil_hub() as hub, machine(tmp_path, hub) as box:
        talk = await hub.linked()
        said = {"tool": "execute_command", "arguments": {"command": mark(".env")}, "chain": []}
        await talk.say(MessageKind.ORDER, order=order, who=who, **said, **more)
        denied = await talk.outcome(order)
        assert (denied["code"], denied["source"]) == ("denied", "floor")
        assert box.ran(".env") == 0


async def test_leave_that_comes_with_an_order_is_none(tmp_path: Path) -> None:
    """A call that the policy asks about is asked of people, whatever the order says about that."""
    order = str(new_id())
    async with evil_hub() as hub, machine(tmp_path, hub, policy="") as box:
        talk = await hub.linked()
        command = mark()
        leave = {"approved": command, "approval_id": "x", "client": {"approval_id": "x"}, "is_attended": True}
        await talk.say(
            MessageKind.ORDER,
            order=order,
            who=ADA,
            tool="execute_command",
            arguments={"command": command},
            **leave,
        )
        question = await talk.need(HubRequest.ASK)
        await talk.rule(question, "denied")
        assert (await talk.outcome(order))["code"] == "denied"
        assert box.ran() == 0


# ---- too much ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("orders_at_once", [500, pytest.param(10_000, marks=pytest.mark.system)])
async def test_a_flood_of_orders_is_refused(tmp_path: Path, orders_at_once: int) -> None:
    """However many come at once, only as many are taken as may be in hand; the others are not even noted."""
    os.mkfifo(tmp_path / "go")
    bounds = CallLimits(at_once=2, held=20)
    pace = replace(QUICK, pong=timedelta(seconds=patience()))  # which the hub says behind all orders
    async with (
        evil_hub() as hub,
        machine(tmp_path, hub, policy=open_to(tmp_path), bounds=bounds, pace=pace) as box,
    ):
        talk = await hub.linked()

        async def flood() -> list[str]:
            return [await talk.run(f"{mark()}; cat {tmp_path}/go") for _ in range(orders_at_once)]

        flooding = asyncio.create_task(flood())
        refused = [await talk.hear(MessageKind.ENDED) for _ in range(orders_at_once - 20)]
        orders = await flooding
        assert {each["outcome"]["value"]["error"] for each in refused} == {BUSY}
        await talk.cut()
        talk = await hub.linked()
        assert len(talk.hello["running"]) == 20
        assert box.ran() <= 2
        for each in talk.hello["running"]:
            await talk.say(MessageKind.CANCEL, order=each)
        for each in talk.hello["running"]:
            await talk.outcome(each)
        assert set(orders) == {each["order"] for each in refused} | set(talk.hello["running"])
        await works(talk)


async def test_a_flood_of_text_is_refused(tmp_path: Path) -> None:
    """The total content of orders is bounded too, before anything of it is noted."""
    async with evil_hub() as hub, machine(tmp_path, hub, bounds=CallLimits(characters=1000)) as box:
        talk = await hub.linked()
        order = await talk.run(f"{mark()} # {'x' * 1000}")
        assert (await talk.outcome(order))["error"] == BUSY
        assert box.ran() == 0
        await works(talk)


async def test_outcomes_that_the_hub_never_takes_make_way(tmp_path: Path) -> None:
    """The oldest are dropped; that their orders have ended is told all the same, and none of them is done again."""
    bounds = CallLimits(journal=JournalLimits(kept=2))
    async with evil_hub() as hub, machine(tmp_path, hub, bounds=bounds) as box:
        talk = await hub.linked()
        orders = []
        for number in range(4):
            orders.append(await talk.run(f"{mark()}; echo {number}"))
            await talk.outcome(orders[-1])
        await talk.cut()
        talk = await hub.linked()
        assert talk.hello["ended"] == orders
        told = [await talk.outcome(each) for each in orders]
        assert [each.get("error", each.get("stdout")) for each in told] == [UNKEPT, UNKEPT, "2\n", "3\n"]
        await talk.run(mark(), orders[0])
        assert (await talk.outcome(orders[0]))["error"] == UNKEPT
        assert box.ran() == 4


async def test_thanks_for_what_is_under_way_are_nothing(tmp_path: Path) -> None:
    """A hub that says to have the outcome of what still runs does not make the machine forget it."""
    os.mkfifo(tmp_path / "go")
    async with evil_hub() as hub, machine(tmp_path, hub, policy=open_to(tmp_path)) as box:
        talk = await hub.linked()
        order = await talk.run(f"{mark()}; cat {tmp_path}/go")
        await talk.hear(MessageKind.TAKEN, order=order)
        await talk.say(MessageKind.KEPT, order=order)
        await talk.say(MessageKind.KEPT, order=str(new_id()))
        await asyncio.to_thread((tmp_path / "go").write_text, "gone\n")
        assert (await talk.outcome(order))["stdout"] == "gone\n"
        assert box.ran() == 1


# ---- the machine ---------------------------------------------------------------------------------------------------


@pytest.mark.system
async def test_what_a_killed_machine_was_at_is_not_done_again(tmp_path: Path) -> None:
    """Begun, killed, started anew: the hub is told that nobody knows whether it was done, and nothing tries again."""
    async with evil_hub() as hub:
        child = await started(tmp_path, hub)
        try:
            talk = await hub.linked()
            order = await talk.run(f"{mark()}; exec tail -f /dev/null")
            await until_soon((tmp_path / "work" / "ran").exists, "the run")
        finally:
            child.kill()
            await child.wait()
        async with machine(tmp_path, hub) as box:
            talk = await hub.linked()
            assert talk.hello["ended"] == [order]
            assert (await talk.outcome(order))["error"] == CUT_OFF
            await talk.run(mark(), order)
            assert (await talk.outcome(order))["error"] == CUT_OFF
            assert box.ran() == 1
            await works(talk)


async def started(folder: Path, hub: EvilHub) -> asyncio.subprocess.Process:
    """The machine of the folder as a process of its own."""
    script = f"""
import asyncio
from pathlib import Path
from tests.node.link.evil_hub import EvilHub, machine
async def main():
    hub = EvilHub()
    hub.url = {hub.url!r}
    async with machine(Path({str(folder)!r}), hub) as box:
        await box.serving
asyncio.run(main())
"""
    return await asyncio.create_subprocess_exec(sys.executable, "-c", script)
