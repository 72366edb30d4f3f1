"""`join`: who one is, and how things stand."""

from splintr import Tokenizer

from hubbub.core import agents, scopes
from hubbub.core import projects as core_projects
from tests.dialects.commhub.hub import Fleet
from tests.dialects.hub_tongue.requirements import requires
from tests.dialects.hub_tongue.team import Team


@requires("join.standing")
def test_join_tells_how_things_stand(team: Team) -> None:
    """After a compaction one call tells an agent all that it needs to go on."""
    team.joined("ada", doing="the parser")
    ember = team.joined("ember")
    ref = team.work("Write the docs", by="ada", to="ember")
    ember.task(action="start", task=ref)
    ember.files(action="claim", paths=["docs/index.md"])
    team.agent("ada").send(to="ember", text="hello")

    assert ember.join(doing="the docs", files=["docs/*.md"]) == {
        "you": "ember",
        "project": team.project.slug,
        "pending": 1,
        "tasks": ["T-1 working: Write the docs"],
        "scope": ["docs/*.md"],
        "claims": ["docs/index.md"],
        "here": ["ada (working): the parser"],
        "unread": 1,
    }


@requires("join.short")
def test_join_stays_short(team: Team) -> None:
    """With forty busy agents and as many tasks and long words everywhere the reply has at most 300 tokens."""
    ember = team.joined("ember")
    lead = team.joined("lead")
    for number in range(40):
        title = f"Task number {number} " + "of many words about the same thing " * 4
        lead.send(text=title, kind="task", to="ember")
    for number in range(12):
        peer = team.agent(f"worker-{number}")
        peer.join(doing="a very long story about everything " * 20, files=["src/**"])
    files = [f"src/hubbub/module_{number}/file.py" for number in range(40)]
    reply = ember.join(doing="all of it", files=files)

    text = team.post(
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "join", "arguments": {}}},
        ember.secret,
    ).json()["result"]["content"][0]["text"]
    assert len(Tokenizer.from_pretrained("o200k_base").encode(text)) <= 300
    assert reply["tasks"][-1] == "and 37 more"
    assert reply["unread"] == 40


@requires("join.status")
def test_what_one_does_makes_the_status(team: Team) -> None:
    """Who does something works; who does nothing is idle; a status says it outright, and what is left out stays."""
    ember = team.agent("ember")

    def status() -> tuple[str, str | None]:
        presence = team.hub.look(lambda tx: agents.presence(tx, team.project.id, "ember"))
        assert presence is not None
        return presence.condition, presence.doing

    ember.join()
    assert status() == ("idle", None)
    ember.join(doing="the parser")
    assert status() == ("working", "the parser")
    ember.join(status="blocked")
    assert status() == ("blocked", "the parser")
    ember.join()
    assert status() == ("blocked", "the parser")
    ember.join(doing="")
    assert status() == ("idle", "")


@requires("join.scope")
def test_a_scope_is_declared(team: Team) -> None:
    """An area and files are where one works; each stays when it is left out and goes when it is empty."""
    team.hub.do(lambda tx: scopes.put_area(tx, team.project, "auth", name="Auth", patterns=["src/auth/"]))
    ember = team.agent("ember")
    assert ember.join(area="auth", files=["a.py"])["scope"] == ["auth", "a.py"]
    assert ember.join()["scope"] == ["auth", "a.py"]
    assert ember.join(area="")["scope"] == ["a.py"]
    assert "scope" not in ember.join(files=[])


@requires("join.conflicts")
def test_conflicts_are_told(team: Team) -> None:
    """Whoever works where another does hears of it; a project that blocks conflicts refuses the scope."""
    team.joined("ada", files=["src/*.py"])
    ember = team.agent("ember")
    assert ember.join(files=["src/a.py"])["conflicts"] == ["ada: src/a.py"]
    assert ember.join()["conflicts"] == ["ada: src/a.py"]

    team.hub.do(lambda tx: core_projects.change(tx, team.project, {"conflict_mode": "block"}))
    refused = team.agent("bob").wrong("join", files=["src/b.py"])
    assert (refused["error"], refused["conflicts"]) == (
        "scope_conflict",
        [{"agent": "ada", "on": ["src/b.py"]}],
    )


@requires("join.offline")
def test_leaving(team: Team) -> None:
    """Who leaves is not there any more, what it had claimed comes free, and what it did is kept."""
    ember = team.joined("ember")
    ref = team.work()
    ember.task(action="claim", task=ref)
    assert ember.join(status="offline", doing="half of it") == {"you": "ember", "status": "offline"}

    presence = team.hub.look(lambda tx: agents.presence(tx, team.project.id, "ember"))
    assert presence is not None
    assert (presence.end_reason, presence.summary) == ("left", "half of it")
    assert team.task(ref).assignee is None
    assert ember.join()["you"] == "ember"


@requires("join.presence")
def test_a_call_is_a_heartbeat(team: Team) -> None:
    """An agent is there for half an hour after its last call, whichever that was, and then it is gone."""
    ember = team.agent("ember")
    ember.inbox()
    for _ in range(3):
        team.later(minutes=29)
        ember.share(action="list")
    assert team.joined("ada").join()["here"] == ["ember (idle)"]
    team.later(minutes=31)
    assert "here" not in team.agent("ada").join()


@requires("join.same")
def test_a_presence_goes_on(team: Team) -> None:
    """An agent that reports in another tool set as well is one agent with one presence."""
    secret = team.token("ember")
    fleet = Fleet(team.hub, team.project, team.closing)
    fleet.caller(secret).report_status(resume_id="r", alias="ember", status="working", task="the parser")
    before = team.hub.look(lambda tx: agents.presence(tx, team.project.id, "ember"))
    team.caller(secret).join(doing="the docs")
    after = team.hub.look(lambda tx: agents.presence(tx, team.project.id, "ember"))

    assert before is not None
    assert after is not None
    assert (before.id, after.doing) == (after.id, "the docs")
