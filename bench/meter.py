"""Cost of metering for the hub: processor time of one export, as large as Claude Code's, for each format.

The aim is that 1,000 exports a minute take less than a fiftieth of a processor, 1,200 µs each. Run with
`python -m bench.meter`.
"""

import gzip
import json
import time
from collections.abc import Iterator
from importlib import import_module
from statistics import median
from typing import Any

import httpx2

from bench.serving import Served, served

EXPORTS = 300
ROUNDS = 2
EVENTS = 3  # of one export: a request to a model, a prompt and a tool's result
AIM = 1_200  # µs
JSON, PROTOBUF = "application/json", "application/x-protobuf"


def event(name: str, number: int, **told: object) -> dict[str, Any]:
    """Build one log record as a client exports it."""
    common = {
        "event.name": name,
        "session.id": f"s-{number % 50}",
        "user.id": "u" * 64,
        "terminal.type": "xterm",
        "event.sequence": number,
        "prompt.id": f"p-{number}",
    }
    attributes = [
        {"key": key, "value": {"stringValue": str(each)}} for key, each in {**common, **told}.items()
    ]
    return {
        "timeUnixNano": str(time.time_ns()),
        "body": {"stringValue": f"claude_code.{name}"},
        "attributes": attributes,
    }


def export(number: int) -> dict[str, Any]:
    """Build the export that a client sends every five seconds."""
    used = {
        "input_tokens": 120,
        "output_tokens": 900,
        "cache_read_tokens": 80_000,
        "cache_creation_tokens": 700,
    }
    events = [
        event("user_prompt", number, prompt_length=300),
        event("api_request", number, model="claude-opus-5-5", cost_usd=0.25, duration_ms=4000, **used),
        event("tool_result", number, tool_name="Bash", success="true", duration_ms=30),
    ]
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": "claude-code"}}]}
    return {
        "resourceLogs": [
            {"resource": resource, "scopeLogs": [{"scope": {"name": "events"}, "logRecords": events}]}
        ]
    }


def bodies(form: str, first: int) -> Iterator[bytes]:
    """Exports, each another."""
    request: Any = import_module(
        "opentelemetry.proto.collector.logs.v1.logs_service_pb2"
    ).ExportLogsServiceRequest
    parse = import_module("google.protobuf.json_format").ParseDict
    for number in range(first, first + EXPORTS):
        told = export(number)
        yield json.dumps(told).encode() if form == JSON else parse(told, request()).SerializeToString()


def measured(hub: Served, client: httpx2.Client, form: str, first: int, *, packed: bool) -> float:
    """Microseconds of the hub's processor time for an export."""
    sent = [gzip.compress(each) if packed else each for each in bodies(form, first)]
    headers = {"Content-Type": form, **({"Content-Encoding": "gzip"} if packed else {})}
    before = hub.used()
    for body in sent:
        client.post("/v1/logs", content=body, headers=headers).raise_for_status()
    return (hub.used() - before) / EXPORTS * 1e6


def main() -> None:
    rows: dict[tuple[str, bool], list[float]] = {
        (form, packed): [] for form in (JSON, PROTOBUF) for packed in (False, True)
    }
    with (
        served() as hub,
        httpx2.Client(
            base_url=hub.url, headers={"Authorization": f"Bearer {hub.secret}"}, trust_env=False
        ) as client,
    ):
        first = 0
        for each in range(ROUNDS + 1):  # the first to warm up
            for (form, packed), found in rows.items():
                took = measured(hub, client, form, first, packed=packed)
                first += EXPORTS
                if each:
                    found.append(took)
    print(f"| an export of {EVENTS} events | µs of CPU | of a processor at 1,000 a minute |")
    print("|---|---|---|")
    for (form, packed), found in rows.items():
        took = median(found)
        print(f"| {form}{', gzip' if packed else ''} | {took:,.0f} | {took * 1_000 / 60e6:.2%} |")
    print(f"\nThe aim is {AIM:,} µs, 2 %.")


if __name__ == "__main__":
    main()
