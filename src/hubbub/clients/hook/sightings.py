"""Reports of an agent's work to the hub: the command, how it ended, and the state of the checkout after it.

Checking a checkout takes git some time, so it is done only while the agent's task asks for proof. Each report returns
whether it does; the last answer is kept, so that one call is enough if nothing has changed.
"""

from __future__ import annotations

import os
import time

from hubbub.clients.hook import checkout_state, event, git_checkout, hook_state, http_request, step_journal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hubbub.clients.hook.event import Event
    from hubbub.clients.hook.git_checkout import Checkout
    from hubbub.clients.hook.hub_target import Target
    from hubbub.clients.hook.main import Clock

OK = 200
MOST = 200  # files of one edit
LONGEST = 4_000  # characters of a command
ANSWER = 0.15  # seconds left for the hub after git was asked
SPECIAL = "\\$`*?[]{}()<>;&|~'\"\n\t"  # characters that a shell does not take as they are
LOOKS = "looks"  # the shelf of the hub's wish to know the state of a checkout
_DEEDS = {event.SHELL: "shell", event.EDIT: "edit", event.TELL: "look"}


def is_one(told: Event) -> bool:
    """Tell whether this is a step of work: a command or an edit has ended, or a task is about to be completed."""
    moment = event.BEFORE if told.tool_kind == event.TELL else event.AFTER
    return told.moment == moment and told.tool_kind in _DEEDS


def looks(told: Event) -> bool:
    """Tell whether the hub's last answer asked for the state of the checkout, which takes git more time."""
    return hook_state.recall(LOOKS, told.instance) == "yes"


def tell(target: Target, told: Event, clock: Clock) -> None:
    """Report one step of work to the hub; without an answer everything goes on as before."""
    checkout = _checkout(told)
    is_wanted = looks(told)
    step = _described(target, told, checkout)
    if is_wanted:
        step["tree"] = _look(checkout, clock.take_time())
    answer = _send(target, {**step, "asks": not is_wanted}, clock.answer_until)
    if answer != is_wanted:
        hook_state.keep(LOOKS, told.instance, "yes" if answer else "no")
    if answer and not is_wanted:
        _send(target, {**step, "tree": _look(checkout, clock.take_time()), "asks": False}, clock.answer_until)


def _look(checkout: Checkout | None, until: float) -> object:
    return checkout_state.look(checkout, until - ANSWER) if checkout is not None else None


def _checkout(told: Event) -> Checkout | None:
    """Return the checkout of a step: that of the first file, else that of the agent's folder."""
    if told.tool_kind == event.EDIT and told.paths:
        return git_checkout.checkout(git_checkout.real(told.paths[0], told.cwd))
    return git_checkout.checkout(os.path.join(_going(told)[0], "."))


def _going(told: Event) -> tuple[str, str]:
    """Return the folder where a command runs, and the command without a leading `cd` to an absolute path."""
    folder, command = git_checkout.real(".", told.cwd), (told.command or "").strip()
    goal, then, rest = command.removeprefix("cd ").partition(" && ")
    if not then or goal == command.partition(" && ")[0]:
        return folder, command
    is_quoted = len(goal) > 1 and goal[0] == goal[-1] and goal[0] in "'\""
    goal = goal[1:-1] if is_quoted else goal
    if not goal.startswith("/") or not set(goal).isdisjoint(SPECIAL if is_quoted else SPECIAL + " "):
        return folder, command
    return git_checkout.real(goal, told.cwd), rest.strip()


def _command(told: Event, checkout: Checkout | None) -> str | None:
    """Return the command as it would be written at the top of the checkout: below it, the same words run another."""
    if told.tool_kind != event.SHELL or told.command is None:
        return None
    folder, command = _going(told)
    if checkout is None:
        command = told.command
    elif folder != checkout.folder and not command.startswith("cd "):
        command = f"cd {os.path.relpath(folder, checkout.folder)} && {command}"
    return command[:LONGEST]


def _described(target: Target, told: Event, checkout: Checkout | None) -> dict[str, object]:
    return {
        "agent": target.agent,
        "client": told.client,
        "clock": int(time.time() * 1000),
        "code": told.code,
        "command": _command(told, checkout),
        "deed": _DEEDS[told.tool_kind],
        "host": git_checkout.host(),
        "instance": told.instance,
        "machine_key": step_journal.key(),
        "paths": [each[: git_checkout.LONGEST] for each in told.paths[:MOST]],
        "place": hook_state.key(f"{git_checkout.host()}\n{checkout.folder}") if checkout is not None else "",
        "repository": checkout.repository() if checkout is not None else None,
        "step": os.urandom(8).hex(),
        "took": told.took,
        "worktree": (os.path.basename(checkout.folder) or None) if checkout is not None else None,
    }


def _send(target: Target, step: dict[str, object], until: float) -> bool:
    is_witnessed = step["machine_key"] is not None
    if is_witnessed:
        step_journal.note({"hub": target.url, "project": target.project, **step})
    status, answer = http_request.call(target, "POST", "/sightings", step, until=until)
    looks = status == OK and answer.get("looks") is True
    if is_witnessed and status == OK and not (looks and step["asks"]):
        step_journal.note({"taken": step["step"]})
    return looks
