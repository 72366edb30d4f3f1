"""Tests again and again, and in an order of chance: `make soak` finds what passes only by luck."""

import random
from collections.abc import Generator
from pathlib import Path
from secrets import randbelow

import pytest

TURN = pytest.StashKey[int]()  # of a module that is repeated, from 2
PARAMETER = "turn of --times"  # no test has one of this name


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--times", type=int, default=1, help="run each test so many times, each with a module set up anew"
    )
    parser.addoption(
        "--shuffle", metavar="SEED", help="run the tests in the order of this seed; 'any' chooses one"
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("shuffle") == "any":
        config.option.shuffle = str(randbelow(10**6))


def pytest_report_header(config: pytest.Config) -> str | None:
    seed = config.getoption("shuffle")
    return None if seed is None else f"in the order of --shuffle {seed}"


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(
    file_path: Path, parent: pytest.Collector
) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Have each module as often as its tests are to run: what it sets up is set up anew for each turn."""
    found = yield
    modules = [each for each in found if isinstance(each, pytest.Module)]
    for turn in range(1, parent.config.getoption("times")):
        again = [type(each).from_parent(parent, path=file_path) for each in modules]
        for each in again:
            each.stash[TURN] = turn + 1
        found = [*found, *again]
    return found


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Name a repeated test by its turn."""
    if metafunc.config.getoption("times") > 1:
        metafunc.fixturenames.append(PARAMETER)
        metafunc.parametrize(PARAMETER, [_turn(metafunc.definition)])


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Shuffle the modules, and the tests within each: what a module sets up would else be set up for each test."""
    seed = config.getoption("shuffle")
    if seed is None:
        return
    chance = random.Random(seed)  # no secret
    modules = sorted({_module(item) for item in items})
    place = {module: position for position, module in enumerate(chance.sample(modules, len(modules)))}
    chance.shuffle(items)
    items.sort(key=lambda item: place[_module(item)])


def _module(item: pytest.Item) -> tuple[Path, int]:
    return item.path, _turn(item)


def _turn(item: pytest.Item) -> int:
    module = item.getparent(pytest.Module)
    return 1 if module is None else module.stash.get(TURN, 1)
