"""Dead letters: an undeliverable letter is reported, and never just disappears.

A letter is dead when its task expired before anybody read it, or when it lay unread for long while its
receiver was never there. Its sender is told once. It stays in the inbox, and is alive again once it is read.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import timedelta
from uuid import UUID

from hubbub.core.mail import messages
from hubbub.model.people.rights import HUB
from hubbub.model.records import Task
from hubbub.model.timestamps import milliseconds
from hubbub.model.visible_text import visible
from hubbub.store.mail import deadletters
from hubbub.store.mail.deadletters import DeadLetter
from hubbub.store.tx import Tx

BATCH = 200
MOST = 10_000  # letters found by one search, which reads all unread ones
NAMED = 5  # receivers of a broadcast in a sentence

# These need no rule of their own, so they are the store's functions.
of_project = deadletters.of_project


def due(tx: Tx, after: timedelta) -> list[UUID]:
    """List the oldest letters that lay unread for `after` while their receivers were never there, up to a limit."""
    return deadletters.due(tx, before=tx.now - milliseconds(after), limit=MOST)


def settle(tx: Tx, due: Sequence[UUID], after: timedelta) -> None:
    """Mark those of these letters as dead whose receivers have not come meanwhile, and tell their senders.

    Records `message.dead` for each.
    """
    before, hours = tx.now - milliseconds(after), max(1, after // timedelta(hours=1))
    dead = [each for each in due if deadletters.is_due(tx, each, before=before)]
    _bury(tx, dead, lambda names: f"has not been read by {names} for {hours} h: nobody came by that name.")


def bury(tx: Tx, project_id: UUID, name: str) -> None:
    """Mark the unread letters of a removed agent as dead, and tell the senders.

    Records `message.dead` for each.
    """
    unread = deadletters.unread_of(tx, project_id, name)
    _bury(tx, unread, lambda names: f"was not read by {names}: that agent was removed from the project.")


def _bury(tx: Tx, due: Sequence[UUID], why: Callable[[str], str]) -> None:
    """Mark these letters as dead, and tell each sender once for those that belong together."""
    buried = [letter for each in due if (letter := deadletters.bury(tx, each)) is not None]
    together: dict[UUID, list[DeadLetter]] = defaultdict(list)
    for letter in buried:
        _record(tx, letter)
        together[letter.task_id or letter.message_id or letter.id].append(letter)
    for subject, letters in together.items():
        _tell(tx, subject, letters, why)


def expired(tx: Tx, task: Task) -> None:
    """Mark the unread letter of an expired task as dead. The sender is told of the task itself."""
    letter = deadletters.bury_expired(tx, task.delivery_id) if task.delivery_id is not None else None
    if letter is not None:
        _record(tx, letter)


def _tell(tx: Tx, subject: UUID, letters: Sequence[DeadLetter], why: Callable[[str], str]) -> None:
    """Tell the sender; a person gets a letter to people. The hub's own letters need no report."""
    first = letters[0]
    if first.is_of_hub:
        return
    names = [visible(letter.recipient) for letter in letters]
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    told = why(f"{', '.join(names[:NAMED])}{more}")
    text = f"{first.ref} {told} It stays in the inbox, for an agent that comes by that name."
    messages.send(
        tx,
        first.project_id,
        sender=HUB,
        to=first.sender,
        addressee=first.author,
        body=text,
        in_reply_to=subject,
        awaited=True,
    )


def _record(tx: Tx, letter: DeadLetter) -> None:
    tx.record(
        "message.dead",
        project_id=letter.project_id,
        actor=HUB,
        agent=letter.recipient,
        task_id=letter.task_id,
        message_id=letter.message_id,
        detail={
            "delivery_id": str(letter.id),
            "sender": letter.sender,
            "reason": "expired" if letter.expired else "absent",
        },
    )
