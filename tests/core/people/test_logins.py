"""Logins: the links and passwords by which people sign in, and the duration and end of a login."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from hubbub.core.people import access, logins, tokens, users
from hubbub.core.people.logins import BadLink
from hubbub.model.errors import Forbidden, NotFound, Unauthorized
from hubbub.model.people.accounts import User
from hubbub.model.people.rights import SYSTEM, Actor, Role
from hubbub.store.tx import Tx
from tests.core.conftest import RACERS, World, member, person

A_DAY = timedelta(days=1)


@pytest.fixture
def owner(world: World) -> World:
    """The world as the owner of the hub."""
    secret = world.acting(SYSTEM).do(users.first_start)
    assert secret is not None
    return world.acting(world.do(access.authenticate, secret))


def eve_of(owner: World) -> tuple[User, World]:
    """A person, and the world as them."""
    user, secret = owner.do(users.create, "eve")
    return user, owner.acting(owner.do(access.authenticate, secret))


def signed_in(world: World, user: User | None = None) -> tuple[str, Actor]:
    """A new login: its secret, and who that is."""
    who = user or world.do(users.owner)
    secret = world.do(logins.begin, who, "Firefox", way="password")
    return secret, world.do(logins.recognise, secret)[0]


def test_a_link_signs_in_once(owner: World) -> None:
    """A link signs in as the person who made it; the second time it is a link that never was."""
    secret, user, _expires_at = owner.do(logins.link)
    cookie = owner.acting(SYSTEM).do(logins.redeem, secret, "Firefox")

    actor, _is_due = owner.do(logins.recognise, cookie)
    assert (actor.user_id, actor.user_name, actor.owns_hub) == (user.id, "owner", True)
    assert (actor.is_person, actor.role) == (True, None)
    for code in (secret, "", "nonsense", secret[:-1], "\ud800"):
        with pytest.raises(BadLink, match="used already, or it is too old"):
            owner.do(logins.redeem, code, None)


def test_of_many_with_one_link_one_gets_in(owner: World) -> None:
    """A link that several follow at once signs one of them in."""
    secret, _user, _expires_at = owner.do(logins.link)

    def follow(number: int) -> bool:
        try:
            owner.at_hub(number).do(logins.redeem, secret, None)
        except BadLink:
            return False
        return True

    with ThreadPoolExecutor(RACERS) as racers:
        assert sum(racers.map(follow, range(RACERS))) == 1


def test_a_link_lasts_ten_minutes(owner: World) -> None:
    """After ten minutes a link leads nowhere, and after a day nothing is kept of it."""
    secret, _user, expires_at = owner.do(logins.link)
    owner.pass_time(timedelta(minutes=10))
    with pytest.raises(BadLink):
        owner.do(logins.redeem, secret, None)
    owner.at(expires_at + 2 * A_DAY // timedelta(milliseconds=1), logins.forget)
    assert owner.do(lambda tx: tx.all("SELECT hash FROM login_links")) == []


def test_whom_a_link_lets_in(owner: World) -> None:
    """A person makes links for themselves, the owner of the hub for anybody, a program for nobody."""
    eve, as_eve = eve_of(owner)
    assert (
        as_eve.do(logins.link)[1]
        == as_eve.do(logins.link, "eve")[1]
        == owner.do(logins.link, "eve")[1]
        == eve
    )
    with pytest.raises(Forbidden, match="only the owner of the hub"):
        as_eve.do(logins.link, "owner")
    with pytest.raises(NotFound):
        owner.do(logins.link, "nobody")
    with pytest.raises(Forbidden, match="only a person"):
        owner.acting(member(owner.project, Role.OWNER)).do(logins.link)


def test_a_cookie_is_no_token_and_a_token_no_cookie(owner: World) -> None:
    """A browser's cookie opens nothing as a bearer token, and the other way round."""
    cookie, _actor = signed_in(owner)
    _token, secret = owner.do(lambda tx: tokens.for_person(tx, users.owner(tx).id))
    with pytest.raises(Unauthorized):
        owner.do(access.authenticate, cookie)
    for other in (secret, "", "login_", cookie[:-1], cookie.upper(), f"login_{secret}"):
        with pytest.raises(Unauthorized):
            owner.do(logins.recognise, other)


def test_only_a_hash_is_kept(owner: World) -> None:
    """Neither a link's secret nor a cookie's is anywhere in the database."""
    link, _user, _expires_at = owner.do(logins.link)
    cookie, _actor = signed_in(owner)
    rows = [
        row
        for table in ("login_links", "logins", "tokens", "activity")
        for row in owner.do(lambda tx, name=table: tx.all(f"SELECT * FROM {name}"))  # type: ignore[misc]
    ]
    assert not [row for row in rows if link in str(row) or cookie in str(row)]


def test_a_login_lasts_as_long_as_it_is_used(owner: World) -> None:
    """A login ends after 14 days without use, and each use is noted, to the minute."""
    cookie, actor = signed_in(owner)
    assert actor.token_id is not None
    for _ in range(3):
        owner.pass_time(13 * A_DAY)
        _actor, is_due = owner.do(logins.recognise, cookie)
        assert is_due
        owner.do(logins.touch, actor.token_id)
        assert owner.do(logins.recognise, cookie)[1] is False
    (login,) = owner.do(logins.of)
    assert (login.id, login.browser) == (actor.token_id, "Firefox")
    assert login.expires_at - login.seen_at == 14 * A_DAY // timedelta(milliseconds=1)

    owner.pass_time(14 * A_DAY)
    with pytest.raises(Unauthorized):
        owner.do(logins.recognise, cookie)
    assert owner.do(logins.of) == []


def test_a_login_lasts_ninety_days_at_most(owner: World) -> None:
    """However much it is used, a login ends 90 days after it began."""
    cookie, actor = signed_in(owner)
    assert actor.token_id is not None
    for _ in range(9):
        owner.do(logins.recognise, cookie)
        owner.do(logins.touch, actor.token_id)
        owner.pass_time(10 * A_DAY)
    with pytest.raises(Unauthorized):
        owner.do(logins.recognise, cookie)
    owner.do(logins.touch, actor.token_id)
    with pytest.raises(Unauthorized):
        owner.do(logins.recognise, cookie)


def test_signing_out_ends_a_login_at_once(owner: World) -> None:
    """An ended login is refused from then on, is told in the log once, and is not listed any more."""
    cookie, actor = signed_in(owner)
    other, _actor = signed_in(owner)
    for _ in range(2):
        owner.do(logins.end, str(actor.token_id))
    with pytest.raises(Unauthorized):
        owner.do(logins.recognise, cookie)
    assert owner.do(logins.recognise, other)[0].user_name == "owner"

    told = owner.do(lambda tx: tx.all("SELECT detail FROM activity WHERE kind = 'login.ended'"))
    assert len(told) == 1
    assert str(actor.token_id) in str(told[0])
    assert len(owner.do(logins.of)) == 1


def test_whose_logins_one_may_end(owner: World) -> None:
    """A person ends their own logins, the owner of the hub anybody's; of others' a person hears nothing."""
    eve, as_eve = eve_of(owner)
    _cookie, mine = signed_in(owner)
    cookie, hers = signed_in(owner, eve)
    for ref in (str(mine.token_id), "nonsense", "", "0" * 36):
        with pytest.raises(NotFound, match=r"login .* not found"):
            as_eve.do(logins.end, ref)
    with pytest.raises(Forbidden):
        as_eve.do(logins.of, "owner")
    with pytest.raises(Forbidden, match="only a person"):
        owner.acting(member(owner.project, Role.OWNER)).do(logins.end, str(hers.token_id))

    owner.do(logins.end, str(hers.token_id))
    with pytest.raises(Unauthorized):
        as_eve.do(logins.recognise, cookie)


def test_signing_out_everywhere(owner: World) -> None:
    """All logins of a person end at once, and those of nobody else."""
    eve, _as_eve = eve_of(owner)
    for _ in range(3):
        signed_in(owner)
    hers, _actor = signed_in(owner, eve)

    def out_everywhere(tx: Tx) -> int:
        return logins.end_all(tx, users.owner(tx))

    assert (owner.do(out_everywhere), owner.do(out_everywhere)) == (3, 0)
    assert owner.do(logins.recognise, hers)[0].user_name == "eve"


def test_a_new_password_ends_the_other_logins(owner: World) -> None:
    """A person with a new password is signed out everywhere except where it was set."""
    _eve, as_eve = eve_of(owner)
    here, actor = signed_in(owner)
    there, _actor = signed_in(owner)

    owner.acting(actor).do(logins.set_password, None, "a hash")

    assert owner.do(users.by_name, "owner").password == "a hash"  # type: ignore[union-attr]
    assert owner.do(logins.recognise, here)
    with pytest.raises(Unauthorized):
        owner.do(logins.recognise, there)
    with pytest.raises(Forbidden):
        as_eve.do(logins.set_password, "owner", "another")
    assert owner.do(logins.set_password, "eve", "hers").name == "eve"


def test_logins_are_not_listed_as_tokens(owner: World) -> None:
    """The list of tokens holds what programs identify themselves by; a login is none of these."""
    signed_in(owner)
    assert len(owner.do(tokens.visible, [])) == 1


def test_a_browser_may_say_anything(owner: World) -> None:
    """A browser's name of itself is cut, and may be empty, or text that no store could keep."""
    for name in ("x" * 10_000, "a\0b", None, "<script>"):
        owner.do(lambda tx, browser=name: logins.begin(tx, users.owner(tx), browser, way="link"))  # type: ignore[misc]
    assert [each.browser for each in owner.do(logins.of)] == ["x" * 200, "ab", None, "<script>"]


def test_a_person_who_is_in_no_project_may_sign_in(owner: World) -> None:
    """Signing in needs no membership; there is just nothing to see yet."""
    _cookie, actor = signed_in(owner, eve_of(owner)[0])
    assert owner.acting(actor).do(access.memberships) == []
    assert owner.acting(person(owner, "adam", Role.VIEWER)).do(logins.of) == []
