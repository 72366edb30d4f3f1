"""The order of arrival in inboxes, over restarts and hubs whose clocks differ.

Inboxes are sorted by ids, and ids begin with a clock's time. So a hub makes only ids that are greater than those that
it found in the database, and those that it hears of.
"""

from collections.abc import Sequence

from hubbub.core.mail import messages
from hubbub.model import ids
from hubbub.model.people.rights import SYSTEM
from hubbub.model.records import Activity
from hubbub.store.tx import Store


async def continue_order(store: Store) -> None:
    """Make ids only after those in the database from now on, even if the clock was set back since."""
    newest = await store.read(SYSTEM, messages.newest_delivery)
    if newest is not None:
        ids.continue_after(newest)


def hear(activities: Sequence[Activity]) -> None:
    """Make ids only after those of messages that any hub has stored."""
    for each in activities:
        if each.message_id is not None:
            ids.continue_after(each.message_id)
        elif each.task_id is not None and each.kind == "task.sent":
            ids.continue_after(each.task_id)
