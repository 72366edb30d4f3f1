"""A network for each test of the fleet, of namespaces where this machine may have them; and a limit on waiting."""

from collections.abc import Iterator

import pytest

from tests.cli.conftest import limit
from tests.fleet.fleet import Fleet
from tests.fleet.network import Namespaces, Network, Relays, can_have_namespaces

__all__ = ["limit"]

PACE = 15.0  # times as fast as usual
NETWORK = Namespaces if can_have_namespaces() else Relays


@pytest.fixture(scope="module", params=[pytest.param(NETWORK, id=NETWORK.__name__.lower())])
def network(request: pytest.FixtureRequest) -> Iterator[Network]:
    """The wire to which all machines of a module are connected."""
    made: Network = request.param()
    yield made
    made.close()


@pytest.fixture(scope="module")
def shared_fleet(network: Network, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """A hub, and the machines that the tests of a module join to it."""
    made = Fleet(network, tmp_path_factory.mktemp("fleet"), pace=PACE)
    yield made
    made.close()
