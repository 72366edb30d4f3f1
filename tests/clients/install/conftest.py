"""A machine with nobody's files on it, and what an installer is told about it."""

import functools
import inspect
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import pytest

from hubbub.clients.install.client_installer import (
    PROJECT,
    USER,
    ClientInstaller,
    InstallRequest,
    UserFolders,
)
from hubbub.clients.install.file_changes import FileChanges
from hubbub.clients.install.install_plan import Facts, InstallPlan
from hubbub.clients.install.undo import undo

SECRET = "ntok_00112233445566778899aabbccddeeff"
OF_SAMPLE = ("place", "sample")  # what a test is given of each
CORPUS = Path(__file__).parent / "corpus"
Tree = dict[str, tuple[int, bytes | str | None]]


@dataclass(frozen=True)
class Place:
    """A home, a project and our own folder, all empty."""

    home: Path
    project: Path
    config: Path

    @classmethod
    def fresh(cls, folder: Path) -> Self:
        """A machine in a folder."""
        found = cls(folder / "home", folder / "project", folder / "config")
        found.home.mkdir(parents=True)
        found.project.mkdir()
        return found

    def request(self, scope: str, *, platform: str = "linux", **environment: str) -> InstallRequest:
        """Return the request to an installer."""
        file = self.config / "agents" / "ember.token"
        machine = UserFolders(self.home, environment, platform)
        return InstallRequest(
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

    def install(self, client: ClientInstaller, scope: str) -> list[Facts]:
        """Do what the client's installer would; gives what the record keeps."""
        plan = InstallPlan()
        plan.add(client.changes(self.request(scope)))
        plan.apply(self.config, lambda: None)
        return plan.done

    def uninstall(self, done: list[Facts]) -> None:
        plan = InstallPlan()
        undo(plan, done)
        plan.apply(self.config, lambda: None)

    def tree(self) -> Tree:
        """Return every file, folder and link of the home and the project, with its permissions and content."""
        return {
            str(each.relative_to(self.home.parent)): (stat.S_IMODE(each.lstat().st_mode), _held(each))
            for root in (self.home, self.project)
            for each in sorted(root.rglob("*"))
        }


def _held(path: Path) -> bytes | str | None:
    if path.is_symlink():
        return str(path.readlink())
    return path.read_bytes() if path.is_file() else None


def scopes(client: ClientInstaller) -> list[str]:
    """Return the scopes in which the client can be installed."""
    return [USER] if client.no_project else [USER, PROJECT]


def files_of(place: Place, client: ClientInstaller, scope: str) -> list[tuple[Path, str]]:
    """The configuration files that an install edits, and in which language they are."""
    plan = InstallPlan(files=FileChanges())
    plan.add(client.changes(place.request(scope)))
    edited = {each["file"]: each["language"] for each in plan.done if "language" in each}
    return [(Path(file), language) for file, language in edited.items()]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A machine for one test."""
    return Place.fresh(tmp_path)


def each_sample(check: Callable[..., None]) -> Callable[..., None]:
    """Run a test with every file of the corpus, each on a machine of its own; it reports all failures."""

    @functools.wraps(check)
    def test(tmp_path: Path, **more: object) -> None:
        samples = {str(sample.relative_to(CORPUS)): sample for sample in sorted(CORPUS.glob("*/*"))}
        wrong = {}
        for name, sample in samples.items():
            try:
                check(Place.fresh(tmp_path / name), sample, **more)
            except Exception as error:  # noqa: BLE001  # all of them are told
                wrong[name] = repr(error)
        assert samples
        assert not wrong

    kept = [each for name, each in inspect.signature(check).parameters.items() if name not in OF_SAMPLE]
    folder = inspect.Parameter("tmp_path", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    test.__signature__ = inspect.Signature([folder, *kept])  # type: ignore[attr-defined]
    return test
