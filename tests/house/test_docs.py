"""The documents, compared with the code and with each other: what they say is there, and what is there they say."""

import csv
import re
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from pathlib import Path

import click

from docs import kept, nouns, tables, words
from docs.png import LARGEST
from hubbub.cli import hubbub
from hubbub.dialects import discover
from hubbub.model import lifecycle
from hubbub.model.work import permissions
from hubbub.node.policy import node_policy
from hubbub.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])
DECISIONS = sorted(DOCS.glob("decisions/0*.md"))

LINK = re.compile(r"\]\(([^)\s]+)\)")
SHOWN = re.compile(r'\bsrc(?:set)?="([^"]+)"')
POLICY = re.compile(r"^```toml\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TEST = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")
MAKE = re.compile(r"(?:^|`)make ([a-z][a-z0-9-]*)", re.MULTILINE)

TEXTS = {str(page.relative_to(ROOT)): page.read_text("utf-8") for page in PAGES}


def _read(*path: str) -> str:
    return ROOT.joinpath(*path).read_text("utf-8")


@cache
def _anchors(page: Path) -> set[str]:
    """The names under which a page's headings can be linked to."""
    titles = re.findall(r"^#+ (.*)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def _commands(command: click.Command, path: str = "hubbub") -> Iterator[tuple[str, click.Command]]:
    """Every command that does something, with the words that call it."""
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            assert child is not None
            yield from _commands(child, f"{path} {name}")
    else:
        yield path, command


def _options(command: click.Command) -> Iterator[str]:
    return (name for option in command.params if isinstance(option, click.Option) for name in option.opts)


def _places(section: str) -> list[str]:
    """Return the places for the description of a command: a section of its own, or a row of a table."""
    return [section] if section.startswith("hubbub ") else section.splitlines()


def _leads_somewhere(page: Path, link: str) -> bool:
    name, _, anchor = link.partition("#")
    target = (page.parent / name).resolve() if name else page
    return target.exists() and (not anchor or anchor in _anchors(target))


def test_links_lead_somewhere() -> None:
    """Every relative link of a page names a file that is there, and a heading that is in it."""
    assert not [
        f"{page}: {link}"
        for page, text in TEXTS.items()
        for link in LINK.findall(text) + SHOWN.findall(text)
        if "://" not in link and not _leads_somewhere(ROOT / page, link)
    ]


def test_pages_for_users_name_no_source_file() -> None:
    """Who uses hubbub need not have its sources: only pages for those who change or check it name files of them."""
    for_others = re.compile(
        r"CONTRIBUTING|docs/(decisions/.*|architecture|tests|reliability|performance|security"
        r"|how-to/(add-.*|where-do-i-touch|write-an-adapter)|reference/tables)\.md"
    )
    files = re.compile(r"\bsrc/(?:hubbub|shellgate|spliceconf)/[\w/.]+")

    assert not {page: names for page, text in TEXTS.items()
                if not for_others.match(page) and (names := files.findall(text))}  # fmt: skip


def test_every_picture_is_shown() -> None:
    """A picture that no page shows is not kept; and none is so large that readers wait for it."""
    pages = "".join(TEXTS.values())
    files = list(DOCS.joinpath("pictures").iterdir())

    assert files
    assert not [file.name for file in files if f"pictures/{file.name}" not in pages]
    assert max(file.stat().st_size for file in files) <= LARGEST


def test_make_can_do_what_the_pages_say() -> None:
    """Every `make …` on a page is a target of the Makefile."""
    targets = set(re.findall(r"^([a-z0-9-]+):", _read("Makefile"), re.MULTILINE))

    assert not {page: missing for page, text in TEXTS.items() if (missing := {*MAKE.findall(text)} - targets)}


def test_a_test_that_a_page_names_is_there() -> None:
    """A proof that a page points to can be run."""
    assert not [
        f"{page}: {file}::{name}"
        for page, text in TEXTS.items()
        for file, name in TEST.findall(text)
        if not re.search(rf"^(?:async )?def {name}\(", _read(file), re.MULTILINE)
    ]


def test_every_threat_has_its_proof() -> None:
    """Each row of the threat model names what stands against the threat, and at least one test of that."""
    (table,) = re.findall(
        r"^## Threats\n\n\|.+\n\|[-|]+\n((?:\|.+\n)+)", _read("docs", "security.md"), re.MULTILINE
    )
    rows = [row.strip("| ").split(" | ") for row in table.splitlines()]

    assert len(rows) > 30
    for threat, defence, proof in rows:
        assert threat, proof
        assert defence, threat
        assert TEST.findall(proof), threat


def test_a_policy_on_a_page_loads(tmp_path: Path) -> None:
    """A policy copied from a page holds, and is not one that makes a machine deny everything."""
    faults = {}
    for page, text in TEXTS.items():
        for block in () if page.startswith("docs/clients/") else POLICY.findall(text):
            file = tmp_path / ("rules.toml" if "[[rule]]" in block else "node.toml")
            file.write_text(block, "utf-8")
            file.chmod(0o600)
            faults[page, block] = node_policy.load(tmp_path / "node.toml", tmp_path).fault
            file.unlink()

    assert faults
    assert not {where: fault for where, fault in faults.items() if fault is not None}


def test_the_readme_begins_with_the_two_commands() -> None:
    """`make run` and `make test` are what somebody with a fresh clone needs to know."""
    assert {"run", "test"} <= set(MAKE.findall(_read("README.md")))


def test_every_setting_is_documented() -> None:
    """A setting that the reference does not name, or one it names that is not there, is a mistake."""
    documented = set(re.findall(r"`HUBBUB_(\w+)`", _read("docs", "reference", "settings.md")))

    assert {field.name.upper() for field in fields(Settings)} <= documented


def test_every_command_is_documented() -> None:
    """The reference of the command line has every command, and beside it, or with what all have, each option."""
    head, *sections = re.split(r"^## ", _read("docs", "reference", "cli.md"), flags=re.MULTILINE)
    places = [place for section in sections for place in _places(section)]

    for path, command in _commands(hubbub):
        described = [
            place for place in places if re.search(rf"(?:`|^){path}(?:[ `\[]|$)", place, re.MULTILINE)
        ]
        assert described, path
        for option in _options(command):
            assert re.search(rf"[` ]{option}[ `]", "".join([head, *described])), f"{path} {option}"


def test_every_tool_is_documented() -> None:
    """The page of a dialect names each of its tools."""
    for name, dialect in discover().items():
        page = _read("docs", "dialects", f"{name}.md")
        assert not [tool for tool in dialect.tools if f"`{tool}`" not in page]


def test_every_kind_of_activity_is_documented() -> None:
    """A follower of the log can look up every kind of line that may come."""
    page = _read("docs", "reference", "events.md")
    core = "\n".join(
        module.read_text("utf-8")
        for module in (ROOT / "src" / "hubbub" / "core").rglob("*.py")
        if "why" not in module.parts
    )
    kinds = set(re.findall(r'"([a-z]+\.[a-z]+)"', core)) - {"prices.csv"}  # a file

    assert "task.sent" in kinds
    assert not [kind for kind in kinds if f"`{kind}`" not in page]


def test_every_frame_of_the_live_view_is_documented() -> None:
    """A watcher of a run can look up every type of frame that may come."""
    types = set(re.findall(r'"([a-z]+:[a-z]+)"', _read("src", "hubbub", "dialects", "relay", "live_view.py")))

    assert "session:snapshot" in types
    assert not [each for each in types if f"`{each}`" not in _read("docs", "dialects", "relay.md")]


def test_the_picture_of_the_lifecycle_is_drawn_from_the_table() -> None:
    """The diagram in the documentation is what `lifecycle.as_mermaid` draws, to the letter."""
    assert f"```mermaid\n{lifecycle.as_mermaid()}\n```" in _read("docs", "lifecycle.md")


def test_who_may_do_what_is_drawn_from_the_table() -> None:
    """The table in the documentation is what `permissions.as_table` draws, to the letter."""
    assert permissions.as_table() in _read("docs", "lifecycle.md")


def test_the_page_of_words_is_made_from_the_code() -> None:
    """Every status and every field in every dialect is on the page as the code has it; `make docs` writes it."""
    assert words.page() == words.PAGE.read_text("utf-8")


def test_what_is_made_of_the_nouns_is_made_from_the_code() -> None:
    """Every field of a noun is on the page of nouns, and every member of a card in the types of the page's code."""
    assert nouns.page() == nouns.PAGE.read_text("utf-8")
    assert nouns.script() == nouns.SCRIPT.read_text("utf-8")


def test_the_page_of_tables_is_made_from_a_new_database() -> None:
    """Every table, its columns and what its rows name is on the page as migrations make it; `make docs` writes it."""
    assert tables.page() == tables.PAGE.read_text("utf-8")


def test_the_page_of_kept_files_is_made_from_the_code() -> None:
    """Every file that the floor keeps for what programs start from is on the page; `make docs` writes it."""
    assert kept.page() == kept.PAGE.read_text("utf-8")


def test_a_decision_says_why() -> None:
    """Every decision record tells its status, context, decision and consequences, in this order."""
    headings = {
        record.name: re.findall(r"^## (.+)$", record.read_text("utf-8"), re.MULTILINE) for record in DECISIONS
    }
    whole = ["Status", "Context", "Decision", "Consequences"]

    assert not {record: found for record, found in headings.items() if found != whole}


def test_decisions_are_numbered_without_gaps() -> None:
    """The records count on from 0001, and the list of them names each."""
    listed = _read("docs", "decisions", "README.md")

    assert [int(record.name[:4]) for record in DECISIONS] == list(range(1, len(DECISIONS) + 1))
    assert DECISIONS
    assert all(record.name in listed for record in DECISIONS)


def test_the_tests_that_are_shown_are_there() -> None:
    """Each example of the page about the tests stands so in the module that it is from."""
    shown = re.findall(
        r"From `(tests/[\w/]+\.py)`:\n\n```python\n(.*?)\n```", TEXTS["docs/tests.md"], re.DOTALL
    )

    assert len(shown) > 5
    assert not [file for file, example in shown if f"\n{example}\n" not in _read(file)]


def test_who_asks_which_file_does_something_is_answered() -> None:
    """Each of the 40 questions that names of files have to answer has one answer, and that file is there."""
    rows = [*csv.DictReader(_read("docs", "questions.csv").splitlines(), strict=True)]

    assert len({row["question"] for row in rows}) == len({row["path"] for row in rows}) == len(rows) == 40
    assert not [row for row in rows if not row["question"].endswith("?")]
    assert not [row["path"] for row in rows if not ROOT.joinpath(row["path"]).is_file()]
