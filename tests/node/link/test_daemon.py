"""A machine that has joined, and its link as a whole: who it says it is, when it comes back, and how it ends."""

import asyncio
import os
from dataclasses import replace
from pathlib import Path

import pytest

from hubbub.model.fleet.link_protocol import CloseReason, HubRequest, MessageKind, hello_of, load_of
from hubbub.node.link.journal import FILE, Journal, JournalFailed
from hubbub.node.link.websocket import LinkRefused
from hubbub.processes.log import structlog
from tests.node.link.evil_hub import MOMENT, QUICK, evil_hub, machine, mark

pytestmark = pytest.mark.anyio

SAYS_TWO_LINES = """
mode = "bypass"
[runtime]
kind = "command"
command = ["/bin/sh", "-c", "echo one; echo two"]
"""


async def test_a_machine_says_who_it_is(tmp_path: Path) -> None:
    """Its name and id, its labels, the agent that can be asked on it, and what it holds; the same over each line."""
    async with (
        evil_hub() as hub,
        machine(tmp_path, hub, policy=SAYS_TWO_LINES, labels=["gpu", "eu"]) as box,
    ):
        talk = await hub.linked()
        hello = hello_of(talk.hello)
        assert hello.about == box.nodes[0].about
        assert (hello.about.name, hello.labels) == ("box", ("gpu", "eu"))
        assert hello.runtime == box.nodes[0].runtime
        assert (hello.running, hello.ended, hello.fares) == ((), (), ())
        await talk.cut()
        assert hello_of((await hub.linked()).hello) == hello


async def test_a_machine_tells_how_busy_it_is(tmp_path: Path) -> None:
    """The machine reports as soon as a line stands, and again and again; over the next line too."""
    pace = replace(QUICK, load=MOMENT)
    async with evil_hub() as hub, machine(tmp_path, hub, pace=pace):
        talk = await hub.linked()
        for _ in range(2):
            load = load_of(await talk.hear(MessageKind.LOAD))
            assert (load.load1 >= 0, load.cpus) == (True, os.cpu_count())
        await talk.cut()
        load_of(await (await hub.linked()).hear(MessageKind.LOAD))


async def test_a_machine_tells_that_its_policy_does_not_load(tmp_path: Path) -> None:
    """It says why when it links, and again and again, until somebody has mended the file."""
    pace = replace(QUICK, load=MOMENT)
    async with evil_hub() as hub, machine(tmp_path, hub, pace=pace, policy="mode = 'lax'\n"):
        talk = await hub.linked()
        told = hello_of(talk.hello).about.policy_fault
        assert told is not None
        assert "mode must be one of default, strict, bypass" in told
        assert (await talk.hear(MessageKind.LOAD))["policy_fault"] == told
        (tmp_path / "config" / "node.toml").write_text("mode = 'strict'\n")
        while (await talk.hear(MessageKind.LOAD))["policy_fault"] is not None:
            pass


async def test_another_process_is_another_instance(tmp_path: Path) -> None:
    """So that a hub can tell a machine that came back from one that took its name."""
    instances = []
    async with evil_hub() as hub:
        for _ in range(2):
            async with machine(tmp_path, hub):
                instances.append((await hub.linked()).hello["instance"])
    assert len(set(instances)) == 2


async def test_an_order_tells_how_it_goes_on(tmp_path: Path) -> None:
    """An agent's output while it works goes to the caller line by line, and all of it in the end."""
    async with evil_hub() as hub, machine(tmp_path, hub, policy=SAYS_TWO_LINES):
        talk = await hub.linked()
        order = await talk.order("ask_agent_stream", hostname="box", prompt="count")
        told = (await talk.hear(MessageKind.PROGRESS, order=order))["text"]
        outcome = await talk.outcome(order)
        told += "".join(each["text"] for each in talk.heard(MessageKind.PROGRESS))
        assert told.splitlines() == outcome["text"].splitlines() == ["one", "two"]


async def test_what_goes_on_after_its_order_names_that_order(tmp_path: Path) -> None:
    """A question of the background is put for the order that it came from."""
    async with evil_hub() as hub, machine(tmp_path, hub, policy=SAYS_TWO_LINES):
        talk = await hub.linked()
        order = await talk.order("delegate_task", prompt="count")
        begin = await talk.need(HubRequest.BEGIN_TASK)
        assert (begin["order"], begin["title"]) == (order, "count")
        await talk.grant(begin, task_id="7")
        end = await talk.need(HubRequest.END_TASK)
        assert (end["task_id"], end["failed"], end["text"].split()) == ("7", False, ["one", "two"])
        await talk.grant(end)
        assert (await talk.outcome(order))["task_id"] == "7"


@pytest.mark.parametrize("why", [CloseReason.TAKEN, CloseReason.REVOKED])
@pytest.mark.parametrize("is_welcome", [True, False])
async def test_a_machine_that_is_not_wanted_goes(tmp_path: Path, why: CloseReason, is_welcome: bool) -> None:
    """Where another has its name, or its key is none any more, it says so, and does not come back."""
    sentences = {
        CloseReason.TAKEN: "another machine is linked to the hub under this name",
        CloseReason.REVOKED: "this machine's key is not valid any more",
    }
    async with evil_hub() as hub, machine(tmp_path, hub) as box:
        talk = await (hub.linked() if is_welcome else hub.met())
        await talk.say(MessageKind.BYE, why=why)
        with pytest.raises(LinkRefused, match=sentences[why]):
            await box.serving
    assert len(hub.keys) == 1


@pytest.mark.parametrize("why", [CloseReason.CLOSING, CloseReason.BROKEN, "boredom", None, ["name_taken"]])
async def test_a_machine_that_may_come_back_does(tmp_path: Path, why: object) -> None:
    """A hub that stops, or says nothing sensible, is found again."""
    async with evil_hub() as hub, machine(tmp_path, hub) as box:
        talk = await hub.linked()
        await talk.say(MessageKind.BYE, why=why)
        await talk.ends()
        talk = await hub.linked()
        await talk.outcome(await talk.run(mark()))
        assert box.ran() == 1


@pytest.mark.parametrize(
    ("kind", "said", "sentence"),
    [
        (MessageKind.BYE, {"why": "version", "versions": [8, 9]}, "the hub speaks version 8, 9 of the link, and this"),
        (MessageKind.BYE, {"why": "version", "versions": [0]}, "and this machine 1, 2, 3, 4, 5: upgrade the hub"),
        (MessageKind.WELCOME, {"version": 9}, "upgrade the machine"),
        (MessageKind.WELCOME, {"version": "new"}, "the hub does not speak the protocol of links"),
    ],
)  # fmt: skip
async def test_a_hub_of_another_version_is_tried_again(
    tmp_path: Path, kind: MessageKind, said: dict[str, object], sentence: str
) -> None:
    """A machine names the versions that it speaks; if the hub speaks none, it says what to upgrade, and waits."""
    async with evil_hub() as hub, machine(tmp_path, hub):
        with structlog.testing.capture_logs() as told:
            talk = await hub.met()
            assert talk.hello["versions"] == [1, 2, 3, 4, 5]
            await talk.say(kind, **said)
            await hub.linked()
    assert any(sentence in str(each.get("reason")) for each in told), told


async def test_a_folder_is_one_machine(tmp_path: Path) -> None:
    """A second process in it does not begin: both would do everything."""
    async with evil_hub() as hub, machine(tmp_path, hub):
        await hub.linked()
        async with machine(tmp_path, hub) as second:
            with pytest.raises(JournalFailed, match="in use"):
                await second.serving


async def test_what_cannot_be_noted_is_not_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine whose disk takes nothing says so to each order."""

    def full(*_: object) -> None:
        raise JournalFailed("the journal of orders cannot be used: the disk is full")

    async with evil_hub() as hub, machine(tmp_path, hub) as box:
        talk = await hub.linked()
        monkeypatch.setattr(Journal, "begin", full)
        refused = await talk.outcome(await talk.run(mark()))
        assert refused["error"].endswith("the disk is full; nothing was done")
        assert box.ran() == 0


async def test_what_cannot_be_kept_is_told_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the disk fills up while an order is at work, its caller hears what came of it while the line stands."""

    def full(*_: object) -> None:
        raise JournalFailed("the disk is full")

    async with evil_hub() as hub, machine(tmp_path, hub):
        talk = await hub.linked()
        monkeypatch.setattr(Journal, "end", full)
        assert (await talk.outcome(await talk.run("echo fine")))["stdout"] == "fine\n"


async def test_the_journal_is_for_its_owner_alone(tmp_path: Path) -> None:
    """Machines' questions and answers are nobody else's to read."""
    async with evil_hub() as hub, machine(tmp_path, hub) as box:
        talk = await hub.linked()
        await talk.outcome(await talk.run("echo fine"))
        files = await asyncio.to_thread(lambda: list(box.data.glob(f"{FILE}*")))
        assert {each.stat().st_mode & 0o777 for each in files} == {0o600}
