"""Wherever an order is on its way when a hub, a machine or both are killed: it is done once, or it is said that not.

On the way to its machine, before a person who is asked, at work, and done while nobody could be told. What came of it
is there for who makes the same call again, with the same key. What breaks while a command runs is in `test_faults`.
"""

import errno
import os
import signal
from concurrent.futures import Future
from pathlib import Path

import httpx2
import pytest

from tests.node.fleet.process_fleet import Fleet, Json
from tests.node.fleet.remote_command import DONE, Work, answer
from tests.support.waiting import until

pytestmark = pytest.mark.system

KILLED = [
    pytest.param(("hub",), id="hub"),
    pytest.param(("machine",), id="machine"),
    pytest.param(("hub", "machine"), id="both"),
]
HOUR = 3600  # seconds
UNKNOWN = "whether it was done is not known"


def kill(work: Work, killed: tuple[str, ...], call: "Future[Json]") -> None:
    """Kill the victim as by `kill -9`, start it again, and wait until the machine is linked."""
    hub, machine = work.fleet.hub, work.machine
    if "machine" in killed:
        machine.stop(signal.SIGKILL)
    if "hub" in killed:
        hub.stop(signal.SIGKILL)
        assert isinstance(call.exception(), httpx2.TransportError)
        hub.start()
    machine.place.mend()
    if "machine" in killed:
        machine.start()
    else:
        machine.linked()


@pytest.mark.parametrize("killed", KILLED)
def test_on_the_way_to_its_machine(work: Work, killed: tuple[str, ...]) -> None:
    """An order that the machine has not noted is done once: sent anew by itself, or when the call is made again."""
    work.machine.place.cut()
    call = work.again()
    work.fleet.hub.until("dispatch.sent", lambda line: line["detail"]["node"] == work.machine.name)

    kill(work, killed, call)

    again = work.again()
    work.is_begun()
    work.finish()
    assert answer(again) == answer(work.again()) == DONE
    assert work.times == 1


@pytest.mark.parametrize("killed", KILLED[1:])
def test_done_while_nobody_could_be_told(work: Work, killed: tuple[str, ...]) -> None:
    """The result outlives the process that has it: the next one tells it, and does nothing anew."""
    call = work.begin()
    work.machine.place.cut()
    work.end()

    kill(work, killed, call)

    assert answer(work.again()) == DONE
    assert work.times == 1


def test_at_work_when_both_are_killed(work: Work) -> None:
    """Nobody knows how far it came, which is what everybody hears; it is not begun again."""
    call = work.begin()

    kill(work, ("hub", "machine"), call)

    told = answer(work.again())
    assert (told["code"], UNKNOWN in told["error"]) == ("failed", True)
    assert answer(work.again()) == told
    assert work.times == 1


# ---- before a person -----------------------------------------------------------------------------------------------


def asked(work: Work) -> "tuple[Future[Json], str]":
    """The call, and the question that a person is asked about it."""
    work.machine.policy("approval_timeout = 600")
    call = work.again()
    return call, work.fleet.hub.asked(work.machine)


def test_a_hub_that_is_killed_while_a_person_is_asked(work: Work) -> None:
    """The question is there again with the hub, under its id; the yes that is given then has the call done, once."""
    call, question = asked(work)

    kill(work, ("hub",), call)
    assert work.fleet.hub.run("approve", question).returncode == 0

    work.is_begun()
    work.finish()
    assert answer(work.again()) == DONE
    assert work.times == 1


def test_a_yes_that_is_given_while_the_link_is_lost(work: Work) -> None:
    """It reaches the machine over the next line."""
    call, question = asked(work)
    work.machine.place.cut()

    assert work.fleet.hub.run("approve", question).returncode == 0
    assert work.times == 0
    work.machine.place.mend()

    work.is_begun()
    work.finish()
    assert answer(call) == answer(work.again()) == DONE
    assert work.times == 1


def test_a_machine_that_is_killed_while_a_person_is_asked(work: Work) -> None:
    """The process that asked is gone, and its question with it: a yes lets nothing through any more."""
    call, question = asked(work)

    kill(work, ("machine",), call)
    work.fleet.hub.run("approve", question)

    told = answer(work.again())
    assert (told["code"], UNKNOWN in told["error"]) == ("failed", True)
    work.machine.policy('mode = "bypass"')
    assert work.fleet.call(work.machine.name, "execute_command", command="echo here")["stdout"] == "here\n"
    assert work.times == 0


def test_an_answer_that_comes_too_late(work: Work) -> None:
    """A question nobody answered in time is over on the machine and at the hub: nobody can say yes to it any more."""
    work.machine.policy("approval_timeout = 1")
    call = work.again()
    question = work.fleet.hub.asked(work.machine)
    assert answer(call)["code"] == "needs_approval"

    late = work.fleet.hub.run("approve", question)

    assert late.returncode != 0
    assert "it has expired" in late.stderr
    assert work.times == 0


# ---- the machine's place in the fleet ------------------------------------------------------------------------------


def is_left_alone(pipe: Path) -> bool:
    """Tell whether nobody reads from the pipe any more."""
    try:
        os.close(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))
    except OSError as error:
        return error.errno == errno.ENXIO
    return False


@pytest.mark.parametrize("ending", ["removed", "revoked"])
def test_a_machine_that_is_thrown_out_while_it_works(work: Work, ending: str) -> None:
    """Removed, or without its key, it stops what it does and goes; the caller hears at once that nobody knows."""
    call = work.begin()
    client = work.fleet.hub.client()

    if ending == "removed":
        client.delete(f"/nodes/{work.machine.name}")
    else:
        (key,) = (
            each for each in client.get("/tokens")["tokens"] if each["agent"] == f"node:{work.machine.name}"
        )
        client.delete(f"/tokens/{key['id']}")

    assert work.machine.ended() == 1
    until(lambda: is_left_alone(work.machine.work / "go"), "the command to be gone, which the system ends")
    assert answer(call)["code"] in ("failed", "offline")
    assert work.times == 1


@pytest.mark.parametrize("hours", [-6, 6])
def test_a_hub_whose_clock_is_set_wrong(work: Work, hours: int) -> None:
    """A hub that is killed, and comes back with its clock hours off, goes on: results, questions and new orders."""
    hub = work.fleet.hub
    right = hub.settings
    call = work.begin()
    hub.settings = {**right, "FLEET_CLOCK": str(hours * HOUR)}
    try:
        kill(work, ("hub",), call)
        work.finish()
        assert answer(work.again()) == DONE

        work.machine.policy("approval_timeout = 600")
        waiting = work.order("touch new; echo new", key="another")
        assert hub.run("approve", hub.asked(work.machine)).returncode == 0
        assert answer(waiting)["stdout"] == "new\n"
        assert work.times == 1
    finally:
        hub.settings = right
        hub.stop(signal.SIGKILL)
        hub.start()
    work.machine.linked()
    work.machine.policy('mode = "bypass"')
    assert answer(work.order("echo right", key="third"))["stdout"] == "right\n"


def test_a_copy_of_a_machine_that_works(fleet: Fleet, work: Work) -> None:
    """A machine's folder that is started elsewhere is refused: it does nothing, and the machine's work goes on."""
    call = work.begin()
    copy = fleet.machine(f"{work.machine.name}-copy")
    copy.data.mkdir()
    for each in work.machine.data.iterdir():
        if each.is_file():
            (copy.data / each.name).write_bytes(each.read_bytes())

    copy.begin()

    assert copy.ended() == 1
    assert "another machine is linked to the hub under this name" in "".join(copy.said)
    work.finish()
    assert answer(call) == DONE
    assert work.times == 1
