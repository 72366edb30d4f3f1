from pathlib import Path

from shellgate.shell import bash
from shellgate.shell.read import read
from tests.shellgate.shell.shell_worlds import world


def programs() -> list[str]:
    """The programs of `ordinary.txt`; one goes on for as long as bash does not understand it without the next line."""
    found: list[str] = []
    text = ""
    for line in (Path(__file__).parent / "ordinary.txt").read_text().splitlines():
        text += line
        if line.endswith("\\") or bash.refuses(text):
            text += "\n"
        else:
            found.append(text)
            text = ""
    assert not text, "the last program is not one"
    return found


def test_what_developers_run_every_day_is_read_without_a_doubt() -> None:
    """None of 250 ordinary commands makes the reader doubt."""
    ordinary = programs()
    assert len(ordinary) >= 200
    doubted = {text: found for text in ordinary if (found := read(text, world(USER="ada")).doubts)}
    assert doubted == {}
