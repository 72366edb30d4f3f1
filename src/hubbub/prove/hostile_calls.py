"""Hostile calls: made from the schemas of all doors, with values that nobody should send, by valid and invalid tokens.

Whatever is sent, the hub refuses it or does it: it never fails (5xx), shows a trace, reveals another
project, accepts an invalid token, or changes anything that the caller may not change.

Its clock runs fast, so that much of what it does by the clock (sweeps, endings, cuts of the log) comes in each run.
"""

import http.client
import json
import random
import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from hubbub.prove.clocks import faster, library
from hubbub.prove.processes import HubProgram

Json = dict[str, Any]

DIALECTS = ("hub", "commhub", "relay", "golemxv", "cmdop")
SECRET = "kept-from-others-4b1d"  # in all texts of the other project
TRACE = re.compile(rb"Traceback \(most recent|File \"/|site-packages|psycopg|apsw\.")
WRONG: tuple[object, ...] = (
    *(
        None,
        True,
        0,
        -1,
        2**31,
        2**63,
        -(2**63) - 1,
        10**400,
        1e308,
        float("nan"),
        float("-inf"),
        0.1,
        "",
        " ",
    ),
    *(
        "x" * 5000,
        "\0",
        "a\0b",
        "\ud800",
        "\u202egnp",
        "é" * 300,
        "../../etc/passwd",
        "/etc/passwd",
        "~",
        "%00",
    ),
    *(
        "'; DROP TABLE tasks; --",
        "{{7*7}}",
        "$(id)",
        "T-1",
        "M-1",
        "T-999999999999999999999",
        "0" * 5000,
        "all",
    ),
    *(
        "everyone",
        "*",
        "**/" * 200,
        "hub:x",
        "node:box",
        "ntok_" + "0" * 32,
        "2026-02-30T99:99",
        "utf-\ufffe",
    ),
    *([], {}, [[]], [None], {"a": {"b": [1]}}, [{}] * 300, "=?base64?!!?=", "name\r\nX-Evil: 1"),
)
HEADERS = (
    "X-Hubbub-Agent",
    "X-Hubbub-Project",
    "X-Hubbub-Node",
    "Idempotency-Key",
    "Idempotency-Attempt",
    "Mcp-Session-Id",
    "Last-Event-ID",
)
BODIES = (
    b"",
    b"{",
    b"null",
    b"[]",
    b'"x"',
    b"\xff\xfe",
    b"[" * 900,
    b'{"jsonrpc": "2.0"}',
    b"\0" * 9,
    b"1" * 6000,
)
# Doors that publish no schema, and names that their bodies have.
PLAIN = """
    POST /v1/traces         POST /v1/metrics         POST /v1/logs            POST /api/auth/register
    POST /api/auth/login    POST /api/auth/node-token  GET /api/auth/me       GET /api/status
    GET /api/tasks          GET /api/task/{id}       GET /api/completions     GET /api/messages
    GET /api/nodes          POST /api/task           POST /api/broadcast      POST /_gxv/api/v1/checkin
    POST /_gxv/api/v1/heartbeat  POST /_gxv/api/v1/scope  POST /_gxv/api/v1/checkout  POST /_gxv/api/v1/messages
    POST /_gxv/api/v1/tasks/claim  POST /_gxv/api/v1/tasks/{id}/status        GET /api/relay/session
    GET /api/relay/sessions/{name}/completion-check  GET /share/{secret}      GET /login/{code}
    POST /login             POST /login/{code}       GET /docs/{page}         GET /assets/{digest}/{name}
    GET /health             GET /ready               GET /metrics             GET /t/{task}
    GET /{page}             GET /register/{code}     POST /register
"""
NAMES = """
    username password network_id node_name invite_code alias task message priority from agent_name task_id status
    content to declared_files result_summary limit code csrf resourceSpans resourceMetrics resourceLogs session_token
"""
ANYTHING: Json = {"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "array"}, {}]}
OFTEN = 200  # calls, after which the other project is checked
ANSWERS = ("refused", "done", "connection closed", "5xx", "trace", "leak", "let in", "effect")
WARM = 0.25  # of the time, after which memory and open files are to stay as they are
ROOM, SPARE = 1.25, 32  # and by how much they may differ: so many times, and MiB more
FEW = 16  # files: connections that are ending
FAST = 15  # times as fast as ours runs the hub's clock: 24 minutes of calls are six hours of all that ends by itself


@dataclass
class Hostility:
    """The results of all calls."""

    calls: int = 0
    answers: Counter[str] = field(default_factory=Counter)
    findings: list[str] = field(default_factory=list)
    memory: Sequence[
        int
    ] = ()  # MiB of the hub: before, behind the first quarter, the most since, and in the end
    files: Sequence[int] = ()  # that it has open, likewise
    hours: float = 0.0  # that passed by the clock of the hub

    def __str__(self) -> str:
        told = ", ".join(f"{self.answers[name]:,} {name}" for name in ANSWERS)
        memory, files = (" → ".join(map(str, each)) for each in (self.memory, self.files))
        return (
            f"{self.calls:,} calls ({told}) in {self.hours:.2f} hours of the hub's clock; "
            f"memory {memory} MiB, open files {files}"
        )

    def grew(self) -> Iterator[str]:
        """Yield what is not as it was behind the first quarter, when all that a hub keeps at hand was there."""
        _, warm, most, _last = self.memory
        if most > warm * ROOM + SPARE:
            yield f"memory grew from {warm} to {most} MiB"
        _, warm, _most, last = self.files
        if last > warm + FEW:
            yield f"{last} files are open, and {warm} were"


@dataclass(frozen=True)
class Target:
    """One target of calls: a tool, or a route with its method."""

    name: str
    method: str
    path: str
    tool: str | None
    schema: Json
    defined: Json


class Attacker:
    """All callers, over one connection, at one hub."""

    def __init__(self, hub: HubProgram, seed: int) -> None:
        self.hub, self.found = hub, Hostility()
        self._chance = random.Random(seed)  # noqa: S311  # chooses what to try
        self._owner = (hub.data / "owner-token").read_text().strip()
        self._line = http.client.HTTPConnection("127.0.0.1", hub.port, timeout=60)
        self._ids: list[str] = []
        self._tokens = self._prepare()
        self._targets = [*self._tools(), *self._routes(), *_plain_doors()]

    def close(self) -> None:
        self._line.close()

    # ---- targets

    def _prepare(self) -> dict[str, str]:
        """Make two projects, one of them closed to the callers; return the callers' tokens."""
        self._ask("POST", "/api/v1/projects", {"slug": "other"})
        for place in ("default", "other"):
            mark = SECRET if place == "other" else "open"
            for name in ("ann", "bob"):
                self._ask("POST", f"/api/v1/tokens?project={place}", {"agent": name})
            for noun, body in (
                ("tasks", {"text": mark, "to": "ann"}),
                ("messages", {"text": mark, "to": "bob"}),
            ):
                made = self._ask("POST", f"/api/v1/{noun}?project={place}", body)
                self._ids.append(next(iter(made.values()))["id"])
        revoked = self._ask("POST", "/api/v1/tokens?project=default", {"agent": "eve"})
        self._ask("DELETE", f"/api/v1/tokens/{revoked['token']['id']}?project=default")
        viewer = self._ask("POST", "/api/v1/tokens?project=default", {"agent": "vera", "role": "viewer"})
        member = self._ask("POST", "/api/v1/tokens?project=default", {"agent": "mia", "role": "member"})
        return {
            "member": member["secret"], "viewer": viewer["secret"], "revoked": revoked["secret"],
            "forged": "ntok_" + "f" * 32, "cut": member["secret"][:-1], "none": "", "odd": "\x7f ,",
        }  # fmt: skip

    def _tools(self) -> list[Target]:
        found = []
        for dialect in DIALECTS:
            path = f"/mcp/{dialect}"
            listed = self._ask(
                "POST", path, {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
            )
            for tool in listed["result"]["tools"]:
                schema = tool["inputSchema"]
                name = f"{dialect}.{tool['name']}"
                found.append(Target(name, "POST", path, tool["name"], schema, schema.get("$defs", {})))
        return found

    def _routes(self) -> list[Target]:
        page = self._ask("GET", "/api/v1/openapi.json")
        shapes = page.get("components", {}).get("schemas", {})
        found = []
        for path, methods in page["paths"].items():
            for method, about in methods.items():
                body = (
                    about.get("requestBody", {})
                    .get("content", {})
                    .get("application/json", {})
                    .get("schema", {})
                )
                found.append(Target(f"{method} {path}", method.upper(), f"/api/v1{path}", None, body, shapes))
        return found

    def other_project(self) -> str:
        """Return everything that no caller may change."""
        nouns = ("tasks", "messages", "agents", "artifacts")
        found = [self._ask("GET", f"/api/v1/{noun}?project=other") for noun in nouns]
        return re.sub(r"'now': \d+", "", str(found))

    # ---- calls

    def attack(self, seconds: float) -> Hostility:
        """Call one target after the other until the time is over."""
        begun = time.monotonic()
        before, memory, files = self.other_project(), [self._memory()], [self._files()]
        while True:  # once at least, however slow the machine is
            for _ in range(OFTEN):
                self._one()
            if (now := self.other_project()) != before:
                self._count("effect", "the other project has changed")
                before = now
            passed = time.monotonic() - begun
            if passed > seconds * WARM:
                memory.append(self._memory())
                files.append(self._files())
            if passed >= seconds:
                break
        self.found.memory, self.found.files = (
            (each[0], each[1], max(each[1:]), each[-1]) for each in (memory, files)
        )
        self.found.findings += self.found.grew()
        return self.found

    def _one(self) -> None:
        target = self._chance.choice(self._targets)
        who = self._chance.choice(("member", "member", "member", "viewer", *self._tokens))
        token = self._tokens[who]
        path, headers = self._path(target), {"Content-Type": "application/json", "Accept": "application/json"}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        if self._chance.randrange(6) == 0:
            headers[self._chance.choice(HEADERS)] = self._header()
        body = self._body(target)
        answer = self._exchange(target.method, path, body, headers)
        if answer is not None:
            self._judge(target, who, *answer)

    def _path(self, target: Target) -> str:
        path = re.sub(r"\{[^}]*\}", lambda _: quote(self._text(), safe=""), target.path)
        if target.tool is None and self._chance.randrange(3) == 0:
            name = self._chance.choice(("limit", "before", "project", "q", "status", "after", "at", "agent"))
            path += f"?{name}={quote(self._text(), safe='')}"
        return path

    def _text(self) -> str:
        value = self._chance.choice(self._ids) if self._chance.randrange(2) else self._chance.choice(WRONG)
        return (
            (value if isinstance(value, str) else json.dumps(value))
            .encode("utf-8", "replace")
            .decode()[:2000]
        )

    def _header(self) -> str:
        return re.sub(r"[^\x20-\x7e]", "?", self._text())[:500]

    def _body(self, target: Target) -> bytes:
        if self._chance.randrange(25) == 0:
            return self._chance.choice(BODIES)
        given = self._value(target.schema, target.defined, 0)
        if target.tool is not None:
            params = {"name": target.tool, "arguments": given}
            given = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        return json.dumps(given).encode("utf-8", "surrogatepass")

    def _value(self, schema: Json, defined: Json, depth: int) -> Any:
        """Return a value that nearly fits the schema."""
        if depth > 4 or (depth and self._chance.randrange(5) == 0):
            return self._chance.choice(WRONG)
        if "$ref" in schema:
            return self._value(defined.get(schema["$ref"].rpartition("/")[2], {}), defined, depth)
        several = schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf")
        if several:
            return self._value(self._chance.choice(several), defined, depth)
        if schema.get("type") == "object":
            return self._object(schema, defined, depth)
        if schema.get("type") == "array":
            count = self._chance.randrange(4)
            return [self._value(schema.get("items", {}), defined, depth + 1) for _ in range(count)]
        return self._chance.choice(self._plain(schema))

    def _plain(self, schema: Json) -> Sequence[Any]:
        """Return candidates for a value without parts."""
        if "enum" in schema or "const" in schema:
            return [*schema.get("enum", [schema.get("const")])]
        if schema.get("type") in ("integer", "number"):
            return (0, 1, 2, 45, schema.get("maximum", 9), schema.get("minimum", -9))
        if schema.get("type") == "boolean":
            return (True, False)
        if schema.get("type") == "string":
            return (*self._ids, "ann", "bob", "mia", "x", "other", "default", "src/a.py", self._text())
        return WRONG

    def _object(self, schema: Json, defined: Json, depth: int) -> Json:
        known: Json = schema.get("properties", {})
        needed = schema.get("required", ())
        made = {
            name: self._value(about, defined, depth + 1)
            for name, about in known.items()
            if (self._chance.randrange(12) if name in needed else self._chance.randrange(2))
        }
        if "wait" in made:  # it would wait
            made["wait"] = 0
        if self._chance.randrange(9) == 0:
            made[self._text()[:60]] = self._chance.choice(WRONG)
        return made

    # ---- answers

    def _exchange(self, method: str, path: str, body: bytes, headers: Json) -> tuple[int, bytes] | None:
        try:
            self._line.request(method, path, body, headers)
            answer = self._line.getresponse()
            if "event-stream" in (answer.getheader("Content-Type") or ""):
                self._line.close()  # the stream would never end
                return answer.status, b""
            return answer.status, answer.read()
        except (OSError, http.client.HTTPException, ValueError) as error:
            self._line.close()
            if isinstance(error, ConnectionError | http.client.BadStatusLine):
                self.found.answers["connection closed"] += 1
            elif isinstance(error, OSError | http.client.HTTPException):
                self.found.findings.append(f"no answer: {method} {path[:200]}: {error!r}")
            return None

    def _judge(self, target: Target, who: str, status: int, said: bytes) -> None:
        self.found.calls += 1
        is_no = status >= http.client.BAD_REQUEST or b'"isError":true' in said.replace(b" ", b"")
        self.found.answers["refused" if is_no else "done"] += 1
        is_done = status < http.client.MULTIPLE_CHOICES and not is_no
        sentence = f"{target.name} as {who}: {status} {said[:300]!r}"
        if status >= http.client.INTERNAL_SERVER_ERROR or b'"code":-32603' in said.replace(b" ", b""):
            self._count("5xx", sentence)
        if TRACE.search(said):
            self._count("trace", sentence)
        if SECRET.encode() in said:
            self._count("leak", sentence)
        if who in ("revoked", "forged", "cut") and is_done and not _is_open(target):
            self._count("let in", sentence)

    def _count(self, what: str, sentence: str) -> None:
        self.found.answers[what] += 1
        self.found.findings.append(f"{what}: {sentence}")

    def _ask(self, method: str, path: str, body: object = None) -> Json:
        headers = {"Authorization": f"Bearer {self._owner}", "Content-Type": "application/json"}
        with closing(http.client.HTTPConnection("127.0.0.1", self.hub.port, timeout=60)) as line:
            line.request(method, path, json.dumps(body) if body is not None else None, headers)
            answer = line.getresponse()
            said = answer.read()
        if answer.status >= http.client.BAD_REQUEST:
            raise OSError(f"{method} {path}: {said!r}")
        return dict(json.loads(said or b"{}"))

    def _memory(self) -> int:
        """Return the MiB that the hub uses, 0 if the system does not tell."""
        with suppress(OSError, StopIteration):
            lines = Path(f"/proc/{self._pid}/status").read_text().splitlines()
            return int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) // 1024
        return 0

    def _files(self) -> int:
        with suppress(OSError):
            return sum(1 for _ in Path(f"/proc/{self._pid}/fd").iterdir())
        return 0

    @property
    def _pid(self) -> int:
        assert self.hub.process is not None
        return self.hub.process.pid


def _plain_doors() -> list[Target]:
    schema: Json = {"type": "object", "properties": dict.fromkeys(NAMES.split(), ANYTHING)}
    words = PLAIN.split()
    doors = zip(words[::2], words[1::2], strict=True)
    return [Target(f"{method} {path}", method, path, None, schema, {}) for method, path in doors]


def _is_open(target: Target) -> bool:
    """Tell whether anybody may call it, with or without a token."""
    return target.tool is None and (
        any(word in target.path for word in ("login", "invite", "join", "share", "setup", "register"))
        or (target.method == "GET" and not target.path.startswith("/api/"))  # pages, health
    )


def attack(folder: Path, seed: int, seconds: float) -> Hostility:
    """Attack a hub of its own in that folder."""
    folder.mkdir(parents=True)
    preloaded = library()
    clock = faster(FAST, preloaded) if preloaded else {}
    hub = HubProgram(folder / "hub", folder / "hub.log", **clock)
    hub.start()
    try:
        hub.wait()
        begun = time.monotonic()
        with closing(Attacker(hub, seed)) as attacker:
            found = attacker.attack(seconds)
        found.hours = (time.monotonic() - begun) * (FAST if clock else 1) / 3600
        log = (folder / "hub.log").read_text("utf-8", "replace")
        if "Traceback" in log:
            found.findings.append(f"the hub logged a bug: {log[log.index('Traceback') :][-1500:]}")
        return found
    finally:
        hub.kill()
