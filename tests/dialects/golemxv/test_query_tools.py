"""Queries on the project: its past events, its agents, and its setup."""

import sqlite3
from datetime import UTC, datetime

from hubbub.core.people import access
from hubbub.store.tx import Tx
from tests.dialects.conftest import both_engines
from tests.dialects.every_row import every_row
from tests.dialects.golemxv.callers import REST, Crew, scope, token
from tests.dialects.golemxv.requirements import requires
from tests.dialects.running_hub import TABLES, Json

TYPES = [
    "checkin", "checkout", "heartbeat", "scope_change", "timeout", "message", "task_created", "task_claimed",
    "task_updated", "task_completed",
]  # fmt: skip


def _at(milliseconds: int) -> str:
    return f"{datetime.fromtimestamp(milliseconds / 1000, UTC):%Y-%m-%dT%H:%M:%S}"


def _live_a_little(crew: Crew) -> None:
    """Have everything happen once that is told of: in the order of TYPES, but for the checkouts at the end."""
    number = crew.task()
    ann = crew.checkin("ann")
    ann.scope_update(declared_files=["a"])
    crew.later(seconds=61)
    ann.heartbeat()
    ann.send_message(to="ann", content="c")
    ann.claim_task(task_id=number)
    ann.update_task(task_id=number, status="in_progress")
    ann.complete_task(task_id=number, result_summary="s")
    ann.checkout()
    crew.checkin("bob")
    crew.later(seconds=180)
    crew.here()


@requires("activity_log.types", "activity_log.event_type", "activity_log.total")
@both_engines
def test_each_type_occurs(crew: Crew) -> None:
    """Each event is in the log under its type, and is found by it; the total is that of the query."""
    _live_a_little(crew)
    everything = crew.activity(limit=200)

    with every_row() as row:
        for event_type in TYPES:
            with row(event_type):
                answer = crew.viewer().activity_log(event_type=event_type)
                assert answer["activity"]
                assert answer["activity"] == [each for each in everything if each["event_type"] == event_type]
                assert answer["count"] == answer["total"] == len(answer["activity"])


@requires("activity_log.reply", "activity_log.row", "activity_log.newest", "words.times", "words.statuses")
@both_engines
def test_the_log_tells_what_happened(crew: Crew) -> None:
    """A row has an integer id that rises, type, agent, details in GolemXV's words, and time; the newest is first."""
    _live_a_little(crew)

    answer = crew.viewer().activity_log()

    assert sorted(answer) == ["activity", "count", "total"]
    rows = answer["activity"]
    assert {tuple(row) for row in rows} == {("id", "event_type", "agent_name", "details", "at")}
    ids = [row["id"] for row in rows]
    assert ids == sorted(set(ids), reverse=True)
    assert [row["at"] for row in rows] == sorted((row["at"] for row in rows), reverse=True)
    assert (rows[0]["event_type"], rows[0]["agent_name"], rows[0]["at"]) == (
        "timeout",
        "bob",
        _at(crew.hub.clock()),
    )
    (claimed,) = [row for row in rows if row["event_type"] == "task_claimed"]
    assert (claimed["agent_name"], claimed["details"]["number"]) == ("ann", 1)
    assert (claimed["details"]["before"], claimed["details"]["after"]) == ("pending", "assigned")
    (changed,) = [row for row in rows if row["event_type"] == "scope_change"]
    assert changed["details"] == {"area": None, "files": ["a"], "conflicts": []}


@requires("words.statuses")
def test_the_log_knows_no_status_of_others(crew: Crew) -> None:
    """A task of another dialect that expired has failed here, also in the message that tells its sender."""
    crew.fleet.online("coder-1")
    crew.fleet.agent("commander").send_task(alias="coder-1", task="t")
    crew.later(hours=1)

    told = [row["details"] for row in crew.viewer().activity_log(event_type="message")["activity"]]

    assert [each["outcome"] for each in told if each["kind"] == "reply"] == ["failed"]


@requires("activity_log.agent_name", "activity_log.total")
def test_the_log_of_one_agent(crew: Crew) -> None:
    """agent_name leaves what that agent did, also together with a type; of nobody there is nothing."""
    _live_a_little(crew)

    anns = crew.viewer().activity_log(agent_name="ann")
    assert {row["agent_name"] for row in anns["activity"]} == {"ann"}
    assert {"checkin", "message", "task_completed", "checkout"} <= {
        row["event_type"] for row in anns["activity"]
    }
    both = crew.viewer().activity_log(agent_name="bob", event_type="checkin")
    assert (both["count"], both["total"]) == (1, 1)
    nobody = crew.viewer().activity_log(agent_name="nobody")
    assert nobody == {"activity": [], "count": 0, "total": 0}
    assert crew.viewer().activity_log(event_type="no_such_type")["total"] == 0


@requires("activity_log.limit", "activity_log.offset", "activity_log.total")
@both_engines
def test_the_log_is_read_page_by_page(crew: Crew) -> None:
    """Fifty are given without a limit; limit and offset cut pages that together are everything, once."""
    crew.checkin("ann")
    crew.say("ann", *map(str, range(60)))

    first = crew.viewer().activity_log(event_type="message")
    assert (first["count"], first["total"], len(first["activity"])) == (50, 60, 50)
    rest = crew.viewer().activity_log(event_type="message", offset=50)
    assert (rest["count"], rest["total"]) == (10, 60)
    everything = crew.activity(event_type="message", limit=200)
    assert first["activity"] + rest["activity"] == everything
    assert crew.activity(event_type="message", limit=7, offset=7) == everything[7:14]
    assert crew.activity(event_type="message", offset=60) == []


@requires("activity_log.thinned")
@both_engines
def test_heartbeats_are_thinned(crew: Crew) -> None:
    """An agent's first heartbeat is in the log, and then at most one a minute, also across its sessions."""
    ann, bob = crew.checkin("ann"), crew.checkin("bob")

    def told() -> list[str]:
        return [row["agent_name"] for row in crew.activity(event_type="heartbeat")]

    ann.heartbeat()
    assert told() == ["ann"]
    for _ in range(2):
        crew.later(seconds=29)
        ann.heartbeat()
        bob.heartbeat()
    assert sorted(told()) == ["ann", "bob"]
    ann.checkout()
    again = crew.checkin("ann", by=ann)
    again.heartbeat()
    assert told().count("ann") == 1
    crew.later(seconds=2)
    again.heartbeat()
    bob.heartbeat()
    assert (told().count("ann"), told().count("bob")) == (2, 1)


@requires("sessions.reply", "sessions.row", "words.times")
def test_who_was_there_is_listed(crew: Crew) -> None:
    """A row tells of one stay: who, how it ended, where it worked, when, and what came of it."""
    started = _at(crew.hub.clock())
    ann = crew.checkin("ann", **scope("backend", "a"))
    crew.later(seconds=10)
    ann.heartbeat()
    beaten = _at(crew.hub.clock())
    crew.later(seconds=10)
    ann.checkout(outcome_status="partial", work_summary="half", files_touched=["a"])
    ended = _at(crew.hub.clock())
    crew.later(seconds=1)
    crew.checkin("bob")

    answer = crew.viewer().sessions()

    assert (answer["count"], answer["total"]) == (2, 2)
    assert answer["sessions"] == [
        {
            "agent_name": "bob",
            "status": "active",
            "declared_area": None,
            "declared_files": None,
            "started_at": _at(crew.hub.clock()),
            "last_heartbeat_at": _at(crew.hub.clock()),
            "ended_at": None,
            "outcome_status": None,
            "work_summary": None,
            "files_touched": None,
        },
        {
            "agent_name": "ann",
            "status": "checked_out",
            "declared_area": "backend",
            "declared_files": ["a"],
            "started_at": started,
            "last_heartbeat_at": beaten,
            "ended_at": ended,
            "outcome_status": "partial",
            "work_summary": "half",
            "files_touched": ["a"],
        },
    ]


@requires("sessions.status", "world.presence")
def test_sessions_of_one_status(crew: Crew) -> None:
    """One who was replaced has checked out; the total counts those that were asked for, CommHub's among them."""
    crew.checkin("gone").checkout()
    crew.checkin("silent")
    crew.later(seconds=180)
    crew.checkin("here", by=crew.of(crew.checkin("here").secret))
    crew.fleet.online("coder-1")
    crew.fleet.online("coder-2")
    crew.fleet.agent("coder-2").report_status(resume_id="run of coder-2", alias="coder-2", status="offline")

    for status, names in (
        ("active", {"here", "coder-1"}),
        ("checked_out", {"gone", "here", "coder-2"}),
        ("timed_out", {"silent"}),
    ):
        answer = crew.viewer().sessions(status=status)
        assert {row["agent_name"] for row in answer["sessions"]} == names
        assert {row["status"] for row in answer["sessions"]} == {status}
        assert answer["count"] == answer["total"] == len(names)
    assert crew.viewer().sessions()["total"] == 6


@requires("sessions.limit", "sessions.offset", "sessions.order")
@both_engines
def test_sessions_are_read_page_by_page(crew: Crew) -> None:
    """Fifty are given without a limit, the newest first; limit and offset cut pages, and the total is of all."""
    member = crew.member()
    for number in range(55):
        crew.later(milliseconds=1)
        member.checkin(agent_name=f"ann-{number}")

    def names(**page: int) -> list[str]:
        answer = crew.viewer().sessions(**page)
        assert answer["total"] == 55
        assert answer["count"] == len(answer["sessions"])
        return [row["agent_name"] for row in answer["sessions"]]

    newest_first = [f"ann-{number}" for number in reversed(range(55))]
    assert names() == newest_first[:50]
    assert names(limit=200) == newest_first
    assert names(limit=5, offset=3) == newest_first[3:8]
    assert names(offset=54) == ["ann-0"]
    assert names(offset=55) == []


def _everything(crew: Crew) -> str:
    """Return every row of every table of the hub."""

    def dump(tx: Tx) -> str:
        return repr([tx.all(f"SELECT * FROM {table}") for table in TABLES])

    return crew.hub.look(dump)


@requires("sessions.secret", "envelope.repeated")
@both_engines
def test_a_session_token_stands_nowhere(crew: Crew) -> None:
    """The token is in no table and in no answer but the one that gave it, however that was asked for; its hash is."""
    member = crew.member()
    keyed, _ = member.ask("checkin", {"agent_name": "keyed"}, **{"hubbub/idempotency-key": "k"})
    over_rest = crew.post(
        {"project_slug": crew.slug, "agent_name": "rest"},
        member.secret,
        f"{REST}/checkin",
        **{"Idempotency-Key": "another"},
    ).json()
    ann = crew.checkin("ann", declared_files=["a"])
    ann.scope_update(declared_files=["b"])
    ann.send_message(to="broadcast", content="c")
    secrets = [keyed["session_token"], over_rest["session_token"], token(ann)]
    assert len(set(secrets)) == 3

    kept = _everything(crew)
    shown = [
        crew.viewer().sessions(), crew.viewer().activity_log(limit=200), crew.viewer().presence(),
        crew.viewer().get_messages(), crew.fleet.program().get_all_status(), crew.stays(),
    ]  # fmt: skip
    for secret in secrets:
        assert secret not in kept
        assert secret not in repr(shown)
        assert access.fingerprint(secret) in kept
        assert access.fingerprint(secret) not in repr(shown)


@requires("sessions.secret")
def test_a_session_token_is_in_no_file(anywhere: Crew) -> None:
    """The database file, whatever else lies in it, does not hold the token."""
    secret = token(anywhere.checkin("ann"))
    (path,) = [
        row["file"]
        for row in anywhere.hub.look(lambda tx: tx.all("PRAGMA database_list"))
        if row["name"] == "main"
    ]
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
        assert secret not in "\n".join(database.iterdump())


@requires("project_info.project", "project_info.areas", "project_info.count")
def test_the_project_is_told_in_full(crew: Crew) -> None:
    """Its settings, its areas in the order in which they came to be, and how many are live."""
    with Crew.made(
        crew.hub,
        name="My App",
        conflict_mode="block",
        repo_url="/srv/my-app",  # a folder will do, as the reference shows
        interval=30,
        ttl=90,
    ) as made:
        made.area("web", "web/**")
        made.area("backend", "app/**", "plugins/**", name="Backend", description="PHP code")
        made.checkin("ann")
        made.checkin("bob").checkout()
        made.fleet.online("coder-1")

        assert made.viewer().project_info() == {
            "project": {
                "id": made.project.number,
                "name": "My App",
                "slug": made.slug,
                "description": None,
                "repo_url": "/srv/my-app",
                "conflict_mode": "block",
                "heartbeat_interval_seconds": 30,
                "heartbeat_ttl_seconds": 90,
            },
            "work_areas": [
                {"id": 1, "name": "An area", "slug": "web", "file_patterns": ["web/**"], "description": None},
                {
                    "id": 2,
                    "name": "Backend",
                    "slug": "backend",
                    "file_patterns": ["app/**", "plugins/**"],
                    "description": "PHP code",
                },
            ],
            "active_agent_count": 2,
        }


@requires("project_info.project", "project_info.count", "conflicts.warn")
def test_a_project_of_defaults(crew: Crew) -> None:
    """A project nobody has set up warns of conflicts, and wants a heartbeat each minute, for three at most."""
    answer = crew.viewer().project_info()

    project: Json = answer["project"]
    assert (project["conflict_mode"], project["repo_url"]) == ("warn", None)
    assert (project["heartbeat_interval_seconds"], project["heartbeat_ttl_seconds"]) == (60, 180)
    assert (answer["work_areas"], answer["active_agent_count"]) == ([], 0)
