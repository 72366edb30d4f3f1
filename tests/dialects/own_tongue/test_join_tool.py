"""`join`: who one is, and how things stand."""

import json
import re
from collections.abc import Callable
from hashlib import sha256
from random import Random
from string import ascii_letters

import pytest

from docs import tokens
from hubbub.core.agents import agents, scopes
from hubbub.core.people import projects as core_projects
from tests.dialects.commhub.callers import Fleet
from tests.dialects.conftest import both_engines
from tests.dialects.own_tongue.requirements import requires
from tests.dialects.own_tongue.team import Team
from tests.dialects.running_hub import call


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


def hexadecimal(number: int) -> str:
    """Text that no vocabulary has words for."""
    return sha256(str(number).encode()).hexdigest()


def chinese(number: int) -> str:
    """Characters as chance has it, the seldom ones too."""
    chance = Random(number)
    return "".join(chr(chance.randint(0x4E00, 0x9FFF)) for _ in range(60))


def letters(number: int) -> str:
    """Letters as chance has them."""
    chance = Random(number)
    return "".join(chance.choice(ascii_letters) for _ in range(60))


WRITINGS = {
    "words": lambda number: f"{number} busy hands mend the garden fence before the autumn storms arrive here",
    "hex": hexadecimal,
    "chinese": chinese,
    "letters": letters,
    "syllables": lambda number: chr(0xA000 + number) * 60,
    "quotes": lambda number: f'"{number}"' * 20,
}


def called(text: str) -> str:
    """The beginning of a text as a name that an agent may have."""
    return re.sub(r"\W+", "-", f"_{text[:11]}")


DAILY = ("words", "chinese")  # each fills a project, which takes a second


@requires("join.short")
@pytest.mark.parametrize(
    "writing",
    [
        pytest.param(writing, id=name, marks=() if name in DAILY else pytest.mark.system)
        for name, writing in WRITINGS.items()
    ],
)
def test_join_stays_short(anywhere: Team, writing: Callable[[int], str]) -> None:
    """However large the team is, whatever it is called, does and writes, the reply has less than 300 tokens."""
    ember, lead = anywhere.joined(called(writing(0))), anywhere.joined("lead")
    name = ember.join()["you"]
    for number in range(40):
        lead.send(text=writing(number), kind="task", to=name)
    files = [f"{writing(number)[:20]}/{writing(number)[20:30]}.py" for number in range(40)]
    for number in range(1, 12):
        peer = anywhere.agent(f"{called(writing(number))}-{number}")
        peer.join(doing=writing(number) * 9, files=files[:20])
    ember.files(action="claim", paths=files[20:])
    ember.join(doing="all of it", files=files)

    text = anywhere.post(call("join"), ember.secret).json()["result"]["content"][0]["text"]
    told = json.loads(text)
    assert max(tokens.tokens(text)) < 300
    for listed, number in (("tasks", 40), ("here", 12), ("claims", 20), ("scope", 40), ("conflicts", 11)):
        where = ": resource hubbub://agents" if listed == "here" else ""
        assert told[listed][-1] == f"and {number - len(told[listed]) + 1} more{where}"
    assert told["unread"] == 40


@requires("join.short")
def test_a_team_that_has_room_is_told_whole(anywhere: Team) -> None:
    """Titles and what others do are cut first, so that as many tasks, agents and files as possible are named."""
    ember, lead = anywhere.joined("ember", files=["src/parser/*.py"]), anywhere.joined("lead")
    for number in range(3):
        lead.send(
            text=f"Write down how the parser deals with error {number}, and why", kind="task", to="ember"
        )
    for peer in ("ada", "bob", "carol"):
        anywhere.joined(peer, doing="reviewing what came in last night, from the oldest to the newest")
    ember.files(action="claim", paths=["docs/parser.md"])
    told = ember.join()

    assert [len(told[listed]) for listed in ("tasks", "here", "claims", "scope")] == [3, 4, 1, 1]
    assert not [line for line in told["here"] + told["tasks"] if line.startswith("and ")]


@requires("join.status")
def test_what_one_does_makes_the_status(team: Team) -> None:
    """An agent that acts works; one that does nothing is idle; a status says it outright, and omitted fields stay."""
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
@both_engines
def test_conflicts_are_told(team: Team) -> None:
    """An agent that works where another does hears of it; a project that blocks conflicts refuses the scope."""
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
@both_engines
def test_leaving(team: Team) -> None:
    """An agent that leaves is not there any more, its claimed tasks come free, and its results are kept."""
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
@both_engines
def test_a_call_is_a_heartbeat(team: Team) -> None:
    """An agent is there for half an hour after its last call, whichever that was, and then it is gone."""
    ember = team.agent("ember")
    ember.inbox()
    for _ in range(3):
        team.later(minutes=29)
        ember.share(action="list")
    assert team.joined("ada").join()["here"] == ["ember (idle)"]
    team.later(minutes=29)
    ember.board()
    team.later(minutes=29)
    ember.board()
    assert team.agent("ada").join()["here"] == ["ember (idle)"]
    team.later(minutes=31)
    assert "here" not in team.agent("ada").join()


@requires("join.presence")
def test_a_look_that_is_a_heartbeat_already(team: Team) -> None:
    """An agent heard of a moment ago leaves no trace by looking at the board."""
    ember, nobody = team.joined("ember"), team.program()
    with team.unchanged():
        ember.board()
        nobody.board()


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
