"""Programs that tests use, and that are not on every machine."""

import os
from typing import NoReturn

import pytest


def needed(program: str | None, package: str) -> str:
    """Return the path of `program`, which `package` provides.

    Where it was not found (None), skip the test, and say what to install; in CI, where everything is tested, fail it.
    """
    if program is None:
        missing(f"not on this machine, or not working: {package} (apt-get install {package})")
    return program


def missing(sentence: str) -> NoReturn:
    """Skip the test, for the reason that the sentence says; in CI, fail it."""
    if "CI" in os.environ:
        pytest.fail(sentence)
    pytest.skip(sentence)
