"""Why something is as it is, over REST."""

import pytest

from tests.serve.served_hub import Hub
from tests.serve.web_client import Visit, Web, done, refusal


@pytest.fixture
def web(hub: Hub, visit: Visit) -> Web:
    return visit(hub, hub.owner_secret)


def test_why_is_facts_and_a_paragraph(hub: Hub, web: Web) -> None:
    """The answer says what it is about, each fact with its sentence and detail, and all of it in one paragraph."""
    hub.meet("bob")
    done(web.post("/tasks", {"text": "count", "to": "bob"}))

    why = done(web.get("/why/1"))
    assert (why["kind"], why["name"]) == ("task", "1")
    assert why["sentence"] == " ".join(fact["sentence"] for fact in why["facts"])
    assert [fact["kind"] for fact in why["facts"]] == ["task.delivered", "task.unread", "agent.never_came"]
    assert why["facts"][1]["detail"]["stored_at"] <= why["now"]


def test_why_takes_names_and_paths(hub: Hub, web: Web) -> None:
    """An agent's name may have any script, a file's path slashes; the kind may be said."""
    hub.meet("代码1号")

    assert done(web.get("/why/代码1号"))["kind"] == "agent"
    assert done(web.get("/why/src/a.py"))["kind"] == "file"
    assert done(web.get("/why/Makefile", kind="file"))["name"] == "Makefile"


def test_what_there_is_not_has_no_why(hub: Hub, web: Web, visit: Visit) -> None:
    """An unknown name, another project and an unknown kind are refused, each with a sentence."""
    done(web.post("/tasks", {"text": "count"}))
    other, web = visit(hub, hub.token(project=hub.other_project())), visit(hub, hub.token())

    assert refusal(web.get("/why/nobody")) == (404, "not_found")
    assert refusal(other.get("/why/1")) == (404, "not_found")
    assert refusal(web.get("/why/1", kind="weather")) == (400, "invalid")
    assert refusal(web.get("/why/../x", kind="file"))[0] in (400, 404)
