"""Limits on authentication attempts: passwords, and the codes by which machines and people join.

They are counted in the database, so that several hubs together allow no more than one. An attempt counts before it is
checked, in one statement, so that parallel attempts gain nothing; a correct one is taken back. Attempts count by
address, but those of a browser in which the person has signed in before count separately: strangers in the same
network cannot lock anybody out of their own browser.
"""

import secrets
from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from hubbub.core.people import users
from hubbub.core.people.access import fingerprint
from hubbub.model.errors import TooMany
from hubbub.model.timestamps import milliseconds
from hubbub.store.people import auth_attempts as rows
from hubbub.store.tx import Tx

WINDOW = timedelta(minutes=1)
TRIES = 10  # in a window, from one address
KNOWN_FOR = timedelta(days=365)  # since a person last signed in with a browser

Subject = tuple[str, int]  # a hash, and how many tries it has in a window


def begin_login(tx: Tx, name: str, address: str, browsers: Sequence[str] = ()) -> list[Subject]:
    """Count an attempt to sign in by a password; return the counts, to be taken back if it is correct.

    `browsers` are the secrets by which a known browser shows itself. Raises `TooMany`.
    """
    browser = _known(tx, name, browsers)
    subject = f"login\0{address}" if browser is None else f"browser\0{browser}"
    return count(tx, [(fingerprint(subject), TRIES)])


def begin_invitation(tx: Tx, address: str) -> list[Subject]:
    """Count a person's invitation; return the counts, to be taken back if its code is good. Raises `TooMany`."""
    return count(tx, [(fingerprint(f"invitation\0{address}"), TRIES)])


def count_code(tx: Tx, address: str) -> None:
    """Count a machine's wrong code. Raises `TooMany`."""
    count(tx, [(fingerprint(f"join\0{address}"), TRIES)])


def count(tx: Tx, subjects: list[Subject]) -> list[Subject]:
    """Count one more attempt of each. Raises `TooMany`, and then counts none."""
    for subject, most in subjects:
        number, since = rows.count(tx, subject, milliseconds(WINDOW))
        if number > most:
            raise TooMany((since + milliseconds(WINDOW) - tx.now) // 1000 + 1)
    return subjects


def take_back(tx: Tx, subjects: Sequence[Subject]) -> None:
    """Take back the counts of correct attempts."""
    for subject, _most in subjects:
        rows.take_back(tx, subject)


def know(tx: Tx, user_id: UUID, browsers: Sequence[str]) -> str:
    """Remember the browser in which the person has just signed in; return the secret that it keeps."""
    since = tx.now - milliseconds(KNOWN_FOR)
    found = (each for each in browsers if rows.knows(tx, fingerprint(each), user_id, since))
    secret = next(found, None) or secrets.token_hex(16)
    rows.put_browser(tx, fingerprint(secret), user_id)
    return secret


def forget(tx: Tx) -> None:
    """Drop attempts whose window is over, and browsers in which nobody has signed in for a year."""
    rows.forget(tx, tx.now - milliseconds(WINDOW))
    rows.forget_browsers(tx, tx.now - milliseconds(KNOWN_FOR))


def _known(tx: Tx, name: str, browsers: Sequence[str]) -> str | None:
    user = users.by_name(tx, name)
    since = tx.now - milliseconds(KNOWN_FOR)
    if user is None:
        return None
    return next((each for each in browsers if rows.knows(tx, fingerprint(each), user.id, since)), None)
