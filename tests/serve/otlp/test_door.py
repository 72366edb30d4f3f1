"""OTLP over HTTP: what clients export becomes spending, in both forms, and is answered as OTLP has it."""

import gzip
import json
from collections.abc import Iterator
from typing import Any

import pytest

from hubbub.model.people.rights import Role
from hubbub.serve.otlp.endpoint import LIMIT
from hubbub.serve.otlp.usage_names import Signal
from hubbub.serve.otlp.wire_formats import PROTOBUF
from tests.serve.conftest import both_engines
from tests.serve.otlp import exports
from tests.serve.otlp.exports import Json
from tests.serve.served_hub import Hub
from tests.serve.web_client import Visit, Web, done
from tests.support.each_row import each_row

NAMES = ("input", "output", "cache_read", "cache_written", "usd")


@pytest.fixture
def door(hub: Hub, visit: Visit) -> Web:
    """The client of the agent `coder-1`."""
    return visit(hub, hub.token("coder-1"), "")


def cost(door: Web, **query: str) -> Json:
    return done(door.get("/api/v1/cost", **query))


def sums(door: Web, by: str = "conversation") -> dict[str, tuple[Any, ...]]:
    return {line["name"]: tuple(line[name] for name in NAMES) for line in cost(door, by=by)["lines"]}


def sent(door: Web, signal: Signal, export: Json, **headers: str) -> bytes:
    """Send an export as protobuf; the answer."""
    body = exports.message(signal, "Request", export).SerializeToString()
    if headers.get("Content-Encoding") == "gzip":
        body = gzip.compress(body)
    answer = door.http.post(f"/v1/{signal}", content=body, headers={"Content-Type": PROTOBUF, **headers})
    assert (answer.status_code, answer.headers["content-type"]) == (200, PROTOBUF), answer.text
    return answer.content


@both_engines
def test_what_each_client_says_of_a_request(door: Web) -> None:
    """Claude Code, Codex and Gemini CLI tell each request to a model: the same numbers mean the same tokens."""
    for service, event in (
        ("claude-code", exports.claude_request()),
        ("codex_cli_rs", exports.codex_response()),
        ("gemini-cli", exports.gemini_response()),
    ):
        assert done(door.post("/v1/logs", exports.logs(service, event))) == {}

    assert sums(door) == {
        "s-1": (100, 10, 1000, 50, 0.25),
        "t-1": (100, 10, 1000, 0, 0.00035),
        "g-1": (100, 10, 1000, 0, 0.00035),
    }
    assert {line["name"] for line in cost(door, by="client")["lines"]} == {"claude-code", "codex", "gemini"}
    for by, name in (("agent", "coder-1"), ("machine", "atlas")):
        (line,) = cost(door, by=by)["lines"]
        assert (line["name"], line["tokens"]) == (name, 3 * 1110 + 50)


def test_protobuf_says_the_same(door: Web) -> None:
    """An export as protobuf counts as the same in JSON does, compressed or not; sent in both it counts once."""
    events = exports.logs("claude-code", exports.claude_request(), exports.claude_request("s-2"))

    assert sent(door, Signal.LOGS, events) == b""
    assert sent(door, Signal.LOGS, events, **{"Content-Encoding": "gzip"}) == b""
    assert done(door.post("/v1/logs", events)) == {}

    assert sums(door) == dict.fromkeys(("s-1", "s-2"), (100, 10, 1000, 50, 0.25))


def usage(value: float, kind: str, since: str, at: str) -> Json:
    return exports.point(value, since, at, type=kind, model="claude-sonnet-5", session__id="s-1")


@pytest.mark.parametrize("delta", [True, False])
def test_metrics_of_both_kinds(door: Web, *, delta: bool) -> None:
    """Metrics count whether each point tells what came since the last or all since the beginning."""
    began, then, now = exports.nano(60), exports.nano(30), exports.nano()
    for value, since, at in ((100, began, then), (40 if delta else 140, then if delta else began, now)):
        tokens = exports.counter("claude_code.token.usage", usage(value, "input", since, at), delta=delta)
        dollars = exports.counter("claude_code.cost.usage", usage(value / 1000, "", since, at), delta=delta)
        for _ in range(2):
            sent(door, Signal.METRICS, exports.metrics("claude-code", tokens, dollars))

    assert sums(door) == {"s-1": (140, 0, 0, 0, 0.14)}


def test_metrics_that_hold_the_cache_in_the_input(door: Web) -> None:
    """Gemini CLI counts what was read from a cache among the input, which it is not for us."""
    began, now = exports.nano(60), exports.nano()
    points = [
        exports.point(amount, began, now, type=kind, model="gemini-2.5-pro", session__id="g-1")
        for kind, amount in (("input", 1100), ("cache", 1000), ("output", 6), ("thought", 4))
    ]
    export = exports.metrics("gemini-cli", exports.counter("gemini_cli.token.usage", *points))
    assert done(door.post("/v1/metrics", export)) == {}
    assert sums(door) == {"g-1": (100, 10, 1000, 0, 0.00035)}


def test_spans_of_any_maker(door: Web) -> None:
    """A span by the conventions of all makers counts, and not one that stands around others which say the same."""
    told = {
        "gen_ai.conversation.id": "c-1",
        "gen_ai.response.model": "gpt-5.1",
        "gen_ai.usage.input_tokens": 1100,
        "gen_ai.usage.cache_read.input_tokens": 1000,
        "gen_ai.usage.output_tokens": 10,
    }

    def span(number: int, operation: str) -> Json:
        return {
            "traceId": "5b8efff798038103d269b633813fc60c",
            "spanId": f"eee19b7ec3c1b17{number}",
            "name": "chat",
            "startTimeUnixNano": exports.nano(5),
            "endTimeUnixNano": exports.nano(),
            "attributes": exports.values({**told, "gen_ai.operation.name": operation}),
        }

    export = exports.spans("opencode", span(1, "chat"), span(2, "invoke_agent"))
    assert done(door.post("/v1/traces", export)) == {}
    assert done(door.post("/v1/traces", export)) == {}
    assert sums(door) == {"c-1": (100, 10, 1000, 0, 0.00035)}


def test_what_is_not_about_tokens_is_taken(door: Web) -> None:
    """Exports that are not about tokens are accepted, and nothing of them is kept."""
    events = [exports.log("user_prompt", "claude_code.user_prompt", prompt="hello"), exports.log("other")]
    assert done(door.post("/v1/logs", exports.logs("claude-code", *events))) == {}
    gauge = {"name": "claude_code.token.usage", "gauge": {"dataPoints": [{"asInt": "7"}]}}
    assert done(door.post("/v1/metrics", exports.metrics("claude-code", gauge))) == {}
    assert done(door.post("/v1/traces", {})) == {}
    found = cost(door)
    assert (found["lines"], found["total"]["unmetered"], found["total"]["tokens"]) == ([], True, None)


def test_what_cannot_be_counted_is_rejected_in_part(door: Web) -> None:
    """Use that is too old or no number is rejected with a sentence; the rest of the export counts."""
    events = exports.logs(
        "claude-code",
        exports.claude_request(),
        exports.claude_request(ago=9 * 86_400),
        exports.claude_request(input_tokens="-5"),
    )
    why = "input_tokens of claude_code.api_request is not a number of tokens; 1 are older than 7 days"

    answer = done(door.post("/v1/logs", events))
    assert answer == {"partialSuccess": {"rejectedLogRecords": "2", "errorMessage": why}}
    told = exports.message(Signal.LOGS, "Response")
    told.ParseFromString(sent(door, Signal.LOGS, events))
    assert (told.partial_success.rejected_log_records, told.partial_success.error_message) == (2, why)
    assert sums(door) == {"s-1": (100, 10, 1000, 50, 0.25)}


def bad_bodies() -> Iterator[tuple[str, str, bytes, dict[str, str]]]:
    """Bodies that are none: what is wrong, the type, the body, further headers."""
    json_type, gzipped = "application/json", {"Content-Encoding": "gzip"}
    yield "no JSON", json_type, b"{", {}
    yield "a list", json_type, b"[1]", {}
    yield "other members", json_type, b'{"resourceLogs": [{"scopeLogs": 7}]}', {}
    yield "deep", json_type, b'{"resourceLogs":' + b"[" * 5000 + b"]" * 5000 + b"}", {}
    yield "no protobuf", PROTOBUF, b"\xff\xff", {}
    yield "not compressed", json_type, b"{}", gzipped
    yield "cut", json_type, gzip.compress(b"{}" * 99)[:-9], gzipped


@each_row(["what", "media", "body", "headers"], bad_bodies())
def test_a_body_that_cannot_be_read_is_refused(
    door: Web, what: str, media: str, body: bytes, headers: dict[str, str]
) -> None:
    """A body that is no export is refused in its own form with 400, so that it is not sent again."""
    exports.message(Signal.LOGS, "Request")
    answer = door.http.post("/v1/logs", content=body, headers={"Content-Type": media, **headers})
    assert (answer.status_code, answer.headers["content-type"]) == (400, media), f"{what}: {answer.text}"
    if media == PROTOBUF:
        assert answer.content.startswith(b"\x08\x03\x12")
    else:
        assert json.loads(answer.content)["code"] == 3


def test_a_body_is_bounded_also_when_it_is_unpacked(door: Web) -> None:
    """A body is no larger than 4 MiB, packed or not: one that would unpack to more is refused."""
    packed = gzip.compress(b" " * (LIMIT + 1))
    for body, headers in ((packed, {"Content-Encoding": "gzip"}), (b" " * (LIMIT + 1), {})):
        answer = door.http.post(
            "/v1/logs", content=body, headers={"Content-Type": "application/json", **headers}
        )
        assert answer.status_code == 413, answer.text


def test_only_who_may_write_may_export(hub: Hub, visit: Visit) -> None:
    """Without a token nothing is taken, nor from one who may only look on, whatever is told."""
    event = exports.logs("claude-code", exports.claude_request())
    assert visit(hub, "ntok_none", "").post("/v1/logs", event).status_code == 401
    viewer = visit(hub, hub.token(role=Role.VIEWER), "")
    assert viewer.post("/v1/logs", event).status_code == 403
    assert viewer.post("/v1/logs", {}).status_code == 403


@pytest.mark.parametrize("body", ["use", "nothing", "no export"])
def test_a_token_that_was_revoked_exports_no_more(hub: Hub, visit: Visit, body: str) -> None:
    """A client whose token is revoked between two exports is refused at the second, whatever that holds."""
    secret = hub.token("coder-1")
    client = visit(hub, secret, "")
    told = {"use": exports.logs("claude-code", exports.claude_request()), "nothing": {}, "no export": [1]}[
        body
    ]
    before = client.post("/v1/logs", told).status_code
    hub.revoke(secret)
    assert (before, client.post("/v1/logs", told).status_code) == (400 if body == "no export" else 200, 401)
    assert client.get("/v1/logs").status_code == 401


def test_an_export_of_somebody_with_several_projects_names_one(hub: Hub, visit: Visit) -> None:
    """A person's client says in its address which project is meant."""
    hub.other_project()
    owner = visit(hub, hub.owner_secret, "")
    event = exports.logs("claude-code", exports.claude_request())
    assert owner.post("/v1/logs", event).status_code == 400
    assert done(owner.post(f"/v1/logs?project={hub.project.slug}", event)) == {}
    assert done(owner.get("/api/v1/cost", project=hub.project.slug))["total"]["tokens"] == 1160


def test_prometheus_counts_it(hub: Hub, door: Web, visit: Visit) -> None:
    """The metrics count the tokens that clients report, each once."""

    def counted() -> float:
        text = visit(hub, hub.owner_secret, "").get("/metrics").text
        lines = [each for each in text.splitlines() if 'client_tokens_total{measure="input"}' in each]
        return sum(float(each.split()[-1]) for each in lines)

    before = counted()
    event = exports.logs("claude-code", exports.claude_request())
    for _ in range(2):
        door.post("/v1/logs", event)
    assert counted() - before == 100
