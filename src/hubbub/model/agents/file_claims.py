"""Claims: files that agents hold while they edit them, and names of files that are valid for every checkout.

A file is its repository and its path in it, in any checkout. In the project's own repository, its *home*,
the path alone is the entry, so that it meets the declared scopes of agents. A file of any other repository is entered
as `repository:path`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from hubbub.model.errors import Invalid

TTL = timedelta(minutes=30)  # after the last edit
REPOSITORY_LENGTH = 300  # characters

_REPOSITORY = re.compile(r"(?!\.{1,2}(?:/|$))[\w.~+@%-]+(?:/(?!\.{1,2}(?:/|$))[\w.~+@%-]+)*")
_SCHEMES = {"http", "https", "ssh", "git", "git+ssh", "ssh+git", "git+https", "git+http"}
_DOORS: Mapping[str, str] = {  # alternative names of a host, for networks that block the usual ones
    "ssh.github.com": "github.com",
    "altssh.gitlab.com": "gitlab.com",
    "altssh.bitbucket.org": "bitbucket.org",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A file, or a pattern of files, that an agent holds."""

    agent: str
    presence_id: UUID
    instance: str | None  # the run of the agent's client that edits it; None: claimed by a tool
    repository: str
    path: str
    entry: str  # as it appears among declared scopes
    branch: str | None
    worktree: str | None
    claimed_at: int
    edited_at: int
    expires_at: int


def identity(address: str) -> str | None:
    """Return the name of the repository at a remote address: `host/path`, in small letters; None for a local address.

    The way to reach it (ssh, https, a port, a user) and a `.git` at the end make no difference.
    """
    scheme, has_scheme, rest = address.strip().partition("://")
    if has_scheme:
        if scheme.lower() not in _SCHEMES:
            return None
        authority, _, path = rest.partition("/")
        host = re.sub(r":\d*$", "", authority.rpartition("@")[2])
    else:
        authority, colon, path = scheme.partition(":")
        host = authority.rpartition("@")[2]
        if not colon or "/" in authority or len(host) < 2:
            return None
    host = host.lower().removeprefix("www.")
    path = re.split(r"[?#]", path)[0].strip("/").removesuffix(".git").rstrip("/")
    name = f"{_DOORS.get(host, host)}/{path}".lower()
    return name if path and _is_repository(name) else None


def repository(text: str) -> str:
    """Check the name of a repository, given by a client's hook or another caller. Raises `Invalid`."""
    if not _is_repository(text):
        raise Invalid(
            f"a repository is named like `github.com/owner/name`, in at most {REPOSITORY_LENGTH} characters"
        )
    return text.lower()


def entry(path: str, repository: str, home: str) -> str:
    """Return the name of a file among declared scopes."""
    return path if repository == home else f"{repository}:{path}"


def _is_repository(text: str) -> bool:
    return len(text) <= REPOSITORY_LENGTH and _REPOSITORY.fullmatch(text) is not None
