"""Writes `reference/tables.md`: the tables of the database, theme by theme, and which of them name each other.

`make docs` runs it, and a test says when that was forgotten. Tables and arrows are those of a database that was just
made. A table belongs to the theme of the store's module that fills it.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

import apsw

from docs.words import table
from hubbub.store.migrate import migrate_sqlite

HEAD = """# The tables

`make docs` makes this page from a new database. An arrow from one table to another means that its rows name a row of
the other. Nearly every table has a `project_id`; the drawings leave those arrows out. The
[migration](../../src/hubbub/store/migrations) that creates a table explains what is not obvious; the
[glossary](../glossary.md) has the nouns. Times are Unix milliseconds, ids are UUIDv7."""

PAGE = Path(__file__).parent / "reference" / "tables.md"
STORE = Path(__file__).parents[1] / "src" / "hubbub" / "store"
THEMES = {
    "work": "Tasks and their results",
    "mail": "Messages and inboxes",
    "agents": "Agents: who is there, and which files they edit",
    "people": "People, tokens, projects",
    "fleet": "Machines, and what they may do",
    "cost": "Usage and budgets",
    "log": "What happened, and who is told",
    ".": "The store itself",
}
FILLED = re.compile(r"\bINSERT INTO (\w+)|\bTable\(\s*\"(\w+)\"")


@dataclass(frozen=True)
class Table:
    """A table, its columns, the tables that its rows name, and the module that fills it."""

    name: str
    columns: Sequence[str]
    named: Sequence[str]
    module: Path  # in the store

    @property
    def theme(self) -> str:
        """The folder of the module."""
        return str(self.module.parent)


def page() -> str:
    """Return the page as it has to be: a picture and a list for each theme."""
    tables, parts = [*_tables()], [HEAD]
    for theme, title in THEMES.items():
        own = [each for each in tables if each.theme == theme]
        rows = (
            [f"`{each.name}`", f"[{each.module}]({_address(each.module)})", ", ".join(each.columns)]
            for each in own
        )
        parts += [f"## {title}", _picture(own), table(["table", "filled by", "columns"], rows)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _tables() -> Iterator[Table]:
    """Yield the tables of a new database."""
    modules = _modules()
    with TemporaryDirectory() as folder:
        db = apsw.Connection(":memory:")
        migrate_sqlite(db, Path(folder))
        listed = (
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
        )
        for name in [str(each[0]) for each in db.execute(listed)]:
            columns = [str(each[1]) for each in db.execute(f"PRAGMA table_info({name})")]
            named = {str(each[2]) for each in db.execute(f"PRAGMA foreign_key_list({name})")} - {"projects"}
            yield Table(name, columns, sorted(named), modules[name])


def _modules() -> dict[str, Path]:
    """Return, for each table, the module of the store that fills it; of several, the one that is called like it."""
    found: dict[str, Path] = {}
    for path in sorted(STORE.rglob("*.py"), key=lambda path: (path.parent.name == "engine", path)):
        for name in chain.from_iterable(FILLED.findall(path.read_text("utf-8"))):
            if path.stem == name:
                found[name] = path.relative_to(STORE)
            found.setdefault(name, path.relative_to(STORE))
    return found


def _picture(tables: Sequence[Table]) -> str:
    """Draw which tables name which, as Mermaid; nothing where none names another."""
    arrows = [f"    {each.name} --> {other}" for each in tables for other in each.named]
    return "\n".join(["```mermaid", "flowchart LR", *arrows, "```"]) if arrows else ""


def _address(module: Path) -> str:
    return f"../../src/hubbub/store/{module}"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
