"""Permissions: persons, roles, and tokens that are bound to one agent."""

from datetime import timedelta
from itertools import product

import pytest

from hubbub.model.people.rights import Role
from tests.dialects.conftest import both_engines
from tests.dialects.every_row import every_row
from tests.dialects.golemxv.callers import EXPIRED, Crew, no, token
from tests.dialects.golemxv.requirements import requires
from tests.dialects.golemxv.test_contract import CALLS, READS, WRITES
from tests.dialects.running_hub import call


@requires("tokens.viewer", "envelope.clean")
def test_a_viewer_changes_nothing(crew: Crew) -> None:
    """Every tool that writes is denied to a viewer, with a presence of an agent's and without, and leaves no trace."""
    crew.task()
    session = token(crew.checkin("ann"))
    viewers = {name: crew.of(crew.token(name, role=Role.VIEWER)) for name in ("ann", None)}

    with crew.unchanged(), every_row() as row:
        for (name, viewer), tool, more in product(viewers.items(), WRITES, ({}, {"session_token": session})):
            with row(name, tool, more):
                assert "viewer" in no(viewer, tool, **CALLS[tool], **more)


@requires("tokens.viewer_reads")
def test_a_viewer_reads(crew: Crew) -> None:
    """Every tool that reads answers a viewer, and leaves no trace of it."""
    crew.task()
    crew.checkin("ann").send_message(to="ann", content="c")
    viewers = {name: crew.of(crew.token(name, role=Role.VIEWER)) for name in ("stranger", None)}

    with crew.unchanged(), every_row() as row:
        for (name, viewer), tool in product(viewers.items(), READS):
            with row(name, tool):
                answer, is_error = viewer.ask(tool, CALLS[tool])
                assert not is_error, answer


@requires("tokens.bound", "envelope.clean")
def test_a_bound_token_is_one_agent(crew: Crew) -> None:
    """A token bound to an agent checks in under no other name, and acts by no other's presence."""
    crew.task()
    session = token(crew.checkin("ann"))
    bob = crew.of(crew.token("bob"))

    with crew.unchanged():
        assert "'bob'" in no(bob, "checkin", agent_name="ann")
        for tool in WRITES:
            if tool != "checkin":
                assert "'bob'" in no(bob, tool, **CALLS[tool], session_token=session)
    assert bob.checkin(agent_name="bob")["agent_name"] == "bob"


@requires("tokens.unbound")
def test_an_unbound_token_is_any_agent(crew: Crew) -> None:
    """A member's unbound token checks in as whoever it says, and may show a presence that another token opened."""
    ann = crew.checkin("ann")

    other = crew.member()
    assert other.heartbeat(session_token=token(ann))["ok"] is True
    other.send_message(session_token=token(ann), to="ann", content="c")
    assert [row["from"] for row in crew.messages()] == ["ann"]


@requires("tokens.foreign", "envelope.clean")
def test_a_foreign_project_is_not_found(crew: Crew, elsewhere: Crew) -> None:
    """A token names no project but its own, and shows no presence of another, be it there or not; nothing changes."""
    crew.task()
    session = token(crew.checkin("ann"))
    callers = {
        "program": elsewhere.member(),
        "person": elsewhere.person((elsewhere.project, Role.OWNER)),
    }

    with crew.unchanged(), elsewhere.unchanged(), every_row() as row:
        for (kind, caller), tool in product(callers.items(), CALLS):
            for slug in (crew.slug, str(crew.project.id), "no-such-project"):
                with row(kind, tool, slug):
                    error = no(caller, tool, **{**CALLS[tool], "project_slug": slug})
                    if tool in {"heartbeat", "scope_update", "checkout", "update_task", "complete_task"}:
                        assert "session_token" in error
                    else:
                        assert error == "Project not found"
            if tool in WRITES and tool != "checkin":
                shown = {**CALLS[tool], "session_token": session, "project_slug": None}
                with row(kind, tool, "by another's presence"):
                    assert no(caller, tool, **shown) == EXPIRED


@requires("tokens.person", "tokens.viewer")
def test_a_persons_role_is_that_of_the_project(crew: Crew, elsewhere: Crew) -> None:
    """A viewer here who is a member there may check in there only, and look in both."""
    person = crew.person((crew.project, Role.VIEWER), (elsewhere.project, Role.MEMBER))

    with crew.unchanged():
        assert "viewer" in no(person, "checkin", project_slug=crew.slug)
        assert person.presence(project_slug=crew.slug)["agents"] == []
    assert person.checkin(project_slug=elsewhere.slug, agent_name="ann")["agent_name"] == "ann"


@requires("tokens.person", "defaults.token.only")
def test_a_person_is_present_in_each_of_their_projects(crew: Crew, elsewhere: Crew) -> None:
    """A person may be in several projects at once, and names the one that is meant by project_slug."""
    person = crew.person((crew.project, Role.MEMBER), (elsewhere.project, Role.OWNER))
    for place in (crew, elsewhere):
        person.checkin(project_slug=place.slug, agent_name="ann")

    for place in (crew, elsewhere):
        assert person.send_message(project_slug=place.slug, to="ann", content=place.slug)["id"] == 1
        assert [row["content"] for row in place.messages()] == [place.slug]


@requires("tokens.revoked", "envelope.unauthorized", "envelope.clean")
@both_engines
@pytest.mark.parametrize("how", ["revoked", "expired"])
def test_a_token_ends_at_once(crew: Crew, how: str) -> None:
    """The first call after a token was revoked, or ran out, is answered by 401 and does nothing."""
    secret = crew.token(ttl=timedelta(minutes=2) if how == "expired" else None)
    crew.checkin("ann", by=crew.of(secret))
    beat = call("heartbeat")
    assert crew.post(beat, secret).status_code == 200

    if how == "revoked":
        crew.revoke(secret)
    else:
        crew.later(minutes=2)

    with crew.unchanged():
        assert crew.post(beat, secret).status_code == 401
