"""`make release-notes`: what a release brings, from the changelog."""

import subprocess
import sys

import pytest

from docs.release_notes import CHANGELOG, SECTION, NoNotes, notes
from hubbub import __version__

SAMPLE = """\
# Changelog

## [Unreleased]

## [0.2.0] - 2027-01-02

### Added

- One thing, said in
  two lines; see [its page](docs/thing.md#how), and [another](https://example.com/x).
- A second thing:
  - with a part.

## [0.1.0]

The first.
"""


def test_notes_are_what_the_changelog_says() -> None:
    """The notes of a version are its section, with its date, and nothing of its neighbours'."""
    assert notes(SAMPLE, "0.1.0") == "# Hubbub 0.1.0\n\nThe first.\n"
    assert notes(SAMPLE, "0.2.0").startswith("# Hubbub 0.2.0 - 2027-01-02\n\n### Added\n")


def test_a_paragraph_is_one_line() -> None:
    """Lines that belong together are joined, lists stay lists."""
    text = notes(SAMPLE, "0.2.0")

    assert "- One thing, said in two lines;" in text
    assert "- A second thing:\n  - with a part.\n" in text


def test_links_lead_to_the_files_of_the_version() -> None:
    """With the address of the files, links to them are whole; others stay as they are."""
    text = notes(SAMPLE, "0.2.0", "https://example.com/v0.2.0/")

    assert "[its page](https://example.com/v0.2.0/docs/thing.md#how)" in text
    assert "[another](https://example.com/x)" in text


@pytest.mark.parametrize(
    ("version", "said"), [("3.0", "it has Unreleased, 0.2.0, 0.1.0"), ("Unreleased", "nothing")]
)
def test_a_version_without_notes_is_refused(version: str, said: str) -> None:
    """Nobody publishes empty notes by mistake."""
    with pytest.raises(NoNotes, match=said):
        notes(SAMPLE, version)


def test_this_version_has_notes() -> None:
    """The changelog tells what this version brings, or what has come since the last one."""
    names = [heading["name"] for heading in SECTION.finditer(CHANGELOG.read_text("utf-8"))]

    assert names[0] == "Unreleased"
    assert __version__ in names


def test_the_program_prints_them() -> None:
    """`python -m docs.release_notes VERSION` prints the notes, or says in one sentence why there are none."""
    there, missing = (
        subprocess.run(
            [sys.executable, "-m", "docs.release_notes", version],
            cwd=CHANGELOG.parent,
            capture_output=True,
            text=True,
            check=False,
        )
        for version in (__version__, "0.0.0")
    )

    assert there.stdout.startswith(f"# Hubbub {__version__}")
    assert (missing.returncode, missing.stdout) == (1, "")
    assert missing.stderr.startswith("the changelog has no version 0.0.0")
