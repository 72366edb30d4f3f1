"""The audit, and what the hub tells of changes to itself, over the REST interface."""

import csv
import io
import json
from collections.abc import Iterator

import httpx2
import pytest

from hubbub.core.fleet import nodes
from hubbub.model.fleet.calls import NodeInfo
from hubbub.model.people.rights import Role
from tests.serve.served_hub import Hub, running_hub
from tests.serve.web_client import Json, Web, done, refusal

FORMULA = "=cmd|' /C calc'!A0"


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    """One hub for all tests here."""
    with running_hub(tmp_path_factory.mktemp("audit") / "hub") as running:
        yield running


@pytest.fixture(scope="module")
def person(hub: Hub) -> Iterator[Web]:
    web = Web(hub.url + "/api/v1", hub.owner_secret)
    yield web
    web.http.close()


def entries(web: Web, **query: object) -> list[Json]:
    found: list[Json] = done(web.get("/audit/entries", **query))["entries"]
    return found


def test_changes_of_the_hub_are_entries(person: Web) -> None:
    """Projects, members, areas and tokens that somebody changed are told, newest first, with who did it."""
    done(person.post("/projects", {"slug": "shop"}))
    done(person.http.patch("/projects/shop", json={"conflict_mode": "block"}))
    done(person.put("/projects/shop/areas/web", {"name": "Web", "patterns": ["web/"]}))
    done(person.post("/users", {"name": "noor"}))
    done(person.put("/projects/shop/members/noor", {"role": "viewer"}))
    made = done(person.post("/tokens?project=shop", {}))["token"]["id"]
    done(person.delete(f"/tokens/{made}"))
    found = [
        each
        for each in entries(person, project="shop", kind="config")
        if "node" not in each["detail"]  # the hub's own machine comes to the project meanwhile
    ]
    mine = [each["kind"] for each in found if each["detail"].get("user") in (None, "noor")]
    assert mine[:5] == ["member.put", "user.created", "area.put", "project.changed", "project.created"]
    assert {each["actor"] for each in found} == {"owner"}
    changed = next(each for each in found if each["kind"] == "project.changed")
    assert changed["detail"] == {"conflict_mode": "block"}
    tokens = entries(person, project="shop", kind="tokens")
    assert [each["kind"] for each in tokens][:2] == ["token.revoked", "token.created"]


def test_entries_come_page_by_page(person: Web) -> None:
    """`next` leads to the following page until there is none; no entry is twice, and none is missing."""
    whole = entries(person, project="default", limit=500)
    seen: list[Json] = []
    query: dict[str, object] = {"project": "default", "limit": 2}
    while True:
        page = done(person.get("/audit/entries", **query))
        seen += page["entries"]
        if page["next"] is None:
            break
        query["before"] = page["next"]
    assert seen == whole
    assert set(page["groups"]) == {"approvals", "tokens", "terminal", "config", "logins"}


def test_entries_are_narrowed(person: Web) -> None:
    """One kind, one group, or one actor; what is no kind of the audit is refused."""
    done(person.post("/projects", {"slug": "narrow"}))
    assert {each["kind"] for each in entries(person, project="narrow", kind="project.created")} == {
        "project.created"
    }
    assert entries(person, project="narrow", actor="nobody") == []
    for bad in ("task.sent", "nonsense"):
        assert refusal(person.get("/audit/entries", project="narrow", kind=bad)) == (400, "invalid")


def test_what_concerns_the_whole_hub_is_for_its_owner(hub: Hub, person: Web) -> None:
    """People of the hub are made for no project: members of one are not told of it, and see no other project."""
    done(person.post("/users", {"name": "omar"}))
    member = Web(hub.url + "/api/v1", hub.token(role=Role.ADMIN))
    assert "omar" in [each["detail"].get("user") for each in entries(person, project="default")]
    assert "omar" not in [each["detail"].get("user") for each in entries(member)]
    assert refusal(member.get("/audit/entries", project="shop"))[0] in (403, 404)
    member.http.close()


def test_entries_are_had_as_files(hub: Hub, person: Web) -> None:
    """JSON Lines and the table tell all entries; no cell of the table is a formula."""
    hub.do(lambda tx: tx.record("area.put", project_id=hub.project.id, actor=FORMULA, detail={"a": "b\nc"}))
    lines = person.get("/audit/entries.jsonl", project="default")
    assert lines.headers["content-disposition"] == 'attachment; filename="audit.jsonl"'
    assert [json.loads(line) for line in lines.text.splitlines()] == entries(
        person, project="default", limit=500
    )
    table = person.get("/audit/entries.csv", project="default", kind="config")
    rows = list(csv.reader(io.StringIO(table.text)))
    assert rows[0] == ["id", "at", "kind", "actor", "agent", "task_id", "message_id", "detail"]
    assert rows[1][3] == f"'{FORMULA}"
    assert json.loads(rows[1][7]) == {"a": "b\nc"}
    assert rows[1][1].endswith("+00:00")
    assert refusal(person.get("/audit/entries.csv", project="default", kind="x")) == (400, "invalid")


def test_a_link_to_look_at_a_machine_is_made(hub: Hub, person: Web) -> None:
    """A person makes a link, whose address is told once; agents do not; it is in the audit, and taken back."""
    about = NodeInfo(name="far", machine_id="m-far", platform="x", version="1", sandbox="none")
    hub.do(lambda tx: nodes.report(tx, hub.project, about))
    body = {"node": "FAR", "expires_in_seconds": 60}
    made = done(person.post("/shares?project=default", body))
    assert made["share"]["machine"] == "far"
    assert made["url"].startswith("https://hub.example.org/share/")
    page = person.http.get(hub.url + "/share/" + made["url"].rpartition("/")[2])
    assert page.status_code == 200
    agent = Web(hub.url + "/api/v1", hub.token(role=Role.OWNER))
    assert refusal(agent.post("/shares", body)) == (403, "forbidden")
    agent.http.close()
    assert refusal(person.post("/shares?project=default", {"node": "none"})) == (404, "not_found")
    assert entries(person, project="default", kind="config")[0]["kind"] == "share.minted"
    done(person.delete(f"/shares/{made['share']['id']}", project="default"))


def test_members_over_rest(hub: Hub, person: Web) -> None:
    """Members are listed, given roles and removed; who is removed loses the stream that they held open."""
    done(person.post("/projects", {"slug": "crew"}))
    secret = done(person.post("/users", {"name": "pia", "project": "crew"}))["token"]
    listed = done(person.get("/projects/crew/members"))["members"]
    assert [(each["name"], each["role"]) for each in listed] == [("owner", "owner"), ("pia", "member")]
    assert done(person.put("/projects/crew/members/pia", {"role": "admin"}))["member"]["role"] == "admin"
    assert refusal(person.put("/projects/crew/members/pia", {"role": "node"})) == (400, "invalid")
    assert refusal(person.delete("/projects/crew/members/owner")) == (409, "conflict")
    pia = Web(hub.url, secret)
    with pia.http.stream("GET", "/events", params={"project": "crew"}) as stream:
        done(person.delete("/projects/crew/members/pia"))
        assert ": following" in list(stream.iter_lines())  # and then it ends
    assert refusal(pia.get("/api/v1/projects/crew")) == (404, "project_denied")
    pia.http.close()


def test_a_project_is_changed_by_who_manages_it(hub: Hub, person: Web) -> None:
    """Fields left out stay; members change nothing, and a bad value changes nothing."""
    done(person.post("/projects", {"slug": "plans", "name": "Plans"}))

    def change(**body: object) -> httpx2.Response:
        return person.http.patch("/projects/plans", json=body)

    changed = done(change(description="what we are at"))["project"]
    assert (changed["name"], changed["description"]) == ("Plans", "what we are at")
    assert refusal(change(conflict_mode="maybe")) == (400, "invalid")
    assert refusal(change(name="x", heartbeat_ttl=1)) == (400, "invalid")
    assert done(person.get("/projects/plans"))["project"]["name"] == "Plans"
    member = Web(hub.url + "/api/v1", hub.token())
    assert refusal(member.http.patch("/projects/default", json={"name": "x"})) == (403, "forbidden")
    member.http.close()
