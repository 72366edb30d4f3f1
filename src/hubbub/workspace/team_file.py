"""A team file's content, key by key: every value checked, nothing inherited yet.

`docs/schemas/agents.schema.json` says the same to editors; a test compares the two.
"""

import re
import unicodedata
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING

from hubbub.workspace.team_errors import TeamError, shown

if TYPE_CHECKING:
    from hubbub.workspace.strict_yaml import Value

FILE_KEYS = ("agents", "language", "shared_blocks", "review_checklist")
AGENT_KEYS = (
    *("name", "emoji", "description", "tags", "tools", "systemPrompt", "language", "disabled"),
    *("extends", "hooks", "validate_prompt", "review_checklist"),
)
HOOK_KEYS = ("before_task", "after_task")

ID_LIMIT = 64  # characters
ID_RULE = f"1 to {ID_LIMIT} letters, digits, '-' or '_'"

BLOCK_NAME = "[A-Za-z0-9_-]+"
BLOCK = re.compile(r"\{\{(" + BLOCK_NAME + r")\}\}")
AGENT_ID = "{agent_id}"


@dataclass(frozen=True, slots=True)
class Prompt:
    """A system prompt as it is written, with the shared blocks of its file, which it may use."""

    text: str
    blocks: Mapping[str, str]

    @property
    def length(self) -> int:
        """Return the number of characters with the blocks, before ids are filled in."""
        return len(self.text) + sum(len(self.blocks[name]) for name in BLOCK.findall(self.text))

    def spoken_to(self, agent_id: str) -> str:
        """Return the whole prompt for one agent. A block in a block stays as it is written."""
        return BLOCK.sub(lambda match: self.blocks[match[1]], self.text).replace(AGENT_ID, agent_id)


@dataclass(frozen=True, slots=True)
class AgentEntry:
    """A file's entry for an agent, None for each missing key. An empty tuple of hooks means that none shall run."""

    name: str | None
    emoji: str | None
    description: str | None
    tags: tuple[str, ...] | None
    tools: tuple[str, ...] | None
    prompt: Prompt | None
    language: str | None
    disabled: bool | None
    extends: str | None
    before_task: tuple[str, ...] | None
    after_task: tuple[str, ...] | None
    validate_prompt: str | None
    review_checklist: str | None

    def over(self, base: "AgentEntry") -> "AgentEntry":
        """Return this entry, completed by `base` where it has no value."""
        said = {field.name: getattr(self, field.name) for field in fields(self)}
        return replace(base, **{name: value for name, value in said.items() if value is not None})


@dataclass(frozen=True, slots=True)
class TeamFile:
    """A team file: its name, its agents in order, and its agents' default entry."""

    file: str
    agents: Mapping[str, AgentEntry]
    review_checklist: str | None


def parse_team_file(file: str, content: "Value") -> TeamFile:
    """Return the content of the file of that name. Raises `TeamError` with the agent and the key."""
    top = _Section(file, content, FILE_KEYS)
    if "agents" not in top.values:
        raise top.wrong("agents", "is missing")
    agents = top.section("agents")
    blocks, language = _blocks(top.section("shared_blocks")), top.text("language")
    entries = {}
    for agent_id, value in agents.values.items():
        if not is_agent_id(agent_id):
            raise agents.wrong(shown(agent_id), f"cannot be the id of an agent: {ID_RULE}")
        agent = _Section(f"{file}: agent {agent_id!r}", {} if value is None else value, AGENT_KEYS)
        entries[agent_id] = _entry(agent, blocks, language)
    return TeamFile(file, entries, top.text("review_checklist"))


def is_agent_id(text: str) -> bool:
    """Tell whether the text is 1 to 64 letters (of any script), digits, `-` or `_`."""
    return 0 < len(text) <= ID_LIMIT and all(
        character in "-_" or unicodedata.category(character)[0] in "LMN" for character in text
    )


class _Section:
    """A map in a team file, and the `place` to name in errors about it."""

    def __init__(self, place: str, value: "Value", keys: Collection[str] | None = None) -> None:
        """Check the map; any key is allowed if `keys` is None."""
        if not isinstance(value, dict):
            raise TeamError(f"{place}: must be a map")
        self.place, self.values = place, value
        for key in value:
            if keys is not None and key not in keys:
                near = get_close_matches(key, keys, n=1)
                hint = f"did you mean {near[0]}?" if near else f"allowed are {', '.join(keys)}"
                raise TeamError(f"{place}: unknown key {shown(key)}; {hint}")

    def wrong(self, key: str, problem: str) -> TeamError:
        return TeamError(f"{self.place}: {key}: {problem}")

    def text(self, key: str, *, may_be_empty: bool = False) -> str | None:
        if key not in self.values:
            return None
        value = self.values[key]
        if not isinstance(value, str):
            raise self.wrong(key, f"must be text{_hint(value)}")
        if not may_be_empty and not value.strip():
            raise self.wrong(key, "must not be empty")
        return value

    def texts(self, key: str) -> tuple[str, ...] | None:
        if key not in self.values:
            return None
        texts = _texts(self.values[key])
        if texts is None:
            raise self.wrong(key, "must be a list of text")
        return texts

    def flag(self, key: str) -> bool | None:
        value = self.values.get(key)
        if key in self.values and not isinstance(value, bool):
            raise self.wrong(key, "must be true or false")
        return value if isinstance(value, bool) else None

    def commands(self, key: str) -> tuple[str, ...] | None:
        """Return one command or several; `false` means none, on purpose."""
        if key not in self.values:
            return None
        value = self.values[key]
        commands = () if value is False else _texts([value] if isinstance(value, str) else value)
        if commands is None:
            raise self.wrong(key, "must be text, a list of text, or false")
        return commands

    def section(self, key: str, keys: Collection[str] | None = None) -> "_Section":
        """Return the map under `key`, an empty one if there is none."""
        return _Section(f"{self.place}: {key}", self.values.get(key, {}), keys)


def _texts(value: "Value") -> tuple[str, ...] | None:
    """Return the texts of a list, None if it is something else or one of them is empty."""
    if not isinstance(value, list):
        return None
    texts = tuple(item for item in value if isinstance(item, str) and item.strip())
    return texts if len(texts) == len(value) else None


def _hint(value: "Value") -> str:
    return "; put it in quotes" if isinstance(value, bool | float) else ""


def _blocks(section: _Section) -> dict[str, str]:
    blocks = {}
    for name in section.values:
        if not re.fullmatch(BLOCK_NAME, name):
            raise section.wrong(shown(name), "cannot name a block: letters from A to Z, digits, '-' or '_'")
        blocks[name] = section.text(name, may_be_empty=True) or ""
    return blocks


def _entry(agent: _Section, blocks: Mapping[str, str], language: str | None) -> AgentEntry:
    before_task, after_task = _hooks(agent)
    return AgentEntry(
        name=agent.text("name"),
        emoji=agent.text("emoji"),
        description=agent.text("description", may_be_empty=True),
        tags=agent.texts("tags"),
        tools=agent.texts("tools"),
        prompt=_prompt(agent, blocks),
        language=agent.text("language") or language,
        disabled=agent.flag("disabled"),
        extends=agent.text("extends"),
        before_task=before_task,
        after_task=after_task,
        validate_prompt=agent.text("validate_prompt", may_be_empty=True),
        review_checklist=agent.text("review_checklist", may_be_empty=True),
    )


def _hooks(agent: _Section) -> tuple[tuple[str, ...] | None, tuple[str, ...] | None]:
    """Return the commands before and after a task; `hooks: false` is `false` for both."""
    if agent.values.get("hooks") is False:
        return (), ()
    hooks = agent.section("hooks", HOOK_KEYS)
    return hooks.commands("before_task"), hooks.commands("after_task")


def _prompt(agent: _Section, blocks: Mapping[str, str]) -> Prompt | None:
    text = agent.text("systemPrompt")
    if text is None:
        return None
    for name in BLOCK.findall(text):
        if name not in blocks:
            there = f"there are {', '.join(blocks)}" if blocks else "there are none"
            raise agent.wrong("systemPrompt", f"no block {shown(name)} in shared_blocks; {there}")
    return Prompt(text, blocks)
