"""The members of a team: the team file of a run, and the pool of agents behind it.

An entry inherits its missing values from the one it `extends`, looked up in its own file and then in the pool;
without `extends`, from the pool agent with its id.
"""

import re
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from hubbub.workspace.locations import Workspace
from hubbub.workspace.team_errors import TeamError, shown
from hubbub.workspace.team_file import AgentEntry, Prompt, TeamFile, parse_team_file

if TYPE_CHECKING:
    from hubbub.workspace.strict_yaml import Value

POOL_FILE = "agents.pool.yml"
RUN = re.compile(r"[A-Za-z0-9_-]{1,128}")
TEAM_FILE = re.compile(rf"session-agents-{RUN.pattern}\.yml")

LINKS = 16  # entries in a row that inherit from one another
PROMPT_LIMIT = 4 * 1024 * 1024  # characters in all prompts of a team

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class TeamAgent:
    """An agent as its team file describes it, with everything it inherits. The hooks are shell commands, in order.

    `base_id` is the id that it extends; `tags` are None if nobody gave any.
    """

    id: str
    name: str
    emoji: str
    description: str
    tags: tuple[str, ...] | None
    tools: tuple[str, ...]
    system_prompt: str
    language: str | None
    base_id: str | None
    validate_prompt: str | None
    review_checklist: str | None
    before_task: tuple[str, ...]
    after_task: tuple[str, ...]


def team(workspace: Workspace, run: str) -> list[TeamAgent]:
    """Return the team of a run, in the order of its file. Raises `TeamError`, also if there is no such file."""
    roster = _team(workspace, run)
    if roster is None:
        raise TeamError(f"{_team_file(run)} is not in the relay folder")
    return roster.personas()


def pool(workspace: Workspace) -> list[TeamAgent]:
    """Return all agents to choose from, in the order of the pool's file. Raises `TeamError`, also if there is none."""
    roster = _pool(workspace)
    if roster is None:
        raise TeamError("No agent pool configured")
    return roster.personas()


def team_agent(workspace: Workspace, run: str, agent_id: str) -> TeamAgent | None:
    """Return one agent of the run's team, or of the pool if the run has no team file; None if it is not there.

    Raises `TeamError` if the file that decides this cannot be used.
    """
    roster = _team(workspace, run) or _pool(workspace)
    return roster.persona(agent_id) if roster else None


class TeamHook(NamedTuple):
    """One command of a hook, at its place in the file."""

    file: str
    agent: str
    hook: str
    command: str


def hooks(workspace: Workspace) -> tuple[list[TeamHook], list[TeamError]]:
    """List every command of every hook in the team files of the workspace, and why a file cannot be used."""
    folders = dict.fromkeys((workspace.folder, workspace.root))
    pools = [folder / POOL_FILE for folder in folders if (folder / POOL_FILE).exists()]
    listed = workspace.folder.iterdir() if workspace.folder.is_dir() else ()
    found, faults = list[TeamHook](), list[TeamError]()
    for file in [*pools[:1], *sorted(each for each in listed if TEAM_FILE.fullmatch(each.name))]:
        try:
            found += _hooks_in(file)
        except TeamError as error:
            faults.append(error)
    return found, faults


def _hooks_in(file: Path) -> list[TeamHook]:
    return [
        TeamHook(file.name, agent, hook, command)
        for agent, entry in parse_team_file(file.name, _read(file)).agents.items()
        for hook, commands in (("before_task", entry.before_task), ("after_task", entry.after_task))
        for command in commands or ()
    ]


def are_there(workspace: Workspace) -> bool:
    """Tell whether there is any team file; if not, nobody has a persona in any run."""
    try:
        return (workspace.root / POOL_FILE).exists() or any(
            path.name == POOL_FILE or TEAM_FILE.fullmatch(path.name) for path in workspace.folder.iterdir()
        )
    except FileNotFoundError:
        return False
    except OSError:
        return True  # reading them reports the fault


def _team(workspace: Workspace, run: str) -> "_Roster | None":
    file = _team_file(run)
    try:
        content = _read(workspace.folder / file)
    except FileNotFoundError:
        return None
    return _Roster(parse_team_file(file, content), _pool(workspace))


def _team_file(run: str) -> str:
    if not RUN.fullmatch(run):
        raise TeamError(f"{shown(run)} names no team file: 1 to 128 letters from A to Z, digits, '-' or '_'")
    return f"session-agents-{run}.yml"


def _pool(workspace: Workspace) -> "_Roster | None":
    for folder in (workspace.folder, workspace.root):
        with suppress(FileNotFoundError):
            return _Roster(parse_team_file(POOL_FILE, _read(folder / POOL_FILE)), None)
    return None


def _read(path: Path) -> "Value":
    """Read a team file. The YAML parser takes a while to load, and without a team it is never needed."""
    from hubbub.workspace.strict_yaml import read

    return read(path)


class _Roster:
    """The agents of a file, with the pool `behind` it if it is the file of a team. Raises `TeamError`."""

    def __init__(self, own: TeamFile, behind: "_Roster | None") -> None:
        self.book, self.behind = own, behind
        self.room = PROMPT_LIMIT

    def personas(self) -> list[TeamAgent]:
        """List all agents that are not disabled."""
        return [found for agent_id in self.book.agents if (found := self.persona(agent_id))]

    def persona(self, agent_id: str) -> TeamAgent | None:
        """Return an agent; None if it is missing or disabled."""
        if agent_id not in self.book.agents or (entry := self._completed(agent_id)).disabled:
            return None
        return TeamAgent(
            id=agent_id,
            name=self._required(agent_id, "name", entry.name),
            emoji=self._required(agent_id, "emoji", entry.emoji),
            description=entry.description or "",
            tags=entry.tags,
            tools=self._required(agent_id, "tools", entry.tools),
            system_prompt=self._spoken(agent_id, entry.prompt),
            language=entry.language,
            base_id=entry.extends,
            validate_prompt=entry.validate_prompt,
            review_checklist=entry.review_checklist,
            before_task=entry.before_task or (),
            after_task=entry.after_task or (),
        )

    def base(self, agent_id: str) -> "tuple[_Roster, str] | None":
        """Return the base of the entry of that id: a roster, and the id there."""
        extends = self.book.agents[agent_id].extends
        wanted = extends or agent_id
        pooled = (self.behind, wanted) if self.behind and wanted in self.behind.book.agents else None
        if extends is None or (extends == agent_id and pooled):
            return pooled
        if extends in self.book.agents:
            return self, extends
        if pooled is None:
            places = "in this file or in the pool" if self.behind else "in this file"
            raise self.wrong(agent_id, f"extends: there is no agent {shown(extends)} {places}")
        return pooled

    def _completed(self, agent_id: str) -> AgentEntry:
        """Return the entry completed by everything that it inherits."""
        line = [(self, agent_id)]
        while base := line[-1][0].base(line[-1][1]):
            if base in line:
                circle = " → ".join(name for _, name in [*line, base])
                raise self.wrong(agent_id, f"extends: {circle} goes in a circle")
            if len(line) > LINKS:
                raise self.wrong(agent_id, f"extends: more than {LINKS} agents, one through the other")
            line.append(base)
        completed: AgentEntry | None = None
        for roster, name in reversed(line):
            entry = roster.book.agents[name]
            if completed and completed.disabled and entry.extends:
                raise roster.wrong(name, f"extends: the agent {shown(entry.extends)} is disabled")
            completed = entry.over(completed) if completed else entry
            if completed.review_checklist is None:
                completed = replace(completed, review_checklist=roster.book.review_checklist)
        assert completed is not None
        return completed

    def _spoken(self, agent_id: str, prompt: Prompt | None) -> str:
        prompt = self._required(agent_id, "systemPrompt", prompt)
        self.room -= prompt.length
        if self.room < 0:
            raise TeamError(f"{self.book.file}: all prompts together exceed {PROMPT_LIMIT:,} characters")
        return prompt.spoken_to(agent_id)

    def _required(self, agent_id: str, key: str, value: T | None) -> T:
        if value is None:
            raise self.wrong(agent_id, f"{key}: is missing")
        return value

    def wrong(self, agent_id: str, problem: str) -> TeamError:
        return TeamError(f"{self.book.file}: agent {agent_id!r}: {problem}")
