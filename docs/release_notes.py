"""Writes the notes of a release from the changelog: `make release-notes VERSION=0.2.0`.

What stands there under the version, with its paragraphs on one line each, as a forge shows every line end. With
`SOURCE=https://…`, the address of that version's files, links to files of the repository lead there.
"""

import re
import sys
from pathlib import Path

CHANGELOG = Path(__file__).resolve().parent.parent / "CHANGELOG.md"
SECTION = re.compile(r"^## \[(?P<name>[^\]]+)\](?: - (?P<date>\d{4}-\d{2}-\d{2}))?$", re.MULTILINE)
LINK = re.compile(r"\]\((?!\w+:|#)([^)\s]+)\)")
BROKEN_LINE = re.compile(r"(?<=\S)\n {2,}(?=[^\s*-])")
DEFAULTS = ("Unreleased", "")  # which version, and where its files are


class NoNotes(Exception):
    """The changelog has nothing to say about the version; the message names those that it has."""


def notes(changelog: str, version: str, source: str = "") -> str:
    """Return the changelog's section on a version, with its date if it has one. Raises `NoNotes`.

    `source` is the address of the repository's files at that version; without it links stay relative.
    """
    headings = list(SECTION.finditer(changelog))
    ends = [heading.start() for heading in headings[1:]] + [len(changelog)]
    for heading, end in zip(headings, ends, strict=True):
        if heading["name"] == version:
            text = changelog[heading.end() : end].strip()
            if not text:
                raise NoNotes(f"the changelog says nothing about {version}")
            dated = f" - {heading['date']}" if heading["date"] else ""
            return f"# Hubbub {version}{dated}\n\n{_for_a_forge(text, source)}\n"
    known = ", ".join(heading["name"] for heading in headings) or "none"
    raise NoNotes(f"the changelog has no version {version}; it has {known}")


def _for_a_forge(text: str, source: str) -> str:
    joined = BROKEN_LINE.sub(" ", text)
    return LINK.sub(rf"]({source.rstrip('/')}/\1)", joined) if source else joined


def main() -> None:
    """Print them; ends with exit code 1 where there are none."""
    version, source = [*sys.argv[1:], *DEFAULTS[len(sys.argv) - 1 :]]
    try:
        sys.stdout.write(notes(CHANGELOG.read_text("utf-8"), version, source))
    except NoNotes as missing:
        sys.exit(str(missing))


if __name__ == "__main__":
    main()
