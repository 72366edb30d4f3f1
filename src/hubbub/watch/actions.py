"""The actions of a person at the terminal, as calls to the hub: the same ones that the dashboard makes."""

from collections.abc import Callable
from dataclasses import dataclass

from hubbub.client import Hub, quoted
from hubbub.model.log.attention import Needed
from hubbub.model.log.projection import Card
from hubbub.terminal import parties
from hubbub.watch.rendering import ref

Call = Callable[[Hub, str], str]  # takes the requested text; returns the sentence that says it is done


@dataclass(frozen=True, slots=True)
class WatchAction:
    """Something to do: the text to ask for first, if any, and the call."""

    call: Call
    asks: str | None = None
    sure: str | None = None  # a warning, after which the same key is awaited again before it is done


def approve(need: Needed, _task: Card | None) -> WatchAction | None:
    if "approve" not in need.card.get("may", ()) or need.noun != "approvals":
        return None
    approval = need.card
    sure = "this is marked dangerous: press a once more to approve it" if approval["dangerous"] else None

    def call(hub: Hub, _text: str) -> str:
        hub.post(f"/approvals/{approval['id']}/approve")
        return f"approved: {approval['who']} goes on"

    return WatchAction(call, sure=sure)


def deny(need: Needed, _task: Card | None) -> WatchAction | None:
    if "deny" not in need.card.get("may", ()):
        return None

    def call(hub: Hub, _text: str) -> str:
        hub.post(f"/approvals/{need.card['id']}/deny")
        return f"denied: {need.card['who']} is told"

    return WatchAction(call)


def answer(need: Needed, task: Card | None) -> WatchAction | None:
    """Return the action that answers a letter, an agent waiting with a task, or one waiting without; else None."""
    if need.noun == "letters":
        return WatchAction(
            lambda hub, text: _reply(hub, need.card, text), asks=f"Reply to {parties.sender(need.card)}"
        )
    if task is not None and task["assignee"]:
        return WatchAction(lambda hub, text: _comment(hub, task, text), asks=f"Answer {task['assignee']}")
    names = need.card.get("agents") or [need.card.get("name")]
    if all(names):
        return WatchAction(lambda hub, text: _write(hub, names, text), asks=f"Write to {' and '.join(names)}")
    return None


def acknowledge(need: Needed, _task: Card | None) -> WatchAction | None:
    if need.noun != "letters":
        return None

    def call(hub: Hub, _text: str) -> str:
        hub.ack(need.card["recipient"], need.card["id"])
        return "marked as done"

    return WatchAction(call)


def retry(task: Card) -> WatchAction:
    return WatchAction(lambda hub, _text: _step(hub, task, "retry", "is tried again"))


def cancel(task: Card) -> WatchAction:
    return WatchAction(
        lambda hub, text: _step(hub, task, "cancel", "is cancelled", reason=text),
        asks=f"Cancel {ref(task)}: why",
    )


def reassign(task: Card) -> WatchAction:
    return WatchAction(
        lambda hub, text: _step(hub, task, "reassign", f"is now {text}'s", to=text),
        asks=f"Give {ref(task)} to which agent",
    )


def release(task: Card) -> WatchAction:
    return WatchAction(
        lambda hub, text: _step(hub, task, "release", "is in the open queue", reason=text),
        asks=f"Put {ref(task)} back into the open queue: why",
    )


def _step(hub: Hub, task: Card, verb: str, outcome: str, **body: object) -> str:
    hub.step(task["id"], verb, **body)
    return f"{ref(task)} {outcome}"


def _reply(hub: Hub, letter: Card, text: str) -> str:
    hub.post("/messages", {"to": letter["sender"], "text": text, "in_reply_to": letter["message_id"]})
    hub.ack(letter["recipient"], letter["id"])
    return f"sent to {parties.sender(letter)}"


def _comment(hub: Hub, task: Card, text: str) -> str:
    hub.post(f"/tasks/{task['id']}/comments", {"text": text})
    if "unblock" in task["may"]:
        hub.step(task["id"], "unblock", reason=text)
    return f"{task['assignee']} is told"


def _write(hub: Hub, names: list[str], text: str) -> str:
    for name in names:
        hub.post("/messages", {"to": name, "text": text})
    return f"sent to {' and '.join(names)}"


def why(hub: Hub, kind: str, name: str) -> str:
    """Return why a task or an agent is as it is, in a paragraph."""
    return str(hub.get(f"/why/{quoted(name)}", kind=kind)["sentence"])
