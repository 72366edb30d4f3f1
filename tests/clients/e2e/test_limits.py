"""A usage limit, and a spent budget, as real clients meet them: what they print and what their hooks say."""

import re
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count, islice
from pathlib import Path

import pytest

from hubbub.model.limits.accounts import goes_on_at
from tests.cli.processes import RunningHub
from tests.clients.e2e import messages_api, responses_api
from tests.clients.e2e.desk import Desk, desk_in
from tests.clients.e2e.messages_api import call
from tests.clients.e2e.programs import program
from tests.clients.e2e.test_claude_code import INBOX, KEY, QUIET, WAKE, Person, prompt
from tests.clients.e2e.test_codex import CONFIGURATION, REVIEW
from tests.clients.e2e.test_codex import Person as CodexPerson
from tests.clients.e2e.test_metered import run, tokens
from tests.support.waiting import until

# Agents that go on within seconds of the end of a pause: they are spread over a minute.
*WORKERS, WINDOW = islice(
    (name for name in map("agent-{}".format, count()) if goes_on_at(0, name) < 4_000), 4
)
SIGNED_IN = {
    "CLAUDE_CODE_OAUTH_TOKEN": "sk-ant-oat01-" + "0" * 40,
    "ANTHROPIC_API_KEY": "",
}  # by the month, not a key
TASKS = re.compile(r"job-\d+")
OF_WORKERS = re.compile(r"job-[1-6]\b")
EACH = sum(messages_api.USED.values())  # tokens of an answer
OF_CODEX = 2  # tokens of an answer
TASK = "mcp__hubbub__task"
MINUTE = 60  # seconds: clients show no shorter time
MOVED = (sys.executable, "-m", "tests.clients.e2e.moved_hub")


@pytest.fixture
def ahead(tmp_path: Path) -> Path:
    """By how many milliseconds the hub's clock is ahead."""
    file = tmp_path / "ahead"
    file.write_text("0", "ascii")
    return file


@pytest.fixture
def desk(tmp_path: Path, ahead: Path) -> Iterator[Desk]:
    """A fresh machine, with a hub whose clock the test moves."""
    hub = RunningHub(tmp_path / "data", settings={"TEST_AHEAD": str(ahead)}, program=MOVED)
    with desk_in(tmp_path, hub) as made:
        yield made


@dataclass
class Limited:
    """An account that is used up when the third task is begun, and its model server."""

    hub: RunningHub
    ahead: Path
    model: messages_api.ScriptedModel | responses_api.ScriptedModel | None = None
    begun: list[str] = field(default_factory=list)  # the tasks, in the order in which the model heard of them
    is_paused: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def is_reached(self, said: str) -> bool:
        """Tell whether the account is used up by this request; the first two tasks end in the pause."""
        task = TASKS.findall(said)[0]
        with self._lock:
            if task not in self.begun:
                self.begun.append(task)
            is_third = len(self.begun) == 3 and not self.is_paused.is_set()
            if is_third and self.model is not None:
                self.model.limited_until = int(time.time() // MINUTE + 120) * MINUTE
        if not is_third:
            self.is_paused.wait()
        return is_third

    def team(self, run: str, resume: str, **environment: str) -> None:
        """Three workers of one account, with two tasks each."""
        told = {"HOME": str(self.ahead.parent / "elsewhere"), **environment}
        for name in WORKERS:
            self.hub.work(name, run, "--resume", resume, "--account", "max", **told).says("ready")

    def kinds(self) -> list[str]:
        """What has happened, in order."""
        return [each["kind"] for each in self.hub.client().get("/activity", after=0, limit=500)["activity"]]

    def sends(self, *numbers: int, to: Sequence[str]) -> None:
        for number in numbers:
            self.hub.send(to[number % len(to)], f"job-{number} is to be done")

    def pauses(self) -> None:
        """Wait until the account is paused, and let the tasks end that were begun before."""
        self.hub.until("account.paused")
        self.is_paused.set()
        self.hub.until("task.completed", times=2)

    def is_over(self) -> None:
        """The time of the limit comes, at the hub and at the vendor."""
        assert self.model is not None
        assert self.model.limited_until is not None
        left = self.model.limited_until - time.time()
        self.model.limited_until = None
        self.ahead.write_text(str(int(left * 1000) + 1), "ascii")


def begun_in_the_pause(kinds: list[str]) -> int:
    """How many tasks were begun between the first pause and its end."""
    paused, resumed = kinds.index("account.paused"), kinds.index("account.resumed")
    return kinds[paused:resumed].count("task.started")


def done_once(limited: Limited, tasks: int) -> None:
    """All tasks are completed, each in its first attempt and once, and none has failed."""
    limited.hub.until("task.completed", times=tasks)
    kinds = Counter(limited.kinds())
    assert (kinds["task.completed"], kinds["task.started"], kinds["task.failed"]) == (tasks, tasks, 0)
    assert [limited.hub.task(number)["attempt"] for number in range(1, tasks + 1)] == [1] * tasks
    assert begun_in_the_pause(limited.kinds()) == 0


def test_claude_code_at_a_limit(desk: Desk, ahead: Path) -> None:
    """Eight tasks, three workers and a window on one account, whose limit the third task reaches.

    Nothing is begun on it before the limit is over, and then all are done: none twice, and none lost.
    """
    claude = program("@anthropic-ai/claude-code", "2.1.330", "claude")
    limited, person = Limited(desk.hub, ahead), Person(claude, desk)
    does = [
        [call(TASK, action=each, task=f"T-{n}", text="Done.") for each in ("start", "complete")]
        for n in (7, 8)
    ]
    person.answers = {WAKE: [call(INBOX)], "job-7": [*does[0], *does[1]]}

    def speaks(turn: messages_api.Turn) -> list[messages_api.Block]:
        if not OF_WORKERS.search(turn.everything):
            return person.model(turn)
        return [] if limited.is_reached(turn.everything) else [messages_api.say("Done.")]

    desk.hubbub("install", "claude-code", "--as", WINDOW)
    desk.hubbub("account", "set", "max", *WORKERS, WINDOW)
    person.script = speaks
    with person.working(**SIGNED_IN) as (shown, model):
        limited.model = model
        begins = f"cd {desk.work}; exec {claude} -p"
        limited.team(
            f'{begins} --session-id "$HUBBUB_CONVERSATION"',
            f'{begins} --resume "$HUBBUB_CONVERSATION"',
            ANTHROPIC_BASE_URL=model.url,
            **QUIET,
            **SIGNED_IN,
        )
        limited.sends(1, 2, 3, 4, 5, 6, to=WORKERS)
        limited.pauses()
        limited.sends(7, 8, to=(WINDOW,))
        model.limited_until = (model.limited_until or 0) + 10 * MINUTE
        prompt(shown, "how far are you")  # the turn is ended by the limit, which is told anew
        desk.hub.until("account.paused", times=2)
        assert [turn for turn in model.turns if WAKE in turn.told] == []
        limited.is_over()
        done_once(limited, 8)
    assert sorted(limited.begun) == [f"job-{number}" for number in range(1, 7)]


def test_codex_at_a_limit(desk: Desk, ahead: Path) -> None:
    """Eight tasks and three workers on one account, whose limit the third task reaches: the same of Codex."""
    codex = program("@openai/codex", "0.169.0", "codex")
    limited = Limited(desk.hub, ahead)

    def speaks(asked: responses_api.Asked) -> responses_api.Item | None:
        return None if limited.is_reached(asked.said) else responses_api.say("Done.")

    with responses_api.serving(speaks) as limited.model:
        file = ahead.parent / "elsewhere" / ".codex" / "config.toml"
        file.parent.mkdir(parents=True)
        file.write_text(CONFIGURATION.format(url=limited.model.url, folder=desk.work), "utf-8")
        begins = f"cd {desk.work}; exec {codex} exec --skip-git-repo-check"
        limited.team(f"{begins} -", f'{begins} resume "$HUBBUB_CONVERSATION" -')
        limited.sends(*range(1, 9), to=WORKERS)
        limited.pauses()
        desk.hub.stop()  # and comes back in the middle of the pause
        desk.hub.start()
        limited.is_over()
        done_once(limited, 8)
    assert sorted(limited.begun) == [f"job-{number}" for number in range(1, 9)]


def test_a_budget_ends_a_run_in_the_middle(desk: Desk) -> None:
    """A run that would never end is denied its next tool as soon as its budget is spent, and uses no more of it."""
    claude = program("@anthropic-ai/claude-code", "2.1.330", "claude")
    desk.hubbub("install", "claude-code", "--as", WINDOW)
    desk.hubbub("budget", "set", f"agent:{WINDOW}", "--tokens", f"{3 * EACH}")

    def speaks(turn: messages_api.Turn) -> list[messages_api.Block]:
        """Go on and on, each time after the hub has counted what was used until now."""
        until(lambda: tokens(desk, WINDOW) == (EACH * model.answered or None), "all tokens")
        if "is spent" in turn.everything:
            return [messages_api.say("I stop here.")]
        return [messages_api.call("Bash", command=f"touch {len(model.turns)}", description="Make a file")]

    with messages_api.serving(speaks) as model:
        address = {"ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_API_KEY": KEY}
        run(desk, claude, "-p", "go on for ever", "--allowedTools", "Bash(touch *)", **address, **QUIET)
        told = model.heard(
            f"the budget of the agent {WINDOW} is spent ({3 * EACH:,} tokens of {3 * EACH:,} tokens)"
        )
        until(lambda: tokens(desk, WINDOW) == EACH * model.answered, "all tokens")

    assert "Finish with what there is" in told.told
    assert sorted(each.name for each in desk.work.iterdir()) == ["0", "1", "2"]
    assert model.answered == 6  # four tools, of which the last was denied, and twice that it stops


def test_a_budget_ends_a_run_of_codex_in_the_middle(desk: Desk) -> None:
    """Codex with trusted hooks is denied its next tool as soon as its budget is spent: at most one more has run."""
    person = CodexPerson(program("@openai/codex", "0.169.0", "codex"), desk)

    def speaks(asked: responses_api.Asked) -> responses_api.Item:
        """Go on and on, each time after the hub has counted what was used until now."""
        answered = len(model.asked)
        until(lambda: tokens(desk, WINDOW) == (OF_CODEX * answered or None), "all tokens")
        if "is spent" in asked.said:
            return responses_api.say("I stop here.")
        return responses_api.by_shell(f"touch {answered}")

    with person.asking(speaks) as model:
        desk.hubbub("install", "codex", "--as", WINDOW)
        desk.hubbub("budget", "set", f"agent:{WINDOW}", "--tokens", f"{3 * OF_CODEX}")
        with person.window() as shown:
            person.chooses(shown, REVIEW, 2)
            person.has_opened()
        person.run(str(person.codex), "exec", "--skip-git-repo-check", "go on for ever")
        told = model.heard(f"the budget of the agent {WINDOW} is spent")

    assert "Finish with what there is" in told.last
    assert sorted(each.name for each in desk.work.iterdir()) == ["0", "1", "2"]
