"""Exports as clients send them: the words of each, in JSON; and the same as protobuf."""

import time
from typing import Any

from hubbub.serve.otlp.usage_names import Signal
from tests.support.tools import missing

Json = dict[str, Any]
SIGNALS = {Signal.LOGS: "logs", Signal.METRICS: "metrics", Signal.TRACES: "trace"}


def values(told: dict[str, object]) -> list[Json]:
    """Attributes."""

    def value(each: object) -> Json:
        if isinstance(each, bool):
            return {"boolValue": each}
        if isinstance(each, int):
            return {"intValue": str(each)}
        return {"doubleValue": each} if isinstance(each, float) else {"stringValue": each}

    return [{"key": name, "value": value(each)} for name, each in told.items()]


def nano(ago: float = 0) -> str:
    """A moment so many seconds ago."""
    return str(time.time_ns() - round(ago * 1_000_000_000))


def logs(service: str, *events: Json) -> Json:
    scope = {"scope": {"name": service}, "logRecords": list(events)}
    return {"resourceLogs": [{"resource": resource(service), "scopeLogs": [scope]}]}


def spans(service: str, *told: Json) -> Json:
    return {"resourceSpans": [{"resource": resource(service), "scopeSpans": [{"spans": list(told)}]}]}


def metrics(service: str, *told: Json) -> Json:
    return {"resourceMetrics": [{"resource": resource(service), "scopeMetrics": [{"metrics": list(told)}]}]}


def resource(service: str) -> Json:
    return {"attributes": values({"service.name": service, "host.name": "atlas"})}


def log(name: str, body: str | None = None, /, ago: float = 0, **told: object) -> Json:
    dotted = {each.replace("__", "."): value for each, value in told.items()}
    return {
        "timeUnixNano": nano(ago),
        "body": {"stringValue": body or name},
        "attributes": values({"event.name": name, **dotted}),
    }


def claude_request(session: str = "s-1", ago: float = 0, **more: object) -> Json:
    """Claude Code's event for one request, with its numbers as text."""
    told = {
        "session__id": session,
        "model": "claude-sonnet-5",
        "input_tokens": "100",
        "output_tokens": "10",
        "cache_read_tokens": "1000",
        "cache_creation_tokens": "50",
        "cost_usd": "0.25",
        **more,
    }
    return log("api_request", "claude_code.api_request", ago, **told)


def codex_response(conversation: str = "t-1") -> Json:
    """Codex's event for one response: cached tokens are part of the input; its events have the names of code places."""
    told = log(
        "codex.sse_event",
        event__kind="response.completed",
        conversation__id=conversation,
        model="gpt-5.1-codex",
        input_token_count="1100",
        cached_token_count="1000",
        output_token_count="10",
        reasoning_token_count="4",
    )
    seen = {"timeUnixNano": "0", "observedTimeUnixNano": told["timeUnixNano"]}
    return {**told, **seen, "eventName": "event otel/src/events/session_telemetry.rs:1153", "body": None}


def gemini_response(session: str = "g-1") -> Json:
    """Gemini CLI's event for one response; thoughts are not part of the output."""
    return log(
        "gemini_cli.api_response",
        session__id=session,
        model="gemini-2.5-pro",
        input_token_count=1100,
        cached_content_token_count=1000,
        output_token_count=6,
        thoughts_token_count=4,
        tool_token_count=0,
    )


def counter(name: str, *points: Json, delta: bool = False) -> Json:
    data = {"aggregationTemporality": 1 if delta else 2, "isMonotonic": True, "dataPoints": list(points)}
    return {"name": name, "sum": data}


def point(value: float, since: str, at: str, **told: object) -> Json:
    dotted = {each.replace("__", "."): each_value for each, each_value in told.items()}
    return {
        "startTimeUnixNano": since,
        "timeUnixNano": at,
        "asDouble": value,
        "attributes": values(dotted),
    }


def message(signal: Signal, kind: str, export: Json | None = None) -> Any:
    """The message of protobuf that says the same, or an empty one."""
    from importlib import import_module

    name = SIGNALS[signal]
    try:
        module = import_module(f"opentelemetry.proto.collector.{name}.v1.{name}_service_pb2")
        parse = import_module("google.protobuf.json_format").ParseDict
    except ModuleNotFoundError:
        missing("not installed: the extra meter (make setup)")
    made = getattr(module, f"Export{name.capitalize()}Service{kind}")()
    return parse(export, made) if export is not None else made
