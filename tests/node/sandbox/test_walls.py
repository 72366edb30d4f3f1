"""The walls between a command and the machine, tried from inside."""

import os
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from hubbub.node import sandbox
from hubbub.node.sandbox import hidden_paths
from hubbub.node.system.kernel import landlock_abi
from hubbub.node.tools.tool_context import ToolContext
from tests.node.file_calls import refusal
from tests.node.running_commands import ask, behind, bubblewrap, printed, run
from tests.node.tool_contexts import place
from tests.support.tools import needed

REAL = ("bwrap", "landlock")


@pytest.fixture(params=REAL)
def walled(request: pytest.FixtureRequest, tmp_path: Path) -> ToolContext:
    """A machine with each wall that is one."""
    return behind(place(tmp_path), request.param)


@pytest.fixture
def boxed(tmp_path: Path) -> ToolContext:
    """A machine with the wall that hides more."""
    return behind(place(tmp_path), "bwrap")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def work(tmp_path: Path) -> Path:
    return tmp_path / "work"


def fails(here: ToolContext, command: str) -> str:
    """Return the error output of a command that must not succeed."""
    value = run(here, command)
    assert value["exit_code"] != 0, value
    return str(value["stderr"])


# ---- both --------------------------------------------------------------------------------------------------------


def test_only_the_roots_can_be_written(walled: ToolContext, work: Path, home: Path) -> None:
    """There everything can be made, moved and deleted; elsewhere nothing, whatever the rights of the user."""
    (home / "file").write_text("before")

    printed(walled, "mkdir -p a/b && echo x > a/file && mv a/file a/b/file && ln -s b a/c && rm a/c")
    for command in (
        "echo x > new",
        "echo x > file",
        "echo x >> file",
        "rm file",
        "mkdir d",
        "mv file f",
        "ln -s a b",
    ):
        fails(walled, f"cd ../home && {command}")

    assert (work / "a" / "b" / "file").read_text() == "x\n"
    assert [path.name for path in home.iterdir()] == ["file"]
    assert (home / "file").read_text() == "before"


def test_no_way_leads_out_of_the_roots(walled: ToolContext, home: Path) -> None:
    """Neither a link nor a file that has a second name nor the machine's own folder of processes does."""
    (home / "file").write_text("before")

    fails(walled, f"ln -s {home}/file link && echo x > link")
    fails(walled, f"ln {home}/file hard && echo x > hard")
    fails(walled, f"echo x > /proc/self/root{home}/file")
    fails(walled, f"echo x > /proc/1/root{home}/file")

    assert (home / "file").read_text() == "before"


def test_the_machine_can_be_read(walled: ToolContext, home: Path) -> None:
    """Programs and their files are there, and what the user has in their home."""
    (home / "notes").write_text("hello\n")

    assert printed(walled, "cat ~/notes; ls /usr/bin | grep -x env") == "hello\nenv\n"


@pytest.mark.parametrize("folder", [".ssh", ".config/hubbub", ".local/share/hubbub", "Library/Keychains"])
def test_keys_and_the_products_own_folders_are_hidden(walled: ToolContext, home: Path, folder: str) -> None:
    """Hidden folders cannot be read in any way; files beside them can."""
    (home / folder).mkdir(parents=True)
    (home / folder / "secret").write_text("hidden")
    (home / folder).with_name("beside").write_text("open\n")
    (home / "way").symlink_to(folder)

    for path in (f"~/{folder}/secret", f"{home}/{folder}/secret", "~/way/secret"):
        assert "hidden" not in run(walled, f"cat {path}")["stdout"]
    assert printed(walled, f"cat ~/{folder}/../beside") == "open\n"


@contextmanager
def nobody() -> Iterator[None]:
    """Work as a user to whom other users' homes are closed, as they never are to the superuser."""
    was = os.geteuid()
    if was == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(was)


def test_closed_homes_of_others_stop_no_command(tmp_path: Path) -> None:
    """A home that may not be looked into, as `/root` is to most users, is neither hidden nor in the way."""
    other = tmp_path / "other"
    (other / ".ssh").mkdir(parents=True)
    world = replace(place(tmp_path).world, homes=(str(other),))
    assert str(other / ".ssh") in hidden_paths.hidden(world)

    other.chmod(0)
    with nobody():
        closed = hidden_paths.hidden(world)
    other.chmod(0o700)

    assert str(other / ".ssh") not in closed


def test_all_that_is_named_as_the_products_own_is_hidden(
    walled: ToolContext, tmp_path: Path, work: Path
) -> None:
    """Folders and files, where they are beside the roots and where they are in them."""
    own = (tmp_path / "tokens", work / "policy.toml", work / "own")
    for path in (own[0], own[2]):
        path.mkdir()
        (path / "secret").write_text("hidden")
    own[1].write_text("hidden")
    there = replace(walled, world=replace(walled.world, own=tuple(map(str, own[:1]))))
    assert "hidden" not in run(there, f"cat {own[0]}/secret")["stdout"]

    there = behind(replace(walled, world=replace(walled.world, own=tuple(map(str, own)))), "bwrap")

    assert "hidden" not in run(there, f"cat {own[0]}/secret {own[1]} {own[2]}/secret")["stdout"]
    fails(there, "echo x > policy.toml")


def test_a_root_that_leads_to_keys_is_none(walled: ToolContext, home: Path, tmp_path: Path) -> None:
    """Where a root was made a link to what is hidden it stays hidden."""
    (home / ".ssh").mkdir()
    (home / ".ssh" / "secret").write_text("hidden")
    (tmp_path / "second").symlink_to(home / ".ssh")
    roots = (*walled.world.roots, str(tmp_path / "second"))
    there = replace(walled, world=replace(walled.world, roots=roots))

    assert "hidden" not in run(there, "cat ~/.ssh/secret ../second/secret")["stdout"]
    fails(there, "echo x > ~/.ssh/authorized_keys")


def test_nobody_becomes_more_than_they_are(walled: ToolContext) -> None:
    """Programs that would give more rights, such as sudo, give none."""
    assert printed(walled, "grep NoNewPrivs /proc/self/status") == "NoNewPrivs:\t1\n"


@contextmanager
def listening() -> Iterator[int]:
    """The port of a server on this machine."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.mark.parametrize("wall", REAL)
def test_the_network_is_there_by_policy(tmp_path: Path, wall: str) -> None:
    """With it a command reaches a server, without it none."""
    here = place(tmp_path)
    with listening() as port:
        connect = f"exec 5<>/dev/tcp/127.0.0.1/{port}"

        printed(behind(here, wall, network=True), connect)
        fails(behind(here, wall, network=False), connect)


def test_nobody_outside_can_be_sent_a_signal(walled: ToolContext) -> None:
    """Not even by a user whose processes they are."""
    with subprocess.Popen(["/bin/sleep", "1000"]) as outside:
        fails(walled, f"kill -KILL {outside.pid}")

        assert outside.poll() is None
        outside.kill()


def test_temporary_files_have_a_place(walled: ToolContext) -> None:
    """It is the command's own, and gone with it."""
    path = printed(walled, "mktemp").strip()

    assert not Path(path).exists()
    assert Path(path).parent == Path(tempfile.gettempdir()) or not Path(path).parent.exists()
    assert printed(walled, f"test -e {path} || echo gone") == "gone\n"


# ---- bubblewrap --------------------------------------------------------------------------------------------------


def test_a_command_sees_no_processes_but_its_own(boxed: ToolContext) -> None:
    """A command sees only its own few processes, and none of the machine's."""
    numbers = printed(boxed, "cd /proc; ls -d [0-9]*").split()

    assert len(numbers) <= 4
    assert printed(boxed, "ps -e 2>/dev/null | grep -c pytest; true").strip() == "0"


def test_repositories_can_be_read_and_not_changed(boxed: ToolContext, work: Path) -> None:
    """Every `.git` in the roots, however it is written and wherever it is, also one that is a file."""
    for folder in (".git", "deep/er/.git", "other/.GIT"):
        (work / folder).mkdir(parents=True)
        (work / folder / "config").write_text("before\n")
        fails(boxed, f"echo x > {folder}/config")
        fails(boxed, f"mkdir {folder}/hooks")
        fails(boxed, f"mv {folder} {folder}2")
    (work / "tree").mkdir()
    (work / "tree" / ".git").write_text("gitdir: elsewhere\n")
    fails(boxed, "echo x > tree/.git")

    assert printed(boxed, "cat .git/config deep/er/.git/config") == "before\nbefore\n"


def test_environment_files_are_masked(boxed: ToolContext, work: Path) -> None:
    """Neither read nor changed nor deleted, unless they are templates; also where a link leads to one's secret."""
    (work / "sub").mkdir()
    (work / "secrets").write_text("hidden")
    (work / "sub" / ".env.local").symlink_to("../secrets")
    for name in (".env", ".env.production", "sub/.ENV"):
        (work / name).write_text("hidden")
    (work / ".env.example").write_text("open\n")

    for name in (".env", ".env.production", "sub/.ENV", "sub/.env.local", "secrets"):
        assert "hidden" not in run(boxed, f"cat {name}")["stdout"]
        fails(boxed, f"echo x > {name}")
    fails(boxed, "rm -f .env")
    assert printed(boxed, "cat .env.example") == "open\n"
    assert (work / ".env").read_text() == "hidden"


def test_no_number_of_files_unmasks_one(
    boxed: ToolContext, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many there are beside it, what lies in a root itself is found."""
    monkeypatch.setattr(hidden_paths, "MOST_ENTRIES", 3)
    for number in range(50):
        (work / f"folder{number}").mkdir()
        (work / f"folder{number}" / "file").touch()
    (work / ".env").write_text("hidden")

    assert "hidden" not in run(boxed, "cat .env")["stdout"]
    assert len(hidden_paths.marked([str(work)]).secrets) == 1


def test_programs_that_stand_outside_cannot_be_reached(boxed: ToolContext) -> None:
    """Their sockets are in folders that are empty here."""
    assert printed(boxed, "ls -A /run /var/tmp | grep -v -e : -e systemd -e resolv; true").strip() == ""
    assert printed(boxed, "ls -A /dev/shm").strip() == ""


def test_the_superuser_is_none_inside(boxed: ToolContext) -> None:
    """A command has no capability, whoever runs the hub."""
    assert "CapEff:\t0000000000000000" in printed(boxed, "cat /proc/self/status")
    fails(boxed, "mount -t tmpfs none /mnt")
    fails(boxed, "umount ~/.ssh /tmp")


def test_a_folder_that_is_hidden_cannot_be_worked_in(boxed: ToolContext, tmp_path: Path) -> None:
    """The call says why, and nothing is run."""
    (tmp_path / "elsewhere").mkdir()

    outcome = ask(boxed, "execute_command", command="echo ran", cwd=str(tmp_path / "elsewhere"))

    assert refusal(outcome)[0] == "failed"
    assert "sandbox" in refusal(outcome)[1]


# ---- the choice --------------------------------------------------------------------------------------------------


@pytest.fixture
def _forgotten() -> Iterator[None]:
    """Let the facts about this machine be found anew."""
    sandbox._found.cache_clear()
    yield
    sandbox._found.cache_clear()


@pytest.mark.usefixtures("_forgotten")
def test_bubblewrap_is_chosen_where_it_works() -> None:
    """It is the wall that hides more."""
    needed(bubblewrap(), "bubblewrap")
    assert sandbox.choose().name == "bwrap"


@pytest.mark.usefixtures("_forgotten")
@pytest.mark.parametrize("program", [None, "#!/bin/sh\nexit 1\n", "no program"])
def test_landlock_is_chosen_where_bubblewrap_does_not_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str | None
) -> None:
    """Be it not there, be it forbidden to do what it is for."""
    if program is not None:
        (tmp_path / "bwrap").write_text(program)
        (tmp_path / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    assert sandbox.choose().name == "landlock"


@pytest.mark.usefixtures("_forgotten")
def test_there_is_no_wall_where_the_system_has_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Then commands run all the same, and it shows."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sandbox, "landlock_abi", lambda: 0)

    wall = sandbox.choose()

    assert wall.name == "none"
    launch = wall.around(["/bin/true"], cwd="/", environment={"A": "b"}, world=place(tmp_path).world)
    assert (launch.argv, launch.cwd, launch.environment) == (("/bin/true",), "/", {"A": "b"})


def test_this_machine_has_landlock() -> None:
    """Or half of what is tried here would not be."""
    assert landlock_abi() >= 1
    assert os.uname().sysname == "Linux"
