"""Merges to come over REST, as hooks tell them and people see them."""

import pytest

from tests.serve.served_hub import Hub
from tests.serve.web_client import Json, Visit, Web, done

ONE, TWO = "1" * 40, "2" * 40


@pytest.fixture
def web(hub: Hub, visit: Visit) -> Web:
    return visit(hub, hub.token())


def head(agent: str, branch: str, commit: str, **more: object) -> Json:
    return {"agent": agent, "repository": "github.com/octo/parser", "branch": branch, "head": commit, **more}


def test_a_pair_is_told_and_listed(web: Web) -> None:
    """A hook tells a head, hears what to compare it with, and tells what git says; who may look sees the conflicts."""
    paths = ["src/a.py"]
    assert done(web.post("/merges/heads", head("ann", "login", ONE, tree=ONE, paths=paths))) == {
        "compare": []
    }
    heard = done(web.post("/merges/heads", head("bob", "logout", TWO, tree=TWO, paths=paths)))
    other = {"agent": "ann", "branch": "login", "head": ONE}
    assert heard == {"compare": [other]}

    told = done(
        web.post("/merges/judgements", head("bob", "logout", TWO, judgements=[{**other, "files": paths}]))
    )
    assert told == done(web.get("/merges"))
    (found,) = told["conflicts"]
    assert found["branches"] == [other, {"agent": "bob", "branch": "logout", "head": TWO}]
    assert (found["files"], found["first"]) == (paths, "ann")
