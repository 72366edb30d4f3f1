"""The memory of agents, over real HTTP."""

import json
from uuid import UUID

import pytest

from hubbub.model.people.rights import Role
from tests.serve.conftest import both_engines
from tests.serve.served_hub import Hub
from tests.serve.web_client import Json, Visit, Web, done, refusal
from tests.support.self_named import by_a_tool_set

NAME = "代码/1号"


@pytest.fixture
def web(hub: Hub, visit: Visit) -> Web:
    """A client that may act as any agent of the project."""
    return visit(hub, hub.token())


def put(web: Web, whose: str, **body: object) -> Json:
    document: Json = done(web.put(f"/memory/{whose}", body))["document"]
    return document


def test_a_memory_is_written_and_read(web: Web, hub: Hub) -> None:
    """A memory is put as parts, and read as parts and as text, with a version that rises."""
    hub.do(lambda tx: by_a_tool_set(tx, hub.project.id, NAME))
    parts = [{"key": None, "content": "# Notes"}, {"key": "style", "content": "## not a section\ntabs"}]
    written = put(web, f"agents/{NAME}", parts=parts, version=0)
    assert done(web.get(f"/memory/agents/{NAME}"))["document"] == written
    assert (written["agent"], written["version"], written["parts"]) == (NAME, 1, parts)
    assert written["text"] == "# Notes\n\n## style\n\n## not a section\ntabs\n"
    assert UUID(written["project_id"]) == hub.project.id


def test_a_memory_that_nobody_has_written_is_empty(web: Web) -> None:
    """A memory that is not there yet is empty and at version 0, and is not listed."""
    for whose, agent in (("project", None), ("agents/ann", "ann")):
        document = done(web.get(f"/memory/{whose}"))["document"]
        assert (document["agent"], document["version"], document["parts"], document["text"]) == (
            agent,
            0,
            [],
            "",
        )
    assert done(web.get("/memory"))["documents"] == []


def test_memories_are_listed(web: Web, hub: Hub) -> None:
    """The list names the project's own memory, then those of agents, each with its version."""
    for whose in ("agents/bob", "project", "agents/ann", "project"):
        put(web, whose, parts=[])
    listed = done(web.get("/memory"))
    assert [(each["agent"], each["version"]) for each in listed["documents"]] == [
        (None, 2),
        ("ann", 1),
        ("bob", 1),
    ]
    assert UUID(listed["project_id"]) == hub.project.id


def test_an_edited_text_is_understood(web: Web) -> None:
    """A text is compared with what is there: what was not touched stays, a heading that was typed begins a section."""
    put(web, "project", parts=[{"key": "a", "content": "one\n\n## inside"}])
    changed = put(web, "project", text="## a\n\none\n\n## inside\n\n## b\ntwo\n", version=1)
    assert changed["parts"] == [{"key": "a", "content": "one\n\n## inside"}, {"key": "b", "content": "two"}]


@both_engines
def test_who_comes_late_is_told(web: Web) -> None:
    """A document made from an older version is a conflict, and changes nothing; without a version it counts."""
    put(web, "project", text="first")
    put(web, "project", text="second")
    late: list[Json] = [{"text": "late"}, {"parts": []}]
    for body in late:
        assert refusal(web.put("/memory/project", {**body, "version": 1})) == (409, "conflict")
    assert done(web.get("/memory/project"))["document"]["text"] == "second\n"
    assert put(web, "project", parts=[])["version"] == 3


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({}, "the body: give either parts or text"),
        ({"parts": [], "text": ""}, "the body: give either parts or text"),
        ({"parts": [{"key": "a"}]}, "parts.0.content is missing"),
        ({"parts": [{"key": "", "content": "x"}]}, "a key has 1 to 256 characters, no line break"),
        ({"parts": [{"key": "a", "content": "x"}] * 2}, "the key 'a' is there twice"),
        ({"text": "a\0b"}, "text: must not contain NUL characters"),
        ({"text": "a\ud800b"}, "text: must not contain halves of surrogate pairs"),
        ({"parts": [{"key": "a\udfff", "content": "x"}]}, "parts.0.key: must not contain halves"),
        ({"parts": [{"key": "a", "content": "\udc00"}]}, "parts.0.content: must not contain halves"),
        ({"text": "x", "version": -1}, "version: must be at least 0"),
        ({"text": "x", "version": "1"}, "version: must be a valid integer"),
    ],
)
def test_what_is_no_document_is_refused(hub: Hub, visit: Visit, body: Json, sentence: str) -> None:
    """A text that cannot be a document is refused with one sentence that says why, and nothing is written."""
    web = visit(hub, hub.token())
    refused = web.send("PUT", "/memory/project", json.dumps(body).encode())
    assert (refused.status_code, refused.json()["error"]) == (400, "invalid")
    assert sentence in refused.json()["message"]
    assert done(web.get("/memory"))["documents"] == []


def test_whose_memory_a_token_writes(hub: Hub, visit: Visit) -> None:
    """A token bound to an agent writes that agent's memory and the project's, and reads all; a viewer only reads."""
    ann, viewer = visit(hub, hub.token("ann")), visit(hub, hub.token(role=Role.VIEWER))
    put(ann, "agents/ann", text="mine")
    put(ann, "project", text="ours")
    assert refusal(ann.put("/memory/agents/bob", {"text": "not mine"})) == (403, "wrong_identity")
    assert refusal(viewer.put("/memory/project", {"text": "no"})) == (403, "forbidden")
    assert refusal(viewer.put("/summaries/one", {"text": "no"})) == (403, "forbidden")
    assert done(viewer.get("/memory/agents/ann"))["document"]["text"] == "mine\n"
    assert done(ann.get("/memory/agents/bob"))["document"]["version"] == 0


def test_other_projects_remember_for_themselves(hub: Hub, visit: Visit) -> None:
    """A token sees and writes the memory of its own project only."""
    put(visit(hub, hub.token()), "project", text="ours")
    done(visit(hub, hub.token()).put("/summaries/one", {"text": "ours"}))
    stranger = visit(hub, hub.token(project=hub.other_project()))
    assert done(stranger.get("/memory"))["documents"] == []
    assert done(stranger.get("/summaries"))["summaries"] == []
    assert refusal(stranger.get("/summaries/one")) == (404, "not_found")


def test_summaries_of_runs(web: Web) -> None:
    """A summary is kept as it was given, by the run's name; the list has the newest run first."""
    for run, text in (("2026-03-14-007", "# All done\n"), ("one/two", "less"), ("2026-03-14-007", "more")):
        saved = done(web.put(f"/summaries/{run}", {"text": text, "agent": "ann"}))["summary"]
        assert (saved["run"], saved["agent"], saved["text"]) == (run, "ann", text)
        assert done(web.get(f"/summaries/{run}"))["summary"] == saved
    listed = done(web.get("/summaries"))["summaries"]
    assert listed == [{"run": "one/two", "version": 1}, {"run": "2026-03-14-007", "version": 2}]


@both_engines
def test_a_late_summary_is_a_conflict(web: Web) -> None:
    """A summary made from another version than there is is a conflict; of a run without one that is version 0."""
    done(web.put("/summaries/one", {"text": "first", "version": 0}))
    assert refusal(web.put("/summaries/one", {"text": "late", "version": 0})) == (409, "conflict")
    assert refusal(web.get("/summaries/two")) == (404, "not_found")
