"""A machine's membership in a hub: its name and its key, in a file that only its user may read.

There is one machine for each folder, and one process for each machine: the folder is locked while the process lives.
"""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

import click

from hubbub.client import owner_token, quoted
from hubbub.model.data_folder import MEMBERSHIP_FILE as FILE
from hubbub.model.errors import Invalid
from hubbub.model.json_fields import text_of, text_or_none, texts_of
from hubbub.processes import durable_files, file_locks

LOCK = "node.lock"
ROOM = 4_096  # bytes: more than a membership takes
INSIDE = "nodes"  # in the data folder of a hub: the folders of machines beside the hub's own


@dataclass(frozen=True, slots=True, kw_only=True)
class Membership:
    """The machine, hub and project of the folder's process. `url` is None for the hub of its data folder."""

    name: str
    project: str
    url: str | None
    token: str = field(repr=False)
    labels: tuple[str, ...] = ()

    def fits(self, *, name: str | None, url: str | None, project: str | None) -> bool:
        """Tell whether this is the requested membership; None stands for any value."""
        asked = ((name, self.name), (url and url.rstrip("/"), self.url), (project, self.project))
        return all(wanted in (None, held) for wanted, held in asked)


def folder_of(data: Path, name: str) -> Path:
    """Return the folder of the machine `name`: the data folder, or one inside it if that belongs to a hub."""
    is_hubs = owner_token(data) is not None and not (data / FILE).exists()
    return data / INSIDE / quoted(name) if is_hubs else data


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Lock the folder, made if missing, for this process. Raises `click.ClickException` if another one holds it."""
    for each in (folder.parent, folder):
        durable_files.make_folder(each, 0o700)
    lock = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        if not file_locks.take(lock):
            raise click.ClickException(
                "a node runs on this data folder already; stop it, or choose another folder with --data"
            )
        yield
    finally:
        os.close(lock)  # the kernel's lock ends with it; the file stays for the next one


def read(folder: Path) -> Membership | None:
    """Return the folder's membership, None if there is none. Raises `click.ClickException` for an unreadable one."""
    try:
        return _membership(json.loads((folder / FILE).read_text("utf-8")))
    except FileNotFoundError:
        return None
    except (ValueError, Invalid):
        raise click.ClickException(
            f"{FILE} in the data folder does not say what this machine has joined; remove it, and join again"
        ) from None


def _membership(facts: object) -> Membership:
    """Parse a membership. Raises `Invalid` for a malformed one."""
    if not isinstance(facts, dict):
        raise Invalid("a membership is an object")
    return Membership(
        name=text_of(facts, "name"),
        project=text_of(facts, "project"),
        url=text_or_none(facts, "url"),
        token=text_of(facts, "token"),
        labels=texts_of(facts, "labels"),
    )


def write(folder: Path, membership: Membership) -> None:
    """Write the file at once, readable for its user alone."""
    durable_files.write(folder / FILE, json.dumps(asdict(membership)))


def require_room(folder: Path) -> None:
    """Raise `OSError` if `write` would: before a code is used up for a membership that cannot be stored."""
    with durable_files.draft(folder / FILE, " " * ROOM):
        pass
