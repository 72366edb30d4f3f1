"""`hubbub node`: codes by which machines join, and the machines of the project."""

import base64
import json
import socket
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from hubbub.client import HubRefused
from tests.cli.processes import PROGRAM, RunningHub, hubbub, plain_environment
from tests.support.waiting import until


def test_an_invitation_is_one_word(hub: RunningHub) -> None:
    """`invite` prints the code, and only that; it says where the hub is, so that it is all that a machine needs."""
    secret, _, place = hub.secret("node", "invite").partition(".")

    assert secret.startswith("join_")
    assert base64.urlsafe_b64decode(place + "=" * (-len(place) % 4)).decode() == hub.url


def test_an_invitation_for_one_name(hub: RunningHub) -> None:
    """With `--json` the command for the machine comes with the code, also by which name it has to join."""
    made = hub.json("node", "invite", "--name", "web1", "--expires", "10m")

    assert made["command"] == f"hubbub node run --join {made['code']} --name web1"
    assert made["expires_at"] - hub.until("node.invited")["at"] == 600_000


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (("--expires", "soon"), 2, "write a number and s, m, h, d or w"),
        (("--expires", "8d"), 2, "a minute to 7 days"),
        (("--name", "a b"), 2, "a machine's name has"),
    ],
)
def test_invitations_that_cannot_be(hub: RunningHub, options: tuple[str, ...], code: int, words: str) -> None:
    """An impossible machine name or lifetime of a code is refused in one sentence."""
    done = hub.run("node", "invite", *options)

    assert (done.returncode, done.stdout) == (code, "")
    assert words in done.stderr


def test_agents_invite_nobody(hub: RunningHub) -> None:
    """Machines are let in by people: an agent's token makes no code, and takes nobody out."""
    secret = hub.secret("token", "create", "--agent", "ada", "--role", "admin")

    for arguments in (("node", "invite"), ("node", "remove", "web1")):
        done = hub.run(*arguments, HUBBUB_TOKEN=secret)
        assert (done.returncode, done.stdout) == (1, "")


def test_machines_are_listed_and_removed(hub: RunningHub, tmp_path: Path) -> None:
    """`list` shows the hub's own machine and the others, and whether they are there; a removed one is known no more."""
    joined = {"machine_id": "m", "platform": "Linux", "version": "1", "sandbox": "none"}
    hub.client().post("/nodes/join", {"name": "web1", **joined})

    own = until(lambda: [each for each in hub.json("node", "list") if each["own"]], "the hub's own machine")
    rows = [line.split("\t")[:4] for line in hub.run("node", "list").stdout.splitlines()]
    assert ["web1", "offline", "Linux", "none"] in rows
    assert [own[0]["name"], "online"] in [row[:2] for row in rows]
    assert len(rows) == 2

    assert hub.run("node", "remove", "web1").stdout == "removed web1\n"
    assert [each["name"] for each in hub.json("node", "list")] == [own[0]["name"]]
    assert hub.run("node", "remove", "web1").returncode == 1


def _listed(hub: RunningHub) -> list[str]:
    return hub.run("node", "list").stdout.splitlines()


def test_a_policy_that_does_not_load_is_listed(tmp_path: Path) -> None:
    """The list says which machine denies everything, since its policy does not load, and why."""
    config = tmp_path / "config"
    config.mkdir()
    (config / "node.toml").write_text("mode = 'lax'\n")
    running = RunningHub(tmp_path / "data", settings={"HUBBUB_CONFIG": str(config)})
    running.start()
    try:
        (line,) = until(lambda: _listed(running), "the hub's own machine")
        assert "\tdoes not load, so all is denied: " in line
        assert "mode must be one of default, strict, bypass" in line
    finally:
        running.close()


def test_a_code_for_one_name_gives_it(hub: RunningHub) -> None:
    """A machine whose name nobody has chosen takes that of the code; one that was chosen has to be that one."""
    joining = {
        "name": "localhost-7",
        "machine_id": "m",
        "platform": "Linux",
        "version": "1",
        "sandbox": "none",
    }
    code = hub.secret("node", "invite", "--name", "web1")
    by_code = hub.client().acting_with(code.partition(".")[0])

    with pytest.raises(HubRefused, match="a machine that is called 'web1'"):
        by_code.post("/nodes/join", joining)
    assert by_code.post("/nodes/join", {**joining, "chosen": False})["node"] == "web1"


# ---- joining, as far as it is refused ------------------------------------------------------------------------------


def refusal(tmp_path: Path, *options: str, code: int = 1, **environment: str) -> str:
    """The one sentence by which `hubbub node run` refuses; nothing is kept then."""
    data = tmp_path / "data"
    done = hubbub("node", "run", *options, data=data, environment=environment)
    assert (done.returncode, done.stdout) == (code, ""), done.stderr
    assert not (data / "node.json").exists()
    assert "Traceback" not in done.stderr
    return done.stderr


def test_a_machine_needs_something_to_join_by(tmp_path: Path) -> None:
    """Without a code, a person's token and a hub of its own it is told how to join: wrong usage."""
    assert "hubbub node invite" in refusal(tmp_path, code=2)


def test_a_code_that_was_cut_short(tmp_path: Path) -> None:
    """A code is taken whole, or not at all; one that does not say where its hub is needs `--url`."""
    assert "the code is incomplete" in refusal(tmp_path, "--join", "join_0.***")
    assert "the code is incomplete" in refusal(tmp_path, "--join", "join_0.é")
    assert "--url" in refusal(tmp_path, "--join", "join_0", code=2)


def test_a_bad_code(hub: RunningHub, tmp_path: Path) -> None:
    """A code that the hub does not know is refused; so is what is no code at all."""
    for code in (f"join_{'0' * 32}", "nonsense"):
        assert "does not know this code" in refusal(tmp_path, "--join", code, "--url", hub.url)


def test_a_code_is_used_once(hub: RunningHub, tmp_path: Path) -> None:
    """The code that one machine has joined with lets no other one in."""
    code = hub.secret("node", "invite")
    joined = {"name": "web1", "machine_id": "m", "platform": "Linux", "version": "1", "sandbox": "none"}
    by_code = hub.client().acting_with(code.partition(".")[0])
    assert by_code.post("/nodes/join", joined)["node"] == "web1"

    assert "is used up" in refusal(tmp_path, "--join", code, "--name", "web2")


def test_a_name_that_is_taken(hub: RunningHub, tmp_path: Path) -> None:
    """A name is another machine's until that is removed; a refusal does not use the code up."""
    other = {"name": "web1", "machine_id": "m", "platform": "Linux", "version": "1", "sandbox": "none"}
    hub.client().post("/nodes/join", other)
    code = hub.secret("node", "invite")

    for _ in range(2):
        assert "another machine is called 'web1'" in refusal(tmp_path, "--join", code, "--name", "web1")


def test_an_agent_s_token_lets_no_machine_in(hub: RunningHub, tmp_path: Path) -> None:
    """Neither a program's nor another machine's."""
    secret = hub.secret("token", "create", "--agent", "ada", "--role", "admin")

    assert refusal(tmp_path, "--url", hub.url, "--name", "web1", HUBBUB_TOKEN=secret)


def test_a_hub_that_is_not_there(tmp_path: Path) -> None:
    """A machine that cannot reach the hub does not join: exit code 3."""
    refusal(tmp_path, "--join", "join_0", "--url", "http://127.0.0.1:1", code=3)
    refusal(tmp_path, code=3, HUBBUB_URL="http://127.0.0.1:1", HUBBUB_TOKEN="utok_0")


def test_a_policy_that_was_named_and_is_not_there(tmp_path: Path) -> None:
    """If a named policy is missing no other one is used: wrong usage."""
    assert "does not exist" in refusal(tmp_path, "--config", str(tmp_path / "none.toml"), code=2)


@pytest.mark.parametrize("label", ["", "x" * 65])
def test_labels_that_cannot_be(tmp_path: Path, label: str) -> None:
    """A label is a short text: wrong usage otherwise."""
    assert "labels" in refusal(tmp_path, "--label", label, code=2)


def test_a_folder_that_is_none(tmp_path: Path) -> None:
    """Where nothing can be kept nothing is joined, so that no code is used up for nothing."""
    (tmp_path / "file").write_text("")
    done = hubbub("node", "run", "--join", "join_0", "--url", "http://127.0.0.1:1", data=tmp_path / "file")

    assert (done.returncode, done.stdout) == (1, "")
    assert "choose another folder with --data" in done.stderr


@pytest.mark.system
def test_a_full_disk_uses_up_no_code(hub: RunningHub, tmp_path: Path) -> None:
    """Where the key could not be kept the hub is not even asked: nobody has joined, and the code is still good."""
    joining = ("node", "run", "--name", "web1", "--join", hub.secret("node", "invite"))
    done = subprocess.run(
        ["/bin/sh", "-c", 'ulimit -f 1; exec "$0" "$@"', *PROGRAM, *joining],
        env=plain_environment(tmp_path / "data"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("\n") == 1
    assert [path.name for path in (tmp_path / "data").iterdir() if path.name != "node.lock"] == []
    assert not [each for each in hub.json("node", "list") if not each["own"]]


def test_a_key_is_for_the_hub_of_its_folder_alone(tmp_path: Path) -> None:
    """While the hub of its data folder is away, a machine waits for it, and asks nobody at the port that is usual."""
    data = tmp_path / "data"
    data.mkdir()
    joined: dict[str, object] = {
        "name": "web1",
        "project": "default",
        "url": None,
        "token": "ntok_1",
        "labels": [],
    }
    (data / "node.json").write_text(json.dumps(joined))
    with socket.create_server(("127.0.0.1", 0)) as stranger:
        stranger.setblocking(False)
        port = str(stranger.getsockname()[1])
        with subprocess.Popen(
            [*PROGRAM, "node", "run"],
            env=plain_environment(data, HUBBUB_PORT=port),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        ) as machine:
            assert machine.stderr is not None
            said = machine.stderr.readline()
            machine.terminate()
        assert "the hub of the data folder does not run" in said
        with pytest.raises(BlockingIOError):
            stranger.accept()


def test_what_it_has_joined_must_make_sense(tmp_path: Path) -> None:
    """A file of one's own making is no membership; it is said which, and what to do."""
    data = tmp_path / "data"
    data.mkdir()
    strange = {"name": "web1", "project": "default", "url": 3, "token": "ntok_1", "labels": []}
    for content in ("nonsense", "[]", "{}", json.dumps({"name": 1}), json.dumps(strange)):
        (data / "node.json").write_text(content)
        done = hubbub("node", "run", data=data)
        assert done.returncode == 1
        assert "node.json" in done.stderr


@pytest.mark.system
def test_a_worker_placed_elsewhere_uses_the_address_of_its_machine(tmp_path: Path) -> None:
    """A worker on a machine that joined with --url reaches the hub as the machine does."""
    hub = RunningHub(
        tmp_path / "hub", settings={"HUBBUB_PUBLIC_URL": "https://hub.invalid", "HUBBUB_NO_NODE": "1"}
    )
    config, work = tmp_path / "config", tmp_path / "work"
    config.mkdir()
    work.mkdir()
    (config / "node.toml").write_text(f'[rules]\nallow = ["agent_start(*)"]\n[files]\nroots = ["{work}"]\n')
    with closing(hub):
        hub.start()
        joining = ("--name", "web1", "--url", hub.url, "--join", hub.secret("node", "invite"))
        with subprocess.Popen(
            [*PROGRAM, "node", "run", *joining],
            env=plain_environment(tmp_path / "machine", HUBBUB_CONFIG=str(config)),
            cwd=work,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as machine:
            hub.until("node.online", lambda each: each["detail"]["node"] == "web1")
            assert hub.json("agent", "start", "coder", "--node", "web1", "--run", "cat")["agent"] == "coder"
            hub.until("agent.checkin", lambda each: each["agent"] == "coder")
            machine.terminate()
