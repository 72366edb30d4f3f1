"""Token use of an agent's program, parsed from its output: JSON lines of four programs, each in its own format.

Such a line may hold anything: values of an unexpected form are ignored.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hubbub.model.errors import Invalid

LINE = 1024 * 1024  # characters of a line that is parsed
MOST = 500  # models or requests reported of one run
TOKENS = 10**12  # of one number; more is a mistake
TOLD_BY = (
    '"usage"',
    '"stats"',
    '"tokens"',
    '"thread_id"',
    '"init"',
)  # each line that matters contains one of these


@dataclass(frozen=True, slots=True, kw_only=True)
class Used:
    """Use of one model. With `total` the numbers are those of the whole conversation so far."""

    id: str
    conversation: str
    client: str
    model: str = ""
    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_written: int = 0
    cost: float | None = None
    total: bool = False


def used_of(given: Mapping[str, object]) -> list[Used]:
    """Parse a machine's report of a program's use. Raises `Invalid`."""
    found = given.get("used")
    if not isinstance(found, list) or len(found) > MOST or not all(isinstance(each, dict) for each in found):
        raise Invalid(f"used: must be a list of at most {MOST} objects")
    return [_of(each) for each in found]


def _of(told: Mapping[str, Any]) -> Used:
    """Parse one of them. Missing names and wrong numbers are ignored, as in a printed line."""
    return Used(
        id=_text(told, "id"),
        conversation=_text(told, "conversation"),
        client=_text(told, "client"),
        model=_text(told, "model"),
        input=_number(told, "input"),
        output=_number(told, "output"),
        cache_read=_number(told, "cache_read"),
        cache_written=_number(told, "cache_written"),
        cost=_money(told, "cost"),
        total=told.get("total") is True,
    )


@dataclass(slots=True)
class Listener:
    """Reads a program's output line by line and sums up its use.

    `run` tells this run of the program from all others.
    """

    run: str
    _conversation: str = ""
    _model: str = ""
    _found: dict[str, Used] = field(default_factory=dict)

    def hear(self, line: str) -> None:
        """Read one line; most do not mention use, and are skipped."""
        if len(line) > LINE or not line.startswith("{") or not any(each in line for each in TOLD_BY):
            return
        try:
            told = json.loads(line)
        except (ValueError, RecursionError):
            return
        if isinstance(told, dict):
            self._take(told)

    def used(self) -> list[Used]:
        """Return the use read so far, without that of unnamed conversations."""
        return [each for each in self._found.values() if each.conversation][:MOST]

    def _take(self, told: Mapping[str, Any]) -> None:
        kind = told.get("type")
        if kind in ("system", "init"):  # Claude Code, Gemini CLI
            self._conversation, self._model = _text(told, "session_id"), _text(told, "model")
        elif kind == "thread.started":
            self._conversation = _text(told, "thread_id")
        elif kind == "assistant":
            self._claude_message(_table(told, "message"), _text(told, "session_id"))
        elif kind == "result" and "stats" in told:
            self._gemini(_table(told, "stats"))
        elif kind == "result":
            self._claude_result(told)
        elif kind == "turn.completed":
            self._codex(_table(told, "usage"))
        elif kind == "step_finish":
            self._opencode(_table(told, "part"), _text(told, "sessionID"))

    def _claude_message(self, message: Mapping[str, Any], conversation: str) -> None:
        """Note one request; each part of its answer repeats it. The result's numbers by model replace it."""
        usage = _table(message, "usage")
        if not usage:
            return
        self._note(
            Used(
                id=_text(message, "id") or self.run,
                conversation=conversation,
                client="claude-code",
                model=_text(message, "model") or self._model,
                input=_number(usage, "input_tokens"),
                output=_number(usage, "output_tokens"),
                cache_read=_number(usage, "cache_read_input_tokens"),
                cache_written=_number(usage, "cache_creation_input_tokens"),
            )
        )

    def _claude_result(self, told: Mapping[str, Any]) -> None:
        """Note the totals of all requests, by model, with the program's own estimate of their cost."""
        models = {name: each for name, each in _table(told, "modelUsage").items() if isinstance(each, dict)}
        if not models and not self._found:  # the form of older versions
            self._claude_message(told, _text(told, "session_id"))
        if not models:
            return
        self._found = {}
        for name, each in models.items():
            self._note(
                Used(
                    id=f"{self.run} {name}",
                    conversation=_text(told, "session_id"),
                    client="claude-code",
                    model=name,
                    input=_number(each, "inputTokens"),
                    output=_number(each, "outputTokens"),
                    cache_read=_number(each, "cacheReadInputTokens"),
                    cache_written=_number(each, "cacheCreationInputTokens"),
                    cost=_money(each, "costUSD"),
                )
            )

    def _codex(self, usage: Mapping[str, Any]) -> None:
        """Note the totals of the whole thread, earlier runs included; Codex counts cached tokens as input."""
        cached, written = _number(usage, "cached_input_tokens"), _number(usage, "cache_write_input_tokens")
        self._note(
            Used(
                id="thread",
                conversation=self._conversation,
                client="codex",
                input=max(0, _number(usage, "input_tokens") - cached - written),
                output=_number(usage, "output_tokens"),
                cache_read=cached,
                cache_written=written,
                total=True,
            )
        )

    def _gemini(self, stats: Mapping[str, Any]) -> None:
        models: dict[str, Mapping[str, Any]] = {
            name: each for name, each in _table(stats, "models").items() if isinstance(each, dict)
        }
        for name, each in (models or {self._model: stats}).items():
            cached = _number(each, "cached")
            self._note(
                Used(
                    id=f"{self.run} {name}",
                    conversation=self._conversation,
                    client="gemini",
                    model=name,
                    input=max(0, _number(each, "input_tokens") - cached),
                    output=_number(each, "output_tokens"),
                    cache_read=cached,
                )
            )

    def _opencode(self, part: Mapping[str, Any], conversation: str) -> None:
        tokens = _table(part, "tokens")
        cache = _table(tokens, "cache")
        self._note(
            Used(
                id=_text(part, "id") or f"{self.run} {len(self._found)}",
                conversation=conversation,
                client="opencode",
                input=_number(tokens, "input"),
                output=_number(tokens, "output") + _number(tokens, "reasoning"),
                cache_read=_number(cache, "read"),
                cache_written=_number(cache, "write"),
                cost=_money(part, "cost") or None,
            )
        )

    def _note(self, used: Used) -> None:
        if len(self._found) < MOST or used.id in self._found:
            self._found[used.id] = used


def _table(told: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = told.get(name)
    return value if isinstance(value, dict) else {}


def _text(told: Mapping[str, Any], name: str) -> str:
    value = told.get(name)
    return value.replace("\0", "").encode("utf-8", "replace").decode()[:200] if isinstance(value, str) else ""


def _number(told: Mapping[str, Any], name: str) -> int:
    value = told.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= TOKENS else 0


def _money(told: Mapping[str, Any], name: str) -> float | None:
    value = told.get(name)
    is_money = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 10**9
    return float(value) if is_money else None  # type: ignore[arg-type]  # a number, as was seen
