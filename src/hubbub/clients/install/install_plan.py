"""The plan of an install, made before anything is done: shown by `--dry-run`, done at once, undone to the byte.

A plan is a list of changes, each with facts (JSON) for its undoing, which the record keeps. An install over an earlier
one undoes that first, in memory, so that the state before either is never lost.
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
from hubbub.processes import durable_files
from spliceconf import EDITORS, MISSING, Keys, Unreadable, find, newline

Facts = dict[str, Any]
COMMAND_SECONDS = 60
OTHERS = 0o077


class CannotInstall(HubError):
    """The client, or its configuration, does not allow this; the message is one sentence.

    `snippet` are the lines that a person would paste to do it by hand.
    """

    def __init__(self, sentence: str, snippet: str | None = None) -> None:
        super().__init__(sentence)
        self.snippet = snippet


class InstallStep(Protocol):
    """One step of an install."""

    def make(self, plan: "InstallPlan") -> None:
        """Do the step in the plan's files, and record there how to undo it."""


@dataclass(frozen=True, slots=True)
class ConfigEntry:
    """One value at one place of a configuration file, such as `("mcpServers", "hubbub")`.

    `same` names the field that shows whether an existing value means the same hub; without it, any other value belongs
    to others. `language` is one of `EDITORS`. A `private` file is made readable for its owner alone.
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
    """One element of a list in a configuration file, such as a hook; it never replaces others.

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

    `environment` is added to ours. It must be repeatable: an install may come over an earlier one.
    Nothing of it is recorded: a record with programs could make us run any.
    """

    argv: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)

    def make(self, plan: "InstallPlan") -> None:
        plan.commands.append(self)

    def run(self) -> None:
        """Run the program. Raises `CannotInstall` with its words, if it fails."""
        run(self.argv, self.environment)


@dataclass(slots=True)
class InstallPlan:
    """The steps to do. `conflicts` are sentences that need `--force`; `notes` list the person's remaining steps.

    `done` goes into the record: facts by which `undo.py` removes everything again.
    """

    files: FileChanges = field(default_factory=FileChanges)
    commands: list[ClientCommand] = field(default_factory=list)
    done: list[Facts] = field(default_factory=list)
    conflicts: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    backups: dict[Path, Path] = field(default_factory=dict)  # of an earlier install, by their files
    folders: list[Path] = field(default_factory=list)  # made by an earlier install; empty ones are removed
    held: set[tuple[Path, Keys]] = field(default_factory=set)  # where an earlier install's entry is

    def add(self, changes: Sequence[InstallStep]) -> None:
        """Do all of `changes`. Raises `CannotInstall` for a file that cannot be edited, with text to paste."""
        for change in changes:
            change.make(self)

    def require_inside(self, folder: Path) -> None:
        """Raise `CannotInstall` if a foreign link leads the file out of the folder."""
        for path in self.files.changed():
            if not (real := path.resolve()).is_relative_to(folder.resolve()):
                raise CannotInstall(f"{path} leads out of the project, to {real}; nothing was changed")

    def diff(self) -> str:
        """Return the changes of files and the programs to run; tokens masked."""
        return self.files.diff() + "".join(f"$ {masked(shlex.join(each.argv))}\n" for each in self.commands)

    def is_empty(self) -> bool:
        return not self.files.changed() and not self.commands

    def apply(self, config: Path, then: Callable[[], None]) -> None:
        """Carry out the plan: the files, then the commands, and `then`; all or nothing. `config` holds the record.

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
            except BaseException:  # any error: nothing half done
                self.files.revert()
                self._drop_backups(set(self.backups.values()))
                raise
            self._drop_backups(self._kept())

    def text_of(self, change: ConfigEntry | ConfigListItem) -> str:
        """Return the new text of the change's file; of a missing one, the empty text."""
        with explained(change):
            return self.files.read(change.file) or ""

    def whole(self, path: Path) -> str | None:
        """Return the new text of a file, None for none; raise `CannotInstall` if it cannot be read."""
        try:
            return self.files.read(path)
        except Unreadable as error:
            raise CannotInstall(f"{path} {error}; nothing was changed") from None

    def loaded(self, change: ConfigEntry | ConfigListItem) -> Any:
        """Parse the file of a change. Raises `CannotInstall` with a snippet if it cannot be parsed."""
        with explained(change):
            return EDITORS[change.language].load(self.text_of(change))

    def write(self, change: ConfigEntry | ConfigListItem, text: str, facts: Facts) -> None:
        """Set the new text of the change's file, and record how to undo it."""
        self.prepare(change.file, private=isinstance(change, ConfigEntry) and change.private)
        self.files.write(change.file, text)
        where = {"file": str(change.file), "language": change.language, "keys": [*change.keys]}
        self.done.append({**where, "end": newline(text), **facts})

    def prepare(self, path: Path, *, private: bool) -> None:
        """Record everything made around a file before its first write: folders, the file, a backup, its permissions."""
        if not any(each.get("file") == str(path) for each in self.done):
            self._surround(path)
        mode = self.files.mode(path)
        if private and mode & OTHERS:
            self.done.append({"do": "mode", "file": str(path), "mode": mode})
            self.files.modes[path] = mode & ~OTHERS

    def own_folders(self, path: Path, made: Sequence[Path]) -> None:
        """Record that folders above the file go when empty, if they are in `made`, or of an earlier install."""
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
        """Remove the backups of this plan and earlier ones, except those to keep."""
        for backup in {*self.backups.values(), *(backup for _, backup in self._backups())} - kept:
            if backup.exists():
                durable_files.remove(backup)

    def _backups(self) -> list[tuple[Path, Path]]:
        return [(Path(each["file"]), Path(each["backup"])) for each in self.done if each["do"] == "backup"]

    def _kept(self) -> set[Path]:
        return {backup for _, backup in self._backups()}


def holds(value: Any, mark: str) -> bool:
    """Tell whether the text `mark` is anywhere in the value."""
    if isinstance(value, dict):
        return any(holds(each, mark) for each in value.values())
    if isinstance(value, list):
        return any(holds(each, mark) for each in value)
    return bool(value == mark)


def run(argv: Sequence[str], environment: Mapping[str, str]) -> str:
    """Run a client's own program and return its output. Raises `CannotInstall` with its last line, if it fails."""
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
    """Add to errors which file cannot be edited, and what to paste there by hand."""
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
