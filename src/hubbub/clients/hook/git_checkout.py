"""The identity of a file: its repository, and its path in it.

The same file has the same name in every worktree and every clone, on every machine: that of the repository's remote,
else of its first commit. Git's own files are read for it; starting git would take longer than all the rest. Only
without a remote is git asked, once.

The rule for a remote's name is that of `hubbub/model/agents/file_claims.py`; it is repeated here because a hook imports
nothing else.
"""

from __future__ import annotations

import os
import time

from hubbub.clients.hook import hook_state

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

LARGEST = 1_000_000  # bytes of one of git's files that are read
LONGEST = 1_024  # characters of a path, as the hub takes it
DEEPEST = 100  # folders above a file that are searched
REPOSITORY_LENGTH = 300
ROOT_SECONDS = 0.2  # for git to find the first commit
ON_BRANCH = "ref: refs/heads/"
NO_FILE = ".invalid"  # its content if git keeps its branches in a table
ROOTS = "roots"  # the shelf of first commits

_REPOSITORYS = ("local", "worktree")  # git's scopes of a repository's own settings
# git writes no index, so it runs no hook for that, and fetches nothing, for which a repository may name a program.
_KEPT_STILL = {"GIT_OPTIONAL_LOCKS": "0", "GIT_ALLOW_PROTOCOL": "none", "GIT_NO_LAZY_FETCH": "1"}
_SCHEMES = {"http", "https", "ssh", "git", "git+ssh", "ssh+git", "git+https", "git+http"}
_DOORS = {
    "ssh.github.com": "github.com",
    "altssh.gitlab.com": "gitlab.com",
    "altssh.bitbucket.org": "bitbucket.org",
}


class Checkout:
    """A repository as checked out in one folder."""

    __slots__ = ("common", "folder", "git")

    def __init__(self, *, folder: str, git: str, common: str) -> None:
        self.folder = folder  # the root of the working tree, without links
        self.git = git  # this worktree's own
        self.common = common  # shared by all worktrees

    def repository(self) -> str:
        """Return the repository's one name, the same wherever it is checked out."""
        return _of_remote(self.common) or _of_first_commit(self.common) or _of_folder(self.common)

    def branch(self) -> str | None:
        """Return the branch that is checked out; None for a commit on no branch."""
        head = _read(os.path.join(self.git, "HEAD")).strip()
        name = head[len(ON_BRANCH) :] if head.startswith(ON_BRANCH) else ""
        return name if name and name != NO_FILE else None

    def path(self, file: str) -> str | None:
        """Return the path of a file from the root of the repository, with slashes; None for a file outside."""
        if not file.startswith(self.folder.rstrip(os.sep) + os.sep):
            return None
        relative = file[len(self.folder.rstrip(os.sep)) + 1 :].replace(os.sep, "/")
        return relative if _is_claimable(relative) else None


def real(path: str, cwd: str) -> str:
    """Resolve links and `..` in the path of a file. For a file that does not exist, those of its folder."""
    return os.path.realpath(os.path.join(cwd, os.path.expanduser(path)))


def checkout(file: str) -> Checkout | None:
    """Find the repository of the nearest folder above; None outside of any. `file` has no links in it."""
    for folder in _above(file):
        found = _checkout_in(folder)
        if found is not None:
            return found
    return None


def identity(address: str) -> str | None:
    """Return the name of the repository at a remote address; None for one on this machine."""
    scheme, has_scheme, rest = address.strip().partition("://")
    if has_scheme:
        if scheme.lower() not in _SCHEMES:
            return None
        authority, _, path = rest.partition("/")
        host = authority.rpartition("@")[2]
        name, colon, port = host.rpartition(":")
        host = name if colon and (port.isdigit() or not port) else host
    else:
        authority, colon, path = scheme.partition(":")
        host = authority.rpartition("@")[2]
        if not colon or "/" in authority or len(host) < 2:
            return None
    host = host.lower()
    host = host[4:] if host.startswith("www.") else host
    path = path.partition("?")[0].partition("#")[0].strip("/")
    path = (path[:-4] if path.endswith(".git") else path).rstrip("/")
    named = f"{_DOORS.get(host, host)}/{path}".lower()
    return named if path and _is_repository(named) else None


def host() -> str:
    """Return this machine's own name."""
    return os.uname().nodename if hasattr(os, "uname") else os.environ.get("COMPUTERNAME", "")


def dirty(folder: str, paths: Sequence[str], until: float) -> set[str] | None:
    """Return the files of a checkout that differ from their commit; None if git does not answer in time."""
    if not has_no_filters(folder, until):
        return None
    asked = ["status", "--porcelain", "-z", "--no-renames", "--untracked-files=all", "--ignored"]
    told = git(
        ["-C", folder, "--literal-pathspecs", *asked, "--ignore-submodules=all", "--", *paths],
        until - time.monotonic(),
    )
    if told is None:
        return None
    return {line[3:] for line in told.split("\0") if len(line) > 3}


def has_no_filters(folder: str, until: float) -> bool:
    """Tell whether the repository's own configuration names no filter programs that git would run."""
    return names_none(folder, ("filter.",), until)


def names_none(folder: str, beginnings: tuple[str, ...], until: float, *, but: tuple[str, ...] = ()) -> bool:
    """Tell whether the repository's own configuration has no setting that begins so, except those that end so."""
    asked = ["config", "--list", "--show-scope", "--name-only", "-z"]
    told = git(["-C", folder, *asked], until - time.monotonic())
    if told is None:
        return False
    words = told.split("\0")
    settings = zip(words[::2], words[1::2], strict=False)
    found = (name for scope, name in settings if scope in _REPOSITORYS and name.startswith(beginnings))
    return all(name.rpartition(".")[2] in but for name in found)


def _above(file: str) -> Iterator[str]:
    folder = os.path.dirname(file)
    for _ in range(DEEPEST):
        yield folder
        above = os.path.dirname(folder)
        if above == folder:
            return
        folder = above


def _checkout_in(folder: str) -> Checkout | None:
    git = os.path.join(folder, ".git")
    if os.path.isfile(git):  # a worktree or a submodule: it names the folder of its own files
        said = _read(git).strip()
        if not said.startswith("gitdir: "):
            return None
        git = os.path.join(folder, said[8:])
    if not os.path.isfile(os.path.join(git, "HEAD")):
        return None
    git = os.path.realpath(git)
    common = _read(os.path.join(git, "commondir")).strip()
    return Checkout(
        folder=folder, git=git, common=os.path.realpath(os.path.join(git, common)) if common else git
    )


def _of_remote(common: str) -> str | None:
    remotes = dict(_remotes(_read(os.path.join(common, "config"))))
    for name in ("origin", "upstream", *sorted(remotes)):
        named = identity(remotes.get(name, ""))
        if named is not None:
            return named
    return None


def _remotes(config: str) -> Iterator[tuple[str, str]]:
    """Yield the first address of each remote in git's configuration."""
    remote = None
    seen = set()
    for line in config.splitlines():
        text = line.strip()
        if text.startswith("["):
            inside = text[1:].partition("]")[0]
            kind, _, name = inside.partition(" ")
            remote = name.strip().strip('"') if kind.lower() == "remote" else None
        elif remote is not None and remote not in seen:
            key, equals, value = text.partition("=")
            if equals and key.strip().lower() == "url":
                seen.add(remote)
                yield remote, value.strip().strip('"')


def _of_first_commit(common: str) -> str | None:
    """Return the first commit of a repository without a remote; clones share it. Stored, since only git finds it."""
    known = hook_state.recall(ROOTS, common)
    if known is not None:
        return known
    found = _first_commit(common)
    if found is not None:
        hook_state.keep(ROOTS, common, found)
    return found


def _first_commit(common: str) -> str | None:
    told = git([f"--git-dir={common}", "rev-list", "--max-parents=0", "HEAD"], ROOT_SECONDS)
    roots = sorted(told.split()) if told else []
    return f"commit/{roots[0]}" if roots and roots[0].isalnum() else None


def git(arguments: Sequence[str], seconds: float, more: Mapping[str, str] | None = None) -> str | None:
    """Run git like `git_answer`, and return its output if it ended well."""
    told = git_answer(arguments, seconds, more)
    return told[1] if told is not None and told[0] == 0 else None


def git_answer(
    arguments: Sequence[str], seconds: float, more: Mapping[str, str] | None = None
) -> tuple[int, str] | None:
    """Run git without programs that the repository's own configuration names; return its exit code and output.

    `more` is added to its environment. None if it does not end in time.
    """
    import subprocess

    command = ["git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", *arguments]
    environment = {**os.environ, **_KEPT_STILL, "PATH": _path(), **(more or {})}
    try:
        told = subprocess.run(
            command,
            capture_output=True,
            timeout=max(0.01, seconds),
            check=False,
            env=environment,
            text=True,
            errors="surrogateescape",
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return told.returncode, told.stdout


def _path() -> str:
    """Return the folders of programs without the current one, as `hubbub/model/programs/launching.py` does."""
    whole = filter(os.path.isabs, os.environ.get("PATH", "").split(os.pathsep))
    return os.pathsep.join(whole) or os.defpath


def _of_folder(common: str) -> str:
    """Return the name of a repository without commits, which nobody can have cloned yet."""
    return f"folder/{hook_state.key(f'{host()}:{common}')}"


def _read(path: str) -> str:
    try:
        with open(path, "rb", opener=hook_state.at_once) as file:
            return file.read(LARGEST).decode("utf-8", "replace")
    except OSError:
        return ""


def _is_claimable(relative: str) -> bool:
    """Tell whether the hub can store such a path: it would take `*` and `?` for patterns."""
    is_git = relative == ".git" or relative.startswith(".git/")
    return bool(relative) and len(relative) <= LONGEST and not is_git and not {"*", "?"} & {*relative}


def _is_repository(text: str) -> bool:
    if len(text) > REPOSITORY_LENGTH:
        return False
    return all(
        part not in ("", ".", "..") and all(each.isalnum() or each in "_.~+@%-" for each in part)
        for part in text.split("/")
    )
