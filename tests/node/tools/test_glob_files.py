import os
from pathlib import Path

import pytest

from hubbub.node.tools.tool_context import ToolContext
from tests.node.file_calls import answer, refusal, value, write


def matches(here: ToolContext, pattern: str, **arguments: object) -> list[str]:
    found: list[str] = value(answer(here, "glob", pattern=pattern, **arguments))["matches"]
    return found


def test_glob_tells_what_was_changed_last_first(here: ToolContext, work: Path) -> None:
    """Files of the same time come by name."""
    write(work, a_py="", b_py="", c_py="")
    for name, changed_at in (("a.py", 100), ("b.py", 300), ("c.py", 100)):
        os.utime(work / name, (changed_at, changed_at))

    assert matches(here, "*.py") == ["b.py", "a.py", "c.py"]


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("*.md", ["top.md"]),
        ("**/*.md", ["docs/a.md", "docs/deep/b.md", "top.md"]),
        ("docs/*.md", ["docs/a.md"]),
        ("docs/**", ["docs/a.md", "docs/deep", "docs/deep/b.md"]),
        ("**/deep/*", ["docs/deep/b.md"]),
        ("d?cs/[a-c].md", ["docs/a.md"]),
        ("**/*.{py,md}", ["docs/a.md", "docs/deep/b.md", "src/x.py", "top.md"]),
        ("{docs,src}/*.*", ["docs/a.md", "src/x.py"]),
        ("top.md", ["top.md"]),
        ("docs/a.md", ["docs/a.md"]),
        ("./docs/*.md", ["docs/a.md"]),
        ("docs/deep/../*.md", ["docs/a.md"]),
        ("none/*", []),
        ("*.{a", []),
        (".*", [".hidden"]),
        ("**/.hidden/*.md", [".hidden/c.md"]),
    ],
)
def test_patterns_are_those_of_a_shell(here: ToolContext, work: Path, pattern: str, found: list[str]) -> None:
    """`**` is any folders, braces are choices, and what begins with a dot must be named by one."""
    write(work, top_md="", docs__a_md="", docs__deep__b_md="", src__x_py="", _hidden__c_md="")
    if pattern == "none/*":
        assert refusal(answer(here, "glob", pattern=pattern))[0] == "not_found"
    else:
        assert sorted(os.path.normpath(each) for each in matches(here, pattern)) == found


def test_paths_are_seen_from_cwd(here: ToolContext, work: Path) -> None:
    """Where a pattern is absolute, so are they."""
    write(work, docs__deep__b_md="")

    assert matches(here, "*/*.md", cwd="docs") == ["deep/b.md"]
    assert matches(here, "**/*.md", cwd=str(work / "docs")) == ["deep/b.md"]
    assert matches(here, f"{work}/docs/**/*.md") == [f"{work}/docs/deep/b.md"]
    assert matches(here, "../docs/deep/*", cwd="docs") == ["../docs/deep/b.md"]


def test_a_cwd_that_is_no_folder_is_refused(here: ToolContext, work: Path) -> None:
    """Whether there is nothing or a file."""
    write(work, a_md="")

    assert refusal(answer(here, "glob", pattern="*", cwd="none"))[0] == "not_found"
    assert refusal(answer(here, "glob", pattern="*", cwd="a.md"))[0] == "invalid"


def test_a_pattern_that_is_too_long_is_invalid(here: ToolContext) -> None:
    """A thousand characters are allowed."""
    assert refusal(answer(here, "glob", pattern="x" * 2000 + "*"))[0] == "invalid"


@pytest.mark.parametrize("pattern", ["*/../*", "{..,a}/*"])
def test_nothing_is_found_by_going_up(here: ToolContext, work: Path, pattern: str) -> None:
    """The gate denies it, and no folder is called `..` to a search."""
    write(work, a__b_md="")

    assert matches(here, pattern) == (["a/b.md"] if "{" in pattern else [])


def test_links_are_found_and_not_followed(here: ToolContext, work: Path) -> None:
    """One that leads into itself does no harm."""
    write(work, real__a_md="")
    (work / "link").symlink_to("real")
    (work / "real" / "loop").symlink_to(work)

    assert sorted(matches(here, "**")) == ["link", "real", "real/a.md", "real/loop"]


def test_closed_folders_links_to_them_and_secrets_are_left_out(here: ToolContext, work: Path) -> None:
    """F5: not even their names are told, whatever the pattern says."""
    home = Path(here.world.home)
    write(home, _ssh__id_rsa="", open_md="")
    write(work, _env="", _envs__x_md="")
    (work / "l").symlink_to(home / ".ssh")
    (work / "k").symlink_to("/etc")

    assert matches(here, "*") == []
    assert matches(here, ".*") == [".envs"]
    assert matches(here, "~/.s*/*") == []
    assert matches(here, "~/*") == [f"{home}/open.md"]
    assert refusal(answer(here, "glob", pattern="~/.ssh/*"))[0] == "denied"
    assert refusal(answer(here, "glob", pattern="l/*"))[0] == "denied"


def test_a_long_answer_is_cut_and_that_is_said(
    here: ToolContext, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The newest are shown, with how many there are."""
    monkeypatch.setattr("hubbub.node.tools.glob_files.MATCHES", 2)
    write(work, a_md="", b_md="", c_md="")
    os.utime(work / "b.md", (100, 100))

    outcome = answer(here, "glob", pattern="*.md")

    assert value(outcome)["truncated"]
    assert "b.md" not in value(outcome)["matches"]
    assert outcome.texts
    assert outcome.texts[1] == "The newest 2 of 3 are shown."


def test_a_walk_ends_when_its_time_is_over(
    here: ToolContext, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The files found by then are told, and that there may be more."""
    monkeypatch.setattr("hubbub.node.tools.glob_files.PATIENCE", -1.0)
    write(work, a_md="")

    outcome = answer(here, "glob", pattern="*.md")

    assert value(outcome) == {"matches": [], "truncated": True}
    assert outcome.texts
    assert "may be more" in outcome.texts[1]
