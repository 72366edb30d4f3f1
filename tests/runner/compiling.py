"""Each test module compiled by one worker of a run, and found compiled by the others.

All workers collect in the same order. In a fresh checkout each would compile what the others compile at the same time.
"""

import os
from collections.abc import Generator
from contextlib import suppress
from importlib import import_module

import pytest


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Have a worker begin with the modules of its own share, where it is going to collect them all."""
    if session.config.args_source is pytest.Config.ArgsSource.TESTPATHS:
        for name in _share(session.config):
            with suppress(Exception):  # told when it is collected
                import_module(name)
    return (yield)


def _share(config: pytest.Config) -> list[str]:
    """Return the modules of this worker; none where it works alone."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", "")
    count = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    if not worker or count == 1:
        return []
    left_out = set(config.getini("norecursedirs"))
    files = [
        file.relative_to(config.rootpath)
        for folder in config.args
        for file in sorted(config.rootpath.joinpath(folder).rglob("test_*.py"))
        if left_out.isdisjoint(file.parts)
        and not file.with_name("__init__.py").exists()  # it has another name there
    ]
    names = [".".join(file.with_suffix("").parts) for file in files]
    return names[int(worker.removeprefix("gw")) :: count]
