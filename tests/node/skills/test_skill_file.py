import os
from pathlib import Path

import pytest

from hubbub.node.skills import skill_file
from hubbub.node.skills.skill_file import MOST_FILES, SIZE, Skill, SkillOrigin, UnusableSkill
from tests.support.each_row import each_row

GOOD = "---\nname: tidy\ndescription: Tidies up.\n---\nPut things away.\n"


def read(folder: Path, content: str | bytes | None = None) -> Skill:
    folder.mkdir(exist_ok=True)
    if content is not None:
        (folder / "SKILL.md").write_bytes(content if isinstance(content, bytes) else content.encode())
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        return skill_file.read(folder, descriptor, SkillOrigin.PROJECT)
    finally:
        os.close(descriptor)


def test_a_skill_is_front_matter_and_text(tmp_path: Path) -> None:
    """Name and description come from the YAML between the dashes, the text is what follows."""
    front = "name: tidy-up\r\ndescription: >\r\n  Tidies\r\n  up.\r\nlicense: MIT\r\n"
    content = f"\ufeff---\r\n{front}---\r\n# Tidy\r\n\r\n---\r\nend\r\n"

    found = read(tmp_path, content)

    assert (found.name, found.description) == ("tidy-up", "Tidies up.")
    assert found.text == "# Tidy\r\n\r\n---\r\nend"


@each_row(
    ("content", "why"),
    [
        ("Put things away.", "does not begin with YAML"),
        ("---\nname: tidy\ndescription: Never ends.\n", "does not begin with YAML"),
        ("---\nname: [\n---\n", "not YAML"),
        ("---\n" + "[" * 2000 + "\n---\n", "not YAML"),
        ("---\n- tidy\n---\n", "not a mapping"),
        ("---\ndescription: Nameless.\n---\n", "its name must be"),
        ("---\nname: ../tidy\ndescription: Elsewhere.\n---\n", "its name must be"),
        ("---\nname: [tidy]\ndescription: A list.\n---\n", "its name must be"),
        ("---\nname: tidy\n---\n", "no description"),
        (f"---\nname: tidy\ndescription: {'x' * 1025}\n---\n", "longer than 1024"),
        (f"---\nname: tidy\ndescription: x\nmore: {'x' * 17_000}\n---\n", "front matter is longer"),
        (GOOD + "x" * SIZE, "larger than"),
        (b"---\nname: tidy\ndescription: \xff\n---\n", "not UTF-8"),
    ],
)
def test_what_is_no_skill_says_why(tmp_path: Path, content: str | bytes, why: str) -> None:
    """A file that is not of the form is refused with a reason, whatever is in it."""
    with pytest.raises(UnusableSkill, match=why):
        read(tmp_path, content)


def test_front_matter_that_would_grow_without_bound_does_not(tmp_path: Path) -> None:
    """Anchors that multiply are text like any other, read in no time."""
    levels = "".join(f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 9)}]}}\n" for n in range(1, 30))
    content = f"---\na0: &a0 {{x: y}}\n{levels}name: tidy\ndescription: Tidies.\n---\n"

    assert read(tmp_path, content).name == "tidy"


def test_links_and_pipes_are_not_read(tmp_path: Path) -> None:
    """A `SKILL.md` that leads elsewhere, or never ends, is none."""
    (tmp_path / "elsewhere.md").write_text(GOOD)
    for name in ("link", "pipe"):
        (tmp_path / name).mkdir()
    (tmp_path / "link" / "SKILL.md").symlink_to(tmp_path / "elsewhere.md")
    os.mkfifo(tmp_path / "pipe" / "SKILL.md")

    with pytest.raises(UnusableSkill, match="is a link"):
        read(tmp_path / "link")
    with pytest.raises(UnusableSkill, match="is not a file"):
        read(tmp_path / "pipe")


def test_the_hash_tells_any_change(tmp_path: Path) -> None:
    """Whatever changes in a skill's folder changes its hash: text, files, names, and where links lead."""
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "run.sh").write_text("echo 1")
    seen = {read(tmp_path, GOOD).digest()}

    def changed() -> bool:
        digest = read(tmp_path).digest()
        is_new = digest not in seen
        seen.add(digest)
        return is_new

    assert not changed()
    (tmp_path / "scripts" / "run.sh").write_text("echo 2")
    assert changed()
    (tmp_path / "scripts" / "run.sh").rename(tmp_path / "scripts" / "go.sh")
    assert changed()
    (tmp_path / "scripts" / "SKILL.md").write_text("not the skill's own")
    assert changed()
    (tmp_path / "lib").symlink_to(tmp_path / "scripts")
    assert changed()
    (tmp_path / "lib").unlink()
    (tmp_path / "lib").symlink_to("/")
    assert changed()
    (tmp_path / "SKILL.md").write_text(GOOD + "And more.")
    assert changed()


def test_a_folder_that_is_no_skills_size_has_no_hash(tmp_path: Path) -> None:
    """A skill that cannot be looked at as a whole cannot be trusted either."""
    found = read(tmp_path, GOOD)
    for number in range(MOST_FILES + 1):
        (tmp_path / str(number)).touch()

    with pytest.raises(UnusableSkill, match="more than"):
        found.digest()
