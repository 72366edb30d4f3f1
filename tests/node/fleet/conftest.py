"""A network for each test of the fleet, of namespaces where this machine may have them; and a limit on waiting."""

import itertools
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from tests.cli.conftest import limit
from tests.node.fleet.network import Namespaces, Network, Relays, can_have_namespaces
from tests.node.fleet.process_fleet import Fleet, Machine
from tests.node.fleet.remote_command import Work

__all__ = ["limit"]

PACE = 15.0  # times as fast as usual
NUMBERS = itertools.count(1)
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


@pytest.fixture
def fleet(shared_fleet: Fleet) -> Fleet:
    """A hub, which the test before may have left killed."""
    if shared_fleet.hub.process is None:
        shared_fleet.hub.start()
    return shared_fleet


@pytest.fixture
def machine(fleet: Fleet) -> Machine:
    """A machine of this test alone."""
    made = fleet.machine(f"web{next(NUMBERS)}")
    made.join()
    return made


@pytest.fixture
def work(fleet: Fleet, machine: Machine) -> Iterator[Work]:
    """Return a command on that machine, which nobody has ordered yet."""
    with ThreadPoolExecutor() as pool, ExitStack() as closing:
        closing.callback(machine.close)  # first, so that no call is left waiting
        yield Work(fleet, machine, pool)
