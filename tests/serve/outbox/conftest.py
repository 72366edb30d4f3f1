"""Projects from which things go out."""

import pytest

from hubbub.store.tx import Store
from tests.serve.outbox.outbox_desk import Desk
from tests.serve.outbox.receivers import FakeGitHub, Receiver


@pytest.fixture
def issues(store: Store, github: FakeGitHub) -> Desk:
    """A project, on either engine, whose comments go to the fake GitHub."""
    return Desk(store, github)


@pytest.fixture
def desk(store: Store, receiver: Receiver) -> Desk:
    """A project, on either engine, whose webhooks lead to the receiver."""
    return Desk(store, receiver)
