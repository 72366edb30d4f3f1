"""A machine's way of joining a hub, as real processes on a network: `hubbub node run`, and its output."""

import json
import shutil
import signal
import stat
from collections.abc import Iterator

import pytest

from tests.node.fleet.process_fleet import Fleet, Machine

pytestmark = pytest.mark.system


@pytest.fixture
def fleet(shared_fleet: Fleet) -> Iterator[Fleet]:
    """A hub with no machine; those of the test are taken out in the end."""
    yield shared_fleet
    if shared_fleet.hub.process is None:
        shared_fleet.hub.start()
    for each in shared_fleet.machines:
        each.close()
    shared_fleet.machines.clear()
    client = shared_fleet.hub.client()
    for each in client.get("/nodes")["nodes"]:
        client.delete(f"/nodes/{each['name']}")


def row(fleet: Fleet, name: str) -> dict[str, object]:
    """Return the hub's record of a machine."""
    found: dict[str, object] = fleet.hub.client().get(f"/nodes/{name}")["node"]
    return found


def runs(fleet: Fleet, machine: Machine) -> bool:
    """Tell whether the machine carries out an agent's order."""
    answer = fleet.call(machine.name, "execute_command", command="echo here")
    return answer == {"stdout": "here\n", "stderr": "", "exit_code": 0}


def test_a_code_is_all_that_a_machine_needs(fleet: Fleet) -> None:
    """One command with a code that says where the hub is joins it; what holds there is said in one line."""
    machine = fleet.machine("web1")
    code = fleet.hub.secret("node", "invite")

    machine.begin("--name", "web1", "--join", code, "--label", "prod", "--label", "eu")

    said = machine.linked()
    assert machine.said == [said]
    assert said.startswith(f"web1 is linked to {fleet.hub.url} (project default); ")
    assert f"{machine.config}/node.toml, mode bypass; sandbox " in said
    assert runs(fleet, machine)
    found = row(fleet, "web1")
    assert (found["online"], found["linked"], found["labels"]) == (True, True, ["prod", "eu"])


def test_its_key_is_kept_and_told_to_nobody(fleet: Fleet) -> None:
    """The key lies in the machine's folder, for its user alone; it is in no log, and on no screen."""
    machine = fleet.machine("web1")
    machine.join("--label", "prod")
    file = machine.data / "node.json"
    key = json.loads(file.read_text())["token"]

    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert machine.stop() == 0
    log = (machine.data / "logs" / "node.jsonl").read_text()
    assert key not in "".join(machine.said) + log

    machine.start()
    assert runs(fleet, machine)
    assert row(fleet, "web1")["labels"] == ["prod"]


def test_a_person_s_token_joins_a_machine(fleet: Fleet) -> None:
    """A person needs no code; the token is used once, and is not kept."""
    machine = fleet.machine("web1")
    person = fleet.hub.client().token

    machine.begin("--name", "web1", "--url", machine.url, HUBBUB_TOKEN=person, HUBBUB_PROJECT="default")
    machine.linked()

    assert runs(fleet, machine)
    assert person not in (machine.data / "node.json").read_text()


def test_machines_beside_the_hub_s_own(fleet: Fleet) -> None:
    """On the data folder of a hub nothing has to be said but a name: the machine gets a folder of its own in there."""
    machine = fleet.machine("beside")
    machine.data = fleet.hub.data

    machine.begin("--name", "beside")
    machine.linked()

    assert runs(fleet, machine)
    assert (fleet.hub.data / "nodes" / "beside" / "node.json").exists()
    assert not (fleet.hub.data / "node.json").exists()


def test_the_same_command_works_again(fleet: Fleet) -> None:
    """A machine that is started with its used code again says so, and goes on with the key that it has."""
    machine = fleet.machine("web1")
    code = fleet.hub.secret("node", "invite")
    for _ in range(2):
        machine.begin("--name", "web1", "--join", code)
        machine.linked()
        assert machine.stop(signal.SIGINT) == 0

    assert any("going on with the key" in line for line in machine.said)


def test_one_process_a_folder(fleet: Fleet) -> None:
    """A second process on a machine's folder is told that the node runs already, and the first goes on."""
    machine, second = fleet.machine("web1"), fleet.machine("web1-again")
    machine.join()
    second.data = machine.data

    second.begin()

    assert second.ended() == 1
    assert "a node runs on this data folder already" in "".join(second.said)
    assert runs(fleet, machine)


def test_a_name_has_one_machine(fleet: Fleet) -> None:
    """A machine that comes by the name of one that is there is refused, and that one is none the worse for it.

    Whether it wants to join by that name, or comes with a copy of the machine's own key.
    """
    machine, joining, copy = fleet.machine("web1"), fleet.machine("web1-new"), fleet.machine("web1-copy")
    machine.join()

    joining.begin("--name", "WEB1", "--join", fleet.hub.secret("node", "invite"))
    assert joining.ended() == 1
    assert "'web1' is linked to the hub just now" in "".join(joining.said)

    copy.data.mkdir()
    shutil.copy(machine.data / "node.json", copy.data)
    copy.begin()
    assert copy.ended() == 1
    assert "another machine is linked to the hub under this name" in "".join(copy.said)

    assert runs(fleet, machine)
    assert machine.is_running


def test_who_was_removed_ends(fleet: Fleet) -> None:
    """A machine that was taken out of the project ends with code 1 and a sentence, at once and on every later start."""
    machine = fleet.machine("web1")
    machine.join()

    assert fleet.hub.run("node", "remove", "web1").returncode == 0

    assert machine.ended() == 1
    machine.begin()
    assert machine.ended() == 1
    assert "it does not know its key, or not any more; join again" in machine.said[-1]
    assert "hubbub node invite" in machine.said[-1]
    machine.join()
    assert runs(fleet, machine)


def test_a_policy_that_does_not_load_is_said_loudly(fleet: Fleet) -> None:
    """The machine is there and denies everything; the line that says what holds says why."""
    machine = fleet.machine("web1")
    machine.policy('mode = "lenient"')

    machine.join()

    assert "everything is denied, as " in machine.said[-1]
    assert fleet.call("web1", "execute_command", command="true")["rule_id"] == "strict"


def test_its_log_is_what_read_logs_reads(fleet: Fleet) -> None:
    """The node's messages about itself are in its own log, line by line, for agents that look for what is wrong."""
    machine = fleet.machine("web1")
    machine.policy("mode = 1")
    machine.join()
    machine.policy('mode = "bypass"')

    lines = fleet.call("web1", "read_logs", level="error")["lines"]

    assert any("the policy does not load" in each for each in lines)


def test_it_waits_for_a_hub_that_is_away(fleet: Fleet) -> None:
    """A machine that has joined is patient: it is linked when the hub is there again, whoever was started first."""
    machine = fleet.machine("web1")
    machine.join()
    machine.stop()
    fleet.hub.stop()

    machine.begin()
    machine.says("not linked")
    fleet.hub.start()
    machine.linked()

    assert runs(fleet, machine)
