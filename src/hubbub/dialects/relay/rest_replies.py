"""Relay's REST about a run: the replies, without HTTP."""

from uuid import UUID

from hubbub.core.mail import messages
from hubbub.core.people import runs
from hubbub.core.work import artifacts, reviews, tasks
from hubbub.dialects.call import HubContext
from hubbub.dialects.dialect import Reply
from hubbub.dialects.relay import vocabulary
from hubbub.dialects.relay.live_view import watched_run
from hubbub.model.lifecycle import Status
from hubbub.store.tx import Tx


def session(tx: Tx, project_id: UUID, site: HubContext) -> Reply:
    """Return the project's current run, and the size of its parts; its id is null while nobody has named it."""
    run = runs.current(tx, project_id)
    return {
        "sessionId": run.name,
        "instanceId": site.instance,
        "port": site.port,
        "counts": {
            "tasks": tasks.number_in_run(tx, run),
            "messages": messages.number_in_run(tx, run),
            "artifacts": artifacts.number_in_run(tx, run),
            "reviews": reviews.number_in_run(tx, run),
        },
    }


def completion(tx: Tx, project_id: UUID, name: str) -> Reply:
    """Report whether the work of a run is done. Raises `NotFound`.

    A run without tasks is not done: nothing has been done in it yet. Nor is one with a task that failed, was
    cancelled or expired; such a task is among the pending ones, with its status.
    """
    run = watched_run(tx, project_id, name)
    pending = [task for task in tasks.each_of_run(tx, run) if task.status is not Status.COMPLETED]
    total = tasks.number_in_run(tx, run)
    return {
        "all_done": bool(total) and not pending,
        "done_count": total - len(pending),
        "total_count": total,
        "pending_tasks": [
            {
                "id": str(task.id),
                "title": task.title,
                "status": vocabulary.STATUS[task.status],
                "assignee": task.assignee,
            }
            for task in pending
        ],
    }
