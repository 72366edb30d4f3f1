"""Tries to get in: counted together by all hubs of a database."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from hubbub.core.people import auth_attempts, users
from hubbub.core.people.auth_attempts import TRIES, WINDOW
from hubbub.model.errors import TooMany
from hubbub.model.people.rights import SYSTEM
from hubbub.store.engine.postgres import Postgres
from hubbub.store.tx import Store
from tests.conftest import MovableClock


def attempt(
    store: Store, name: str = "owner", address: str = "a", *browsers: str
) -> list[auth_attempts.Subject]:
    return store.write_now(SYSTEM, lambda tx: auth_attempts.begin_login(tx, name, address, browsers))


def test_tries_count_by_address_for_a_minute(store: Store, clock: MovableClock) -> None:
    """Each address has ten tries a minute, of all names together, and one that was right does not count."""
    for number in range(TRIES):
        attempt(store, f"n{number}")
    for _ in range(2):
        with pytest.raises(TooMany) as refused:
            attempt(store, "another")
        assert 0 < refused.value.retry_after <= WINDOW.total_seconds() + 1
    counted = attempt(store, "owner", "b")
    store.write_now(SYSTEM, lambda tx: auth_attempts.take_back(tx, counted))
    for _ in range(TRIES):
        attempt(store, "owner", "b")
    with pytest.raises(TooMany):
        attempt(store, "owner", "b")
    clock.advance(timedelta(seconds=refused.value.retry_after))
    attempt(store)
    store.write_now(SYSTEM, auth_attempts.forget)
    clock.advance(2 * WINDOW)
    store.write_now(SYSTEM, auth_attempts.forget)
    assert store.read_now(SYSTEM, lambda tx: tx.all("SELECT * FROM tries")) == []


def test_only_hashes_are_kept_of_who_tried(store: Store) -> None:
    """The database says neither what was typed as a name, which may be a password, nor where."""
    attempt(store, "hunter2", "192.0.2.7")
    rows = str(store.read_now(SYSTEM, lambda tx: tx.all("SELECT * FROM tries")))
    assert "hunter2" not in rows
    assert "192.0.2.7" not in rows


def test_many_at_once_are_no_way_around(postgres_url: str) -> None:
    """However many hubs over one database are tried at the same moment, ten tries get through in all."""
    hubs = [Postgres.open(postgres_url) for _ in range(3)]

    def outcome(number: int) -> bool:
        try:
            attempt(hubs[number % 3])
        except TooMany:
            return False
        return True

    try:
        with ThreadPoolExecutor(12) as threads:
            assert sum(threads.map(outcome, range(48))) == TRIES
    finally:
        for each in hubs:
            each.close()


def test_a_known_browser_is_its_persons(store: Store) -> None:
    """Others' attempts in a person's name do not count where they have signed in before; elsewhere they do."""
    store.write_now(SYSTEM, users.first_start)
    owner = store.read_now(SYSTEM, users.owner)
    browser = store.write_now(SYSTEM, lambda tx: auth_attempts.know(tx, owner.id, ["made up"]))
    assert browser != "made up"
    assert store.write_now(SYSTEM, lambda tx: auth_attempts.know(tx, owner.id, ["x", browser])) == browser
    for _ in range(TRIES):
        attempt(store)
    attempt(store, "owner", "a", "x", browser)
    for name, secret in (("owner", "made up"), ("eve", browser), ("owner", "")):
        with pytest.raises(TooMany):
            attempt(store, name, "a", secret)
    assert browser not in str(store.read_now(SYSTEM, lambda tx: tx.all("SELECT * FROM known_browsers")))
