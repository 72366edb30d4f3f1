"""Four tongues, one world: a project, and one agent of each dialect, for stories in which they meet."""

from functools import cached_property

from tests.dialects.cmdop.callers import Board
from tests.dialects.commhub.callers import Fleet
from tests.dialects.golemxv.callers import Crew
from tests.dialects.relay.callers import Team
from tests.dialects.running_hub import Caller, Json

TEXT = "Write the parser\nfor every script there is"


class World:
    """A project with the commander of CommHub, gil of GolemXV, rhea of Relay, and cleo of cmdop."""

    def __init__(self, crew: Crew) -> None:
        self.crew = crew
        self.fleet: Fleet = crew.fleet
        self.team: Team = crew.team
        self.team.begin()
        self.commander = self.fleet.online("commander")
        self.gil = self.checked_in("gil")
        self.rhea = self.team.agent("rhea")
        self.cleo = self.board.agent("cleo")

    @cached_property
    def board(self) -> Board:
        """The same project as cmdop's agents see it; the hub has no machine."""
        return Board(self.crew.hub, self.crew.project, self.crew.closing)

    def checked_in(self, name: str) -> Caller:
        """An agent of GolemXV that has come, with a token that is bound to it."""
        return self.crew.checkin(by=self.crew.of(self.crew.token(name)))

    def relay_as(self, name: str) -> Caller:
        """The agent of that name, who can speak Relay as well."""
        return self.team.agent(name)

    def send(self, to: str, text: str = TEXT, **more: object) -> str:
        """A task by CommHub's commander; returns its id."""
        answer = self.commander.send_task(alias=to, task=text, **more)
        assert answer["ok"], answer
        return str(answer["message_id"])

    def number(self, task_id: str) -> int:
        """Return GolemXV's name of the task."""
        titles = {each["id"]: each["title"] for each in self.team.tasks()}
        (row,) = [each for each in self.listed() if each["title"] == titles[task_id]]
        return int(row["id"])

    def listed(self) -> list[Json]:
        """The rows of GolemXV's list_tasks."""
        rows: list[Json] = self.crew.viewer().list_tasks(limit=50)["tasks"]
        return rows

    def issue(self, task_id: str) -> Json:
        """Return cmdop's view of the task, whole."""
        return dict(self.cleo.issue_get(id=task_id))

    def said_of(self, task_id: str) -> tuple[str, str, str, str]:
        """Return the task's state in the words of CommHub, Relay, GolemXV and cmdop."""
        commhub, relay = self.fleet.task(task_id)["status"], self.team.row(task_id)["status"]
        golemxv = self.crew.row(self.number(task_id))["status"]
        return commhub, relay, golemxv, self.issue(task_id)["status"]
