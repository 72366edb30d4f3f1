"""The names under which clients report their use, and their meanings in the hub.

Known are the names of Claude Code, Codex and Gemini CLI, and the common conventions for generative AI. All
other names are ignored. Some clients count tokens read from a cache as input.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum, auto
from typing import NamedTuple

from hubbub.model.cost.spending import Measure, Source

Value = str | int | float | bool
Values = Mapping[str, Value]
IN, OUT, READ, WRITTEN = Measure.INPUT, Measure.OUTPUT, Measure.CACHE_READ, Measure.CACHE_WRITTEN


class Signal(StrEnum):
    """The kind of export."""

    METRICS = auto()
    LOGS = auto()
    TRACES = auto()


class Told(NamedTuple):
    """One record of an export: an event, a span, or one point of a metric; times are Unix nanoseconds."""

    name: str
    resource: Values
    values: Values
    at: int
    mark: str = ""  # the ids of a span
    value: float = 0  # of a point, which
    since: int | None = None  # counts from then on,
    is_total: bool = False  # in all


@dataclass(frozen=True, slots=True)
class Event:
    """A known event or span: which of its values are tokens, and the measures that each of them adds to."""

    source: Source
    tokens: Mapping[str, Mapping[Measure, int]]
    dollars: str | None = None
    when: Mapping[str, frozenset[str]] | None = None  # only if a value is one of these


@dataclass(frozen=True, slots=True)
class Metric:
    """A known metric: which of its points are tokens, by one of their values; or that all are dollars."""

    source: Source
    kind: str = ""
    tokens: Mapping[str, Mapping[Measure, int]] | None = None


def _among_input(measure: Measure) -> Mapping[Measure, int]:
    """Map a measure to tokens that the input includes as well."""
    return {measure: 1, IN: -1}


_CLAUDE = {
    "input_tokens": {IN: 1},
    "output_tokens": {OUT: 1},
    "cache_read_tokens": {READ: 1},
    "cache_creation_tokens": {WRITTEN: 1},
}
_CODEX = {
    "input_token_count": {IN: 1},
    "output_token_count": {OUT: 1},
    "cached_token_count": _among_input(READ),
    "cache_write_token_count": _among_input(WRITTEN),
}
_GEMINI = {
    "input_token_count": {IN: 1},
    "tool_token_count": {IN: 1},
    "output_token_count": {OUT: 1},
    "thoughts_token_count": {OUT: 1},
    "cached_content_token_count": _among_input(READ),
}
_COMMON = {
    "gen_ai.usage.input_tokens": {IN: 1},
    "gen_ai.usage.output_tokens": {OUT: 1},
    "gen_ai.usage.cache_read.input_tokens": _among_input(READ),
    "gen_ai.usage.cache_creation.input_tokens": _among_input(WRITTEN),
}

EVENTS: Mapping[str, Event] = {
    "claude_code.api_request": Event(Source.EVENTS, _CLAUDE, dollars="cost_usd"),
    "codex.sse_event": Event(Source.EVENTS, _CODEX, when={"event.kind": frozenset({"response.completed"})}),
    "gemini_cli.api_response": Event(Source.EVENTS, _GEMINI),
}
# Their names with and without the client's, which some leave to the text of the event.
ENDINGS = frozenset({*EVENTS, *(each.partition(".")[2] for each in EVENTS)})
SPANS: Mapping[str, Event] = {
    "claude_code.llm_request": Event(Source.SPANS, _CLAUDE, dollars="cost_usd"),
}
# Any span that reports a model's use, except one around others that report the same.
MODEL_SPAN = Event(
    Source.COMMON_SPANS,
    _COMMON,
    when={"gen_ai.operation.name": frozenset({"", "chat", "text_completion", "generate_content"})},
)
METRICS: Mapping[str, Metric] = {
    "claude_code.token.usage": Metric(
        Source.METRICS,
        "type",
        {"input": {IN: 1}, "output": {OUT: 1}, "cacheRead": {READ: 1}, "cacheCreation": {WRITTEN: 1}},
    ),
    "claude_code.cost.usage": Metric(Source.METRICS),
    "gemini_cli.token.usage": Metric(
        Source.METRICS,
        "type",
        {
            "input": {IN: 1},
            "tool": {IN: 1},
            "output": {OUT: 1},
            "thought": {OUT: 1},
            "cache": _among_input(READ),
        },
    ),
    "gen_ai.client.token.usage": Metric(
        Source.COMMON_METRICS, "gen_ai.token.type", {"input": {IN: 1}, "output": {OUT: 1}}
    ),
}

# The first existing one counts, among the values and then among those of the resource.
CONVERSATION = ("session.id", "conversation.id", "gen_ai.conversation.id", "service.instance.id")
MODEL = ("gen_ai.response.model", "model", "gen_ai.request.model")
MACHINE = ("host.name",)
AGENT, TASK = ("hubbub.agent",), ("hubbub.task",)
CLIENT = ("service.name",)
# The hub's names of clients that call themselves otherwise.
CLIENTS: Mapping[str, str] = {"gemini-cli": "gemini", "codex_cli_rs": "codex", "codex_exec": "codex"}


def event(told: Told, signal: Signal) -> Event | None:
    """Find the event or span among the known ones; None if it reports no tokens."""
    known = EVENTS if signal is Signal.LOGS else SPANS
    found = known.get(told.name)
    if found is None and signal is Signal.TRACES and "gen_ai.usage.input_tokens" in told.values:
        found = MODEL_SPAN
    if found is None or not all(
        str(told.values.get(name, "")) in allowed for name, allowed in (found.when or {}).items()
    ):
        return None
    return found
