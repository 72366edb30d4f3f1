"""Events of clients' hooks, and their answers, in terms that belong to no client.

Plain classes: importing `dataclasses` alone would take longer than running all of this.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

# Moments: when a hook is called.
START = "start"  # the client has begun, or goes on after a compaction
PROMPT = "prompt"  # a person has written something
BEFORE = "before"  # a tool is about to be used
ASK = "ask"  # the client asks its person whether a tool may be used
AFTER = "after"  # a tool has been used
TURN = "turn"  # the model has come to the end of its turn
LIMIT = "limit"  # a turn has ended because the model's maker refuses more use for now
END = "end"  # the client ends

# Kinds of tools.
EDIT = "edit"
READ = "read"
SHELL = "shell"
TELL = "tell"  # call a hub's tool about a task, which may complete it
OTHER = "other"

# The hub's tools that complete a task, in any of its tool sets.
TELLING = (
    "task", "report_completion", "send_reply", "update_task", "complete_task", "issue_update", "issue_close",
)  # fmt: skip

ALLOW = "allow"
WARN = "warn"
DENY = "deny"
GRANT = "grant"  # a person's yes to the client's prompt


def text(value: object) -> str | None:
    """Return a client's value if it is a text; None for anything else."""
    return value if isinstance(value, str) else None


def facts(value: object) -> dict[str, object]:
    """Return a client's value if it is an object; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


class Event:
    """One call of a hook. `paths` are as the client wrote them: absolute, or relative to `cwd`."""

    __slots__ = (
        "call",
        "client",
        "code",
        "command",
        "continued",
        "cwd",
        "heard",
        "instance",
        "is_certain",
        "moment",
        "notice",
        "paths",
        "took",
        "tool",
        "tool_kind",
    )

    def __init__(
        self,
        *,
        client: str,
        moment: str,
        instance: str,
        cwd: str,
        tool_kind: str = OTHER,
        tool: str | None = None,
        paths: Sequence[str] = (),
        command: str | None = None,
        code: int | None = None,
        took: int | None = None,
        continued: bool = False,
        heard: bool = True,
        notice: str | None = None,
        is_certain: bool = False,
    ) -> None:
        self.call: str | None = None  # a digest of the tool's arguments, if the client tells all of them
        self.client = client
        self.moment = moment
        self.notice = notice  # at a limit: the sentence shown to people
        self.is_certain = is_certain  # at a limit: the client itself says that it is one
        self.instance = instance  # the run of the client's program, in its own words
        self.cwd = cwd
        self.tool_kind = tool_kind
        self.tool = tool  # the client's name for it
        self.paths = tuple(paths)
        self.command = command  # the text given to a shell
        self.code = code  # the exit status of the command, if the client tells it
        self.took = took  # milliseconds, if the client tells them
        self.continued = continued  # at a turn's end: a hook has already made the model go on once
        self.heard = heard  # whether the model reads the answer to this hook; if not, it reads only a denial


class Reply:
    """Our answer: the client's action and the text for its model; nothing at all for `allow` without a `text`."""

    __slots__ = ("decision", "goes_on", "text")

    def __init__(self, decision: str = ALLOW, text: str | None = None, *, goes_on: bool = False) -> None:
        self.decision = decision  # allow, warn (go on, and read this), deny, grant (the client's prompt)
        self.text = text
        self.goes_on = goes_on  # at a turn's end: the model takes another turn, because of `text`

    def __bool__(self) -> bool:
        return self.decision != ALLOW or self.text is not None


class HookOutput:
    """The answer as a process gives it: stdout, stderr, and the exit code."""

    __slots__ = ("code", "stderr", "stdout")

    def __init__(self, stdout: str = "", *, stderr: str = "", code: int = 0) -> None:
        self.stdout = stdout
        self.stderr = stderr
        self.code = code
