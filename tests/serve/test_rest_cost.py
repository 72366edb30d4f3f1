"""Cost over REST: in an answer, as a table for spreadsheets, and reported by the process that started a client."""

import csv

import pytest

from tests.serve.served_hub import Hub
from tests.serve.web_client import Json, Visit, Web, done, not_refused

USED = {"id": "1", "conversation": "s-1", "model": "claude-sonnet-5", "input": 1_000_000, "output": 0}


@pytest.fixture
def web(hub: Hub, visit: Visit) -> Web:
    return visit(hub, hub.token("coder-1"))


def report(web: Web, **more: object) -> Json:
    return done(web.post("/cost/reports", {"used": [{**USED, **more}]}))


def test_who_starts_a_client_tells_what_it_used(web: Web) -> None:
    """A client's printed use counts once, even if it is told again."""
    assert report(web) == {"tokens": 1_000_000}
    assert report(web) == {"tokens": 0}
    assert report(web, id="2", conversation="s-2", cost=0.5) == {"tokens": 1_000_000}

    found = done(web.get("/cost", by="model"))
    assert (found["currency"], found["estimate"]) == ("USD", True)
    assert [(line["name"], line["usd"]) for line in found["lines"]] == [("claude-sonnet-5", 2.5)]


def test_cost_is_narrowed_and_cut_in_steps(web: Web, hub: Hub) -> None:
    """Cost is that of one agent, task or model, and apart for each hour where that is asked."""
    task = hub.send_task("coder-1")
    report(web, task=task)
    report(web, id="2", model="claude-opus-5")

    assert done(web.get("/cost", task=task))["total"]["tokens"] == 1_000_000
    assert done(web.get("/cost", model="claude-opus-5"))["total"]["usd"] == 5
    assert done(web.get("/cost", agent="nobody"))["total"]["unmetered"] is True
    (hour,) = done(web.get("/cost", by="agent", step="hour"))["lines"]
    assert (hour["tokens"], hour["at"] % 3_600_000) == (2_000_000, 0)


def test_cost_as_a_table(web: Web, hub: Hub, visit: Visit) -> None:
    """A spreadsheet gets the same lines, in which nothing is a formula, and what is not metered says so."""
    report(web, model="=1+1", conversation="s-9")
    answer = web.get("/cost.csv", by="model")
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    (row,) = csv.DictReader(answer.text.splitlines())
    assert (row["name"], row["input"], row["usd"]) == ("'=1+1", "1000000", "")

    done(web.put("/agents/coder-1/presence", {"instance": "i-1", "condition": "idle", "take": True}))
    done(
        visit(hub, hub.token("idler")).put(
            "/agents/idler/presence", {"instance": "i-2", "condition": "idle", "take": True}
        )
    )
    rows = {each["name"]: each for each in csv.DictReader(web.get("/cost.csv").text.splitlines())}
    assert rows["idler"]["input"] == rows["idler"]["usd"] == "unmetered"
    assert rows["idler"]["label"] == rows["idler"]["at"] == ""
    assert rows["coder-1"]["input"] == "1000000"


def test_what_cannot_be_asked_is_refused(web: Web) -> None:
    """A wrong grouping, id or time is refused in one sentence."""
    table: list[dict[str, str]] = [
        {"by": "colour"},
        {"task": "12x"},
        {"since": "-1"},
        {"step": "slice", "since": "0"},
    ]
    assert not_refused(lambda row: web.get("/cost", **row), table) == []
    wrong: list[dict[str, object]] = [{"input": -1}, {"conversation": ""}, {"cost": -1}, {"id": None}]
    assert not_refused(lambda row: web.post("/cost/reports", {"used": [{**USED, **row}]}), wrong) == []
