"""Coming: what an agent is told when it checks in, under which name, and who is shown to be there."""

import re
from datetime import UTC, datetime
from itertools import product

from hubbub.core.presence import checkins
from tests.dialects.conftest import both_engines
from tests.dialects.every_row import every_row
from tests.dialects.golemxv.callers import Crew, no, scope, token
from tests.dialects.golemxv.requirements import requires
from tests.dialects.running_hub import Caller


def _now(crew: Crew) -> str:
    return f"{datetime.fromtimestamp(crew.hub.clock() / 1000, UTC):%Y-%m-%dT%H:%M:%S}"


@requires("checkin.reply", "checkin.heartbeat", "checkin.opens", "checkin.scope", "heartbeat.interval")
def test_a_checkin_says_all_there_is_to_know(crew: Crew) -> None:
    """It gives a token, the name, the project, the conflicts and the heartbeat times; the agent is then present."""
    told = crew.member().checkin(agent_name="ann", declared_files=["src/auth.ts"])

    assert told == {
        "session_token": told["session_token"],
        "agent_name": "ann",
        "project": {"id": crew.project.number, "name": crew.project.name, "slug": crew.slug},
        "conflicts": [],
        "heartbeat_interval_seconds": 60,
        "heartbeat_ttl_seconds": 180,
    }
    assert isinstance(told["project"]["id"], int)
    assert re.fullmatch(r"[0-9a-f]{40}", told["session_token"])
    assert crew.here() == ["ann"]


@requires("checkin.heartbeat")
def test_the_heartbeat_is_the_projects(crew: Crew) -> None:
    """A project with heartbeat times of its own tells those."""
    with Crew.made(crew.hub, interval=7, ttl=20) as quick:
        told = quick.member().checkin()

    assert (told["heartbeat_interval_seconds"], told["heartbeat_ttl_seconds"]) == (7, 20)


@requires("presence.reply", "presence.row", "presence.null", "presence.order", "words.times")
@both_engines
def test_presence_shows_who_is_there(crew: Crew) -> None:
    """A row has name, area, files and both times in ISO 8601; what was not declared is null; oldest first."""
    began = _now(crew)
    zoe = crew.checkin("zoe", **scope("backend", "./src/../src/auth.ts", "docs/**"))
    crew.later(seconds=5)
    crew.checkin("ann")
    crew.later(seconds=30)
    zoe.heartbeat()

    assert crew.viewer().presence() == {
        "project": {"name": crew.project.name, "slug": crew.slug},
        "agents": [
            {
                "agent_name": "zoe",
                "declared_area": "backend",
                "declared_files": ["src/auth.ts", "docs/**"],
                "started_at": began,
                "last_heartbeat_at": _now(crew),
            },
            {
                "agent_name": "ann",
                "declared_area": None,
                "declared_files": None,
                "started_at": crew.stays()[0]["started_at"],
                "last_heartbeat_at": crew.stays()[0]["started_at"],
            },
        ],
    }
    assert crew.stays()[0]["started_at"] > began


@requires("presence.live")
def test_presence_shows_nobody_else(crew: Crew) -> None:
    """An agent that has checked out, has fallen silent, or is only known by name is not there."""
    crew.checkin("ann").checkout()
    crew.checkin("bob")
    crew.later(seconds=180)
    crew.task(to="cyd")

    assert crew.viewer().presence()["agents"] == []


@requires("checkin.generated", "checkin.unique")
@both_engines
def test_a_name_is_made_up(crew: Crew) -> None:
    """Without agent_name each gets a name of its own, agent-<adjective>-<number>."""
    names = [crew.member().checkin()["agent_name"] for _ in range(20)]

    assert len(set(names)) == 20
    for name in names:
        match = re.fullmatch(r"agent-([a-z]+)-([1-9][0-9]*)", name)
        assert match is not None
        assert match[1] in checkins.ADJECTIVES
    assert sorted(crew.here()) == sorted(names)


@requires("tokens.bound", "checkin.generated")
def test_a_bound_token_has_its_name_already(crew: Crew) -> None:
    """A token bound to an agent that leaves agent_name out checks in as that agent."""
    assert crew.of(crew.token("ann")).checkin()["agent_name"] == "ann"


@requires("checkin.generated", "checkin.scope")
def test_a_name_is_of_any_script(anywhere: Crew) -> None:
    """An agent may be called what it likes, in any script."""
    names = ["代码1号", "coder 1", "a/b", "100%?#&=;+", "Ünïcode 🦊", "All"]
    member = anywhere.member()
    for name in names:
        anywhere.checkin(name, by=member)

    assert sorted(anywhere.here()) == sorted(names)


@requires("checkin.generated", "envelope.refusal", "envelope.clean")
def test_a_name_that_cannot_be(crew: Crew) -> None:
    """Refused, without a trace: the hub's name, the words for everyone, unseen characters, blanks at the ends."""
    member = crew.member()

    with crew.unchanged(), every_row() as row:
        for name in ("hub", "broadcast", "all", " ann", "ann ", "a\nb", "\x1b[31m", "an\u200bn"):
            with row(repr(name)):
                assert no(member, "checkin", agent_name=name)


@requires("checkin.unknown", "envelope.clean")
def test_an_unknown_project_is_not_found(crew: Crew) -> None:
    """A project that is not there is `Project not found`, for every tool that names one."""
    member = crew.member()
    tools = ["checkin", "presence", "conflict_check", "activity_log", "sessions", "project_info", "list_tasks",
             "get_messages"]  # fmt: skip

    with crew.unchanged(), every_row() as row:
        for slug, tool in product(("nowhere", "DROP TABLE", "代码", "0"), tools):
            with row(slug, tool):
                assert no(member, tool, project_slug=slug) == "Project not found"


@requires("checkin.taken", "envelope.clean")
@both_engines
def test_a_living_name_is_taken(crew: Crew) -> None:
    """A name that is live under another bearer token is refused, and its holder stays; once it is gone it is free."""
    ann, other = crew.checkin("ann", declared_files=["f"]), crew.member()

    with crew.unchanged():
        error = no(other, "checkin", agent_name="ann")
    assert "'ann'" in error
    assert "another token" in error

    ann.checkout()
    other.checkin(agent_name="ann")
    crew.later(seconds=180)
    crew.member().checkin(agent_name="ann")
    assert crew.here() == ["ann"]


@requires("checkin.replaces", "heartbeat.gone")
def test_the_same_token_replaces_its_presence(crew: Crew) -> None:
    """Under the same bearer token the name is there once, by the new session_token; the old one has ended."""
    first = crew.checkin("ann", declared_files=["f"])
    crew.later(seconds=1)
    second = crew.checkin("ann", by=crew.of(first.secret))

    assert token(first) != token(second)
    assert crew.viewer().presence()["agents"] == [
        {
            "agent_name": "ann",
            "declared_area": None,
            "declared_files": None,
            "started_at": _now(crew),
            "last_heartbeat_at": _now(crew),
        }
    ]
    assert no(first, "heartbeat") == "Session not found or expired"
    assert second.heartbeat()["ok"] is True
    assert [(row["agent_name"], row["status"]) for row in crew.stays()] == [
        ("ann", "active"),
        ("ann", "checked_out"),
    ]


@requires("checkin.replaces")
def test_one_token_may_be_many_agents(crew: Crew) -> None:
    """Under the same bearer token another name is another agent, beside the first."""
    member = crew.member()
    crew.checkin("ann", by=member)
    crew.checkin("bob", by=member)

    assert crew.here() == ["ann", "bob"]


@requires("checkin.taken")
@both_engines
def test_of_those_who_want_a_name_at_once_one_gets_it(crew: Crew) -> None:
    """When ten tokens check in under the same new name at once one succeeds, and the others are told so."""
    members = [crew.member() for _ in range(10)]
    for member in members:
        member.presence()

    answers = [wait() for wait in [member.soon("checkin", agent_name="ann") for member in members]]

    assert len([answer for answer in answers if "session_token" in answer]) == 1
    assert all("another token" in answer["error"] for answer in answers if "error" in answer)
    assert crew.here() == ["ann"]


@requires("checkin.area", "envelope.clean")
def test_an_area_must_be_there(crew: Crew) -> None:
    """An area that the project does not have is refused with the slugs it has, by each tool that takes one."""
    crew.area("backend", "app/**")
    crew.area("web", "web/**")
    ann, member = crew.checkin("ann", declared_area="web"), crew.member()

    with crew.unchanged():
        for caller, tool in ((member, "checkin"), (member, "conflict_check"), (ann, "scope_update")):
            error = no(caller, tool, declared_area="database")
            assert "'database'" in error
            assert "backend, web" in error
            assert no(caller, tool, declared_area="Backend")


@requires("checkin.area.any")
def test_without_areas_any_slug_is_one(crew: Crew) -> None:
    """A project that has no work areas takes any slug, and agents that name the same one are in conflict."""
    crew.checkin("ann", declared_area="backend")

    told = crew.member().checkin(agent_name="bob", declared_area="backend")

    assert told["conflicts"] == [
        {"agent_name": "ann", "overlapping_areas": ["backend"], "overlapping_files": []}
    ]


@requires("checkin.opens")
def test_an_agent_that_has_left_may_come_again(crew: Crew) -> None:
    """Each checkin is a presence of its own, with a token of its own."""

    def came(member: Caller) -> str:
        agent = crew.checkin("ann", by=member)
        agent.checkout()
        return token(agent)

    member = crew.member()
    assert len({came(member) for _ in range(3)}) == 3
    assert len(crew.stays()) == 3
