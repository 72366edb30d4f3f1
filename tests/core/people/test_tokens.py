"""Tokens: making, listing, revoking them."""

import re
from dataclasses import replace
from datetime import timedelta

import pytest

from hubbub.core.agents import agents
from hubbub.core.people import access, tokens
from hubbub.model.errors import Forbidden, Invalid, NotFound, Unauthorized
from hubbub.model.ids import new_id
from hubbub.model.people.accounts import Token
from hubbub.model.people.rights import GIVEN, Actor, Right, Role
from tests.core.conftest import RACERS, TEN_MINUTES, World, errors_of, member, on_one_engine, person


@pytest.fixture
def world(world: World) -> World:
    """The world of a program that may manage the project, and so make tokens."""
    return world.acting(member(world.project, Role.ADMIN))


def make(world: World, role: Role = Role.MEMBER, agent: str | None = None) -> tuple[Token, str]:
    return world.do(tokens.for_project, world.project, role=role, agent=agent)


def holder(world: World, secret: str) -> World:
    """The world as who has that token."""
    return world.acting(world.do(access.authenticate, secret))


def test_a_secret_says_what_it_is(world: World) -> None:
    """A project's token is `ntok_`, a person's `utok_`, each with 32 hex digits, and no two are alike."""
    eve = person(world, "eve", Role.MEMBER)
    assert eve.user_id is not None
    secrets = [make(world)[1], make(world)[1], world.do(tokens.for_person, eve.user_id)[1]]

    assert [bool(re.fullmatch("ntok_[0-9a-f]{32}", secret)) for secret in secrets] == [True, True, False]
    assert re.fullmatch("utok_[0-9a-f]{32}", secrets[2])
    assert len(set(secrets)) == 3


def test_the_secret_is_not_kept(world: World) -> None:
    """Only a hash of a token is kept: neither the store nor the log has the secret."""
    token, secret = make(world, agent="ann")
    kept = world.do(lambda tx: [dict(row) for row in tx.all("SELECT * FROM tokens")])

    assert token.hash == access.fingerprint(secret)
    assert secret.removeprefix("ntok_") not in str(kept) + str(world.log())
    assert world.log()[-1].kind == "token.created"
    assert world.log()[-1].detail == {"token_id": str(token.id), "role": "member"}


def test_a_token_makes_its_agent_known(world: World) -> None:
    """An agent is known from the moment a token is bound to it."""
    make(world, agent="dora")
    world.do(agents.require_known, world.id, "dora")


@on_one_engine
@pytest.mark.parametrize(
    ("mine", "allowed"),
    [
        (Role.VIEWER, set()),
        (Role.MEMBER, {Role.MEMBER, Role.VIEWER}),
        (Role.ADMIN, set(GIVEN)),
        (Role.OWNER, set(GIVEN)),
    ],
)
def test_nobody_gives_more_than_they_have(world: World, mine: Role, allowed: set[Role]) -> None:
    """A viewer makes no tokens, a member makes some that do as much or less, admins and owners make any."""
    eve = world.acting(person(world, f"eve-{mine}", mine))
    for role in GIVEN:
        if role in allowed:
            assert make(eve, role)[0].role is role
        else:
            with pytest.raises(Forbidden, match=f"the role {mine} may not make a token of the role {role}"):
                make(eve, role)


def test_an_agents_token_makes_no_other(world: World) -> None:
    """A program with an agent's token gets no other one: a program makes tokens only if it may manage."""
    with pytest.raises(Forbidden, match="an agent's token makes no tokens"):
        make(world.acting(member(world.project)))

    assert make(world.acting(member(world.project, Role.ADMIN)))[0].role is Role.MEMBER


def test_a_token_does_not_outlive_its_maker(world: World) -> None:
    """A program's token that expires makes none that expires later, or never; a person's may, as it is the person."""
    admin = replace(member(world.project, Role.ADMIN), expires_at=world.clock() + 600_000)
    for ttl in (None, timedelta(minutes=11)):
        with pytest.raises(Forbidden, match="cannot outlive"):
            world.acting(admin).do(tokens.for_project, world.project, role=Role.MEMBER, ttl=ttl)

    eve = replace(person(world, "eve", Role.MEMBER), expires_at=admin.expires_at)
    assert world.acting(eve).do(tokens.for_project, world.project, role=Role.MEMBER)[0].expires_at is None
    made = world.acting(admin).do(tokens.for_project, world.project, role=Role.MEMBER, ttl=TEN_MINUTES / 2)
    assert made[0].expires_at


def test_a_refused_token_is_not_made(world: World) -> None:
    """A refusal leaves no token and makes no agent known."""
    before = world.kinds()
    viewer = world.acting(member(world.project, Role.VIEWER))
    with pytest.raises(Forbidden):
        make(viewer, agent="dora")

    assert world.do(tokens.visible, [world.project]) == []
    assert world.kinds() == before


def test_a_bound_token_makes_tokens_for_its_agent_alone(world: World) -> None:
    """An actor that is one agent can let that agent in again, but nobody else, and nobody in general."""
    ann = world.acting(member(world.project, Role.ADMIN, agent="ann"))

    assert make(ann, agent="ann")[0].agent == "ann"
    for name in ("bob", None):
        with pytest.raises(Forbidden, match="acts as 'ann' only"):
            make(ann, agent=name)


def test_a_token_is_for_ones_own_project(world: World) -> None:
    """Nobody makes a token for a project they do not belong to, the owner of another no more than anyone."""
    other = world.elsewhere("other").project
    for actor in (member(other, Role.OWNER), person(world, "eve")):
        with pytest.raises(Forbidden):
            make(world.acting(actor), Role.VIEWER)


def test_a_token_expires_to_the_millisecond(world: World) -> None:
    """A token with a ttl is good up to the millisecond in which its time is up; one without is good for ever."""
    token, secret = world.do(tokens.for_project, world.project, role=Role.MEMBER, ttl=TEN_MINUTES)
    assert token.expires_at == token.created_at + 600_000
    assert world.at(token.expires_at - 1, access.authenticate, secret).expires_at == token.expires_at
    with pytest.raises(Unauthorized):
        world.at(token.expires_at, access.authenticate, secret)

    _token, lasting = make(world)
    world.clock.advance(timedelta(days=3650))
    assert world.do(access.authenticate, lasting).expires_at is None


@pytest.mark.parametrize("ttl", [timedelta(0), timedelta(seconds=-1)])
def test_a_token_must_live(world: World, ttl: timedelta) -> None:
    """A token that would have expired already is refused, not made without end."""
    with pytest.raises(Invalid, match="must expire in the future"):
        world.do(tokens.for_project, world.project, role=Role.MEMBER, ttl=ttl)
    assert world.do(tokens.visible, [world.project]) == []


def test_a_revoked_token_is_nobody(world: World) -> None:
    """A token is refused from its revocation on, which is recorded once; revoking it again changes nothing."""
    admin = world.acting(member(world.project, Role.ADMIN))
    token, secret = make(world, agent="ann")
    admin.do(tokens.revoke, token.id)
    admin.do(tokens.revoke, token.id)

    with pytest.raises(Unauthorized):
        world.do(access.authenticate, secret)
    (revoked,) = [each for each in world.log() if each.kind == "token.revoked"]
    assert (revoked.agent, revoked.detail) == ("ann", {"token_id": str(token.id)})


def test_racing_revocations_are_one(world: World) -> None:
    """However often it is revoked at once, a token is revoked once, and nobody is refused."""
    admin = world.acting(member(world.project, Role.ADMIN))
    token, _secret = make(world)
    outcomes = admin.race(*[lambda tx: tokens.revoke(tx, token.id)] * RACERS)

    assert errors_of(outcomes) == []
    assert world.kinds().count("token.revoked") == 1


def test_who_may_revoke(world: World) -> None:
    """A token is revoked by itself, by the person who made it, by who manages its project, or by the hub's owner."""
    eve = world.acting(person(world, "eve", Role.MEMBER))

    def made_by_eve() -> Token:
        return make(eve)[0]

    own, secret = make(eve)
    holder(world, secret).do(tokens.revoke, own.id)
    eve.do(tokens.revoke, made_by_eve().id)
    world.acting(member(world.project, Role.ADMIN)).do(tokens.revoke, made_by_eve().id)
    world.acting(person(world, "adam", Role.OWNER)).do(tokens.revoke, made_by_eve().id)
    world.acting(Actor(token_id=None, owns_hub=True)).do(tokens.revoke, made_by_eve().id)

    assert all(token.revoked_at for token in world.do(tokens.visible, [world.project]))


def test_who_may_not_revoke(world: World) -> None:
    """A member, or a program of the same maker, cannot revoke another's token; a stranger does not even find it."""
    eve = world.acting(person(world, "eve", Role.MEMBER))
    token, secret = make(eve)
    _other, sibling = make(eve)
    for actor in (
        member(world.project),
        member(world.project, Role.VIEWER),
        person(world, "mallory", Role.MEMBER),
        world.do(access.authenticate, sibling),
    ):
        with pytest.raises(Forbidden):
            world.acting(actor).do(tokens.revoke, token.id)
    stranger = member(world.elsewhere("other").project, Role.OWNER)
    for unknown in (token.id, new_id()):
        with pytest.raises(NotFound, match=r"^token .* not found$"):
            world.acting(stranger).do(tokens.revoke, unknown)

    assert world.do(access.authenticate, secret).token_id == token.id


def test_the_token_of_a_person_is_theirs(world: World) -> None:
    """A person's own token is revoked by them or by the hub's owner; an admin of their project does not find it."""
    eve = person(world, "eve", Role.MEMBER)
    assert eve.token_id is not None
    with pytest.raises(NotFound):
        world.acting(member(world.project, Role.OWNER)).do(tokens.revoke, eve.token_id)
    world.acting(eve).do(tokens.revoke, eve.token_id)


def test_what_tokens_are_seen(world: World) -> None:
    """The tokens of a project are listed to its people; a person sees their own, and the hub's owner all."""
    eve = person(world, "eve", Role.MEMBER)
    token, _secret = make(world)
    owner = world.acting(Actor(token_id=None, owns_hub=True))

    noor = person(world, "noor", Role.MEMBER)
    assert [each.id for each in world.acting(eve).do(tokens.visible, [world.project])] == [
        eve.token_id,
        token.id,
    ]
    assert {each.id for each in owner.do(tokens.visible, [world.project])} == {
        eve.token_id,
        noor.token_id,
        token.id,
    }
    assert world.do(tokens.visible, []) == []


def test_the_right_to_manage_is_of_owners_and_admins(world: World) -> None:
    """A program with an admin's token manages its own project, not another."""
    token, secret = make(world.acting(member(world.project, Role.OWNER)), Role.ADMIN)
    admin = holder(world, secret)

    assert admin.do(access.enter, None, Right.MANAGE) == world.project
    assert token.project_id == world.id
    other = world.elsewhere("other")
    foreign, _secret = make(other.acting(member(other.project, Role.ADMIN)))
    with pytest.raises(NotFound):
        admin.do(tokens.revoke, foreign.id)
