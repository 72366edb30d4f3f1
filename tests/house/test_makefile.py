"""`make setup`, with a Python that only records its calls."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

PYTHON = """\
#!/bin/sh
echo "$@" >>"{log}"
[ "$1 $2" = '-m venv' ] && mkdir -p "$4/bin" && rm -f "$4/bin/python" && cp "$0" "$4/bin/python"
exit 0
"""


class Checkout:
    """A folder with what `make setup` reads, and a Python of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._log = folder / "asked"
        self._python = folder / "python"
        for name in ("Makefile", "pyproject.toml", "requirements.lock"):
            shutil.copy(ROOT / name, folder)
        self._python.write_text(PYTHON.format(log=self._log))
        self._python.chmod(0o755)

    def set_up(self) -> str:
        """Run `make setup`, and return what Python was asked to do by it."""
        self._log.write_text("")
        subprocess.run(
            ["make", "--silent", "setup", f"PYTHON={self._python}"],
            cwd=self.folder,
            check=True,
            capture_output=True,
        )
        return self._log.read_text()


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    folder = tmp_path / "checkout"
    folder.mkdir()
    return Checkout(folder)


def test_an_environment_that_can_be_used_is_left_alone(checkout: Checkout) -> None:
    """`make setup` does not prepare again what it has prepared."""
    assert "-m venv --clear .venv" in checkout.set_up()
    assert "-m" not in checkout.set_up().split()


def _remove(python: Path) -> None:
    python.unlink()
    python.symlink_to("/nowhere/python3")


def _break(python: Path) -> None:
    python.write_text("#!/bin/sh\nexit 1\n")


@pytest.mark.parametrize("harm", [_remove, _break])
def test_an_environment_whose_python_is_gone_is_made_anew(
    checkout: Checkout, harm: Callable[[Path], None]
) -> None:
    """`make setup` makes the environment anew when the Python that made it was removed or upgraded."""
    checkout.set_up()
    harm(checkout.folder / ".venv" / "bin" / "python")
    asked = checkout.set_up()
    assert "-m venv --clear .venv" in asked
    assert "--require-hashes -r requirements.lock" in asked


def test_an_environment_of_a_checkout_that_was_moved_is_made_anew(checkout: Checkout, tmp_path: Path) -> None:
    """`make setup` makes the environment anew when it holds the path of another checkout."""
    checkout.set_up()
    moved = shutil.copytree(checkout.folder, tmp_path / "moved", symlinks=True)
    assert "-m venv --clear .venv" in Checkout(moved).set_up()
