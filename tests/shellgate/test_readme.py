"""The package's README, compared with what the package does."""

import doctest
from pathlib import Path

import shellgate


def test_the_example_of_the_readme_is_true() -> None:
    """The Python of the README prints what it shows."""
    readme = Path(shellgate.__file__).with_name("README.md")

    assert doctest.testfile(str(readme), module_relative=False) == doctest.TestResults(failed=0, attempted=15)
