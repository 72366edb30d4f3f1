"""The story: what happened, told in a few lines from the hub's own log and from what the processes saw."""

from collections.abc import Sequence
from textwrap import fill

from demo.check import Books
from demo.ledger import Execution
from hubbub.client import ActivityReply, TaskReply
from hubbub.terminal.display import clean, fit, width

WIDTH = 120
INDENT = " " * 10
COLUMNS = ("task", "agent", "attempts", "status", "took", "first line of the result")

USUAL, REPLACED = "medium", "replaced"
TOLD = {  # how a line begins, and how it goes on: lines in a row that begin alike become one
    "task.sent": ("{sender} sends {whom}", "T-{number} {title}{urgency}"),
    "task.submitted": ("{agent} hands in T-{number} for review", ""),
    "task.delivered": ("what {agent} waited for is done; it gets", "T-{number}"),
    "task.ready": ("what waits for nobody any more is free:", "T-{number}"),
    "task.started": ("{agent} begins", "T-{number} again, which is attempt {attempt}"),
    "task.completed": ("{agent} completes", "T-{number}"),
    "task.failed": ("{agent} fails at", "T-{number}"),
    "task.retried": ("{actor} has it tried again", "T-{number}"),
    "task.released": ("the hub delivers T-{number} again:", "{reason}"),
    "task.chained": ("{agent} hears that a part is done", ""),
    "review.requested": ("{actor} asks {agent} for a review", ""),
    "review.submitted": ("{actor} reviews it: {verdict}", ""),
    "run.started": ("{actor} starts the run {run}", ""),
    "memory.updated": ("{actor} writes into the memory of {owner}", ""),
    "summary.saved": ("{actor} sums up {run}", ""),
    "agent.checkin": ("{agent} comes", ""),
    "agent.checkout": ("{agent} leaves", ""),
}
Line = tuple[str, str]


def told(activity: ActivityReply) -> Line | None:
    """An activity as a line of the story; None for what goes without saying."""
    kind, detail = activity["kind"], activity["detail"]
    is_first = kind == "task.started" and detail["attempt"] == 1
    if kind not in TOLD or is_first or detail.get("reason") == REPLACED:
        return None
    urgency = f" ({detail['priority']})" if detail.get("priority") not in (None, USUAL) else ""
    facts = {
        **detail,
        "agent": activity["agent"],
        "actor": activity["actor"],
        "urgency": urgency,
        "whom": activity["agent"] or "whoever takes it",
        "owner": activity["agent"] or "the project",
        "verdict": (detail.get("verdict") or "").replace("_", " "),
    }
    beginning, rest = TOLD[kind]
    return beginning.format_map(facts), rest.format_map(facts)


class Story:
    """Tells what happened scene by scene; times are seconds since its beginning."""

    def __init__(self, began_at: int) -> None:
        self.began_at = began_at
        self._told_activities = 0
        self._told_notes = 0

    def title(self, text: str) -> None:
        print(f"\n{text}", flush=True)

    def tell(self, activities: Sequence[ActivityReply], notes: Sequence[tuple[int, str]]) -> None:
        """Tell what is new of these, in the order of their times."""
        lines = [(at, (sentence, "")) for at, sentence in notes[self._told_notes :]]
        lines += [
            (activity["at"], line)
            for activity in activities[self._told_activities :]
            if (line := told(activity)) is not None
        ]
        self._told_activities, self._told_notes = len(activities), len(notes)
        for at, sentence in _joined(sorted(lines, key=lambda line: line[0])):
            seconds = max(0, at - self.began_at) / 1000
            print(fill(f"{seconds:6.1f} s  {clean(sentence)}", WIDTH, subsequent_indent=INDENT), flush=True)


def _joined(lines: Sequence[tuple[int, Line]]) -> list[tuple[int, str]]:
    """One sentence for lines in a row that begin alike."""
    sentences: list[tuple[int, str]] = []
    before = None
    for at, (beginning, rest) in lines:
        if beginning == before and rest:
            since, sentence = sentences.pop()
            sentences.append((since, f"{sentence}, {rest}"))
        else:
            sentences.append((at, f"{beginning} {rest}".strip()))
        before = beginning
    return sentences


def table(books: Books) -> str:
    """A line for each task, oldest first."""
    tasks = sorted(books.tasks, key=lambda task: task["number"])
    rows = [COLUMNS, *(_row(task, books.runs(task)) for task in tasks)]
    widths = [max(width(row[column]) for row in rows) for column in range(len(COLUMNS))]
    lines = ["  ".join(map(_padded, row, widths)) for row in rows]
    return "\n".join(fit(line.rstrip(), WIDTH) for line in lines)


def _padded(cell: str, room: int) -> str:
    return cell + " " * (room - width(cell))


def _row(task: TaskReply, runs: Sequence[Execution]) -> tuple[str, ...]:
    first = clean((task["result"] or "").partition("\n")[0])
    began = min((run.began_at for run in runs), default=None)
    ended = task["ended_at"]
    took = f"{(ended - began) / 1000:.1f} s" if ended and began else ""
    title = clean(f"T-{task['number']} {task['title']}")
    return title, task["assignee"] or "", str(task["attempt"]), task["status"], took, first
