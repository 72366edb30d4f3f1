"""A copy of a checkout, with an environment of its own, in which a mutant may live and nobody else is harmed."""

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path

from mutants.mutant import Mutant

ENVIRONMENT = ".venv"
VERSION = "src/hubbub/__init__.py"
MARK = "0.0.0+copied"
# Started as tests do it: forked from the zygote, as a module of this Python, and by its name.
ASKING = f"""
import subprocess, sys
from hubbub import __version__
from tests.support import zygote
module = [sys.executable, "-m", "hubbub", "version"]
starts = (zygote.Popen, module), (subprocess.Popen, module), (subprocess.Popen, ["{ENVIRONMENT}/bin/hubbub", "version"])
said = [popen(words, stdout=subprocess.PIPE, text=True).communicate()[0] for popen, words in starts]
assert zygote._zygote._process or sys.platform != "linux", "nothing was forked"
assert all("{MARK}" in each for each in (__version__, *said)), said
"""
_moments = count(
    1_000_000_000
)  # of files, each another: Python takes compiled code for good by size and second


class Copy:
    """The copy. What runs in it runs its code."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._python = root / ENVIRONMENT / "bin" / "python"

    def run(self, *words: str, seconds: float) -> tuple[int, str]:
        """Run Python in the copy; return its exit code, negative if it took too long, and its output.

        All processes that it started are killed in the end.
        """
        clean = {
            name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYTEST"))
        }
        with subprocess.Popen(
            [self._python, *words],
            cwd=self.root,
            env=clean,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        ) as process:
            try:
                printed, _ = process.communicate(timeout=seconds)
                return process.returncode, printed
            except subprocess.TimeoutExpired:
                _kill(process.pid)
                return -signal.SIGKILL, process.communicate()[0]
            finally:
                _kill(process.pid)

    @contextmanager
    def changed(self, changes: dict[Path, str]) -> Iterator[None]:
        """Have these files say this for a while."""
        before = {file: file.read_text("utf-8") for file in changes}
        self._write(changes)
        try:
            yield
        finally:
            self._write(before)

    @contextmanager
    def with_mutant(self, mutant: Mutant) -> Iterator[None]:
        """Have the mutant in it for a while. Raises `DoesNotApply`."""
        with self.changed(mutant.applied(self.root)):
            yield

    def see_that_it_runs_itself(self) -> None:
        """Raise `RuntimeError` unless its code is what runs, in tests and in the processes that they start."""
        with self.changed({self.root / VERSION: f'"""The product."""\n\n__version__ = "{MARK}"\n'}):
            code, printed = self.run("-c", ASKING, seconds=300)
        if code:
            raise RuntimeError(f"in the copy runs other code than that of the copy:\n{printed}")

    def _write(self, changes: dict[Path, str]) -> None:
        for file, text in changes.items():
            file.write_text(text, "utf-8")
            moment = next(_moments)
            os.utime(file, (moment, moment))


@contextmanager
def copied(root: Path) -> Iterator[Copy]:
    """Copy the files of a checkout that Git tracks, as in its work tree, and its environment."""
    folder = Path(tempfile.mkdtemp(prefix="hubbub-mutants-"))
    folder.chmod(0o755)  # PostgreSQL runs as somebody else
    try:
        listed = subprocess.run(
            ["git", "ls-files", "-z"], cwd=root, check=True, capture_output=True, text=True
        )
        for name in filter(None, listed.stdout.split("\0")):
            if (root / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(root / name, folder / name, follow_symlinks=False)
        shutil.copytree(root / ENVIRONMENT, folder / ENVIRONMENT, symlinks=True, copy_function=_link)
        _move_environment(root, folder)
        yield Copy(folder)
    finally:
        shutil.rmtree(folder)


def _link(source: str, target: str) -> None:
    """Copy a file, without its bytes where that can be."""
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:
        shutil.copy2(source, target, follow_symlinks=False)


def _move_environment(root: Path, folder: Path) -> None:
    """Let the copied environment name the copy where it named the checkout."""
    environment = folder / ENVIRONMENT
    packages = next(environment.glob("lib/python*/site-packages"))
    told = [environment / "pyvenv.cfg", environment / ".ready", *(environment / "bin").iterdir()]
    for file in (*told, *packages.glob("*.pth"), *packages.glob("hubbub*/direct_url.json")):
        if file.is_symlink() or not file.is_file() or str(root).encode() not in (held := file.read_bytes()):
            continue
        mode = file.stat().st_mode
        file.unlink()  # it may be the very file of the other environment
        file.write_bytes(held.replace(str(root).encode(), str(folder).encode()))
        file.chmod(mode)


def _kill(group: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)
