"""Last activity: an agent's last visible output and tool, which a heartbeat does not show.

A program that hangs may go on sending heartbeats. Its last output and its last tool show whether it makes progress.
All of it is the agent's own text: it is kept as one short line in which every character is visible.
"""

from uuid import UUID

from hubbub.model.fleet.managed_agents import LastActivity
from hubbub.model.visible_text import cut, visible
from hubbub.store.agents import last_activity as rows
from hubbub.store.tx import Tx

OUTPUT_LENGTH = 500  # characters of the last line that are kept
LINE = 200  # characters of a name


def note(
    tx: Tx,
    project_id: UUID,
    agent: str,
    *,
    node: str | None = None,
    runtime: str | None = None,
    output: str | None = None,
    output_at: int | None = None,
    tool: str | None = None,
    tool_at: int | None = None,
) -> None:
    """Store an agent's visible activity; omitted parts keep their value, and older ones do not replace newer ones.

    Of `output`, the last line that is not blank is kept. Times are Unix milliseconds, by default now; a time in the
    future, by the clock of another machine, counts as now. Records nothing, because it happens all the time.
    """
    line = _last_line(output)
    rows.put(
        tx,
        project_id,
        LastActivity(
            agent=agent,
            node=_line(node, LINE),
            runtime=_line(runtime, LINE),
            last_output=_line(line, OUTPUT_LENGTH),
            last_output_at=_moment(tx, output_at) if line else None,
            last_tool=_line(tool, LINE),
            last_tool_at=_moment(tx, tool_at) if tool else None,
        ),
    )


def of(tx: Tx, project_id: UUID, agent: str) -> LastActivity:
    """Return the agent's last activity; just its name if nothing is known."""
    return rows.find(tx, project_id, agent) or LastActivity(agent=agent)


def of_project(tx: Tx, project_id: UUID) -> dict[str, LastActivity]:
    """Return the last activity of the project's agents, by their names."""
    return {each.agent: each for each in rows.of_project(tx, project_id)}


def _last_line(text: str | None) -> str | None:
    lines = [line for line in (text or "").splitlines() if line.strip()]
    return lines[-1].strip() if lines else None


def _line(text: str | None, length: int) -> str | None:
    return cut(visible(cut(text, length)), length) if text else None


def _moment(tx: Tx, at: int | None) -> int:
    return tx.now if at is None else max(0, min(at, tx.now))
