"""A machine with nobody's files on it, and what an installer is told about it."""

import stat
from dataclasses import dataclass
from pathlib import Path

import pytest

from hubbub.clients.install.client import PROJECT, USER, Client, Machine, Request
from hubbub.clients.install.files import Files
from hubbub.clients.install.plan import Facts, Plan
from hubbub.clients.install.undo import undo

SECRET = "ntok_00112233445566778899aabbccddeeff"
Tree = dict[str, tuple[int, bytes | str | None]]


@dataclass(frozen=True)
class Place:
    """A home, a project and our own folder, all empty."""

    home: Path
    project: Path
    config: Path

    def request(self, scope: str, *, platform: str = "linux", **environment: str) -> Request:
        """What an installer is told."""
        file = self.config / "agents" / "ember.token"
        machine = Machine(self.home, environment, platform)
        return Request(
            scope,
            self.project,
            "ember",
            "http://127.0.0.1:8420",
            "default",
            SECRET,
            file,
            self.config,
            None,
            machine,
        )

    def install(self, client: Client, scope: str) -> list[Facts]:
        """Do what the client's installer would; gives what the record keeps."""
        plan = Plan()
        plan.add(client.changes(self.request(scope)))
        plan.apply(self.config, lambda: None)
        return plan.done

    def uninstall(self, done: list[Facts]) -> None:
        plan = Plan()
        undo(plan, done)
        plan.apply(self.config, lambda: None)

    def tree(self) -> Tree:
        """Every file, folder and link of the home and the project, with its rights and what it holds."""
        return {
            str(each.relative_to(self.home.parent)): (stat.S_IMODE(each.lstat().st_mode), _held(each))
            for root in (self.home, self.project)
            for each in sorted(root.rglob("*"))
        }


def _held(path: Path) -> bytes | str | None:
    if path.is_symlink():
        return str(path.readlink())
    return path.read_bytes() if path.is_file() else None


def scopes(client: Client) -> list[str]:
    """Where the client can be installed."""
    return [USER] if client.no_project else [USER, PROJECT]


def files_of(place: Place, client: Client, scope: str) -> list[tuple[Path, str]]:
    """The configuration files that an install edits, and in which language they are."""
    plan = Plan(files=Files())
    plan.add(client.changes(place.request(scope)))
    edited = {each["file"]: each["language"] for each in plan.done if "language" in each}
    return [(Path(file), language) for file, language in edited.items()]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A machine for one test."""
    found = Place(tmp_path / "home", tmp_path / "project", tmp_path / "config")
    found.home.mkdir()
    found.project.mkdir()
    return found
