"""Access: tokens make actors, and actors enter projects and speak by names."""

from dataclasses import replace

import pytest

from hubbub.core.agents import agents
from hubbub.core.people import access, projects, tokens, users
from hubbub.model.errors import (
    Forbidden,
    Invalid,
    ProjectDenied,
    ProjectRequired,
    Unauthorized,
    WrongIdentity,
)
from hubbub.model.people.rights import GIVEN, GRANTS, HUB, SYSTEM, Right, Role
from hubbub.model.records import Project
from hubbub.store.tx import Tx
from tests.conftest import MovableClock
from tests.core.conftest import TEN_MINUTES, World, member, person


@pytest.fixture
def world(world: World) -> World:
    """The world of a program that may manage the project, and so make tokens."""
    return world.acting(member(world.project, Role.ADMIN))


def known_names(world: World) -> set[str]:
    return {agent.name for agent in world.do(agents.of_project, world.id)}


def test_a_token_stands_for_its_actor(world: World) -> None:
    """A project's token is its project, its role and the agent it is bound to, and is no person."""
    token, secret = world.do(tokens.for_project, world.project, role=Role.VIEWER, agent="ann")
    actor = world.do(access.authenticate, secret)

    assert actor.token_id == token.id
    assert (actor.project_id, actor.role, actor.agent) == (world.id, Role.VIEWER, "ann")
    assert not actor.is_person
    assert not actor.owns_hub


def test_the_token_of_a_person_made_for_a_program_is_not_the_person(world: World) -> None:
    """A program that acts by a token that the owner of the hub made does not own the hub."""
    owner = world.acting(world.do(access.authenticate, first_owner(world)))
    project = owner.do(projects.show, projects.DEFAULT)
    _token, secret = owner.do(tokens.for_project, project, role=Role.MEMBER)
    program = world.do(access.authenticate, secret)

    assert owner.actor.owns_hub
    assert not program.owns_hub
    assert program.user_name is None
    with pytest.raises(Forbidden):
        world.acting(program).do(access.require_hub_owner)


def test_a_token_bound_to_nobody_takes_no_persons_name(world: World) -> None:
    """A new agent is not called like a person of the project, unless the token is that person's own, or bound to it."""
    bea = person(world, "bea", Role.MEMBER)
    for actor in (member(world.project), person(world, "ada", Role.MEMBER)):
        with pytest.raises(Invalid, match="'bea' is the name of a person in this project"):
            world.acting(actor).do(access.speak, world.id, "bea")
    assert "bea" not in known_names(world)
    bound = replace(member(world.project), agent="bea")
    for actor in (bound, replace(member(world.project), user_id=bea.user_id), member(world.project)):
        assert world.acting(actor).do(access.speak, world.id, "bea") == "bea"


def first_owner(world: World) -> str:
    secret = world.acting(SYSTEM).do(users.first_start)
    assert secret is not None
    return secret


def test_a_bad_token_is_nobody(world: World) -> None:
    """A token that was not made here is refused, whatever it looks like."""
    for secret in ("", "ntok_", "ntok_" + "0" * 32, "utok_" + "f" * 32, "\ud800", "' OR 1=1"):
        with pytest.raises(Unauthorized):
            world.do(access.authenticate, secret)


def test_a_token_is_its_own_case(world: World) -> None:
    """A token is its exact letters."""
    _token, secret = world.do(tokens.for_project, world.project, role=Role.MEMBER)
    with pytest.raises(Unauthorized):
        world.do(access.authenticate, secret.upper())


def test_bad_tokens_are_refused_alike(world: World, clock: MovableClock) -> None:
    """An unknown, an expired and a revoked token get the same sentence."""
    _token, expired = world.do(tokens.for_project, world.project, role=Role.MEMBER, ttl=TEN_MINUTES)
    token, revoked = world.do(tokens.for_project, world.project, role=Role.MEMBER)
    world.acting(member(world.project, Role.ADMIN)).do(tokens.revoke, token.id)
    clock.advance(TEN_MINUTES)

    sentences = set()
    for secret in (expired, revoked, "ntok_" + "0" * 32):
        with pytest.raises(Unauthorized) as refusal:
            world.do(access.authenticate, secret)
        sentences.add(str(refusal.value))
    assert len(sentences) == 1


def test_a_project_has_three_names(world: World) -> None:
    """A project is entered by its slug, by its id, and by its short name."""
    short = access.short_name(world.project)

    assert short == f"net_{world.id.hex[-12:]}"
    for ref in ("lab", str(world.id), short, None):
        assert world.do(access.enter, ref) == world.project
        assert world.do(access.visible, ref) == [world.project]


def test_a_token_is_pinned_to_its_project(world: World) -> None:
    """Another project is denied by every name, in the same words as one that does not exist: also to the program of
    a person who belongs to both.
    """
    eve = world.acting(person(world, "eve", Role.MEMBER))
    hers = eve.do(projects.create, "hers")
    _token, secret = eve.do(tokens.for_project, world.project, role=Role.MEMBER)
    program = eve.acting(eve.do(access.authenticate, secret))
    other = world.elsewhere("other").project

    assert [each.id for each in program.do(access.visible)] == [world.id]
    for ref in (*access.names(other), *access.names(hers), "nowhere", ""):
        for look in (access.enter, access.visible):
            for each in (world, program):
                with pytest.raises(ProjectDenied, match="is not one of yours"):
                    each.do(look, ref)


def test_a_person_with_one_project_need_not_name_it(world: World) -> None:
    """The only membership is the project that a write is for."""
    eve = world.acting(person(world, "eve", Role.MEMBER))
    assert eve.do(access.enter) == world.project


def test_a_person_with_several_projects_must_name_one(world: World) -> None:
    """A member of several projects is told their names, and may choose by any of them; reading needs no choice."""
    eve = world.acting(person(world, "eve", Role.MEMBER))
    second = eve.do(projects.create, "second")

    with pytest.raises(ProjectRequired) as refusal:
        eve.do(access.enter)
    assert refusal.value.slugs == ("lab", "second")
    assert eve.do(access.enter, "second") == second
    assert eve.do(access.visible) == [world.project, second]
    assert eve.do(access.memberships) == [(world.project, Role.MEMBER), (second, Role.OWNER)]


def test_a_person_without_a_project_can_enter_none(world: World) -> None:
    """A member of no project sees none, and is told so when writing."""
    eve = world.acting(person(world, "eve"))

    assert eve.do(access.visible) == []
    with pytest.raises(ProjectRequired, match="you belong to no project yet"):
        eve.do(access.enter)
    with pytest.raises(ProjectDenied):
        eve.do(access.enter, "lab")


@pytest.mark.parametrize("by_person", [True, False], ids=["person", "program"])
def test_the_role_decides_what_is_granted(world: World, by_person: bool) -> None:
    """A person or program of a role may do what the role is granted, and nothing else."""
    for role in GIVEN:
        actor = person(world, f"eve-{role}", role) if by_person else member(world.project, role)
        for right in Right:
            if right in GRANTS[role]:
                assert world.acting(actor).do(access.enter, None, right) == world.project
            else:
                with pytest.raises(Forbidden, match=f"the role {role} may not {right}"):
                    world.acting(actor).do(access.enter, None, right)


def test_a_token_without_a_role_only_reads(world: World) -> None:
    """Where no role is written, none is assumed."""
    actor = member(world.project, None)  # type: ignore[arg-type]
    assert world.acting(actor).do(access.memberships) == [(world.project, Role.VIEWER)]


def test_an_unbound_token_may_be_anyone(world: World) -> None:
    """A token bound to nobody speaks by any name, which is then known, and else as `hub`."""
    assert world.do(access.speak, world.id, "new-one") == "new-one"
    assert "new-one" in known_names(world)
    with pytest.raises(Forbidden, match="is a machine's, and no token speaks for it"):
        world.do(access.speak, world.id, "node:prod-db")
    assert world.do(access.speak, world.id) == HUB
    assert world.do(access.speak, world.id, HUB) == HUB
    assert HUB not in known_names(world)


def test_a_bound_token_is_one_agent(world: World) -> None:
    """A token bound to an agent speaks as that agent, named or not, and as nobody else, not even as `hub`."""
    ann = world.acting(member(world.project, agent="ann"))

    assert ann.do(access.speak, world.id) == "ann"
    assert ann.do(access.speak, world.id, "ann") == "ann"
    for name in ("bob", HUB, "", "ANN", "ann "):
        with pytest.raises(WrongIdentity, match="this token acts as 'ann' only"):
            ann.do(access.speak, world.id, name)
    assert "ANN" not in known_names(world)


def test_mail_is_read_by_its_receiver(world: World) -> None:
    """A bound token reads its own agent's inbox, an unbound one any."""
    ann = world.acting(member(world.project, agent="ann"))

    assert ann.do(access.may_read_inbox, "ann")
    assert not ann.do(access.may_read_inbox, "bob")
    assert world.do(access.may_read_inbox, "bob")


def test_people_and_viewers_only_look_on(world: World) -> None:
    """Mail has reached its receiver when a program that may write reads it; not when a person or a viewer looks."""
    assert world.do(access.reads_for_agent)
    assert not world.acting(member(world.project, Role.VIEWER)).do(access.reads_for_agent)
    assert not world.acting(person(world, "eve", Role.OWNER)).do(access.reads_for_agent)


def test_a_refusal_leaves_nothing_behind(world: World) -> None:
    """An agent that uses a new name, and then is refused, has not made the name known."""

    def speak_and_fail(tx: Tx) -> Project:
        access.speak(tx, world.id, "ghost")
        return access.enter(tx, "nowhere")

    before = world.kinds()
    with pytest.raises(ProjectDenied):
        world.do(speak_and_fail)
    assert "ghost" not in known_names(world)
    assert world.kinds() == before


def test_a_machines_key_has_no_role_anywhere(world: World) -> None:
    """A machine's key is refused by its role, even where the person who made it has one, and where no project is."""
    machine = world.acting(replace(person(world, "zoe", Role.OWNER), role=Role.NODE))
    for project_id in (world.id, None):
        with pytest.raises(Forbidden):
            machine.do(access.role_in, project_id)
