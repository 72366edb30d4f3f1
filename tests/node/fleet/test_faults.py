"""Faults while a machine works: its link, for a moment or for long, the hub, the machine. Nothing is done twice.

Everything about links is fifteen times as fast here: a link is gone when the hub has noticed, which takes it half a
minute otherwise, and gone for long when it has given up on it, which is after some minutes.
"""

import json
import signal
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import httpx2
import pytest

from tests.node.fleet.network import Relay
from tests.node.fleet.process_fleet import Fleet
from tests.node.fleet.remote_command import DONE, Work, answer

pytestmark = pytest.mark.system

HOUR = 3600  # seconds
MILLISECONDS = 1000  # in one
SNAPS = 6


def test_a_link_that_is_lost_for_a_moment(work: Work) -> None:
    """The command goes on, and its result comes as if nothing had been."""
    call = work.begin()
    work.machine.place.cut()
    work.finish()
    work.machine.place.mend()

    assert answer(call) == DONE
    assert work.times == 1


def test_a_link_that_is_lost_for_half_a_minute(work: Work) -> None:
    """The hub knows that the machine is away; the caller waits, and gets the result when it is back."""
    call = work.begin()
    work.machine.place.cut()
    work.fleet.hub.is_away(work.machine)
    work.finish()
    work.machine.place.mend()

    assert answer(call) == DONE
    assert work.times == 1


def test_a_link_that_is_lost_for_ten_minutes(work: Work) -> None:
    """The caller is told that the machine is away, and which order it was; later the same call brings its result."""
    call = work.begin()
    work.machine.place.cut()

    told = answer(call)
    assert told["code"] == "offline"
    client = work.fleet.hub.client()
    (order,) = client.get(f"/nodes/{work.machine.name}/dispatches")["dispatches"]
    assert order["id"] in told["error"]
    assert (order["tool"], order["status"]) == ("execute_command", "taken")

    work.finish()
    work.machine.place.mend()
    work.machine.linked()
    assert answer(work.again()) == DONE
    assert work.times == 1


def test_nothing_waits_for_a_machine_that_is_away(work: Work) -> None:
    """An order for an absent machine is refused at once, and not done when it is back."""
    work.machine.stop()
    work.fleet.hub.is_away(work.machine)

    assert answer(work.again())["code"] == "offline"

    work.machine.start()
    assert work.fleet.call(work.machine.name, "execute_command", command="echo here")["stdout"] == "here\n"
    assert not (work.machine.work / "count").exists()


def test_a_hub_that_is_killed(work: Work) -> None:
    """The machine works on; the hub that comes back hears of it, and tells whoever makes the call again."""
    call = work.begin()
    work.fleet.hub.stop(signal.SIGKILL)
    assert isinstance(call.exception(), httpx2.TransportError)
    work.finish()

    work.fleet.hub.start()
    work.machine.linked()

    assert answer(work.again()) == DONE
    assert work.times == 1


def test_a_hub_that_is_killed_while_the_link_is_lost(work: Work) -> None:
    """Both at once are no worse than each."""
    call = work.begin()
    work.machine.place.cut()
    work.fleet.hub.stop(signal.SIGKILL)
    assert isinstance(call.exception(), httpx2.TransportError)
    work.finish()
    work.fleet.hub.start()

    work.machine.place.mend()
    work.machine.linked()

    assert answer(work.again()) == DONE
    assert work.times == 1


def test_a_client_is_carried_over_a_restart_of_the_hub(work: Work) -> None:
    """A caller by `hubbub mcp cmdop` need not know: the answer comes from the hub that is there in the end."""
    client = work.fleet.client(work.fleet.machine("home"), work.token)
    order = {"operation": "exec", "hostname": work.machine.name, "command": work.command}
    number = client.request("tools/call", {"name": "connect", "arguments": order})
    work.is_begun()

    work.fleet.hub.stop(signal.SIGKILL)
    work.fleet.hub.start()
    work.machine.linked()
    work.finish()

    assert client.answer(number)["result"]["structuredContent"] == DONE
    assert work.times == 1


def test_a_machine_that_is_killed(work: Work) -> None:
    """An order at work on a killed machine has failed, as nobody knows how far it came; it is not begun again."""
    call = work.begin()
    work.machine.stop(signal.SIGKILL)
    work.machine.start()

    told = answer(call)
    assert told["code"] == "failed"
    assert "whether it was done is not known" in told["error"]
    assert answer(work.again()) == told
    assert work.times == 1


def test_a_machine_that_is_stopped(work: Work) -> None:
    """A running command is stopped with the node, which says so before it goes, and ends with code 0."""
    call = work.begin()

    assert work.machine.stop() == 0

    told = answer(call)
    assert told["code"] == "failed"
    assert "was stopped" in told["error"]
    assert work.times == 1


def test_a_line_that_snaps_again_and_again(fleet: Fleet) -> None:
    """Whatever is lost on the way, in either direction, each call that is made until it is answered is done once."""
    with closing(Relay(fleet.hub.host)) as relay, ThreadPoolExecutor() as pool:
        machine, token = fleet.machine("torn", place=relay), fleet.agent("ada")
        machine.join()
        for number in range(SNAPS):
            order, told = {"command": f"echo {number} >> each; echo {number}"}, ""
            while told != f"{number}\n":
                call = pool.submit(
                    fleet.hub.post, "execute_command", order, token=token, node="torn", key=str(number)
                )
                relay.snap()
                told = answer(call).get("stdout", "")

        assert (machine.work / "each").read_text().split() == list(map(str, range(SNAPS)))
        machine.close()


def test_a_caller_that_gives_up(work: Work) -> None:
    """The command of a call that is cancelled is ended on its far machine."""
    client = work.fleet.client(work.fleet.machine("home"), work.token)
    pipe = work.machine.pipe("held")
    order = {
        "operation": "exec",
        "hostname": work.machine.name,
        "command": "exec 3> held; echo >&3; sleep 600",
    }
    number = client.request("tools/call", {"name": "connect", "arguments": order})

    with pipe.open() as held:
        held.readline()
        client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}})
        assert held.read() == ""  # which ends when nobody holds the other end


# ---- people --------------------------------------------------------------------------------------------------------


def test_a_question_of_a_far_machine(work: Work) -> None:
    """It waits in the one queue, with machine, folder and what would be done; the answer lets that one call through."""
    work.machine.policy("approval_timeout = 600")
    call = work.again()
    asked = work.fleet.hub.asked(work.machine)
    (question,) = work.fleet.hub.json("approve")

    assert (question["node"], question["folder"]) == (work.machine.name, str(work.machine.work))
    assert "echo x >> count" in question["shown"]
    assert work.fleet.hub.run("approve", asked).returncode == 0

    work.is_begun()
    work.finish()
    assert answer(call) == DONE


def test_a_question_about_a_call_that_nobody_waits_for(work: Work) -> None:
    """It ends once the caller gives up: a person who answers then hears why, and nothing is done."""
    work.machine.policy("approval_timeout = 3600")
    client = work.fleet.client(work.fleet.machine("home"), work.token)
    order = {"operation": "exec", "hostname": work.machine.name, "command": "touch made"}
    number = client.request("tools/call", {"name": "connect", "arguments": order})
    question = work.fleet.hub.asked(work.machine)

    client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}})

    work.fleet.hub.until("approval.withdrawn", lambda line: line["detail"]["approval_id"] == question)
    told = work.fleet.hub.run("approve", question)
    assert told.returncode != 0
    assert "its call was cancelled" in told.stderr
    assert not (work.machine.work / "made").exists()


def test_a_question_that_the_hub_cannot_bring_an_answer_to(work: Work) -> None:
    """The machine's own clock ends it: without an answer the call is not done, also when the hub is gone."""
    work.machine.policy("approval_timeout = 1")
    call = work.again()
    work.fleet.hub.asked(work.machine)
    work.fleet.hub.stop(signal.SIGKILL)
    assert isinstance(call.exception(), httpx2.TransportError)

    work.machine.heard("ask_timeout")
    work.fleet.hub.start()
    work.machine.linked()

    assert answer(work.again())["code"] == "needs_approval"
    assert not (work.machine.work / "count").exists()


def test_a_question_of_a_process_that_was_killed(work: Work) -> None:
    """The next one does not ask it any more: it ends at once, and who answers hears why."""
    work.machine.policy("approval_timeout = 3600")
    call = work.again()
    question = work.fleet.hub.asked(work.machine)
    work.machine.stop(signal.SIGKILL)
    work.machine.start()

    work.fleet.hub.until("approval.withdrawn", lambda line: line["detail"]["approval_id"] == question)
    assert work.fleet.hub.json("approve") == []
    told = work.fleet.hub.run("approve", question)
    assert told.returncode != 0
    assert "its machine was restarted" in told.stderr
    assert answer(call)["code"] == "failed"


@pytest.mark.parametrize("hours", [-6, 6])
def test_a_machine_whose_clock_is_wrong(fleet: Fleet, hours: int) -> None:
    """Orders, keys and questions do not depend on the machine's clock, however far off it is."""
    machine = fleet.machine(f"clock{hours}")
    machine.clock = hours * HOUR
    machine.policy("approval_timeout = 600")
    machine.join()

    with ThreadPoolExecutor() as pool:
        call = pool.submit(fleet.call, machine.name, "execute_command", command="touch made")
        fleet.hub.client().post(f"/approvals/{fleet.hub.asked(machine)}/approve")
        assert call.result()["exit_code"] == 0

    *_, last = (machine.data / "audit.jsonl").read_text().splitlines()
    written_at = json.loads(last)["ts"] / MILLISECONDS
    assert written_at - (machine.work / "made").stat().st_mtime == pytest.approx(machine.clock, abs=HOUR / 2)
