"""One task, or one broadcast, from the inbox to the report."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import timedelta
from functools import partial
from uuid import uuid4

from hubbub.client import LetterReply, TaskReply
from hubbub.model.cost.printed_usage import Listener
from hubbub.worker.shell_command import CommandExit, ShellCommand
from hubbub.worker.usage_gate import conversation_of

CHECK = timedelta(seconds=2)  # between checks of a running task: whether it is still ours, and its output
PROGRESS_LINES, PROGRESS_LENGTH = 5, 500
STDERR_LINES, STDERR_LENGTH = 20, 4_000
VARIABLES = "HUBBUB_TASK_"
CONVERSATION = "HUBBUB_CONVERSATION"  # the variable with the name under which a program can continue
GO_ON = "The usage limit that stopped you is over. Go on with the task where you were."
ANEW = (
    "An earlier run of this task was stopped by a usage limit. What it had done is still there; it said last:"
)
RESOURCE = "OTEL_RESOURCE_ATTRIBUTES"  # attributes that exporting programs add to their reports
LONGEST_VARIABLE = 30_000  # characters; Linux takes 128 KiB


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """The work to do: a task that was begun, or a broadcast."""

    ref: str
    number: int | None  # None: a broadcast
    title: str
    text: str
    sender: str  # to whom the answer goes
    wanted_by: str  # the sender, or the person behind it
    priority: str
    context: str | None
    attempt: int
    epoch: int | None
    began_at: int  # by the hub's clock, in milliseconds

    @classmethod
    def of_task(cls, task: TaskReply) -> "Assignment":
        return cls(
            ref=task["id"],
            number=task["number"],
            title=task["title"],
            text=task["text"],
            sender=task["sender"],
            wanted_by=task["author"] or task["sender"],
            priority=task["priority"],
            context=task["context"],
            attempt=task["attempt"],
            epoch=task["epoch"],
            began_at=task["started_at"] or task["created_at"],
        )

    @classmethod
    def of_broadcast(cls, letter: LetterReply, attempt: int) -> "Assignment":
        return cls(
            ref=letter["id"],
            number=None,
            title=letter["text"].partition("\n")[0],
            text=letter["text"],
            sender=letter["sender"],
            wanted_by=letter["author"] or letter["sender"],
            priority=letter["priority"],
            context=None,
            attempt=attempt,
            epoch=None,
            began_at=letter["stored_at"],
        )

    @property
    def label(self) -> str:
        """Return the name that people use for it."""
        kind = "broadcast" if self.number is None else f"T-{self.number}"
        return f"{kind} {self.title!r}"

    @property
    def mark(self) -> str:
        """Return the mark of its output among that of others."""
        return "broadcast" if self.number is None else f"T-{self.number}"

    def environment(self) -> dict[str, str]:
        """Return the command's variables, beside the text."""
        facts = {
            "ID": self.ref if self.number is not None else None,  # a broadcast's is the id of no task
            "NUMBER": self.number,
            "TITLE": self.title,
            "SENDER": self.wanted_by,
            "PRIORITY": self.priority,
            "CONTEXT": self.context,
            "ATTEMPT": self.attempt,
        }
        shown = {VARIABLES + name: "" if value is None else str(value) for name, value in facts.items()}
        return {name: value.replace("\0", "")[:LONGEST_VARIABLE] for name, value in shown.items()}


class Job:
    """The run of the command for one assignment."""

    def __init__(
        self,
        assignment: Assignment,
        command: str,
        environment: Mapping[str, str],
        heard: Callable[[str], None] | None = None,
        resume: str | None = None,
    ) -> None:
        """Prepare a run; `heard` gets each line that the command prints, with the mark of its assignment.

        `resume` is the command that continues a stopped conversation; without it the command is run anew.
        """
        self.assignment = assignment
        self.epoch = assignment.epoch  # rises when the task is delivered to us again while we work on it
        self.is_lost = threading.Event()  # another agent took it, or it was cancelled
        self.stopped: str | None = None  # why the command was ended, such as a spent budget
        self.waits = False  # for the end of a pause; nothing runs
        self._heard = partial(_tell, heard, assignment.mark) if heard is not None else None
        self._listener = Listener(f"{assignment.ref} {assignment.attempt}")
        self._text, self._command, self._resume = assignment.text, command, resume
        self._environment = {
            **environment,
            **assignment.environment(),
            **_exporting(environment, assignment),
            CONVERSATION: str(uuid4()),
        }
        self.program = ShellCommand(command, self._environment, self._hear)
        self.thread = threading.current_thread()  # the thread that watches over it
        self._told = ""

    def start(self, timeout: timedelta | None) -> None:
        self.program.start(self._text, timeout)
        if self.is_lost.is_set():  # while another run was prepared
            self.program.stop()

    def go_on(self, ended: CommandExit) -> None:
        """Prepare another run, which continues where the stopped one ended."""
        said = ended.stdout.lines(STDERR_LINES, STDERR_LENGTH)
        name = (conversation_of(ended) or self._environment[CONVERSATION]) if self._resume else str(uuid4())
        self._text = GO_ON if self._resume else f"{self.assignment.text}\n\n{ANEW}\n{said}"
        self._environment = {**self._environment, CONVERSATION: name}
        self.program = ShellCommand(self._resume or self._command, self._environment, self._hear)

    def lose(self) -> None:
        """Stop the command and report nothing, as the job is no longer ours."""
        self.is_lost.set()
        self.program.stop()

    def used(self) -> list[Mapping[str, object]]:
        """Return the use that the command reported, for its task."""
        return [asdict(each) | {"task": self._task()} for each in self._listener.used()]

    def _task(self) -> str | None:
        return self.assignment.ref if self.assignment.number is not None else None

    def _hear(self, line: str) -> None:
        self._listener.hear(line)
        if self._heard is not None:
            self._heard(line)

    def news(self) -> str | None:
        """Return the last lines of output, if they have changed since last time."""
        lines = self.program.stdout.lines(PROGRESS_LINES, PROGRESS_LENGTH)
        if lines in ("", self._told):
            return None
        self._told = lines
        return lines


def _exporting(environment: Mapping[str, str], assignment: Assignment) -> dict[str, str]:
    """Return the variables by which an exporting command names its task: with several running, the hub cannot know."""
    if assignment.number is None:
        return {}
    others = environment.get(RESOURCE)
    own = f"hubbub.task={assignment.ref}"
    return {RESOURCE: f"{others},{own}" if others else own}


def _tell(heard: Callable[[str], None], mark: str, line: str) -> None:
    heard(f"{mark} | {line}")


def outcome_of_exit(ended: CommandExit) -> tuple[str, str]:
    """Return the report for the hub: the verb, and the text."""
    if ended.exit_code == 0 and not ended.timed_out:
        return "complete", ended.stdout.text().strip() or "done"
    errors = ended.stderr.lines(STDERR_LINES, STDERR_LENGTH)
    return "fail", f"{ended.verdict}\n{errors}".strip()
