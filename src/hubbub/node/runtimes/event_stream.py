"""The stream of an agent's program: JSON lines with its words, its tool calls, and its end.

Each program has an adapter that translates its words into those of this module. A line may hold anything: one that is
no JSON, of an unknown kind or of an unexpected form is skipped, and no member of it is trusted to be short or
shallow.
"""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import uuid4

from hubbub.model.cost.printed_usage import Listener, Used
from hubbub.model.visible_text import cut
from hubbub.node.runtimes.agent_program import CUT, MOST, ProgramExit
from hubbub.node.runtimes.conversation import Answer, OnText, RuntimeFailed, ToolCall

LINE = 10 * 1024 * 1024  # bytes of a line; a longer one is skipped
TOO_LONG = f"a line of over {LINE // 1024**2} MiB, which was passed over"
MOST_CALLS = 500  # tool calls that are reported, the first ones,
ARGUMENTS = 256 * 1024  # and characters of the arguments of all of them
STRING = 2_000  # characters of a text among the arguments of a call
DEEP = 8  # levels of lists and tables in them
SENTENCE = 500  # characters of a program's account of a failure
PARAGRAPH = "\n\n"


class LooseJson:
    """A piece of JSON that may be anything: a member of an unexpected form counts as missing."""

    def __init__(self, value: object) -> None:
        self._value = value

    def __getitem__(self, key: str) -> "LooseJson":
        return LooseJson(self._value.get(key) if isinstance(self._value, dict) else None)

    @property
    def text(self) -> str:
        return _text(self._value) if isinstance(self._value, str) else ""

    @property
    def items(self) -> Sequence["LooseJson"]:
        return [LooseJson(each) for each in self._value] if isinstance(self._value, list) else ()

    @property
    def arguments(self) -> Mapping[str, object]:
        """Return the table with its long texts cut, as the arguments of a call."""
        told = _abridged(self._value, DEEP)
        return told if isinstance(told, dict) else {}

    @property
    def is_true(self) -> bool:
        return self._value is True

    @property
    def number(self) -> int | None:
        is_number = isinstance(self._value, int) and not isinstance(self._value, bool)
        return self._value if is_number and isinstance(self._value, int) else None


@dataclass(frozen=True, slots=True)
class TextPiece:
    """A piece of the text, as it comes."""

    text: str


@dataclass(frozen=True, slots=True)
class Pause:
    """The following text is a new message."""


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """A tool is called; of several reports the last counts."""

    call_id: str
    name: str
    arguments: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class ToolFinished:
    """The result of a call."""

    call_id: str
    ok: bool


@dataclass(frozen=True, slots=True)
class Began:
    """The program is at work, so that an earlier end does not count."""


@dataclass(frozen=True, slots=True)
class Done:
    """The program has ended well; without a `text`, its last words are the answer."""

    text: str | None = None


@dataclass(frozen=True, slots=True)
class StreamWarning:
    """A warning; the program's end shows whether it could go on."""

    sentence: str


@dataclass(frozen=True, slots=True)
class Failed:
    """The program has no answer."""

    sentence: str


StreamEvent = TextPiece | Pause | ToolStarted | ToolFinished | Began | Done | StreamWarning | Failed


class Adapter(Protocol):
    """The command of one program, and the meaning of its lines. It reads one stream."""

    def words(self, program: str, options: Sequence[str]) -> list[str]:
        """Return the command with these options; the prompt is on its standard input."""

    def read(self, event: LooseJson) -> Iterator[StreamEvent]:
        """Yield the events in a line."""


class EventStream:
    """The state of one stream, put together as it comes."""

    def __init__(self, called: str, adapter: Adapter, hear: OnText | None = None) -> None:
        """Set up the stream; `called` is the program's name in sentences."""
        self._called, self._adapter, self._hear = called, adapter, hear
        self._line, self._is_too_long = bytearray(), False
        self._room, self._is_cut = MOST, False  # of the text
        self._said, self._saying = "", list[str]()  # its last message, and the one under way
        self._calls: dict[str, ToolCall] = {}
        self._arguments = 0  # characters of the reported ones
        self._done: Done | None = None
        self._listener = Listener(str(uuid4()))
        self._failed = self._trouble = self._stray = ""

    async def add(self, chunk: bytes) -> None:
        """Add bytes; a line that never ends is dropped as it comes."""
        *ended, rest = chunk.split(b"\n")
        for each in ended:
            self._keep(each)
            await self._end_line()
        self._keep(rest)

    async def answer(self, ended: ProgramExit) -> Answer:
        """Return the answer, now that the program has ended. Raises `RuntimeFailed`."""
        await self._end_line()
        if self._failed:
            raise RuntimeFailed(f"{self._called} failed: {self._failed}", self._failed, self._called)
        last = ProgramExit(ended.code, self._trouble or ended.complaint or self._stray)
        if last.code != 0:
            raise RuntimeFailed(last.why(self._called), last.complaint, self._called)
        if self._done is None:
            told = f"; the last that it said: {last.complaint}" if last.complaint else ""
            sentence = f"the stream of {self._called} ended in the middle{told}"
            raise RuntimeFailed(sentence, last.complaint, self._called)
        self._pause()
        text = self._said if self._done.text is None else self._done.text
        return Answer(_bounded(text.strip()), tuple(self._calls.values()))

    def used(self) -> Sequence[Used]:
        """Return the use that the program has reported."""
        return self._listener.used()

    def _keep(self, part: bytes) -> None:
        if len(self._line) + len(part) > LINE:
            self._is_too_long = True
            self._line.clear()
        if not self._is_too_long:
            self._line += part

    async def _end_line(self) -> None:
        line, is_too_long = bytes(self._line), self._is_too_long
        self._line.clear()
        self._is_too_long = False
        event = None if is_too_long else _parsed(line)
        if event is None:
            told = TOO_LONG if is_too_long else line.decode("utf-8", "replace")
            self._stray = _sentence(told) or self._stray
            return
        self._listener.hear(line.decode("utf-8", "replace"))
        for seen in self._adapter.read(event):
            await self._take(seen)

    async def _take(self, seen: StreamEvent) -> None:
        match seen:
            case TextPiece(text=text) if text:
                await self._say(text)
            case Pause():
                self._pause()
            case ToolStarted() | ToolFinished():
                self._pause()
                self._note(seen)
            case Began():
                self._done = None
            case Done():
                self._done = seen
            case StreamWarning(sentence=sentence):
                self._trouble = _sentence(sentence)
            case Failed(sentence=sentence):
                self._failed = self._failed or _sentence(sentence) or "it does not say why"

    async def _say(self, text: str) -> None:
        is_anew = self._room < MOST and not self._saying
        told = PARAGRAPH + text if is_anew else text
        piece = told[: self._room]
        if len(told) > self._room and not self._is_cut:
            self._is_cut = True
            piece += CUT
        self._room -= min(self._room, len(told))
        if piece:
            self._saying.append(piece)
            if self._hear is not None:
                await self._hear(piece)

    def _pause(self) -> None:
        said = "".join(self._saying)
        if said.strip():
            self._said = said
        self._saying.clear()

    def _note(self, seen: ToolStarted | ToolFinished) -> None:
        known = self._calls.get(seen.call_id)
        if isinstance(seen, ToolFinished):
            if known is not None:
                self._calls[seen.call_id] = ToolCall(known.name, known.arguments, ok=seen.ok)
        elif known is not None or len(self._calls) < MOST_CALLS:
            self._arguments += len(json.dumps(seen.arguments))
            told = seen.arguments if self._arguments <= ARGUMENTS else {}
            self._calls[seen.call_id] = ToolCall(seen.name, told, ok=False)  # until it has returned


def _parsed(line: bytes) -> LooseJson | None:
    """Return the JSON object in a line; None for anything else."""
    try:
        value = json.loads(line.decode("utf-8", "replace"), parse_constant=str, parse_float=_number)
    except (ValueError, RecursionError):
        return None
    return LooseJson(value) if isinstance(value, dict) else None


def _number(written: str) -> float | str:
    """Return a number, as text if JSON cannot hold it."""
    number = float(written)
    return number if math.isfinite(number) else written


def _text(text: str) -> str:
    """Return `text` without the parts that no store can keep: halves of surrogate pairs, NUL characters."""
    return text.encode("utf-8", "replace").decode().replace("\0", "\ufffd")


def _abridged(value: object, deep: int) -> object:
    if isinstance(value, str):
        return cut(_text(value), STRING)
    if isinstance(value, dict):
        return {cut(_text(k), STRING): _abridged(v, deep - 1) for k, v in value.items()} if deep else "…"
    if isinstance(value, list):
        return [_abridged(each, deep - 1) for each in value] if deep else "…"
    return value


def _bounded(text: str) -> str:
    return text if len(text) <= MOST + len(CUT) else text[:MOST] + CUT


def _sentence(text: str) -> str:
    return cut(" ".join(_text(text).split()), SENTENCE)
