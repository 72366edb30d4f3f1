import asyncio
import codecs
import os
from dataclasses import replace
from pathlib import Path

import pytest

from hubbub.model.fleet.calls import as_json
from hubbub.node.tools.grep_files import LONGEST, MATCHES, SHOWN, TOOLS
from hubbub.node.tools.tool_context import ToolContext
from shellgate.rules import parse
from tests.cli.processes import ends
from tests.node.file_calls import answer, refusal, value, write
from tests.node.tool_contexts import order


def files(here: ToolContext, **arguments: object) -> list[str]:
    """The files in which something was found."""
    rows = value(answer(here, "grep", **{"path": ".", "pattern": "TODO", **arguments}))
    return sorted({row["file"] for row in rows})


def test_grep_tells_file_line_and_text(here: ToolContext, work: Path) -> None:
    """Matches come by file and line; a file is named as the folder was named."""
    write(work, src__b_py="x\n# TODO: two\n", src__a_py="TODO\r\n\nTODO again", top_md="TODO top\n")

    rows = value(answer(here, "grep", pattern="TODO", path="."))

    assert rows == [
        {"file": "src/a.py", "line": 1, "text": "TODO"},
        {"file": "src/a.py", "line": 3, "text": "TODO again"},
        {"file": "src/b.py", "line": 2, "text": "# TODO: two"},
        {"file": "top.md", "line": 1, "text": "TODO top"},
    ]
    assert files(here, path="src") == ["src/a.py", "src/b.py"]
    assert files(here, path=f"{work}/src") == [f"{work}/src/a.py", f"{work}/src/b.py"]


def test_grep_searches_one_file(here: ToolContext, work: Path) -> None:
    """Whether or not it is ignored."""
    write(work, a_py="TODO\n")
    (work / ".gitignore").write_text("*.py\n")

    assert value(answer(here, "grep", pattern="O+", path="a.py")) == [
        {"file": "a.py", "line": 1, "text": "TODO"}
    ]


def test_nothing_found_is_an_empty_list(here: ToolContext, work: Path) -> None:
    """No match is no failure."""
    write(work, a_py="x\n")

    assert value(answer(here, "grep", pattern="TODO", path=".")) == []


def test_grep_respects_gitignore_and_skips_hidden_and_binary_files(here: ToolContext, work: Path) -> None:
    """Ignore files count as for ripgrep, whether or not the folder is a repository."""
    write(work, a_py="TODO\n", build__a_py="TODO\n", _hidden="TODO\n")
    (work / ".gitignore").write_text("build/\n")
    (work / "a.bin").write_bytes(b"TODO\n\0\n")

    assert files(here) == ["a.py"]


def test_grep_may_be_narrowed_by_a_glob(here: ToolContext, work: Path) -> None:
    """Or widened to all but some."""
    write(work, a_py="TODO\n", b_md="TODO\n", sub__c_py="TODO\n")

    assert files(here, glob="*.py") == ["a.py", "sub/c.py"]
    assert files(here, glob="!*.py") == ["b.md"]
    assert files(here, glob="sub/*.{py,md}") == ["sub/c.py"]


@pytest.mark.parametrize("pattern", ["(", "a{2", "[z", "(?=a)", "a\nb", "\0", "x" * (LONGEST + 1)])
def test_a_bad_pattern_is_invalid(here: ToolContext, work: Path, pattern: str) -> None:
    """In one sentence, with ripgrep's reason."""
    write(work, a_py="a\n")

    code, sentence = refusal(answer(here, "grep", pattern=pattern, path="."))

    assert code == "invalid"
    assert "\n" not in sentence
    assert str(work) not in sentence


def test_a_bad_glob_is_invalid(here: ToolContext, work: Path) -> None:
    """It is said which."""
    code, sentence = refusal(answer(here, "grep", pattern="a", path=".", glob="{a"))

    assert code == "invalid"
    assert "glob" in sentence


def test_a_pattern_is_no_option(here: ToolContext, work: Path) -> None:
    """Whatever it begins with, it is searched for."""
    write(work, a_txt="--files and -e\n")

    assert files(here, pattern="--files") == ["a.txt"]
    assert files(here, pattern="-e") == ["a.txt"]


def test_what_is_not_there_is_not_found(here: ToolContext) -> None:
    """Neither a folder nor a file."""
    assert refusal(answer(here, "grep", pattern="a", path="none"))[0] == "not_found"


def test_more_than_a_thousand_matches_are_cut_and_that_is_said(here: ToolContext, work: Path) -> None:
    """In a second text, and in the structured answer."""
    write(work, a_txt="TODO\n" * (MATCHES // 2), b_txt="TODO\n" * MATCHES)

    outcome = answer(here, "grep", pattern="TODO", path=".")

    assert len(value(outcome)) == MATCHES
    assert outcome.texts
    assert "1,000" in outcome.texts[1]
    assert outcome.texts[0] == as_json(outcome.value)
    assert outcome.structured == {"result": outcome.value, "truncated": True}


def test_exactly_a_thousand_matches_are_not_cut(here: ToolContext, work: Path) -> None:
    """Nothing is said to be missing."""
    write(work, a_txt="TODO\n" * MATCHES)

    outcome = answer(here, "grep", pattern="TODO", path=".")

    assert len(value(outcome)) == MATCHES
    assert outcome.texts is None
    assert outcome.structured is None


def test_a_long_line_is_cut_around_the_match(here: ToolContext, work: Path) -> None:
    """Marked where it was cut."""
    write(work, a_txt="x" * 5000 + "TODO" + "y" * 5000 + "\n")

    (row,) = value(answer(here, "grep", pattern="TODO", path="."))

    assert "TODO" in row["text"]
    assert len(row["text"]) == SHOWN + 2
    assert row["text"].startswith("…x")
    assert row["text"].endswith("y…")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_files_with_a_byte_order_mark_are_searched(here: ToolContext, work: Path, encoding: str) -> None:
    """Text with a mark is found as text, and the mark is no part of it."""
    (work / "a.txt").write_bytes("TODO grün\nrest\nTODO 2\n".encode(encoding))

    rows = value(answer(here, "grep", pattern="^TODO", path="."))

    assert [row["text"] for row in rows] == ["TODO grün", "TODO 2"]


def test_text_and_names_that_are_not_utf_8_are_replaced(here: ToolContext, work: Path) -> None:
    """They are found all the same."""
    Path(os.fsdecode(os.fsencode(work) + b"/caf\xe9.txt")).write_bytes(b"TODO caf\xe9\n")

    (row,) = value(answer(here, "grep", pattern="TODO", path="."))

    assert row == {"file": "caf\ufffd.txt", "line": 1, "text": "TODO caf\ufffd"}
    assert codecs.BOM_UTF8 not in row["text"].encode()


def test_closed_folders_links_to_them_and_secrets_are_left_out(here: ToolContext, work: Path) -> None:
    """F5: wherever the search begins, and whatever its glob says."""
    home = Path(here.world.home)
    write(home, _ssh__config="TODO\n", open_txt="TODO\n")
    (work / "keys").symlink_to(home / ".ssh")
    write(work, _env="TODO=1\n", a_pem="TODO\n", a_txt="TODO\n")
    (work / "other-name").hardlink_to(home / ".ssh" / "config")

    assert files(here, glob="*") == ["a.txt"]
    assert files(here, glob="**/.env") == []
    assert files(here, path="~", glob="*") == [f"{home}/open.txt"]
    assert refusal(answer(here, "grep", pattern="TODO", path="~/.ssh/config"))[0] == "denied"
    assert refusal(answer(here, "grep", pattern="TODO", path="other-name"))[0] == "denied"


def test_a_secret_that_is_named_is_searched_once_it_was_decided_about(here: ToolContext, work: Path) -> None:
    """The gate has asked by then."""
    write(work, _env="TODO=1\n")

    assert files(here, path=".env") == [".env"]


def test_what_a_deny_rule_keeps_from_being_read_is_not_found_either(here: ToolContext, work: Path) -> None:
    """A search is no way around the operator's rules."""
    write(work, private__a_txt="TODO\n", open__a_txt="TODO\n")
    denying = replace(here, policy=replace(here.policy, deny=(parse("Read(private/**)"),)))

    assert files(denying) == ["open/a.txt"]
    assert value(answer(denying, "glob", pattern="*/*.txt"))["matches"] == ["open/a.txt"]


def test_links_are_not_followed(here: ToolContext, work: Path) -> None:
    """A file behind a link is found where it is, or not at all."""
    write(work, real__a_txt="TODO\n")
    (work / "link").symlink_to("real")
    (work / "file").symlink_to("real/a.txt")

    assert files(here) == ["real/a.txt"]


def stuck(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let a program search that never ends; it tells its process id by the pipe that this gives."""
    pipe, program = folder / "begun", folder / "rg"
    os.mkfifo(pipe)
    program.write_text(f"#!/bin/sh\necho $$ > {pipe}\nexec tail -f /dev/null\n")
    program.chmod(0o755)
    monkeypatch.setattr("hubbub.node.tools.grep_files.program", lambda: str(program))
    return pipe


def test_a_search_that_nobody_waits_for_ends(
    here: ToolContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its program is ended with the call."""
    pipe = stuck(tmp_path, monkeypatch)

    async def cancelled() -> int:
        search = asyncio.ensure_future(TOOLS["grep"](here, order("grep", pattern="b", path=".")))
        process = int(await asyncio.to_thread(pipe.read_text))
        search.cancel()
        with pytest.raises(asyncio.CancelledError):
            await search
        return process

    assert ends(asyncio.run(cancelled()))


def test_a_search_that_takes_too_long_ends(
    here: ToolContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its program is ended, and the caller is told what to do."""
    pipe = stuck(tmp_path, monkeypatch)
    monkeypatch.setattr("hubbub.node.tools.grep_files.PATIENCE", 0.1)

    async def waited() -> tuple[str, str]:
        search = asyncio.ensure_future(TOOLS["grep"](here, order("grep", pattern="b", path=".")))
        process = int(await asyncio.to_thread(pipe.read_text))
        outcome = await search
        assert ends(process)
        return refusal(outcome)

    code, sentence = asyncio.run(waited())

    assert code == "timeout"
    assert "smaller folder" in sentence
