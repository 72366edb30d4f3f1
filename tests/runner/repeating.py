"""Tests again and again, and in an order of chance: `make soak` finds what passes only by luck."""

import random
from secrets import randbelow

import pytest

TURN = "turn of --times"  # no test has a parameter of this name


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--times", type=int, default=1, help="run each test so many times")
    parser.addoption(
        "--shuffle", metavar="SEED", help="run the tests in the order of this seed; 'any' chooses one"
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("shuffle") == "any":
        config.option.shuffle = str(randbelow(10**6))


def pytest_report_header(config: pytest.Config) -> str | None:
    seed = config.getoption("shuffle")
    return None if seed is None else f"in the order of --shuffle {seed}"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    times = metafunc.config.getoption("times")
    if times > 1:
        metafunc.fixturenames.append(TURN)
        metafunc.parametrize(TURN, range(1, times + 1))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Shuffle the modules, and the tests within each: what a module sets up would else be set up for each test."""
    seed = config.getoption("shuffle")
    if seed is None:
        return
    chance = random.Random(seed)  # no secret
    modules = sorted({item.path for item in items})
    place = {module: position for position, module in enumerate(chance.sample(modules, len(modules)))}
    chance.shuffle(items)
    items.sort(key=lambda item: place[item.path])
