"""Changes by others to a file between the install and the uninstall stay, and exactly ours is gone."""

import json
import re
from collections.abc import Container, Sequence
from pathlib import Path
from typing import Any

import pytest

from hubbub.clients.install.client_installer import USER, ClientInstaller
from hubbub.clients.install.install_plan import InstallPlan
from hubbub.clients.install.known_clients import CLIENTS
from hubbub.clients.install.undo import held, undo
from spliceconf import BOM, EDITORS, ended, newline, without
from tests.clients.install.conftest import Place, each_sample, files_of

MARKS = {
    "jsonc": "/* noted */",
    "yaml": "# noted",
    "toml": "# noted",
}  # a comment, in languages that have some
LINES = {"yaml": "LATER: 1", "toml": "[later]\nx = 1", "env": "LATER=1"}
COMMENTED = ["cursor", "vscode", "gemini", "opencode", "zed", "goose"]
OURS = re.compile(
    r"""(?m)^.*?(?="hub(bub)?":[ ]) | ^[ ]*(?=hub:\s+enabled) | ^(?=\[mcp_servers\.hubbub\]\s+url[ ]=[ ]"http)""",
    re.VERBOSE,
)


def laid(
    place: Place, sample: Path, languages: Container[str] = tuple(EDITORS)
) -> tuple[ClientInstaller, list[tuple[Path, str]]]:
    """Return the client of the sample, with the sample in the place of each of its files in the same language.

    No files where that is none of `languages`: what others could do to them can't be done there.
    """
    client = CLIENTS[sample.parent.name]
    (_, wanted), *_ = files = files_of(place, client, USER)
    same = [(file, language) for file, language in files if language == wanted and wanted in languages]
    for file, _ in same:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(sample.read_bytes())
    return client, same


def read(file: Path) -> str:
    return file.read_bytes().decode()


def write(file: Path, text: str) -> None:
    file.write_bytes(text.encode())


def said(text: str, language: str) -> Any:
    """Return the data of the text, without the section that an install may have left empty."""
    data = EDITORS[language].load(text)
    for section in ("mcpServers", "mcp", "servers", "context_servers", "extensions", "mcp_servers"):
        data = without(data, (section, "hubbub"))
    return data


def with_other_ends(files: Sequence[tuple[Path, str]]) -> str:
    """Change the line ends of each file, as an editor may do; return the new ones."""
    (end,) = {"\n" if "\r\n" in read(file) else "\r\n" for file, _ in files}
    for file, _ in files:
        write(file, ended(read(file), end))
    return end


@pytest.mark.system
@each_sample
def test_line_ends_that_were_changed_meanwhile_stay_changed(place: Place, sample: Path) -> None:
    """A file that somebody's editor gave other line ends is what it was, with those."""
    client, files = laid(place, sample)
    done = place.install(client, USER)
    end = with_other_ends(files)
    place.uninstall(done)

    assert {read(file) for file, _ in files} == {ended(read(sample), end)}


@pytest.mark.system
@each_sample
def test_a_second_install_over_other_line_ends_can_be_taken_back_too(place: Place, sample: Path) -> None:
    """An install over an earlier one leaves as little, where the line ends changed between the two."""
    client, files = laid(place, sample)
    done = place.install(client, USER)
    end = with_other_ends(files)
    plan = InstallPlan()
    undo(plan, done)
    plan.add(client.changes(place.request(USER)))
    plan.apply(place.config, lambda: None)
    place.uninstall(plan.done)

    assert {read(file) for file, _ in files} == {ended(read(sample), end)}


@pytest.mark.system
@pytest.mark.parametrize("where", ["first", "last", "before ours", "behind ours"])
@each_sample
def test_a_comment_that_was_added_meanwhile_stays(place: Place, sample: Path, where: str) -> None:
    """Whatever a person noted beside our entry is theirs, and what the file says otherwise is the same."""
    client, files = laid(place, sample, MARKS)
    if not files:
        return
    done = place.install(client, USER)
    files = [(file, language) for file, language in files if OURS.search(read(file))]
    for file, language in files:
        write(file, commented(read(file), language, where))
    place.uninstall(done)

    for file, language in files:
        assert read(file).count("noted") == 1
        assert said(read(file), language) == said(read(sample), language)
        assert blank(read(file).replace(MARKS[language], "")) == blank(read(sample))


def commented(text: str, language: str, where: str) -> str:
    mark, end = MARKS[language], newline(text)
    found = OURS.search(text)
    assert found is not None
    if where == "first":
        head = BOM if text.startswith(BOM) else ""
        return head + mark + end + text.removeprefix(head)
    if where == "last":
        return text + ("" if text.endswith("\n") else end) + mark + end
    if language != "jsonc":
        return f"{text[: found.start()]}{found[0]}{mark}{end}{text[found.start() :]}"
    at = found.end() if where == "before ours" else behind(text, found.end())
    return text[:at] + mark + text[at:]


def behind(text: str, at: int) -> int:
    """Return the end of the value of the JSON key at `at`."""
    return json.JSONDecoder().raw_decode(text, text.index("{", at))[1]


def blank(text: str) -> str:
    """The text without what parts its words; an empty section is nothing."""
    bare = "".join(text.split())
    return re.sub(r',?"?(mcpServers|mcp|servers|context_servers|extensions)"?:({}|(?=#|$))', "", bare)


@pytest.mark.system
@each_sample
def test_lines_that_were_appended_meanwhile_stay(place: Place, sample: Path) -> None:
    """Entries added behind ours stay where they would be without it."""
    client, files = laid(place, sample, LINES)
    if not files:
        return
    done = place.install(client, USER)
    end = newline(read(sample))
    later = ended(LINES[files[0][1]] + "\n", end)
    for file, _ in files:
        text = read(file)
        write(file, text + ("" if text.endswith("\n") else end) + later)
    place.uninstall(done)

    text = read(sample)
    parted = text + (end if text.removeprefix(BOM) and not text.endswith("\n") else "")
    assert all(read(file) == parted + later for file, _ in files)


@pytest.mark.system
@each_sample
def test_a_member_that_was_added_meanwhile_stays(place: Place, sample: Path) -> None:
    """Settings that a client added stay, beside all that was there before."""
    client, files = laid(place, sample, {"json", "jsonc"})
    if not files:
        return
    done = place.install(client, USER)
    for file, language in files:
        write(file, EDITORS[language].put(read(file), ("later",), {"x": 1})[0])
    place.uninstall(done)

    for file, language in files:
        assert said(read(file), language) == {**said(read(sample), language), "later": {"x": 1}}


@pytest.mark.parametrize("name", COMMENTED)
@pytest.mark.parametrize("where", ["first", "last", "before ours", "behind ours"])
def test_a_comment_in_a_file_that_was_made_for_us_stays(place: Place, name: str, where: str) -> None:
    """The file is a person's from then on: it stays, says nothing more than the comment, and can be installed into."""
    client = CLIENTS[name]
    done = place.install(client, USER)
    file, language = files_of_entry(place, client)
    write(file, commented(read(file), language, where))
    place.uninstall(done)

    assert "noted" in read(file)
    assert said(read(file), language) == {}
    left = place.tree()
    place.uninstall(place.install(client, USER))
    assert place.tree() == left


def files_of_entry(place: Place, client: ClientInstaller) -> tuple[Path, str]:
    change = client.changes(place.request(USER))[0]
    return change.file, change.language  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", ["cursor", "opencode", "codex"])
def test_what_a_forced_install_replaced_is_no_conflict_again(place: Place, name: str) -> None:
    """Ours is there, and the other's is kept for the uninstall: a second install changes nothing."""
    client = CLIENTS[name]
    file, language = files_of_entry(place, client)
    keys = client.changes(place.request(USER))[0].keys  # type: ignore[attr-defined]
    file.parent.mkdir(parents=True)
    write(file, EDITORS[language].put("", keys, {"url": "http://other/mcp"})[0])
    before, done = place.tree(), place.install(client, USER)
    plan = InstallPlan()
    plan.held = held(plan.files, done)
    undo(plan, done)
    plan.add(client.changes(place.request(USER)))

    assert plan.conflicts == []
    assert plan.files.changed() == []
    place.uninstall(plan.done)
    assert place.tree() == before


def test_what_somebody_put_in_place_of_ours_is_a_conflict(place: Place) -> None:
    """An entry that is no longer as the install wrote it is replaced only on purpose."""
    client = CLIENTS["cursor"]
    done = place.install(client, USER)
    file, _ = files_of_entry(place, client)
    write(file, read(file).replace("127.0.0.1:8420", "other:1"))
    plan = InstallPlan()
    plan.held = held(plan.files, done)
    undo(plan, done)
    plan.add(client.changes(place.request(USER)))

    assert plan.conflicts == [f"{file} has another mcpServers.hubbub already"]
