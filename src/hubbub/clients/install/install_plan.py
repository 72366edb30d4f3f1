"""What an install would do, made before anything is done: shown by `--dry-run`, done at once, undone to the byte.

A plan is a list of changes, each of which says in facts (JSON) how it is undone; the record keeps the facts. An
install over an earlier one undoes that first, in memory, so that what was there before either is never lost.
"""

import os
import shlex
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from hubbub.clients.install.file_changes import (
    FileChanges,
    backup_of,
    digest,
    locked,
    masked,
    missing_folders,
    remove_empty,
    write_new,
)
from hubbub.model.errors import HubError
from spliceconf import EDITORS, MISSING, Keys, Unreadable, find, newline

Facts = dict[str, Any]
COMMAND_SECONDS = 60
OTHERS = 0o077


class CannotInstall(HubError):
    """A client, or its configuration, to which this cannot be done; the message is one sentence.

    `snippet` is what a person would paste to do it by hand: lines.
    """

    def __init__(self, sentence: str, snippet: str | None = None) -> None:
        super().__init__(sentence)
        self.snippet = snippet


class InstallStep(Protocol):
    """One thing that an install does."""

    def make(self, plan: "InstallPlan") -> None:
        """Do it in the plan's files, and note there how it is undone."""


@dataclass(frozen=True, slots=True)
class ConfigEntry:
    """One value at one place of a configuration file, such as `("mcpServers", "hubbub")`.

    `same` names the field that says whether what is there already means the same hub; without it, any other value is
    somebody else's. `language` is one of `EDITORS`. A `private` file is made for its owner alone.
    """

    file: Path
    language: str
    keys: Keys
    value: Any
    same: str | None = None
    private: bool = False

    def make(self, plan: "InstallPlan") -> None:
        text = plan.text_of(self)
        present = find(plan.loaded(self), self.keys)
        if present == self.value:
            return
        is_ours = self._is_ours(present) or (self.file, self.keys) in plan.held
        if present is not MISSING and not is_ours:
            plan.conflicts.append(f"{self.file} has another {'.'.join(self.keys)} already")
        with explained(self):
            new, trace = EDITORS[self.language].put(text, self.keys, self.value)
        plan.write(self, new, {"do": "entry", "same": self._address(), **trace.facts()})

    def _is_ours(self, present: Any) -> bool:
        return (
            self.same is not None
            and isinstance(present, dict)
            and present.get(self.same) == self.value.get(self.same)
        )

    def _address(self) -> list[Any] | None:
        return None if self.same is None else [self.same, self.value.get(self.same)]


@dataclass(frozen=True, slots=True)
class ConfigListItem:
    """One element of a list in a configuration file, such as a hook: never in place of others.

    `mark` is a text that only our element holds: the exact command.
    """

    file: Path
    language: str
    keys: Keys
    value: Any
    mark: str

    def make(self, plan: "InstallPlan") -> None:
        text = plan.text_of(self)
        listed = find(plan.loaded(self), self.keys)
        if isinstance(listed, list) and any(holds(each, self.mark) for each in listed):
            return
        with explained(self):
            new, trace = EDITORS[self.language].append(text, self.keys, self.value)
        plan.write(self, new, {"do": "item", "mark": self.mark, **trace.facts()})


@dataclass(frozen=True, slots=True)
class OwnedFile:
    """A file that is ours from the first byte to the last."""

    file: Path
    text: str
    private: bool = False

    def make(self, plan: "InstallPlan") -> None:
        present = plan.whole(self.file)
        if present == self.text:
            return
        if present is not None and (self.file, ()) not in plan.held:
            plan.conflicts.append(f"{self.file} is there already")
        plan.prepare(self.file, private=self.private)
        plan.files.write(self.file, self.text)
        plan.done.append({"do": "whole", "file": str(self.file), "digest": digest(self.text), "old": present})


@dataclass(frozen=True, slots=True)
class ClientCommand:
    """A program of the client's own, run after the files were written.

    `environment` is added to ours. Doing it twice must be as good as once: an install may come over an earlier one.
    Nothing of it is kept: a record that named programs would be one that has them run.
    """

    argv: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)

    def make(self, plan: "InstallPlan") -> None:
        plan.commands.append(self)

    def run(self) -> None:
        """Raises `CannotInstall` with what the program said, if it fails."""
        run(self.argv, self.environment)


@dataclass(slots=True)
class InstallPlan:
    """What will be done. `conflicts` are sentences that need `--force`; `notes` tell the person what is left to do.

    `done` is what the record keeps: facts by which `undo.py` takes all of it back.
    """

    files: FileChanges = field(default_factory=FileChanges)
    commands: list[ClientCommand] = field(default_factory=list)
    done: list[Facts] = field(default_factory=list)
    conflicts: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    backups: dict[Path, Path] = field(default_factory=dict)  # of an earlier install, by the file they are of
    folders: list[Path] = field(default_factory=list)  # made by an earlier install; those that are empty go
    held: set[tuple[Path, Keys]] = field(default_factory=set)  # where what is there is an earlier install's

    def add(self, changes: Sequence[InstallStep]) -> None:
        """Do all of `changes`. Raises `CannotInstall` for a file that cannot be edited, with what to paste instead."""
        for change in changes:
            change.make(self)

    def require_inside(self, folder: Path) -> None:
        """Raise `CannotInstall` for a file that a link leads out of the folder: others made the link."""
        for path in self.files.changed():
            if not (real := path.resolve()).is_relative_to(folder.resolve()):
                raise CannotInstall(f"{path} leads out of the project, to {real}; nothing was changed")

    def diff(self) -> str:
        """What changes in files, and what is run; tokens masked."""
        return self.files.diff() + "".join(f"$ {masked(shlex.join(each.argv))}\n" for each in self.commands)

    def is_empty(self) -> bool:
        return not self.files.changed() and not self.commands

    def apply(self, config: Path, then: Callable[[], None]) -> None:
        """Do it: the files, then the commands, and `then`; all of it or nothing. `config` is where the record is.

        Raises `CannotInstall` for a failed program, `FileChanged` for a file that others wrote meanwhile, `OSError`.
        """
        with locked(config):
            self._keep_backups()
            try:
                self.files.commit()
                for command in self.commands:
                    command.run()
                remove_empty(self.folders)
                then()
            except BaseException:  # whatever it is: nothing half done
                self.files.revert()
                self._drop_backups(set(self.backups.values()))
                raise
            self._drop_backups(self._kept())

    def text_of(self, change: ConfigEntry | ConfigListItem) -> str:
        """The text of the change's file as it is to be; of none, the empty one."""
        with explained(change):
            return self.files.read(change.file) or ""

    def whole(self, path: Path) -> str | None:
        """Return the text of a file as it is to be, None for none; raise `CannotInstall` if it cannot be read."""
        try:
            return self.files.read(path)
        except Unreadable as error:
            raise CannotInstall(f"{path} {error}; nothing was changed") from None

    def loaded(self, change: ConfigEntry | ConfigListItem) -> Any:
        """Parse the file of a change. Raises `CannotInstall` with a snippet if it cannot be parsed."""
        with explained(change):
            return EDITORS[change.language].load(self.text_of(change))

    def write(self, change: ConfigEntry | ConfigListItem, text: str, facts: Facts) -> None:
        """Let the change's file hold `text`, and remember by what it is undone."""
        self.prepare(change.file, private=isinstance(change, ConfigEntry) and change.private)
        self.files.write(change.file, text)
        where = {"file": str(change.file), "language": change.language, "keys": [*change.keys]}
        self.done.append({**where, "end": newline(text), **facts})

    def prepare(self, path: Path, *, private: bool) -> None:
        """Remember what is made around a file before it is first written: folders, the file, a backup, its rights."""
        if not any(each.get("file") == str(path) for each in self.done):
            self._surround(path)
        mode = self.files.mode(path)
        if private and mode & OTHERS:
            self.done.append({"do": "mode", "file": str(path), "mode": mode})
            self.files.modes[path] = mode & ~OTHERS

    def own_folders(self, path: Path, made: Sequence[Path]) -> None:
        """Remember that those above the file which are in `made`, or of an earlier install, go when they are empty."""
        above = Path(os.path.realpath(path)).parents
        folders = [*made, *(each for each in self.folders if each in above)]
        self.folders = [each for each in self.folders if each not in folders]
        known = {each for facts in self.done if facts["do"] == "folders" for each in facts["folders"]}
        if fresh := [str(each) for each in folders if str(each) not in known]:
            self.done.append({"do": "folders", "folders": fresh})

    def _surround(self, path: Path) -> None:
        self.own_folders(path, missing_folders(path))
        if self.whole(path) is None:
            self.done.append({"do": "create", "file": str(path)})
        else:
            backup = self.backups.get(path) or backup_of(path)
            self.done.append({"do": "backup", "file": str(path), "backup": str(backup)})

    def _keep_backups(self) -> None:
        for path, backup in self._backups():
            text = self.files.was(path)
            if text is not None and not backup.exists() and path in self.files.changed():
                write_new(backup, text, like=path)

    def _drop_backups(self, kept: set[Path]) -> None:
        """Take the backups away that this plan or an earlier one made, but those to be kept."""
        for backup in {*self.backups.values(), *(backup for _, backup in self._backups())} - kept:
            backup.unlink(missing_ok=True)

    def _backups(self) -> list[tuple[Path, Path]]:
        return [(Path(each["file"]), Path(each["backup"])) for each in self.done if each["do"] == "backup"]

    def _kept(self) -> set[Path]:
        return {backup for _, backup in self._backups()}


def holds(value: Any, mark: str) -> bool:
    """Whether a text that is `mark` is anywhere in the value."""
    if isinstance(value, dict):
        return any(holds(each, mark) for each in value.values())
    if isinstance(value, list):
        return any(holds(each, mark) for each in value)
    return bool(value == mark)


def run(argv: Sequence[str], environment: Mapping[str, str]) -> str:
    """Run a client's own program; what it printed. Raises `CannotInstall` with its last line, if it fails."""
    try:
        ended = subprocess.run(
            argv,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=COMMAND_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CannotInstall(f"{argv[0]} could not be run: {error}") from None
    if ended.returncode:
        said = (ended.stderr.strip() or ended.stdout.strip() or "nothing").splitlines()[-1]
        raise CannotInstall(f"{shlex.join(argv[:3])} failed and said: {masked(said)}")
    return ended.stdout


@contextmanager
def explained(change: ConfigEntry | ConfigListItem) -> Iterator[None]:
    """Say of which file it is that it cannot be edited, and what to paste there by hand."""
    try:
        yield
    except Unreadable as error:
        value = (
            [change.value]
            if isinstance(change, ConfigListItem) and change.language != "toml"
            else change.value
        )
        snippet = EDITORS[change.language].snippet(change.keys, value)
        raise CannotInstall(
            f"{change.file} {error}; nothing was changed. Mend it, or add this yourself:", masked(snippet)
        ) from None
