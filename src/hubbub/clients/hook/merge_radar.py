"""The merge radar on an agent's machine: reports each commit to the hub, and git's judgement on merges.

It runs beside the client, in a process of its own and at low priority, so no tool waits for it. Git merges two commits
in memory: neither the repository, the index nor the working tree is touched. A commit that this machine does not have
is fetched from the remote, if it was pushed.
"""

from __future__ import annotations

import os
import sys
import time

from hubbub.clients.hook import checkout_state, event, git_checkout, hook_state, http_request
from hubbub.clients.hook.hub_target import find

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hubbub.clients.hook.event import Event
    from hubbub.clients.hook.git_checkout import Checkout
    from hubbub.clients.hook.hub_target import Target

OK = 200
SECONDS = 90.0  # for all of it
ANSWER = 10.0  # for one answer of the hub
PATIENCE = 20.0  # for git to merge, or to fetch
NICE = 10
MOST_PATHS = 2_000
MOST_FILES = 50
HEADS = "heads"  # the shelf of the reported commits
_MAY_MOVE = (
    "commit",
    "merge",
    "rebase",
    "cherry-pick",
    "revert",
    "reset",
    "pull",
    " am",
    "switch",
    "checkout",
)
# Settings of a repository by which git would run or ask a program, for a merge; and for a fetch.
_RUN_BY_MERGE = ("filter.", "merge.")
_RUN_BY_FETCH = (
    "credential.",
    "core.sshcommand",
    "core.gitproxy",
    "core.askpass",
    "remote.",
    "url.",
    "protocol.",
)
_PLAIN = ("url", "fetch", "pushurl", "tagopt", "prune")  # settings of a remote that run nothing
_FETCHING = {
    "GIT_ALLOW_PROTOCOL": "file:git:http:https:ssh",
    "GIT_SSH_COMMAND": "ssh -oBatchMode=yes",
    "GIT_TERMINAL_PROMPT": "0",
}
_MAIN = ("refs/remotes/origin/HEAD", "refs/remotes/origin/main", "refs/remotes/origin/master", "refs/heads/main",
         "refs/heads/master")  # fmt: skip


def may_have_moved(told: Event) -> bool:
    """Tell whether a shell may have moved a branch."""
    if told.moment != event.AFTER or told.tool_kind != event.SHELL:
        return False
    command = told.command or ""
    return "git" in command and any(each in command for each in _MAY_MOVE)


def start(told: Event) -> None:
    """Start a look that outlives us."""
    import subprocess

    from hubbub.model.programs.launching import program

    subprocess.Popen(  # noqa: S603, ourselves
        [*program(__name__), told.client, os.path.realpath(told.cwd)],
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def main() -> None:
    """Look at one checkout."""
    client, folder = sys.argv[1:3]
    if hasattr(os, "nice"):
        os.nice(NICE)
    target = find(client, folder)
    checkout = git_checkout.checkout(os.path.join(folder, "."))
    if target is not None and checkout is not None:
        look(target, checkout, time.monotonic() + SECONDS)


def look(target: Target, checkout: Checkout, until: float) -> None:
    """Report the newest commit to the hub, and git's judgements on the branches to compare it with."""
    branch = checkout.branch()
    if branch is None or not git_checkout.names_none(checkout.folder, _RUN_BY_MERGE, until):
        return
    base = _base(checkout, branch, until)
    named = _asked(checkout, ["rev-parse", "HEAD", "HEAD^{tree}"], until)
    if base is None or named is None:
        return
    head, tree = named.split()
    place = f"{checkout.folder}\n{branch}"
    if hook_state.recall(HEADS, place) == head:
        return
    changed = changes(checkout, base, head, until)
    if changed is None:
        return
    paths, emptied = changed
    own = {"agent": target.agent, "repository": checkout.repository(), "branch": branch, "head": head}
    told = {**own, "tree": tree, "paths": paths, "emptied": emptied, "host": git_checkout.host()}
    status, answer = http_request.call(target, "POST", "/merges/heads", told, until=_soon(until))
    if status != OK:
        return
    compare = answer.get("compare")
    found = [*judged(checkout, base, head, compare if isinstance(compare, list) else [], until)]
    if found:
        http_request.call(
            target, "POST", "/merges/judgements", {**own, "judgements": found}, until=_soon(until)
        )
    hook_state.keep(HEADS, place, head)


def judged(
    checkout: Checkout, base: str, head: str, others: Sequence[dict[str, str]], until: float
) -> Iterator[dict[str, object]]:
    """Yield git's judgement on each branch that this machine has, or can fetch."""
    for other in others:
        theirs = other["head"]
        if not _is_here(checkout, theirs, until) and not _fetch(checkout, other, until):
            continue
        files = conflicts(checkout, head, theirs, until)
        if files is not None:
            is_merged = bool(files) and _is_merged(checkout, base, theirs, until)
            yield {**other, "files": [] if is_merged else files[:MOST_FILES], "merged": is_merged}


def conflicts(checkout: Checkout, one: str, other: str, until: float) -> list[str] | None:
    """Return the files in which git finds conflicts between two commits; None if it does not answer in time."""
    told = _merged(checkout, one, other, until)
    return told[1] if told is not None else None


def _merged(checkout: Checkout, one: str, other: str, until: float) -> tuple[str, list[str]] | None:
    """Merge two commits in memory; return the resulting tree, and the files in conflict."""
    import shutil
    import tempfile

    command = ["merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", one, other]
    folder = tempfile.mkdtemp(prefix="hubbub-merge-")
    try:
        told = git_checkout.git_answer(
            ["-C", checkout.folder, *command],
            min(PATIENCE, until - time.monotonic()),
            checkout_state.objects_apart(checkout, folder),
        )
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if told is None or told[0] not in (0, 1):
        return None
    tree, *files = told[1].split("\0")
    return tree, sorted({checkout_state.as_text(each) for each in files if each}) if told[0] == 1 else []


def _is_merged(checkout: Checkout, base: str, commit: str, until: float) -> bool:
    """Tell whether the main branch has all changes of a commit, even if it was squashed or rebased."""
    told = _merged(checkout, base, commit, until)
    tree = _asked(checkout, ["rev-parse", f"{base}^{{tree}}"], until)
    return told is not None and tree is not None and told == (tree.strip(), [])


def _base(checkout: Checkout, branch: str, until: float) -> str | None:
    """Return the branch that others begin from and merge into: the remote's main one, else main or master here."""
    told = _asked(checkout, ["for-each-ref", "--format=%(refname)", *_MAIN], until)
    there = {*(told or "").split()} - {f"refs/heads/{branch}"}
    return next((each for each in _MAIN if each in there), None)


def changes(checkout: Checkout, base: str, head: str, until: float) -> tuple[list[str], list[str]] | None:
    """Return the files that a branch has changed since it left its base, and the folders that it took files from."""
    told = _asked(
        checkout, ["diff", "--name-status", "-z", "--no-renames", "--no-ext-diff", f"{base}...{head}"], until
    )
    if told is None:
        return None
    words = [checkout_state.as_text(each) for each in told.split("\0")]
    changed = [*zip(words[::2], words[1::2], strict=False)]
    emptied = {os.path.dirname(path) for kind, path in changed if kind == "D"} - {""}
    paths = sorted(path for _kind, path in changed if path)
    return paths[:MOST_PATHS], sorted(emptied)[:MOST_PATHS]


def _is_here(checkout: Checkout, commit: str, until: float) -> bool:
    if not commit.isalnum():
        return False
    return _asked(checkout, ["cat-file", "-e", f"{commit}^{{commit}}"], until) is not None


def _fetch(checkout: Checkout, other: dict[str, str], until: float) -> bool:
    """Fetch a branch from the remote, into no local branch; return whether that brought the commit."""
    if not git_checkout.names_none(checkout.folder, _RUN_BY_FETCH, until, but=_PLAIN):
        return False
    quiet = ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--refmap="]
    wanted = ["--no-recurse-submodules", "origin", f"refs/heads/{other['branch']}"]
    seconds = min(PATIENCE, until - time.monotonic())
    git_checkout.git(["-C", checkout.folder, *quiet, *wanted], seconds, _FETCHING)
    return _is_here(checkout, other["head"], until)


def _asked(checkout: Checkout, arguments: Sequence[str], until: float) -> str | None:
    return git_checkout.git(
        ["-c", "core.quotePath=false", "-C", checkout.folder, *arguments], until - time.monotonic()
    )


def _soon(until: float) -> float:
    return min(until, time.monotonic() + ANSWER)


if __name__ == "__main__":
    main()
