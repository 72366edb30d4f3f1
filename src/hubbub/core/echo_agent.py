"""The echo: the hub's own agent, which sends back what it receives, so that a first message gets an answer.

It is a member of the fleet like any other: it has a presence and an inbox, uses the same verbs, and is removed in
the same way.
"""

from datetime import timedelta
from uuid import UUID

from hubbub.core import agent_removal
from hubbub.core.actions import inbox, task_actions
from hubbub.core.agents import agents
from hubbub.core.mail import delivery_forecast, messages
from hubbub.core.people import access
from hubbub.core.presence import presences
from hubbub.core.work import tasks
from hubbub.model.errors import Conflict, HubError
from hubbub.model.people.rights import Right
from hubbub.model.records import Condition, Letter, LetterKind, Presence, Profile, Project
from hubbub.store.agents import agents as rows
from hubbub.store.mail import messages as mail
from hubbub.store.tx import Tx

NAME = "echo"
INSTANCE = "built-in"  # tells it from another agent of that name
PROFILE = Profile(runtime=delivery_forecast.BUILT_IN, doing="Sends back what it is sent")
TTL = timedelta(seconds=90)
BATCH = 20  # letters that are answered in one transaction


def begin(tx: Tx, project: Project) -> None:
    """Add the echo to a project. Only people who manage the project may do this.

    Records `agent.checkin`. Raises `Forbidden`, and `Conflict` if an agent of the project has that name.
    """
    access.require_person(tx, "start the echo agent")
    access.enter(tx, str(project.id), Right.MANAGE)
    if agents.is_known(tx, project.id, NAME) and not is_there(tx, project.id):
        raise Conflict(f"an agent of this project is called {NAME!r} already")
    _report(tx, project.id)


def end(tx: Tx, project: Project) -> None:
    """Remove the echo from a project. Raises the errors of `agent_removal.remove`, and `Conflict` for another agent."""
    if agents.is_known(tx, project.id, NAME) and not is_there(tx, project.id):
        raise Conflict(f"{NAME!r} is an agent of this project's own")
    agent_removal.remove(tx, project, NAME)


def is_there(tx: Tx, project_id: UUID) -> bool:
    """Tell whether the agent of that name is the echo, and not one of the project's own."""
    return _is_ours(rows.presence(tx, project_id, NAME))


def projects(tx: Tx) -> list[UUID]:
    """Return the projects that have an echo."""
    return rows.projects_with(tx, NAME, INSTANCE)


def attend(tx: Tx, project_id: UUID) -> bool:
    """Renew the echo's presence, and answer its mail; False if the project has no echo (any more)."""
    if not _is_ours(rows.presence(tx, project_id, NAME, lock=True)):
        return False
    _report(tx, project_id)
    for letter in inbox.read(tx, project_id, NAME, BATCH):
        _answer(tx, project_id, letter)
    return True


def _report(tx: Tx, project_id: UUID) -> None:
    presences.report(
        tx, project_id, NAME, instance=INSTANCE, condition=Condition.IDLE, profile=PROFILE, ttl=TTL
    )


def _is_ours(presence: Presence | None) -> bool:
    return presence is not None and presence.instance == INSTANCE


def _answer(tx: Tx, project_id: UUID, letter: Letter) -> None:
    if letter.kind is LetterKind.TASK:
        _work(tx, project_id, letter)
        return
    inbox.ack(tx, project_id, NAME, str(letter.delivery.id))
    if letter.kind is LetterKind.MESSAGE and not _answers_us(tx, letter):
        messages.send(
            tx,
            project_id,
            sender=NAME,
            to=letter.sender,
            addressee=letter.author,
            body=letter.body,
            in_reply_to=letter.delivery.message_id,
            awaited=True,
        )


def _work(tx: Tx, project_id: UUID, letter: Letter) -> None:
    """Complete a task with its own text; if the project asks for more than words, say so."""
    task = task_actions.start(tx, tasks.find(tx, [project_id], str(letter.delivery.task_id), lock=True), NAME)
    try:
        task_actions.complete(tx, task, by=NAME, result=task.text)
    except HubError as refusal:
        task_actions.fail(tx, task, by=NAME, reason=str(refusal))


def _answers_us(tx: Tx, letter: Letter) -> bool:
    """Tell whether a message answers one of the echo's own, so that two agents that answer everything stop."""
    if letter.in_reply_to is None:
        return False
    answered = mail.find(tx, letter.in_reply_to)
    return answered is not None and answered.sender == NAME
