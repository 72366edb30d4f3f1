"""`hubbub up` and `hubbub down`: a hub in the background, as real processes."""

import json
import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from hubbub.client import HubUnreachable, owner_token, running_hub
from hubbub.daemons import hub_starter
from hubbub.store.engine.folder_lock import FILE, FolderLock, holder_of
from tests.cli.processes import RunningHub, ends, hubbub
from tests.support.waiting import until


@pytest.fixture
def data(tmp_path: Path) -> Iterator[Path]:
    """A data folder; what runs on it in the end is stopped."""
    yield tmp_path / "data"
    hubbub("down", data=tmp_path / "data")


def test_up_and_down(data: Path) -> None:
    """`up` returns when the hub answers, and says where it is; `down` when it has gone, with its machine."""
    up = hubbub("up", "--port", "0", data=data)

    url = running_hub(data)
    assert (up.returncode, up.stdout.splitlines()[:2]) == (0, [url, f"hubbub is ready at {url}"])
    nodes = hubbub("node", "list", "--json", data=data)
    assert [each["online"] for each in json.loads(nodes.stdout)] == [True]
    pid = json.loads((data / "hub.json").read_text())["pid"]

    down = hubbub("down", data=data)

    assert (down.returncode, down.stdout) == (0, "the hub has stopped\n")
    assert (running_hub(data), holder_of(data)) == (None, None)
    assert ends(pid)


def test_up_warns_of_a_network_without_tls(data: Path) -> None:
    """A hub that others may reach without TLS says so when it starts, with what to do; behind TLS it does not."""
    open_to_all = hubbub("up", "--port", "0", "--host", "0.0.0.0", data=data)
    assert open_to_all.stderr.startswith("Warning: the hub listens on 0.0.0.0 without TLS: ")
    assert "the hub listens on 0.0.0.0 without TLS" in (data / "hub.log").read_text()
    assert "Warning" not in hubbub("up", data=data).stderr
    hubbub("down", data=data)
    behind_tls = {"HUBBUB_PUBLIC_URL": "https://hub.example.org"}
    assert hubbub("up", "--port", "0", "--host", "0.0.0.0", data=data, environment=behind_tls).stderr == ""


@pytest.mark.system
def test_up_names_the_folder_that_down_needs(data: Path, tmp_path: Path) -> None:
    """The printed commands find this hub: they name its folder, unless a command would find that by itself."""
    elsewhere = {"HUBBUB_DATA": str(tmp_path / "usual")}
    up = hubbub("up", "--port", "0", "--data", str(data), data=data, environment=elsewhere)
    assert f"  to stop      hubbub down --data {data}\n" in up.stdout
    assert f"  to connect   hubbub install CLIENT --data {data}\n" in up.stdout
    again = hubbub("up", data=data)
    assert "  to stop      hubbub down\n" in again.stdout


@pytest.mark.system
def test_down_names_the_workers_that_go_on(own_hub: RunningHub) -> None:
    """The workers that wait for the hub to come back are named when it stops."""
    own_hub.work("ada", "cat").says("ready")
    assert own_hub.run("down").stdout == (
        "the hub has stopped\n1 worker still runs and will go on when the hub is back: ada\n"
    )


@pytest.mark.system
def test_each_is_done_once(data: Path) -> None:
    """A second `up` says that the hub runs already, a second `down` that none runs; both with code 0."""
    first = json.loads(hubbub("up", "--port", "0", "--json", data=data).stdout)
    again = hubbub("up", "--json", data=data)
    assert first["started"] is True
    assert (again.returncode, json.loads(again.stdout)) == (0, {**first, "started": False})

    assert json.loads(hubbub("down", "--json", data=data).stdout) == {"stopped": True}
    again = hubbub("down", data=data)
    assert (again.returncode, again.stdout) == (0, "no hub is running on the data folder\n")


@pytest.mark.system
def test_agents_work_where_it_was_started(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a policy the present folder is the machine's only root, as with `hubbub serve`."""
    work = tmp_path / "work"
    work.mkdir()
    (work / "a.txt").write_text("hello\n")
    monkeypatch.chdir(work)
    config = str(tmp_path / "config")
    up = hubbub("up", "--port", "0", "--json", data=data, environment={"HUBBUB_CONFIG": config})

    read = {"name": "read_file", "arguments": {"path": "a.txt"}}
    answer = httpx2.post(
        f"{json.loads(up.stdout)['url']}/mcp/cmdop",
        json={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": read},
        headers={"Authorization": f"Bearer {owner_token(data)}", "Accept": "application/json"},
    )

    assert answer.json()["result"]["structuredContent"]["content"] == "hello\n"


@pytest.mark.system
def test_a_port_that_is_taken(data: Path) -> None:
    """A hub that does not start is said with its reason, in one sentence, and code 1."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = hubbub("up", "--port", str(taken.getsockname()[1]), data=data)

    assert (done.returncode, done.stdout) == (1, "")
    assert "is in use" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.system
def test_clients_that_a_moved_hub_leaves_behind_are_named(data: Path, tmp_path: Path) -> None:
    """A hub that starts at another port than installed clients use names them; what it and doctor say mends it."""
    environment = {"HOME": str(tmp_path), "HUBBUB_CONFIG": str(tmp_path / "config")}

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return hubbub(*words, data=data, environment=environment)

    before = run("up", "--port", "0").stdout.split()[0]
    assert run("install", "windsurf", "--as", "w").returncode == 0
    run("down")
    with socket.socket() as kept:
        kept.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        kept.bind(("127.0.0.1", int(before.rpartition(":")[2])))  # so that the next free port is another one
        up = run("up", "--port", "0")
    now = up.stdout.split()[0]
    again = "hubbub install windsurf --scope user --as w"
    told = f"Warning: windsurf still uses {before}, where no hub answers; connect it here: {again}\n"
    assert told in up.stderr
    doctor = run("doctor")
    assert f"the hub runs at {now}; connect it there: {again}\n" in doctor.stdout

    assert run(*again.split()[1:]).returncode == 0

    assert "Warning" not in run("up").stderr
    assert "client windsurf: w reaches" in run("doctor").stdout


def test_a_running_hub_is_not_moved(own_hub: RunningHub, tmp_path: Path) -> None:
    """`up` with another port than the running hub's is refused with its address and the way to move it, and code 1."""
    again = own_hub.run("up", "--port", str(own_hub.port), "--host", "127.0.0.1")
    assert again.stdout.startswith(f"{own_hub.url}\nhubbub is already running at {own_hub.url}\n")
    done = own_hub.run("up", "--port", "1")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        f"Error: the hub of this data folder already runs at {own_hub.url}; "
        "to move it: hubbub down, then hubbub up --port 1\n"
    )


@pytest.mark.system
def test_a_hub_that_refuses_to_start_is_quoted(data: Path) -> None:
    """`up` gives the reason of a hub that does not start once, as the end of its own sentence, with code 1."""
    done = hubbub("up", "--port", "0", data=data, environment={"HUBBUB_ROOT_DIALECT": "nope"})
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("Error: no hub could be started: there is no dialect 'nope'; ")
    assert done.stderr.count("Error") == len(done.stderr.splitlines()) == 1


STAYS = pytest.mark.filterwarnings("ignore:subprocess .* is still running:ResourceWarning")  # as it is to


@STAYS
def test_a_busy_machine_has_the_time_it_needs(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The patience with a hub that starts grows with the load of the machine."""
    monkeypatch.setattr(hub_starter, "PATIENCE", 0.0001)
    monkeypatch.setattr("hubbub.processes.fair_time.slowness", lambda: 1e9)
    assert hub_starter.start(data, "--port", "0") == running_hub(data)


@STAYS
def test_a_hub_that_is_late_is_not_called_lost(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the patience ends, a hub that lives is left alone, and the sentence says how to know when it answers."""
    monkeypatch.setattr(hub_starter, "PATIENCE", 0.0001)
    monkeypatch.setattr("hubbub.processes.fair_time.slowness", lambda: 1.0)
    late = r"^the hub \(process \d+\) is running and does not answer yet; hubbub status tells when it does, "
    with pytest.raises(HubUnreachable, match=late):
        hub_starter.start(data, "--port", "0")
    until(lambda: hub_starter.running_address(data), "the hub that was only late")


@pytest.mark.system
def test_down_stops_a_hub_however_it_was_started(own_hub: RunningHub) -> None:
    """Also one that a person runs in a terminal, which then ends with code 0."""
    done = own_hub.run("down")

    assert done.returncode == 0, done.stderr
    assert own_hub.process is not None
    assert own_hub.process.wait() == 0


@pytest.mark.system
def test_down_stops_what_a_client_has_started(data: Path) -> None:
    """Also one that `hubbub mcp` has started, and left running when its client went."""
    hubbub("mcp", "commhub", data=data, environment={"HUBBUB_PORT": "0"})
    assert running_hub(data)

    assert hubbub("down", data=data).stdout == "the hub has stopped\n"


def test_down_stops_nobody_else(own_hub: RunningHub) -> None:
    """A hub that was killed leaves its number behind; whoever has that now is not stopped."""
    own_hub.stop(signal.SIGKILL)
    facts = json.loads((own_hub.data / FILE).read_text())
    (own_hub.data / FILE).write_text(json.dumps({**facts, "pid": os.getpid()}))

    assert own_hub.run("down").stdout == "no hub is running on the data folder\n"


def test_a_hub_of_another_machine_is_not_ours_to_stop(tmp_path: Path) -> None:
    """Where the data folder is shared, the hub is stopped on the machine that it runs on."""
    lock = FolderLock.take(tmp_path)
    facts = json.loads((tmp_path / FILE).read_text())
    (tmp_path / FILE).write_text(json.dumps({**facts, "host": "elsewhere"}))

    done = hubbub("down", data=tmp_path)
    lock.release()

    assert done.returncode == 1
    assert "on elsewhere" in done.stderr
