"""State of a checkout: the commit, the uncommitted changes, and git's tree of both together.

Nothing is written to the repository: a copy of the index and a folder of objects are made for this, and deleted. A
repository with filters of its own is skipped, as git would run them.
"""

from __future__ import annotations

import os
import time

from hubbub.clients.hook import git_checkout

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hubbub.clients.hook.git_checkout import Checkout

MOST_PATHS = 500
MOST_MOVES = 60
MOST_COMMITS = 50
MOST_REMOTES = 50  # branches of remotes
TAIL = 30_000  # bytes of the log of a branch that are read
LARGEST_INDEX = 64_000_000  # bytes
_NEW = "\x01"  # before each commit of git's log
_STATUS = (
    "status", "--porcelain=v2", "--branch", "-z", "--no-renames", "--untracked-files=all", "--ignore-submodules=dirty",
)  # fmt: skip
_LOG = (
    "log", f"-{MOST_COMMITS}", f"--format={_NEW}%H %T", "--cc", "--no-renames", "--name-only",
    "--no-ext-diff", "--no-show-signature",
)  # fmt: skip

State = dict[str, object]


def look(checkout: Checkout, until: float) -> State | None:
    """Return the checkout's state for the hub; None if git does not answer in time."""
    if not git_checkout.has_no_filters(checkout.folder, until):
        return None
    told = _asked(
        checkout,
        _STATUS,
        until,
    )
    if told is None:
        return None
    lines = told.split("\0")
    facts = dict(line[2:].split(" ", 1) for line in lines if line.startswith("# ") and " " in line[2:])
    dirty = sorted({*_dirty(lines)})
    commits = _commits(checkout, until)
    head = facts.get("branch.oid", "")
    head_tree = commits[0][1] if commits else None
    tree = _tree(checkout, until) if dirty or head_tree is None else head_tree
    if tree is None or (commits and commits[0][0] != head):
        return None  # git was too slow, or is busy
    paths = sum(len(each[2]) for each in commits) + len(dirty)
    remotes = _remotes(checkout, head, until)
    return {
        "tree": tree,
        "head": commits[0][0] if commits else None,
        "head_tree": head_tree,
        "branch": checkout.branch(),
        "pushed": bool(remotes) or _is_pushed(checkout, facts, until),
        "remotes": remotes,
        "dirty": [as_text(each) for each in dirty[:MOST_PATHS]],
        "is_cut": paths > 4 * MOST_PATHS or len(dirty) > MOST_PATHS,
        "moves": [*_moves(checkout)][-MOST_MOVES:],
        "commits": commits if paths <= 4 * MOST_PATHS else [],
    }


def _asked(
    checkout: Checkout, arguments: Sequence[str], until: float, more: dict[str, str] | None = None
) -> str | None:
    return git_checkout.git(
        ["-c", "core.quotePath=false", "-C", checkout.folder, *arguments], until - time.monotonic(), more
    )


def _dirty(lines: list[str]) -> Iterator[str]:
    """Yield the paths in the output of `git status`, in its second form."""
    fields = {"1": 8, "u": 10, "?": 1}
    for line in lines:
        number = fields.get(line[:1])
        if number is not None and line[1:2] == " ":
            yield line.split(" ", number)[number]


def _commits(checkout: Checkout, until: float) -> list[tuple[str, str, list[str]]]:
    """Return the last commits, newest first, with tree and files; of a merge, those unlike every parent."""
    told = _asked(
        checkout,
        _LOG,
        until,
    )
    found = []
    for each in (told or "").split(_NEW)[1:]:
        first, *paths = each.splitlines()
        commit, _, tree = first.partition(" ")
        found.append((commit, tree, [as_text(path) for path in paths if path]))
    return found


def _tree(checkout: Checkout, until: float) -> str | None:
    """Return the tree that a commit of everything would have."""
    import shutil
    import tempfile

    folder = tempfile.mkdtemp(prefix="hubbub-look-")
    try:
        if not _copy_index(checkout, os.path.join(folder, "index")):
            return None
        apart = {**objects_apart(checkout, folder), "GIT_INDEX_FILE": os.path.join(folder, "index")}
        if _asked(checkout, ["add", "--all", "--", "."], until, apart) is None:
            return None
        told = _asked(checkout, ["write-tree"], until, apart)
        return told.strip() if told is not None else None
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def objects_apart(checkout: Checkout, folder: str) -> dict[str, str]:
    """Make a place in a folder for new objects; return the environment in which git writes them there."""
    os.mkdir(os.path.join(folder, "objects"))
    return {
        "GIT_OBJECT_DIRECTORY": os.path.join(folder, "objects"),
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": _quoted(os.path.join(checkout.common, "objects")),
    }


def _copy_index(checkout: Checkout, to: str) -> bool:
    """Copy git's index with its time: git mistrusts files changed in the second in which it was written."""
    try:
        with open(os.path.join(checkout.git, "index"), "rb") as file:
            status = os.fstat(file.fileno())
            if status.st_size > LARGEST_INDEX:
                return False
            content = file.read()
    except FileNotFoundError:
        return True  # nothing was ever added
    with open(to, "wb") as copy:
        copy.write(content)
    os.utime(to, ns=(status.st_atime_ns, status.st_mtime_ns))
    return True


def _quoted(path: str) -> str:
    """Quote a path for a list that git splits at colons."""
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _remotes(checkout: Checkout, head: str, until: float) -> list[str]:
    """Return the branches of remotes that hold the commit, such as `origin/main`."""
    if not head.isalnum():
        return []
    names = ["for-each-ref", f"--count={MOST_REMOTES}", "--format=%(refname:lstrip=2)", "--contains", head]
    told = _asked(checkout, [*names, "refs/remotes"], until) or ""
    return [as_text(each) for each in told.split()]


def _is_pushed(checkout: Checkout, facts: dict[str, str], until: float) -> bool | None:
    """Tell whether a commit that no branch of a remote was seen to hold is pushed; None if git knows of no such."""
    if facts.get("branch.ab", "").startswith("+0 "):
        return True  # git was too slow to say which
    return False if _asked(checkout, ["for-each-ref", "--count=1", "refs/remotes"], until) else None


def _moves(checkout: Checkout) -> Iterator[tuple[str, int, str]]:
    """Yield the moves of the branch, oldest first: the resulting commit, the time, and git's word for the move."""
    try:
        with open(os.path.join(checkout.git, "logs", "HEAD"), "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - TAIL))
            lines = file.read(TAIL).decode("utf-8", "replace").splitlines()
    except OSError:
        return
    for line in lines:
        who, _, deed = line.partition("\t")
        words = who.split(" ")
        if len(words) > 4 and len(words[0]) >= 40 and words[-2].isdigit():
            yield words[1], int(words[-2]), deed.partition(":")[0][:100]


def as_text(path: str) -> str:
    """Return a path that JSON can hold."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")[: git_checkout.LONGEST]
