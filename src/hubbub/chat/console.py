"""The terminal's side of `hubbub chat`: prompts go in, text and tool calls come out, and questions are answered."""

import json
import shutil
import signal
from collections.abc import Iterator, Mapping
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from pathlib import Path

from hubbub.chat.agent_chat import AgentChat, Event, Question, TextPiece, ToolFinished, ToolStarted, TurnEnded
from hubbub.dialects.cmdop import DIALECT
from hubbub.model.fleet.calls import ToolResult
from hubbub.node.policy.node_policy import Runtime
from hubbub.node.runtimes.conversation import RuntimeFailed
from hubbub.terminal import display

PULSE = 0.25  # seconds

YOU = "\nyou> "
YES = frozenset({"y", "yes"})
HELP = """/help   these lines
/tools  what the agent may use
/clear  forget what was said so far
/quit   leave; the end of input does the same
Ctrl-C stops the agent. What needs your yes is asked here; whatever you answer beside yes is no."""


def talk(other: AgentChat, runtime: Runtime) -> None:
    """Chat turn by turn, until the person leaves."""
    with suppress(ImportError):
        import readline  # noqa: F401  # from now on `input` lets the line be edited, and remembers those before

    display.show(
        f"You talk with {runtime.name}, which works in {Path.cwd()}. /help says what else you can do."
    )
    before = signal.signal(signal.SIGINT, lambda *_: other.turn.cancel())
    try:
        with _pulse():
            _take_turns(other)
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _pulse() -> Iterator[None]:
    """Wake this thread at short intervals.

    Python acts on a signal when the thread runs. A Ctrl-C in the instant before the thread falls asleep,
    for a line or for an event, would be noticed only when that comes.
    """
    before = signal.signal(signal.SIGALRM, lambda *_: None)
    signal.setitimer(signal.ITIMER_REAL, PULSE, PULSE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _take_turns(other: AgentChat) -> None:
    while True:
        try:
            line = _read(YOU).strip()
        except KeyboardInterrupt:
            continue
        except EOFError:
            print()
            return
        if line == "/quit":
            return
        if line.startswith("/"):
            _obey(other, line)
        elif line:
            _take_turn(other, line)


def _read(prompt: str) -> str:
    """Read a line that the person types. Raises `EOFError`, and `KeyboardInterrupt`, which Ctrl-C causes only here."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return input(prompt)
    finally:
        signal.signal(signal.SIGINT, before)


def _obey(other: AgentChat, line: str) -> None:
    match line:
        case "/help":
            display.show(HELP)
        case "/clear":
            other.forget()
            display.show("What was said so far is forgotten.")
        case "/tools":
            rows = [(spec.name, spec.description) for spec in DIALECT.catalogue()]
            display.show_table(("tool", "what it does"), rows)
        case _:
            display.show(f"There is no {line.split(maxsplit=1)[0]}; /help says what there is.")


def _take_turn(other: AgentChat, prompt: str) -> None:
    """Show the agent's words and actions, until it is done or Ctrl-C stops it."""
    turn = other.say(prompt)
    while not isinstance(event := turn.events.get(), TurnEnded):
        _show(other, event)
    try:
        turn.answer()
        print()
    except CancelledError:
        display.show("\n(stopped)")
    except RuntimeFailed as failed:
        display.show(f"\n{failed}")


def _show(other: AgentChat, event: Event) -> None:
    match event:
        case TextPiece(text):
            print(display.clean(text, lines=True), end="", flush=True)
        case ToolStarted(tool, arguments):
            given = json.dumps(arguments, ensure_ascii=False)
            _note(f"→ {tool} {given}")
        case ToolFinished(outcome) if outcome.is_error:
            _note(f"  {_refusal(outcome)}")
        case Question(sentence, answer) if answer.set_running_or_notify_cancel():
            answer.set_result(_says_yes(other, sentence))


def _says_yes(other: AgentChat, sentence: str) -> bool:
    """Ask the person and return whether they said yes. No answer counts as no; Ctrl-C also stops the turn."""
    display.show(f"\n{sentence}")
    try:
        return _read("yes or no? [no] ").strip().lower() in YES
    except KeyboardInterrupt:
        other.turn.cancel()
    except EOFError:
        print()
    return False


def _note(text: str) -> None:
    """Print a line on the progress, cut to the terminal's width."""
    print(f"\n{display.fit(display.clean(text), shutil.get_terminal_size().columns)}", end="", flush=True)


def _refusal(outcome: ToolResult) -> str:
    """Return why a call was not done, in a few words."""
    value = outcome.value if isinstance(outcome.value, Mapping) else {}
    return (
        f"{value.get('error', 'it failed')}: {value['reason']}"
        if "reason" in value
        else str(value.get("error"))
    )
