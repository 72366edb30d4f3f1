"""Programs that tests use, and that are not on every machine."""

import os

import pytest


def needed(program: str | None, package: str) -> str:
    """Return `program`, the path of what `package` brings.

    Where it was not found (None), skip the test, and say what to install; in CI, where everything is tested, fail it.
    """
    if program is not None:
        return program
    missing = f"not on this machine, or not working: {package} (apt-get install {package})"
    if "CI" in os.environ:
        pytest.fail(missing)
    pytest.skip(missing)
