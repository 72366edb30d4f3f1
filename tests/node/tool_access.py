"""An agent's hands in tests: two tools, and a record of what was called."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hubbub.model.errors import Invalid
from hubbub.model.fleet.calls import RefusalCode, ToolResult, ToolSpec, refused
from hubbub.model.fleet.managed_agents import AgentCredentials
from hubbub.node.runtimes.conversation import ToolAccess


def _required(name: str) -> Callable[[Mapping[str, object]], Mapping[str, object]]:
    def check(given: Mapping[str, object]) -> Mapping[str, object]:
        if not isinstance(given.get(name), str):
            raise Invalid(f"{name} is missing")
        return {name: given[name]}

    return check


def spec(tool: str, argument: str) -> ToolSpec:
    """A tool that takes one text."""
    return ToolSpec(
        name=tool,
        description=f"{tool} of a {argument}",
        schema={"type": "object", "properties": {argument: {"type": "string"}}, "required": [argument]},
        check=_required(argument),
    )


CATALOGUE = (spec("read_file", "path"), spec("execute_command", "command"))


@dataclass
class Record:
    """Lets files be read, and denies commands."""

    folder: Path
    calls: list[tuple[str, Mapping[str, object]]] = field(default_factory=list)

    async def call(self, tool: str, arguments: Mapping[str, object]) -> ToolResult:
        self.calls.append((tool, arguments))
        if tool == "execute_command":
            return refused(
                RefusalCode.DENIED, "permission_denied", reason="it recursively deletes a home folder"
            )
        return ToolResult(value={"content": "green", "truncated": False})

    def hands(
        self,
        tools: Sequence[ToolSpec] = CATALOGUE,
        *,
        is_limited: bool = False,
        lent: AgentCredentials | None = None,
    ) -> ToolAccess:
        return ToolAccess(
            node="here",
            folder=self.folder,
            tools=tools,
            call=self.call,
            task_id="7",
            lent=lent,
            is_limited=is_limited,
        )
