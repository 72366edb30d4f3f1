"""Permissions over REST: each call by every kind of caller. One that the table does not know fails."""

import logging
from collections.abc import Awaitable, Iterator, Mapping
from contextlib import ExitStack
from contextvars import ContextVar
from datetime import timedelta
from itertools import chain
from typing import Any
from uuid import uuid4

import httpx2
import pytest

from hubbub.core.fleet import api_keys, nodes
from hubbub.core.people import access, lent_tokens, tokens, users
from hubbub.core.presence import presences
from hubbub.core.transaction import Transactions
from hubbub.model.fields import declared
from hubbub.model.fleet.calls import NodeInfo, Principal
from hubbub.model.people.rights import HUB, Actor, Role
from hubbub.model.records import Condition, Profile, Project
from hubbub.store.tx import Operation, Tx
from tests.serve.rest.fleet.desk_requests import DIGEST, need, put
from tests.serve.served_hub import Hub, running_hub
from tests.serve.web_client import Web, done
from tests.support.store_tables import TABLES

ABOUT = NodeInfo(name="far", machine_id="m-1", platform="Linux 6.1", version="1.0", sandbox="bwrap")
BACKUP = "GET /backup"  # all that is kept, which is for the owner alone
KNOWN_BY_A_SECRET: dict[str, Any] = {
    "instance": "i",
    "condition": Condition.IDLE,
    "profile": Profile(),
    "ttl": timedelta(hours=1),
    "secret": "hash-of-what-eve-was-told",
}

# Who tries. Agents have tokens of the project, people their own and a role in it; strangers belong elsewhere.
NOBODY, NODE = "nobody", "the key of a machine"
AGENTS = A_VIEWER, AN_AGENT, AN_ADMIN_AGENT = "an agent that looks on", "an agent", "an agent that manages"
PEOPLE = A_READER, A_MEMBER, AN_ADMIN, THE_OWNER = "a viewer", "a member", "an admin", "the owner of the hub"
LENT = "the program that is the agent of a machine, for an order"
STRANGERS = A_STRANGE_PERSON, A_STRANGE_AGENT = "a person of elsewhere", "an agent of elsewhere"
EVERYBODY = (NOBODY, NODE, LENT, *AGENTS, *PEOPLE, *STRANGERS)

# Who may.
MYSELF = frozenset(EVERYBODY) - {NOBODY, NODE}  # with a token: it is about themselves
ANYONE = MYSELF - {LENT}  # or about what they may see
A_PERSON = frozenset({*PEOPLE, A_STRANGE_PERSON})
READ = frozenset({*AGENTS, *PEOPLE})
WRITE = READ - {A_VIEWER, A_READER}
WORK = WRITE | {LENT}  # on an order, by `hubbub mcp cmdop`
MANAGE = frozenset({AN_ADMIN_AGENT, AN_ADMIN, THE_OWNER})
PERSON_READS, PERSON_WRITES, PERSON_MANAGES = (each & frozenset(PEOPLE) for each in (READ, WRITE, MANAGE))
OWNER = frozenset({THE_OWNER})

RIGHTS: Mapping[str, frozenset[str]] = {
    "GET /me": MYSELF,
    "GET /users": OWNER,
    "POST /users": OWNER,
    "DELETE /users/{name}": OWNER,
    "GET /users/invites": PERSON_MANAGES,
    "POST /users/invites": PERSON_MANAGES,
    "DELETE /users/invites/{invitation}": PERSON_MANAGES,
    "GET /tokens": READ,
    "POST /tokens": PERSON_WRITES | MANAGE,
    "DELETE /tokens/{token_id}": MANAGE,
    "GET /logins": A_PERSON,
    "DELETE /logins": A_PERSON,
    "DELETE /logins/{login_id}": A_PERSON,
    "POST /logins/links": A_PERSON,
    "PUT /users/{name}/password": OWNER,
    "GET /projects": ANYONE,
    "POST /projects": A_PERSON,
    "GET /projects/{slug}": READ,
    "PATCH /projects/{slug}": MANAGE,
    "GET /projects/{slug}/members": READ,
    "POST /projects/{slug}/join": OWNER,
    "PUT /projects/{slug}/members/{name}": PERSON_MANAGES,
    "DELETE /projects/{slug}/members/{name}": PERSON_MANAGES,
    "GET /projects/{slug}/coordinators": READ,
    "PUT /projects/{slug}/coordinators/{name}": PERSON_MANAGES,
    "DELETE /projects/{slug}/coordinators/{name}": PERSON_MANAGES,
    "GET /projects/{slug}/areas": READ,
    "GET /projects/{slug}/areas/{area}": READ,
    "PUT /projects/{slug}/areas/{area}": MANAGE,
    "GET /scopes": READ,
    "POST /scopes/check": READ,
    "POST /edits": WRITE,
    "POST /edits/release": WRITE,
    "GET /first-steps": READ,
    "PUT /echo": PERSON_MANAGES,
    "DELETE /echo": PERSON_MANAGES,
    "GET /merges": READ,
    "POST /merges/heads": WRITE,
    "POST /merges/judgements": WRITE,
    "GET /runs": READ,
    "GET /placements": READ,
    "POST /agents/{name}/start": PERSON_WRITES,
    "POST /agents/{name}/stop": PERSON_WRITES,
    "GET /agents/{name}/logs": PERSON_WRITES,
    "GET /agents": READ,
    "GET /agents/{name}/inbox": READ,
    "POST /agents/{name}/inbox/{letter_id}/ack": WRITE,
    "PUT /agents/{name}/presence": WRITE,
    "DELETE /agents/{name}/presence": WRITE,
    "POST /agents/{name}/release-scope": PERSON_WRITES,
    "POST /agents/{name}/wakes": WRITE,
    "DELETE /agents/{name}/wakers/{instance}": WRITE,
    "POST /agents/{name}/glance": WRITE,
    "POST /agents/{name}/probe": WRITE,
    "GET /wakes/{wake_id}": READ,
    "POST /wakes/{wake_id}": WRITE,
    "GET /dead-letters": READ,
    "GET /agents/{name}": READ,
    "PATCH /agents/{name}": PERSON_WRITES,
    "POST /agents/{name}/rename": PERSON_MANAGES,
    "DELETE /agents/{name}": PERSON_MANAGES,
    "GET /tasks": READ,
    "POST /tasks": WRITE,
    "GET /tasks/{ref}": READ,
    "POST /tasks/{ref}/accept": WRITE,
    "POST /tasks/{ref}/start": WRITE,
    "POST /tasks/{ref}/progress": WRITE,
    "POST /tasks/{ref}/block": WRITE,
    "POST /tasks/{ref}/unblock": WRITE,
    "POST /tasks/{ref}/submit": WRITE,
    "POST /tasks/{ref}/complete": WRITE,
    "POST /tasks/{ref}/fail": WRITE,
    "POST /tasks/{ref}/cancel": WRITE,
    "POST /tasks/{ref}/approve": WRITE,
    "POST /tasks/{ref}/request-changes": WRITE,
    "POST /tasks/{ref}/retry": WRITE,
    "POST /tasks/{ref}/reassign": WRITE,
    "POST /tasks/{ref}/release": WRITE,
    "PUT /tasks/{ref}/description": WRITE,
    "POST /tasks/{ref}/comments": WRITE,
    "GET /messages": READ,
    "POST /messages": WRITE,
    "POST /broadcasts": WRITE,
    "GET /completions": READ,
    "GET /threads": READ,
    "GET /threads/{ref}": READ,
    "GET /artifacts": READ,
    "POST /artifacts": WRITE,
    "GET /artifacts/{artifact_id}": READ,
    "GET /reviews": READ,
    "POST /reviews": WRITE,
    "POST /reviews/{review_id}": frozenset({AN_AGENT, AN_ADMIN_AGENT}),  # of whom it was asked,
    "GET /memory": READ,
    "GET /memory/project": READ,
    "PUT /memory/project": WRITE,
    "GET /memory/agents/{name}": READ,
    "PUT /memory/agents/{name}": WRITE,
    "GET /summaries": READ,
    "GET /summaries/{run}": READ,
    "PUT /summaries/{run}": WRITE,
    "GET /webhooks": MANAGE,
    "POST /webhooks": MANAGE,
    "GET /webhooks/deliveries": MANAGE,
    "POST /webhooks/deliveries/{delivery_id}/retry": MANAGE,
    "DELETE /webhooks/{webhook_id}": MANAGE,
    "GET /approvals": PERSON_READS,
    "GET /approvals/{approval_id}": READ,
    "POST /approvals/{approval_id}/approve": PERSON_WRITES,
    "POST /approvals/{approval_id}/deny": PERSON_WRITES,
    "GET /nodes": READ,
    "GET /nodes/{name}": READ,
    "DELETE /nodes/{name}": PERSON_WRITES,
    "POST /nodes/invites": PERSON_WRITES,
    "POST /nodes/join": PERSON_WRITES,  # or who has a code
    "GET /nodes/{name}/dispatches": PERSON_READS,
    "POST /desk": WORK,
    "POST /nodes/{name}/run": PERSON_WRITES,
    "GET /nodes/{name}/policy": PERSON_WRITES,
    "GET /shares": READ,
    "POST /shares": PERSON_WRITES,
    "DELETE /shares/{share_id}": WRITE,
    "GET /audit/entries": READ,
    "GET /audit/entries.jsonl": READ,
    "GET /audit/entries.csv": READ,
    "GET /audit/heads": MANAGE,
    "GET /why/{ref}": READ,
    "GET /snapshot": READ,
    "GET /needs": READ,
    "GET /replay": READ,
    "GET /activity": READ,
    "GET /status": READ,
    "GET /backup": OWNER,
    "GET /leases": READ,
    "POST /leases": WRITE,
    "GET /leases/{lease_id}": READ,
    "DELETE /leases/{lease_id}": WRITE,
    "POST /leases/{lease_id}/renew": WRITE,
    "POST /leases/judge": READ,
    "GET /leases/capacities": READ,
    "PUT /leases/capacities/{thing}": MANAGE,
    "DELETE /leases/capacities/{thing}": MANAGE,
    "GET /leases/rules": READ,
    "PUT /leases/rules": MANAGE,
    "DELETE /leases/rules": MANAGE,
    "GET /accounts": READ,
    "PUT /accounts/{name}": MANAGE,
    "DELETE /accounts/{name}": MANAGE,
    "POST /accounts/{name}/join": WRITE,
    "POST /accounts/{name}/pause": PERSON_WRITES,
    "POST /accounts/{name}/resume": PERSON_WRITES,
    "GET /limits": READ,
    "POST /limits": WRITE,
    "GET /budgets": READ,
    "PUT /budgets": MANAGE,
    "DELETE /budgets/{budget_id}": MANAGE,
    "POST /tools/judge": READ,
    "GET /breakers": READ,
    "PUT /breakers": MANAGE,
    "GET /breakers/stops": READ,
    "POST /breakers/stops/{stop_id}/lift": PERSON_WRITES,
    "GET /throughput": READ,
    "GET /cost": READ,
    "GET /cost.csv": READ,
    "POST /cost/reports": WRITE,
    "POST /sightings": WRITE,
    "GET /tasks/{ref}/proof": READ,
    "POST /tasks/{ref}/proof/statement": READ,
    "GET /proof/key": ANYONE,
    "GET /proof/machine-keys": READ,
    "GET /tasks/{ref}/proof/signatures": READ,
    "PUT /tasks/{ref}/done-when": PERSON_WRITES,  # or an agent that does not do the work
    "POST /tasks/{ref}/waive": PERSON_WRITES,
    "GET /projects/{slug}/proof": READ,
    "PUT /projects/{slug}/proof": MANAGE,
}
ORDERS = {"GET /agents/{name}/logs", "GET /nodes/{name}/policy"}  # ask a machine, which is told and noted
SEEN = {"GET /agents/{name}/inbox"}  # has it noted that an agent sees what it reads by its own token
TEXT, REASON = {"text": "words"}, {"reason": "because"}
BODIES: Mapping[str, Mapping[str, object]] = {
    "POST /users": {"name": "somebody"},
    "POST /edits": {"instance": "i", "repository": "example.org/a/b", "path": "a.py", "moment": "before"},
    "POST /edits/release": {"instance": "i"},
    "POST /merges/heads": {"repository": "example.org/a/b", "branch": "b", "head": "1" * 40, "tree": "1" * 40},
    "POST /merges/judgements": {
        "repository": "example.org/a/b", "branch": "b", "head": "1" * 40, "judgements": [],
    },
    "POST /tokens": {"agent": "ada"},
    "PUT /users/{name}/password": {"password": "correct horse battery"},
    "POST /projects": {"slug": "new"},
    "PATCH /projects/{slug}": {"description": "words"},
    "PUT /projects/{slug}/members/{name}": {"role": "member"},
    "PUT /projects/{slug}/areas/{area}": {"name": "Web", "patterns": ["web/"]},
    "POST /agents/{name}/start": {"node": "far", "run": "true"},
    "PUT /agents/{name}/presence": {"instance": "i", "take": True},
    "POST /agents/{name}/release-scope": REASON,
    "PATCH /agents/{name}": {"description": "words"},
    "POST /agents/{name}/rename": {"to": "newly"},
    "POST /agents/{name}/glance": {"instance": "i", "client": "c", "moment": "tool"},
    "POST /agents/{name}/wakes": {"instance": "i", "client": "c", "method": "monitor"},
    "POST /wakes/{wake_id}": {"result": "woken"},
    "POST /tasks/{ref}/block": REASON,
    "POST /tasks/{ref}/reassign": {"to": "ada"},
    "POST /tasks/{ref}/release": REASON,
    "POST /tasks/{ref}/request-changes": {"comment": "words"},
    "POST /messages": {"to": "ada", **TEXT},
    "POST /artifacts": {"name": "plan", "content": "words"},
    "POST /reviews": {"artifact": "plan", "reviewer": "ada"},
    "POST /reviews/{review_id}": {"verdict": "approved"},
    "PUT /memory/project": TEXT,
    "PUT /memory/agents/{name}": TEXT,
    "POST /webhooks": {"url": "https://127.0.0.1/hook"},
    "POST /desk": {"node": "far", "need": "lend", "content": {}},
    "POST /nodes/join": {"name": "new", **dict.fromkeys(("machine_id", "platform", "version", "sandbox"), "x")},
    "POST /nodes/{name}/run": {"command": "true"},
    "POST /shares": {"node": "far"},
    "POST /leases": {"things": ["port:1"], "agent": "ada"},
    "POST /leases/{lease_id}/renew": {"agent": "ada"},
    "POST /leases/judge": {"command": "true", "agent": "ada"},
    "PUT /leases/capacities/{thing}": {"capacity": 2},
    "PUT /leases/rules": {"command": "make deploy", "things": ["db"]},
    "PUT /accounts/{name}": {"agents": ["ada"]},
    "POST /limits": {"agent": "ada", "kind": "weekly"},
    "POST /cost/reports": {"used": []},
    "PUT /budgets": {"kind": "project", "usd": 1_000},
    "POST /tools/judge": {"agent": "ada"},
    "POST /sightings": {"deed": "shell", "instance": "i"},
    "PUT /tasks/{ref}/done-when": {"done_when": ["committed"]},
    "POST /tasks/{ref}/waive": REASON,
    "PUT /projects/{slug}/proof": {},
    **dict.fromkeys(
        (
            "POST /tasks",
            "PUT /tasks/{ref}/description",
            "POST /tasks/{ref}/comments",
            "POST /broadcasts",
            "PUT /summaries/{run}",
        ),
        TEXT,
    ),
}  # fmt: skip
QUERIES = {
    "DELETE /agents/{name}/presence": {"instance": "i"},
    "DELETE /leases/rules": {"command": "make deploy"},
}


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    """One hub for all tests here, on a machine that is not offered to anybody."""
    with running_hub(tmp_path_factory.mktemp("rights") / "hub") as running:
        yield running


def lent_from(hub: Hub, secret: str) -> str:
    """Return the token of a program that works on an order given with this token."""

    def lend(tx: Tx) -> str:
        who = Principal(project="default", name="ada")
        lender = access.authenticate(tx, secret)
        return lent_tokens.lend_from(tx, hub.project, lender, who, node="far", purpose=uuid4())[1]

    return str(hub.do(lend, hub.owner))


@pytest.fixture(scope="module")
def callers(hub: Hub) -> Iterator[Mapping[str, Web]]:
    """Every kind of caller, by its name."""
    elsewhere = hub.other_project()

    def person(name: str, project: Project, role: Role) -> str:
        return str(hub.do(lambda tx: users.create(tx, name, project=project, role=role), hub.owner)[1])

    secrets = {
        NOBODY: None,
        NODE: hub.do(lambda tx: tokens.granted(tx, hub.project, role=Role.NODE, agent="node:far"), hub.owner)[
            1
        ],
        LENT: lent_from(hub, hub.token("ada")),
        A_VIEWER: hub.token("ada", role=Role.VIEWER),
        AN_AGENT: hub.token("ada"),
        AN_ADMIN_AGENT: hub.token("ada", role=Role.ADMIN),
        A_READER: person("reader", hub.project, Role.VIEWER),
        A_MEMBER: person("member", hub.project, Role.MEMBER),
        AN_ADMIN: person("admin", hub.project, Role.ADMIN),
        THE_OWNER: hub.owner_secret,
        A_STRANGE_PERSON: person("stranger", elsewhere, Role.OWNER),
        A_STRANGE_AGENT: hub.token("ada", role=Role.ADMIN, project=elsewhere),
    }
    with ExitStack() as clients:
        made = {who: Web(hub.url + "/api/v1", secret) for who, secret in secrets.items()}
        for each in made.values():
            each.http.params = httpx2.QueryParams(project="default")
            clients.callback(each.http.close)
        yield made


@pytest.fixture(scope="module")
def things(hub: Hub, callers: Mapping[str, Web]) -> Mapping[str, str]:
    """The things in the project, by their names in paths."""
    owner, agent = callers[THE_OWNER], callers[AN_AGENT]
    hub.do(lambda tx: nodes.report(tx, hub.project, ABOUT))
    hub.meet("ada")
    hub.send_task("ada")
    done(owner.post("/users", {"name": "extra", "project": "default", "role": "viewer"}))
    letter = done(owner.post("/messages", {"to": "ada", "text": "words"}))["message"]
    artifact = done(agent.post("/artifacts", {"name": "plan", "content": "words"}))["artifact"]
    review = done(owner.post("/reviews", {"artifact": artifact["id"], "reviewer": "ada"}))["review"]
    done(owner.put("/projects/default/areas/web", {"name": "Web", "patterns": ["web/"]}))
    wake = done(owner.post("/agents/ada/probe"))["wake"]
    return {
        "slug": "default",
        "area": "web",
        "ref": "1",
        "run": "none",
        "letter_id": letter["id"],
        "instance": "i",
        "wake_id": wake["id"],
        "artifact_id": artifact["id"],
        "review_id": review["id"],
        "token_id": done(owner.post("/tokens", {"agent": "eve"}))["token"]["id"],
        "webhook_id": done(owner.post("/webhooks", {"url": "https://1.1.1.1/", "events": ["area.put"]}))[
            "webhook"
        ]["id"],
        "approval_id": put(agent, "far")["approval_id"],
        "share_id": done(owner.post("/shares", {"node": "far"}))["share"]["id"],
        "lease_id": str(uuid4()),
        "thing": "gpu",
        "budget_id": str(uuid4()),
        "stop_id": str(uuid4()),
        "login_id": str(uuid4()),
        "invitation": "4f1c2a9b07de",
        "delivery_id": str(uuid4()),
    }


def attempt(web: Web, call: str, things: Mapping[str, str]) -> httpx2.Response:
    """Make the call in the project `default`, with a body that will do."""
    method, path = call.split(" ")
    kind = path.split("/")[1]
    name = {"agents": "ada", "memory": "ada", "nodes": "far"}.get(kind, "extra")
    if call in ("DELETE /agents/{name}", "DELETE /users/{name}", "POST /agents/{name}/rename"):
        name = "nobody"  # the others here go on
    return web.http.request(
        method,
        path.format(**things, name=name),
        params=QUERIES.get(call),
        json=BODIES.get(call, {}) if method in ("POST", "PUT", "PATCH") else None,
    )


def done_since(hub: Hub, seq: int) -> list[tuple[str, str]]:
    """What anybody has done. Time alone gives the hub something to do, and a lease to who is next in its queue."""
    sql = "SELECT actor, kind FROM activity WHERE seq > :seq AND actor <> :hub AND kind <> 'lease.granted' ORDER BY seq"
    return [(row["actor"], row["kind"]) for row in hub.do(lambda tx: tx.all(sql, seq=seq, hub=HUB))]


def test_each_call_says_who_may(callers: Mapping[str, Web]) -> None:
    """OpenAPI lists the same calls as the table here."""
    paths = done(callers[AN_AGENT].get("/openapi.json"))["paths"]
    listed = {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods}
    assert listed == RIGHTS.keys()


def test_who_may_not_is_refused(hub: Hub, callers: Mapping[str, Web], things: Mapping[str, str]) -> None:
    """A caller without the right is refused, or finds nothing; and nothing has happened."""
    wrong: list[object] = []
    for call, allowed in RIGHTS.items():
        before = hub.do(lambda tx: tx.one("SELECT max(seq) AS seq FROM activity"))["seq"]
        for who in (each for each in EVERYBODY if each not in allowed):
            answer = attempt(callers[who], call, things)
            expected = {NOBODY: {401}, NODE: {403}}.get(who, {403, 404})
            if answer.status_code not in expected or answer.json().keys() != {"error", "message"}:
                wrong.append((call, who, answer.text))
        if happened := done_since(hub, before):
            wrong.append((call, "somebody", happened))
    assert wrong == []


@pytest.mark.system
def test_who_may_is_let(callers: Mapping[str, Web], things: Mapping[str, str]) -> None:
    """A caller with the right is not refused for who they are, whatever else may be in the way."""
    wrong = []
    for call in sorted(RIGHTS, key=lambda call: "DELETE" in call):
        for who in (each for each in EVERYBODY if each in RIGHTS[call]):
            answer = attempt(callers[who], call, things)
            if answer.status_code in (401, 403) or answer.status_code >= 500:
                wrong.append((call, who, answer.text))
    assert wrong == []


@pytest.fixture
def writers(monkeypatch: pytest.MonkeyPatch) -> list[Actor]:
    """The agents that wrote something by a call of their own; overdue work is settled for any later reader."""
    found: list[Actor] = []
    reading = ContextVar("reading", default=False)
    write, read = Transactions.write, Transactions.read

    def noted(self: Transactions, actor: Actor, operation: Operation[object]) -> Awaitable[object]:
        if actor.token_id is not None and not reading.get():
            found.append(actor)
        return write(self, actor, operation)

    async def looked(
        self: Transactions, actor: Actor, operation: Operation[object], *, long: bool = False
    ) -> object:
        before = reading.set(True)
        try:
            return await read(self, actor, operation, long=long)
        finally:
            reading.reset(before)

    monkeypatch.setattr(Transactions, "write", noted)
    monkeypatch.setattr(Transactions, "read", looked)
    return found


def test_what_writes_is_no_get(
    callers: Mapping[str, Web], things: Mapping[str, str], writers: list[Actor]
) -> None:
    """A GET writes nothing, whoever makes it; so no page that is only looked at changes anything."""
    wrong = []
    for call in (call for call in RIGHTS if call.startswith("GET") and call not in ORDERS | SEEN):
        for who in (THE_OWNER, A_VIEWER, AN_AGENT):
            attempt(callers[who], call, things)
            if writers:
                wrong.append((call, who))
                writers.clear()
    assert wrong == []


def test_what_is_no_get_may_write(
    callers: Mapping[str, Web], things: Mapping[str, str], writers: list[Actor]
) -> None:
    """And what writes is seen to do so."""
    attempt(callers[THE_OWNER], "POST /tasks", things)
    assert len(writers) == 1


def test_nobody_tells_of_a_machine_but_itself(callers: Mapping[str, Web], things: Mapping[str, str]) -> None:
    """No token says how far the log of a machine is that has joined, or on which a hub runs, in whatever case."""
    for who in (AN_AGENT, AN_ADMIN_AGENT, A_MEMBER, THE_OWNER):
        for name in ("far", "FAR"):
            answer = need(callers[who], "seal", {"seq": 1, "digest": DIGEST}, name)
            assert answer.status_code == 403, (who, answer.text)


def kept_secrets(hub: Hub) -> Mapping[str, set[str]]:
    """All values of the fields that are declared secret, by their columns."""

    def read(tx: Tx) -> Mapping[str, set[str]]:
        found = {}
        for table in TABLES:
            for name in (name for name, field in declared(table.kind).items() if field.is_secret):
                rows = tx.all(f"SELECT {name} AS value FROM {table.name} WHERE {name} <> ''")  # '' once wiped
                found[f"{table.name}.{name}"] = {row["value"] for row in rows}
        return found

    values: Mapping[str, set[str]] = hub.do(read)
    return values


def test_no_secret_is_told(
    hub: Hub,
    callers: Mapping[str, Web],
    things: Mapping[str, str],
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A field declared secret is in no answer of any GET, in no patch, and in no line of either log."""
    owner, agent = callers[THE_OWNER], callers[AN_AGENT]
    caplog.set_level(logging.DEBUG)
    hub.do(lambda tx: nodes.report(tx, hub.project, ABOUT))
    hub.do(lambda tx: api_keys.put(tx, hub.project, "key-of-the-project"), hub.owner)
    hub.do(lambda tx: presences.report(tx, hub.project.id, "eve", **KNOWN_BY_A_SECRET))
    done(owner.post("/webhooks", {"url": "https://1.1.1.1/", "events": ["area.put"]}))
    done(owner.post("/shares", {"node": "far"}))
    done(owner.put("/users/extra/password", {"password": "correct horse battery"}))
    put(agent, "far")

    secrets = kept_secrets(hub)
    calls = [call for call in RIGHTS if call.startswith("GET") and call not in {*ORDERS, BACKUP}]
    told = {
        (call, who): attempt(callers[who], call, things).text
        for call in calls
        for who in (THE_OWNER, AN_ADMIN, AN_ADMIN_AGENT)
    }
    told["patches", THE_OWNER] = owner.get("/activity", patches=True, limit=500).text
    log = hub.do(lambda tx: tx.all("SELECT detail, patch FROM activity"))
    told["the log", "the store"] = "".join(f"{row['detail']}{row['patch']}" for row in log)
    told["the log", "the program"] = caplog.text + "".join(capsys.readouterr())

    assert all(secrets.values()), {name for name, values in secrets.items() if not values}
    assert '"tasks"' in told["patches", THE_OWNER]
    texts = {
        where: text for where, text in told.items() if any(map(text.__contains__, chain(*secrets.values())))
    }
    assert not texts.keys()
