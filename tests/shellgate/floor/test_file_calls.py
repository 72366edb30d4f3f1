from pathlib import Path

import pytest

from shellgate.analysis import Analysis, CallPart
from shellgate.floor import file_calls
from shellgate.world import World
from tests.shellgate.worlds import world


@pytest.fixture
def here(tmp_path: Path) -> World:
    return world(tmp_path)


def only(reading: Analysis) -> CallPart:
    (part,) = reading.parts
    return part


def clauses(here: World, tool: str, **arguments: object) -> list[str]:
    reading = file_calls.read(tool, arguments, here)
    return [
        each.rule_id for each in (*reading.floor, *(said for part in reading.parts for said in part.floor))
    ]


def test_the_target_is_where_the_path_leads(here: World) -> None:
    """It is what will be opened; rules see it and the path as it was named."""
    (Path(here.cwd) / "real").mkdir()
    (Path(here.cwd) / "link").symlink_to("real")

    reading = file_calls.read("read_file", {"path": "./link/../link/a.py"}, here)

    assert reading.target == only(reading).target == f"{here.cwd}/real/a.py"
    assert only(reading).paths == (f"{here.cwd}/link/a.py", f"{here.cwd}/real/a.py")


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("read_file", {"path": "a.py"}),
        ("list_dir", {"path": "."}),
        ("grep", {"pattern": "x", "path": "src"}),
        ("glob", {"pattern": "**/*.md"}),
        ("glob", {"pattern": "*.md", "cwd": "src"}),
    ],
)
def test_looking_inside_the_roots_is_harmless(here: World, tool: str, arguments: dict[str, object]) -> None:
    """The shipped policy lets it through; elsewhere a person is asked, and told why."""
    inside = only(file_calls.read(tool, arguments, here))
    name = "cwd" if tool == "glob" else "path"
    outside = only(file_calls.read(tool, {**arguments, name: ".."}, here))

    assert inside.is_harmless
    assert inside.concern is None
    assert not outside.is_harmless
    assert outside.concern == "it is outside the folders that agents work in"


@pytest.mark.parametrize("tool", ["write_file", "open_file"])
def test_writing_and_opening_is_asked_about(here: World, tool: str) -> None:
    """The floor has nothing against it inside the roots."""
    part = only(file_calls.read(tool, {"path": "a.py", "content": ""}, here))

    assert not part.is_harmless
    assert part.floor == ()


def test_secrets_are_asked_about(here: World) -> None:
    """Reading `.env` or a key is not denied, and not let through either; a listing of names is."""
    for path in (".env", "keys/server.pem"):
        for tool in ("read_file", "grep"):
            part = only(file_calls.read(tool, {"path": path, "pattern": "x"}, here))
            assert (part.floor, part.is_harmless, part.concern) == ((), False, "it may hold secrets")


@pytest.mark.parametrize(
    ("tool", "arguments", "clause"),
    [
        ("write_file", {"path": ".env"}, "F4"),
        ("write_file", {"path": ".GIT/config"}, "F4"),
        ("write_file", {"path": "~/.bashrc"}, "F4"),
        ("write_file", {"path": "~bob/.zshrc"}, "F4"),
        ("write_file", {"path": "sub/../.mcp.json"}, "F4"),
        ("write_file", {"path": "/etc/hosts"}, "F5"),
        ("write_file", {"path": "l/authorized_keys"}, "F5"),
        ("read_file", {"path": "~/.ssh/id_rsa"}, "F5"),
        ("read_file", {"path": "../../../../../../../../../../../../etc/shadow"}, "F5"),
        ("read_file", {"path": "/proc/self/environ"}, "F5"),
        ("read_file", {"path": "/dev/null"}, "F5"),
        ("read_file", {"path": "/dev/stdin"}, "F5"),
        ("read_file", {"path": "/dev/no-such-device"}, "F5"),
        ("write_file", {"path": "/dev/tty"}, "F5"),
        ("write_file", {"path": "/dev/sda"}, "F3"),
        ("write_file", {"path": "disk"}, "F3"),
        ("read_file", {"path": "a\0b"}, "F5"),
        ("open_file", {"path": "~/.ssh/config"}, "F5"),
        ("list_dir", {"path": "~/.ssh"}, "F5"),
        ("list_dir", {"path": "l"}, "F5"),
        ("list_dir", {"path": "/ETC"}, "F5"),
        ("grep", {"pattern": "x", "path": "/etc"}, "F5"),
        ("glob", {"pattern": "~/.ssh/*"}, "F5"),
        ("glob", {"pattern": "../.ssh/id_*"}, "F5"),
        ("glob", {"pattern": "/etc/**"}, "F5"),
        ("glob", {"pattern": "*", "cwd": "~/.config/hubbub"}, "F5"),
        ("glob", {"pattern": "l/*"}, "F5"),
        ("glob", {"pattern": "~/.ssh"}, "F5"),
        ("glob", {"pattern": "*/../../.ssh/id_rsa"}, "F5"),
        ("glob", {"pattern": "{src,..}/*"}, "F5"),
        ("glob", {"pattern": "{.ssh,x}/*", "cwd": "~"}, "F5"),
        ("glob", {"pattern": "{/etc,x}/*"}, "F5"),
        ("glob", {"pattern": "\0*"}, "F5"),
    ],
)
def test_the_floor_denies(here: World, tool: str, arguments: dict[str, object], clause: str) -> None:
    """F3, F4 and F5, however the path is written and wherever it leads."""
    (Path(here.home) / ".ssh").mkdir()
    (Path(here.cwd) / "l").symlink_to(Path(here.home) / ".ssh")
    (Path(here.cwd) / "disk").symlink_to("/dev/sda")

    assert clause in clauses(here, tool, **arguments)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("write_file", {"path": "src/etc/settings.py"}),
        ("write_file", {"path": ".gitkeep"}),
        ("write_file", {"path": ".env.sample"}),
        ("write_file", {"path": ".github/workflows/test.yml"}),
        ("write_file", {"path": "docs/ssh.md"}),
        ("read_file", {"path": ".git/HEAD"}),
        ("read_file", {"path": "/usr/share/dict/words"}),
        ("read_file", {"path": "src/[id]/page.tsx"}),
        ("list_dir", {"path": "~"}),
        ("list_dir", {"path": "/dev"}),
        ("write_file", {"path": "/dev/shm/x"}),
        ("write_file", {"path": "src/dev/null"}),
        ("grep", {"pattern": "/etc/passwd", "path": "."}),
        ("glob", {"pattern": "**/.env*"}),
    ],
)
def test_the_floor_has_nothing_against(here: World, tool: str, arguments: dict[str, object]) -> None:
    """Lookalikes pass: reading Git's own files, and patterns, which are text."""
    assert clauses(here, tool, **arguments) == []


def test_a_file_with_several_names_is_read_and_not_written(here: World) -> None:
    """The file tools write to no such file, whatever the other names are."""
    (Path(here.cwd) / "one").touch()
    (Path(here.cwd) / "two").hardlink_to(Path(here.cwd) / "one")

    assert clauses(here, "read_file", path="one") == []
    assert clauses(here, "write_file", path="one") == ["F4"]
