"""Limits that a client's hook reports, from outside: the account is paused, and nobody hears of it but the hub."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from hubbub.core.limits import accounts
from hubbub.model.limits.accounts import Account
from hubbub.model.limits.usage_limits import LimitKind
from hubbub.store.tx import Tx
from tests.clients.hook.hook_workbench import Editor, Workbench
from tests.serve.served_hub import Hub


@pytest.fixture
def eve(bench: Workbench, shop: Path, hub: Hub) -> Iterator[Editor]:
    """An agent with no account yet."""
    yield bench.editor("eve", shop)
    hub.do(lambda tx: accounts.drop(tx, hub.project, "eve") if _account(tx, hub) else None)


def _account(tx: Tx, hub: Hub) -> Account | None:
    return accounts.of_agent(tx, hub.project.id, "eve")


def paused(hub: Hub) -> tuple[LimitKind | None, int | None] | None:
    """The limit that paused the agent's account, and its end; None if it is not paused."""
    account = hub.do(lambda tx: _account(tx, hub))
    if account is None or account.paused_at is None:
        return None
    return account.limit_kind, account.paused_until


def test_a_limit_pauses_the_account_until_the_time_that_the_client_shows(eve: Editor, hub: Hub) -> None:
    """A turn that ends at a limit pauses the account of its agent until then, and the client hears nothing."""
    end = datetime.now(UTC).replace(second=0, microsecond=0) + timedelta(hours=2)
    notice = f"You've hit your 5-hour limit · resets {end:%I:%M%p} (UTC)"

    assert eve.hook("StopFailure", error="rate_limit", last_assistant_message=notice).is_silent
    assert paused(hub) == (LimitKind.WINDOW, round(end.timestamp() * 1000))


def test_a_limit_in_words_that_nobody_knows_backs_off(eve: Editor, hub: Hub) -> None:
    """The client says that it is a limit; when it ends the hub guesses, and asks again after that."""
    assert eve.hook("StopFailure", error="rate_limit", last_assistant_message="Come back later.").is_silent
    kind, until = paused(hub) or (None, None)
    assert kind is LimitKind.WINDOW
    assert until is not None


@pytest.mark.parametrize(
    "told",
    [
        {"error": "server_error", "last_assistant_message": "API Error: 500 Internal server error"},
        {"error": "authentication_failed", "last_assistant_message": "You've hit your limit · resets 8pm"},
    ],
)
def test_another_failure_pauses_nothing(eve: Editor, hub: Hub, told: dict[str, str]) -> None:
    """A turn that ends for another reason is no limit, whatever its words."""
    assert eve.hook("StopFailure", **told).is_silent
    assert paused(hub) is None
