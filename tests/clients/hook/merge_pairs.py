"""Pairs of branches, made up and replayed, to see whether the radar tells what git says when it merges them."""

import os
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.clients.hook.hook_workbench import GIT, git

KINDS = 10
LINES = 40


def text(**changed: str) -> bytes:
    """A file of many lines, some of which are others: `line7="…"`."""
    return "".join(f"{changed.get(f'line{at}', f'line {at} of the file')}\n" for at in range(LINES)).encode()


Change = Sequence[str | tuple[str, bytes]]  # `D path`, `R from to`, or a path and its content


def made_up(kind: int, number: int) -> tuple[Change, Change]:
    """Two branches' changes to `a.txt`, `b.txt` and `lib/one.txt` in a folder of their own."""
    here = f"p{number}"
    a, b, lib = f"{here}/a.txt", f"{here}/b.txt", f"{here}/lib"
    at = number % (LINES - 6)
    mine: list[tuple[Change, Change]] = [
        ([(a, text(**{f"line{at}": "mine"}))], [(a, text(**{f"line{at}": "theirs"}))]),
        ([(a, text(**{f"line{at}": "mine"}))], [(a, text(**{f"line{(at + 20) % LINES}": "theirs"}))]),
        ([(a, text(**{f"line{at}": "mine"}))], [(a, text(**{f"line{at + 1}": "theirs"}))]),
        ([(a, text(**{f"line{at}": "same"}))], [(a, text(**{f"line{at}": "same"}))]),
        ([f"R {a} {here}/c.txt"], [(a, text(**{f"line{at}": "theirs"}))]),
        ([f"D {a}"], [(a, text(**{f"line{at}": "theirs"}))]),
        ([(f"{here}/new.txt", b"one\n")], [(f"{here}/new.txt", b"two\n" * (1 + number % 3))]),
        ([f"R {lib} {here}/moved"], [(f"{lib}/two.txt", text(line1=str(number)))]),
        ([f"R {a} {here}/c.txt"], [f"R {a} {here}/d.txt"]),
        ([(b, text(line3="mine")), (a, text(line30="m"))], [f"D {a}", (f"{a}/deep.txt", b"a folder\n")]),
    ]
    return mine[kind]


def repository(folder: Path, pairs: int) -> None:
    """A repository with a main branch and, for each pair, the branches `a1` and `b1`, written in one go."""
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    stream = [*_commit("main", None, [
        change for number in range(pairs)
        for change in ((f"p{number}/a.txt", text()), (f"p{number}/b.txt", text()), (f"p{number}/lib/one.txt", text()))
    ])]  # fmt: skip
    for number in range(pairs):
        for name, changes in zip("ab", made_up(number % KINDS, number), strict=True):
            stream += _commit(f"{name}{number}", "main", changes)
    command = ["git", "-C", str(folder), "fast-import", "--quiet"]
    subprocess.run(command, input=b"".join(stream), check=True, env={**os.environ, **GIT})
    git(folder, "reset", "-q", "--hard")


def _commit(branch: str, begins: str | None, changes: Change) -> Iterator[bytes]:
    yield f"commit refs/heads/{branch}\ncommitter ada <ada@example.org> 0 +0000\ndata 0\n".encode()
    if begins is not None:
        yield f"from refs/heads/{begins}\n".encode()
    for each in changes:
        if isinstance(each, str):
            yield f"{each}\n".encode()
        else:
            path, content = each
            yield f"M 100644 inline {path}\ndata {len(content)}\n".encode() + content + b"\n"


def replayed(history: Path, folder: Path, most: int) -> list[tuple[str, str, str]]:
    """Pairs of real changes, as two who began at the same commit: the commit, what came next, and what came later.

    What came later is taken only as far as it touches files of the next commit. Of a shallow clone there are fewer.
    """
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    common = Path(git(history, "rev-parse", "--path-format=absolute", "--git-common-dir"))
    (folder / ".git/objects/info/alternates").write_text(f"{common / 'objects'}\n")
    git(
        folder, "sparse-checkout", "set"
    )  # a merge writes what is in conflict, and no other of thousands of files
    listed = git(history, "rev-list", "--no-merges", "--max-count=600", "HEAD").split()
    shallow = common / "shallow"
    cut = set(shallow.read_text().split()) if shallow.exists() else set()
    return [*_pairs(folder, listed, cut, most)]


def _pairs(folder: Path, listed: Sequence[str], cut: set[str], most: int) -> Iterator[tuple[str, str, str]]:
    made, span = 0, 8
    for at in range(span, len(listed), 3):
        later, one = listed[at - span], listed[at]
        if one in cut or made == most:
            return
        base = git(folder, "rev-parse", f"{one}^")
        touched = set(git(folder, "diff", "--name-only", "--no-renames", base, one).splitlines())
        moved = set(git(folder, "diff", "--name-only", "--no-renames", one, later).splitlines())
        if touched & moved:
            made += 1
            tree = git(folder, "rev-parse", f"{later}^{{tree}}")
            yield base, one, git(folder, "commit-tree", "-p", base, "-m", "later", tree)


def merges(folder: Path, one: str, other: str) -> bool:
    """Whether git merges the two: done for real, in the working tree, where the last merge may have left anything."""
    git(folder, "checkout", "-q", "--force", "--detach", one)
    command = ["git", "-C", str(folder), "merge", "-q", "--no-commit", "--no-ff", other]
    done = subprocess.run(command, check=False, capture_output=True, env={**os.environ, **GIT})
    return done.returncode == 0
