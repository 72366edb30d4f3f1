"""Claims at edit time: asks the hub before a file is changed, reports after it, and releases committed files.

The digest of each file that the agent reads is remembered, so that it hears of later changes by others. Some clients
show their model nothing before a tool but a denial: any other text is shown after it.
"""

from __future__ import annotations

import os
import time

from hubbub.clients.hook import event, git_checkout, hook_state, http_request
from hubbub.clients.hook.event import ALLOW, DENY, WARN, Reply

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hubbub.clients.hook.event import Event
    from hubbub.clients.hook.git_checkout import Checkout
    from hubbub.clients.hook.hub_target import Target

OK = 200
MOST = 200  # files of one edit
LONGEST = 2_000  # characters of a text for a model
_DECISIONS = {ALLOW, WARN, DENY}


class EditedFile:
    """A file of a repository, as one run of a client finds it."""

    __slots__ = ("checkout", "path", "real")

    def __init__(self, *, checkout: Checkout, path: str, real: str) -> None:
        self.checkout = checkout
        self.path = path  # from the root of the repository
        self.real = real  # on this machine


class ClaimAttempt:
    """The open request for claims, for the thread that may end the process meanwhile."""

    def __init__(self) -> None:
        self.is_asked = False

    def give_up(self) -> None:
        """Count an edit that goes on unclaimed, if the hub was asked to claim it."""
        if self.is_asked:
            self.is_asked = False
            hook_state.note_unclaimed()


claiming = ClaimAttempt()


def before(target: Target, told: Event, *, until: float) -> Reply | None:
    """Ask whether the files may be edited now, and claim them if they are free. None: there is nothing to ask.

    Text that the model cannot read now is kept for `unsaid`.
    """
    asked = _files(told) if told.tool_kind == event.EDIT else []
    if not asked:
        return None
    replies = [_ask(target, told, "before", files, until) for files in asked]
    texts = [each.text for each in replies if each.text]
    decisions = {each.decision for each in replies}
    worst = next((each for each in (DENY, WARN) if each in decisions), ALLOW)
    if worst == DENY:
        texts = [each.text for each in replies if each.decision == DENY and each.text]
    reply = Reply(worst, " ".join(texts)[:LONGEST] or None)
    if told.heard or worst == DENY:
        return reply
    if reply.text is not None:
        hook_state.keep(_unsaid(told), _edited(told), reply.text)
    return Reply()


def unsaid(told: Event) -> str | None:
    """Return the text from before this edit, if the model could not read it then; once."""
    return (
        hook_state.take(_unsaid(told), _edited(told)) if told.tool_kind == event.EDIT and told.paths else None
    )


def after(target: Target, told: Event, *, until: float, patience: float) -> None:
    """Record files read, edited or committed; one answer of the hub may take `patience` seconds."""
    if may_be_commit(told):
        _let_go_of_clean(target, told, until, patience)
    elif told.tool_kind in (event.EDIT, event.READ):
        for files in _files(told):
            for each in files:
                _remember(told, each)
            if told.tool_kind == event.EDIT:
                _ask(target, told, "after", files, until)


def may_be_commit(told: Event) -> bool:
    """Tell whether a shell may have committed files, or restored them: then git is asked which are clean."""
    return told.moment == event.AFTER and told.tool_kind == event.SHELL and "git" in (told.command or "")


def end(target: Target, told: Event, *, until: float) -> None:
    """Release everything that this run of the client has claimed, and report that it is gone."""
    _release(target, told, {}, "ended", until)
    leaving = {"instance": told.instance}
    http_request.call(target, "DELETE", f"/agents/{target.agent}/presence", query=leaving, until=until)
    hook_state.clear(_seen(told))
    hook_state.clear(_held(told))
    hook_state.clear(_unsaid(told))
    hook_state.tidy()


def _files(told: Event) -> list[list[EditedFile]]:
    """Return the event's files in repositories, by repository; each once."""
    found: dict[str, dict[str, EditedFile]] = {}
    for path in told.paths[:MOST]:
        real = git_checkout.real(path, told.cwd)
        checkout = git_checkout.checkout(real)
        relative = checkout.path(real) if checkout is not None else None
        if checkout is not None and relative is not None:
            found.setdefault(checkout.folder, {})[real] = EditedFile(
                checkout=checkout, path=relative, real=real
            )
    return [[*files.values()] for files in found.values()]


def _ask(target: Target, told: Event, moment: str, files: Sequence[EditedFile], until: float) -> Reply:
    checkout = files[0].checkout
    repository = checkout.repository()
    body: dict[str, object] = {
        "agent": target.agent,
        "branch": checkout.branch(),
        "client": told.client,
        "files": [_described(told, each) for each in files],
        "host": git_checkout.host(),
        "instance": told.instance,
        "moment": moment,
        "repository": repository,
        "tool": told.tool,
        "worktree": os.path.basename(checkout.folder) or None,
    }
    claiming.is_asked = moment == "before"
    try:
        status, answer = http_request.call(target, "POST", "/edits", body, until=until)
    except TimeoutError:
        claiming.give_up()
        raise
    finally:
        claiming.is_asked = False
    decision, sentence = answer.get("decision"), answer.get("sentence")
    if status != OK or not isinstance(decision, str) or decision not in _DECISIONS:
        return Reply()
    if moment == "before" and decision != DENY:
        for each in files:
            hook_state.keep(_held(told), each.real, f"{repository}\n{checkout.folder}\n{each.path}")
    return Reply(decision, sentence if isinstance(sentence, str) else None)


def _described(told: Event, file: EditedFile) -> dict[str, object]:
    known, digest = hook_state.recall(_seen(told), file.real), hook_state.digest(file.real)
    is_changed = known is not None and digest != known and told.moment == event.BEFORE
    return {"path": file.path, "digest": digest, "changed": is_changed}


def _remember(told: Event, file: EditedFile) -> None:
    digest = hook_state.digest(file.real)
    if digest is not None:
        hook_state.keep(_seen(told), file.real, digest)


def _let_go_of_clean(target: Target, told: Event, until: float, patience: float) -> None:
    """Release files that equal their commit."""
    held: dict[tuple[str, str], list[str]] = {}
    for each in hook_state.recall_all(_held(told)):
        repository, folder, path = each.split("\n", 2)
        held.setdefault((repository, folder), []).append(path)
    for (repository, folder), paths in held.items():
        dirty = git_checkout.dirty(folder, paths, until)
        clean = [each for each in paths if dirty is not None and each not in dirty]
        soon = min(until, time.monotonic() + patience)
        if clean and _release(target, told, {"repository": repository, "paths": clean}, "committed", soon):
            for each in clean:
                hook_state.drop(_held(told), os.path.join(folder, *each.split("/")))


def _release(target: Target, told: Event, what: dict[str, object], why: str, until: float) -> bool:
    body = {"agent": target.agent, "instance": told.instance, "why": why, **what}
    status, _ = http_request.call(target, "POST", "/edits/release", body, until=until)
    return status == OK


def _seen(told: Event) -> str:
    return f"seen {told.instance}"


def _held(told: Event) -> str:
    return f"held {told.instance}"


def _unsaid(told: Event) -> str:
    return f"unsaid {told.instance}"


def _edited(told: Event) -> str:
    """Return the identity of an edit, the same before and after it."""
    return git_checkout.real(told.paths[0], told.cwd)
