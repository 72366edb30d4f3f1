"""People in browsers: the links and passwords by which they sign in, and their logins.

A login stands on a token of the person, so all code that asks for a token's end, its expiry or its owner (streams,
idempotency keys, questions) covers logins too. Its secret is valid only in a cookie, never as a bearer token.
"""

import secrets
from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from hubbub.core.people import access, auth_attempts, tokens, users
from hubbub.model.errors import NotFound, Unauthorized
from hubbub.model.ids import parse_id
from hubbub.model.people.accounts import User
from hubbub.model.people.logins import Login
from hubbub.model.people.rights import Actor
from hubbub.model.timestamps import milliseconds
from hubbub.store.people import auth_attempts as try_rows
from hubbub.store.people import logins as rows
from hubbub.store.people import tokens as token_rows
from hubbub.store.people import users as user_rows
from hubbub.store.tx import Tx

LINK_LASTS = timedelta(minutes=10)
IDLE = timedelta(days=14)  # without use
LASTS = timedelta(days=90)  # however much it is used
NOTED = timedelta(minutes=1)  # precision of the time of a login's last use
KEEP = timedelta(days=1)  # links, after their time
BROWSER_LENGTH = 200  # characters of the browser's name for itself


class BadLink(Unauthorized):
    """A link that was used, is too old, or never existed; the caller is not told which."""

    def __str__(self) -> str:
        return "this link has been used already, or it is too old; make another with: hubbub open"


def link(tx: Tx, name: str | None = None) -> tuple[str, User, int]:
    """Make a link by which a person signs in once, within ten minutes; return its secret, the person, and its end.

    It is for the caller or, if the owner of the hub asks, for another person. Raises `Forbidden`, `NotFound`.
    """
    return _link(tx, users.meant(tx, name))


def owners_link(tx: Tx, lasts: timedelta = LINK_LASTS) -> str:
    """Make a link for the hub's owner, at the start of the hub, by somebody who holds its data."""
    secret, _user, _expires_at = _link(tx, users.owner(tx), lasts)
    return secret


def redeem(tx: Tx, secret: str, browser: str | None) -> str:
    """Sign in the person of the link, which this uses up; return the cookie's secret. Raises `BadLink`."""
    user_id = rows.use_link(tx, access.fingerprint(secret))
    user = users.find(tx, user_id) if user_id is not None else None
    if user is None:
        raise BadLink
    return begin(tx, user, browser, way="link")


def begin(tx: Tx, user: User, browser: str | None, *, way: str) -> str:
    """Sign in a person who has proved their identity by `way`; return the cookie's secret.

    Records `login.started`.
    """
    token, secret = tokens.for_login(tx, user.id, IDLE)
    rows.insert(tx, token.id, user.id, browser[:BROWSER_LENGTH].replace("\0", "") if browser else None)
    detail = {"token_id": str(token.id), "user": user.name, "way": way}
    tx.record("login.started", project_id=None, actor=user.name, detail=detail)
    return secret


def recognise(tx: Tx, secret: str) -> tuple[Actor, bool]:
    """Return the actor of a cookie, and whether it is time to `touch` the login. Raises `Unauthorized`."""
    actor = access.recognise(tx, secret)
    login = rows.find(tx, actor.token_id) if actor.token_id is not None else None
    if login is None:
        raise Unauthorized
    return actor, tx.now - login.seen_at >= milliseconds(NOTED)


def choose(tx: Tx, secrets: Sequence[str]) -> str:
    """Choose among the cookies that a browser sends: the only one that belongs to a login.

    Another program of the machine can set cookies too. One that belongs to no login is ignored, so that it signs nobody
    out; two that belong to logins are refused, so that nobody acts in another person's login. Raises `Unauthorized`.
    """
    good = [secret for secret in secrets if _is_good(tx, secret)]
    if len(good) != 1:
        raise Unauthorized
    return good[0]


def know_browser(tx: Tx, secret: str, browsers: Sequence[str]) -> str:
    """Remember the browser in which that login has just begun; return the secret that it keeps."""
    actor, _is_due = recognise(tx, secret)
    assert actor.user_id is not None  # a login is a person's
    return auth_attempts.know(tx, actor.user_id, browsers)


def touch(tx: Tx, login_id: UUID) -> None:
    """Note a use of the login, so that it lasts longer."""
    login = rows.find(tx, login_id)
    if login is not None and token_rows.is_valid(tx, login_id):
        last = login.created_at + milliseconds(LASTS)
        rows.touch(tx, login_id, min(tx.now + milliseconds(IDLE), last))


def of(tx: Tx, name: str | None = None) -> list[Login]:
    """List the logins of that person, oldest first. Raises `Forbidden` and `NotFound`."""
    return rows.of_user(tx, users.meant(tx, name).id)


def set_password(tx: Tx, name: str | None, password_hash: str) -> User:
    """Set that person's password, of which only a hash is kept. Records `password.set`.

    All their logins end, except the one that asks. Raises `Forbidden` and `NotFound`.
    """
    user = users.meant(tx, name)
    user_rows.set_password(tx, user.id, password_hash)
    tx.record("password.set", project_id=None, detail={"user": user.name})
    end_all(tx, user, but=tx.actor.token_id)
    return user


def end(tx: Tx, ref: str) -> Login:
    """Sign out one browser of the caller, or, for the owner of the hub, of anybody. Raises `NotFound`."""
    access.require_person(tx, "end a login")
    login_id = parse_id(ref)
    login = rows.find(tx, login_id) if login_id is not None else None
    if login is None or not (login.user_id == tx.actor.user_id or tx.actor.owns_hub):
        raise NotFound("login", ref)
    _end(tx, login)
    return login


def end_by(tx: Tx, secret: str) -> None:
    """Sign out the browser that brings this cookie, if its login has not ended."""
    try:
        actor = access.recognise(tx, secret)
    except Unauthorized:
        return
    login = rows.find(tx, actor.token_id) if actor.token_id is not None else None
    if login is not None:
        tx.actor = actor
        _end(tx, login)


def end_all(tx: Tx, user: User, *, but: UUID | None = None) -> int:
    """Sign a person out everywhere, with their open streams, `but` for one login; return how many ended.

    Their unused links end, too: an intruder may have made one.
    """
    rows.drop_links(tx, user.id)
    try_rows.drop_browsers(tx, user.id)
    ending = [each for each in rows.of_user(tx, user.id) if each.id != but]
    for login in ending:
        _end(tx, login)
    return len(ending)


def forget(tx: Tx) -> None:
    """Drop the links that expired a while ago."""
    rows.forget_links(tx, tx.now - milliseconds(KEEP))


def _is_good(tx: Tx, secret: str) -> bool:
    try:
        recognise(tx, secret)
    except Unauthorized:
        return False
    return True


def _link(tx: Tx, user: User, lasts: timedelta = LINK_LASTS) -> tuple[str, User, int]:
    secret = secrets.token_hex(16)
    expires_at = tx.now + milliseconds(lasts)
    rows.insert_link(tx, access.fingerprint(secret), user.id, expires_at)
    return secret, user, expires_at


def _end(tx: Tx, login: Login) -> None:
    """End the login at once; its open streams see it in the log. Records `login.ended`, the first time."""
    if token_rows.revoke(tx, login.id):
        user = users.find(tx, login.user_id)
        detail = {"token_id": str(login.id), "user": user.name if user else None}
        tx.record("login.ended", project_id=None, detail=detail)
        tokens.end_lent(tx, login.id)
