"""Rendering of cards as lines of styled text, from which no text of agents can break out."""

from typing import Any

from rich.text import Text

from hubbub.model.fleet.calls import QuestionKind
from hubbub.model.log.attention import Needed, NeedKind
from hubbub.model.log.projection import Card
from hubbub.model.visible_text import visible
from hubbub.terminal import display, parties, pauses
from hubbub.terminal.attention import TITLES
from hubbub.watch.view_model import ViewModel

GLYPHS = {
    "queued": "◌",
    "delivered": "○",
    "acked": "◉",
    "running": "▶",
    "blocked": "‖",
    "waiting": "?",
    "review": "◎",
    "done": "✓",
    "failed": "✗",
    "cancelled": "⊘",
    "expired": "◷",
}
COLOURS = {
    "queued": "#98a2ae",
    "delivered": "#7fb9da",
    "acked": "#7fb9da",
    "running": "#62abff",
    "working": "#62abff",
    "blocked": "#f2ab3f",
    "waiting": "#f2ab3f",
    "review": "#b9a0ff",
    "done": "#4fc68d",
    "failed": "#ff7f76",
    "error": "#ff7f76",
    "stale": "#ff7f76",
    "cancelled": "#98a2ae",
    "expired": "#98a2ae",
    "idle": "#98a2ae",
    "offline": "#8a939e",
}
AMBER, RED, FAINT = "#f2ab3f", "#ff7f76", "#8a939e"
PROMPT = "Permission prompt"  # the agent's client shows it too
MOST = 200  # characters of others' text on one line


def styled(text: object, style: str = "") -> Text:
    """Style others' text on one line: no markup in it counts, nothing in it steers the terminal."""
    return Text(display.clean(" ".join(str(text or "").split()))[:MOST], style=style)


def span(milliseconds: int) -> str:
    """Format a duration for people: `12s`, `36m`, `1h 5m`, `2d 3h`."""
    seconds = max(milliseconds, 0) // 1000
    if seconds < 60:
        return f"{seconds}s"
    minutes = seconds // 60
    if minutes < 60:
        return f"{minutes}m"
    hours = minutes // 60
    return f"{hours}h {minutes % 60}m" if hours < 24 else f"{hours // 24}d {hours % 24}h"


def ref(task: Card) -> str:
    """Return the name under which a task is shown."""
    return f"T-{task['number']}"


def task_lines(task: Card, shown: ViewModel) -> Text:
    """Render a task on the board: its state, number and age, its title, its assignee, and why it does not go on."""
    state = task["state"]
    colour = COLOURS[state]
    age = span(shown.now - (task["ended_at"] or task["created_at"]))
    line = Text().append(f"{GLYPHS[state]} ", colour).append(ref(task), FAINT)
    if task["priority"] in ("critical", "high"):
        line.append(f" {task['priority']}", RED if task["priority"] == "critical" else AMBER)
    line.append(f"  {age}\n", FAINT).append_text(styled(task["title"], "bold")).append("\n")
    line.append_text(styled(task["assignee"] or "unassigned", FAINT))
    if (account := shown.pausing(task)) is not None:
        line.append(f"  {pauses.status(account)}", AMBER)
    if task["note"] and state in ("blocked", "waiting", "failed"):
        line.append("  ").append_text(styled(task["note"], colour))
    return line.append("\n")


def need_lines(need: Needed, shown: ViewModel) -> Text:
    """Render a need of a person: its kind, its age, its subject, and its text."""
    kind, task, age = need.need.kind, shown.task_of(need), span(shown.now - need.need.since)
    is_prompt = kind is NeedKind.APPROVAL and need.card["kind"] == QuestionKind.PROMPT
    title = PROMPT if is_prompt else TITLES[kind]
    line = Text().append(title, f"bold {RED if kind in (NeedKind.FAILED, NeedKind.STALE) else AMBER}")
    if kind is NeedKind.APPROVAL and need.card["dangerous"]:
        line.append("  dangerous", f"bold {RED}")
    if task is not None:
        line.append(f"  {ref(task)}", FAINT)
    return line.append(f"  {age}\n", FAINT).append_text(_about(need, shown))


def _about(need: Needed, shown: ViewModel) -> Text:
    card: Any = need.card
    match need.noun:
        case "approvals":
            about, by = (
                visible(card["shown"]),
                f"{card['who']} · {card['tool']} · {_place(card)} · {card['reason']}",
            )
        case "letters":
            about, by = card["text"], parties.sender(card)
        case "overlaps":
            about, by = ", ".join(card["files"] or card["areas"]), " and ".join(card["agents"])
        case "stops":
            about, by = card["reason"], " and ".join(card["agents"])
        case "budgets":
            about, by = f"{card['kind']} {card['label']}", card["level"]
        case "accounts":
            about, by = card["name"], card["paused_by"] or ""
        case "agents" if need.need.kind is NeedKind.STALE:
            about, by = card["name"], f"held {len(card['holds'])}"
        case "agents":
            about, by = card["doing"], card["name"]
        case _:
            agent = shown.picture["agents"].get(card["assignee"] or "")
            asks = agent["doing"] if agent and need.need.kind is NeedKind.QUESTION else None
            why = card["note"] or asks or card["status"]
            about, by = card["title"], f"{card['assignee'] or 'unassigned'} · {why}"
    return Text().append_text(styled(about)).append("\n").append_text(styled(by, FAINT)).append("\n")


def _place(card: Card) -> str:
    """Return the machine of a call; if a program beside the agent asks, with a note that it only claims to be there."""
    said_node = card.get("said_node")
    return (
        str(card["node"]) if said_node is None else f"asked by its own program, on {said_node} as that says"
    )


def agent_cells(agent: Card, shown: ViewModel) -> tuple[Text, ...]:
    """Render an agent's row of the fleet: name, state, machine, runtime, task, and its description of its work."""
    state, task = agent["state"], shown.at_work_on(agent["name"])
    return (
        styled(agent["name"], "bold"),
        Text(state, style=COLOURS.get(state, FAINT)),
        styled(agent["machine"] or "—"),
        styled(agent["runtime"] or "—"),
        Text(ref(task)) if task else Text("—", style=FAINT),
        styled(task["title"] if task else agent["doing"], FAINT),
    )


def subject(activity: dict[str, Any]) -> tuple[str, str | None, str]:
    """Return the subject of an activity, for the question why: its kind, its name, and its title."""
    if activity["task_id"]:
        number = activity["detail"].get("number")
        return "task", activity["task_id"], f"T-{number}" if number else "the task"
    name = activity["agent"]
    return "agent", name, str(name)


def activity_line(activity: dict[str, Any]) -> Text:
    """Render one line of the feed."""
    facts = activity["detail"]
    line = Text().append(f"{display.moment(activity['at'])}  ", FAINT)
    line.append_text(styled(activity["kind"])).append("  ").append_text(styled(activity["actor"], "bold"))
    if activity["task_id"] and "number" in facts:
        line.append(f"  T-{facts['number']}", FAINT)
    more = facts.get("title") or facts.get("shown") or facts.get("reason") or facts.get("doing")
    return line.append("  ").append_text(styled(more, FAINT))
