"""The record of installs: `clients.json` in the folder of configuration, which hooks, ringer and uninstall read."""

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

from hubbub.model.errors import HubError
from hubbub.processes import durable_files

RECORD = "clients.json"
VERSION = 1
TOKENS = "agents"  # the folder of the agents' tokens
PRIVATE_FOLDER = 0o700


class BadRecord(HubError):
    """The record cannot be read, so nothing can be said or changed."""


@dataclass(frozen=True, slots=True)
class Install:
    """One client in one scope: its agent and hub, and the changes made for it.

    `folder` is the project's in scope `project`, else None. `installed_at` is Unix milliseconds. `token_id` is the
    token's id at the hub.
    """

    client: str
    scope: str
    folder: str | None
    agent: str
    url: str
    project: str
    token_file: str
    token_id: str | None
    installed_at: int
    changes: list[dict[str, Any]]

    @property
    def again(self) -> str:
        """Return the command that installs the same again."""
        return f"hubbub install {self.client} --scope {self.scope} --as {self.agent}"

    def token(self) -> str | None:
        """Return the agent's token; None if the file is gone."""
        try:
            return Path(self.token_file).read_text("ascii").strip() or None
        except (OSError, ValueError):
            return None


def read(config: Path) -> list[Install]:
    """Return all installs of the person. Raises `BadRecord` if the file is there and is malformed."""
    file = config / RECORD
    try:
        facts = json.loads(file.read_text("utf-8"))
        installs = [Install(**{"token_id": None, **each}) for each in facts["installs"]]
        _require_own_tokens(config, installs)
        return installs
    except FileNotFoundError:
        return []
    except (OSError, ValueError, KeyError, TypeError):
        raise BadRecord(f"{file} was not written by hubbub install; move it away to start anew") from None


def _require_own_tokens(config: Path, installs: Sequence[Install]) -> None:
    """Raise `ValueError` for a token that is not beside ours: it would be sent away, and deleted in the end."""
    ours = config.resolve()
    if not all(Path(each.token_file).resolve().is_relative_to(ours) for each in installs):
        raise ValueError


def put(config: Path, install: Install) -> None:
    """Store an install, in place of an earlier one of the same. Under the lock."""
    _write(config, [*(each for each in read(config) if place(each) != place(install)), install])


def remove(config: Path, install: Install) -> None:
    """Remove an install. Under the lock.

    Folders that it made and others still use become theirs, for the last to remove.
    """
    others = [each for each in read(config) if place(each) != place(install)]
    made = [folder for facts in install.changes if facts["do"] == "folders" for folder in facts["folders"]]
    left = [folder for folder in made if Path(folder).is_dir()]
    _write(config, [_heir(each, left) for each in others])


def _heir(install: Install, folders: Sequence[str]) -> Install:
    """Return the install with those of the folders that hold its files, or its token, as its own."""
    named = [*(facts["file"] for facts in install.changes if "file" in facts), install.token_file]
    files = [Path(os.path.realpath(each)) for each in named]
    above = [each for each in folders if any(Path(each) in file.parents for file in files)]
    return (
        replace(install, changes=[{"do": "folders", "folders": above}, *install.changes])
        if above
        else install
    )


def _write(config: Path, installs: list[Install]) -> None:
    file = config / RECORD
    if not installs:
        durable_files.remove(file)
        return
    durable_files.make_folder(config, PRIVATE_FOLDER)
    text = json.dumps({"version": VERSION, "installs": [asdict(each) for each in installs]}, indent=1)
    durable_files.write(file, text + "\n")


def token_file(config: Path, agent: str) -> Path:
    """Return the path of an agent's token."""
    return config / TOKENS / f"{quote(agent, safe='')}.token"


def place(install: Install) -> tuple[str, str, str | None]:
    """Return the key of an install: there is at most one for it."""
    return install.client, install.scope, install.folder
