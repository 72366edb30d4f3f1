from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from hubbub.model.fleet.calls import NodeCall
from hubbub.node.skills.skill_file import SkillOrigin
from hubbub.node.skills.skill_registry import BUILTIN, PINS, SEEN, SkillRegistry
from hubbub.node.tools.tool_context import ToolContext
from shellgate.decision import Effect, Source
from tests.node.tool_contexts import order, place

Write = Callable[..., Path]


@pytest.fixture
def here(tmp_path: Path) -> ToolContext:
    return place(tmp_path)


def write(folder: Path, name: str, text: str = "Do it.") -> Path:
    """A skill in a folder of skills."""
    skill = folder / name
    skill.mkdir(parents=True, exist_ok=True)
    (skill / "SKILL.md").write_text(f"---\nname: {name}\ndescription: About {name}.\n---\n{text}")
    return skill


def shelf(here: ToolContext) -> SkillRegistry:
    return SkillRegistry(here.world, here.policy, here.data)


def origins(here: ToolContext) -> dict[str, SkillOrigin]:
    return {each.name: each.origin for each in shelf(here).skills()}


def work(here: ToolContext) -> Path:
    return Path(here.world.cwd)


def home(here: ToolContext) -> Path:
    return Path(here.world.home)


def test_the_hub_brings_skills_of_its_own(here: ToolContext) -> None:
    """Every skill that comes with the product is a good one, and is named as its folder."""
    assert {name for name, origin in origins(here).items() if origin is SkillOrigin.HUB} == {
        folder.name for folder in BUILTIN.iterdir()
    }
    assert len(origins(here)) >= 3


def test_skills_are_found_where_agents_keep_them(here: ToolContext, tmp_path: Path) -> None:
    """In the project, in the person's home, and where the policy says."""
    write(work(here) / ".claude/skills", "a")
    write(work(here) / ".agents/skills", "b")
    write(work(here) / "skills", "c")
    write(home(here) / ".claude/skills", "d")
    write(home(here) / ".agents/skills", "e")
    write(tmp_path / "team", "f")

    found = origins(replace(here, policy=replace(here.policy, skills=(tmp_path / "team",))))

    assert {name: origin for name, origin in found.items() if origin is not SkillOrigin.HUB} == {
        "a": SkillOrigin.PROJECT,
        "b": SkillOrigin.PROJECT,
        "c": SkillOrigin.PROJECT,
        "d": SkillOrigin.USER,
        "e": SkillOrigin.USER,
        "f": SkillOrigin.USER,
    }


def test_a_projects_skill_overrides_none(here: ToolContext) -> None:
    """Where names are alike, in whatever case, the hub's counts, then the person's."""
    (builtin, *_rest) = BUILTIN.iterdir()
    write(work(here) / "skills", builtin.name.upper(), "Do evil.")
    write(work(here) / "skills", "mine", "Do evil.")
    write(home(here) / ".claude/skills", "mine")

    assert origins(here)["mine"] is SkillOrigin.USER
    assert builtin.name.upper() not in origins(here)
    found = shelf(here).find(builtin.name)
    assert found is not None
    assert found.origin is SkillOrigin.HUB


def test_where_agents_write_is_the_projects(here: ToolContext) -> None:
    """A folder inside the roots is the project's, even if the policy names it or it is the person's own."""
    write(work(here) / "team", "a")
    write(home(here) / ".claude/skills", "b")
    roots = (*here.world.roots, here.world.home)
    here = replace(
        here,
        world=replace(here.world, roots=roots),
        policy=replace(here.policy, skills=(work(here) / "team",)),
    )

    assert origins(here)["a"] is SkillOrigin.PROJECT
    assert origins(here)["b"] is SkillOrigin.PROJECT


def test_links_lead_nowhere(here: ToolContext, tmp_path: Path) -> None:
    """A project's skills are what is in it: no link is followed, to a skill or to a folder of them."""
    write(tmp_path / "secret", "hidden")
    (work(here) / "skills").mkdir()
    (work(here) / "skills" / "hidden").symlink_to(tmp_path / "secret" / "hidden")
    (work(here) / ".claude").symlink_to(tmp_path / "secret")
    (tmp_path / "secret" / "skills").symlink_to(tmp_path / "secret")

    assert "hidden" not in origins(here)


def test_what_is_no_skill_is_left_out(here: ToolContext) -> None:
    """A malformed one beside it does not hide a good one."""
    broken = write(work(here) / "skills", "broken")
    (broken / "SKILL.md").write_text("nothing")
    (work(here) / "skills" / "empty").mkdir()
    (work(here) / "skills" / "README.md").write_text("not even a folder")
    write(work(here) / "skills", "good")

    assert {name for name, origin in origins(here).items() if origin is SkillOrigin.PROJECT} == {"good"}


class TestTheGatesQuestion:
    def run(self, here: ToolContext, **more: object) -> tuple[NodeCall, str | None]:
        """Return the gate's reading of a call, and its question."""
        seen, doubts = shelf(here).examined(order("skill_run", name="tidy", prompt="go", **more))
        assert all((d.effect, d.source) == (Effect.ASK, Source.FLOOR) for d in doubts)
        return seen, doubts[0].reason if doubts else None

    def accept(self, here: ToolContext) -> None:
        seen, _why = self.run(here)
        found = shelf(here).find("tidy")
        assert found is not None
        assert shelf(here).is_seen(found, seen)
        shelf(here).pin(found, seen)

    def test_the_first_use_of_a_projects_skill_asks(self, here: ToolContext) -> None:
        """Code of strangers is not run before a person has seen that it is there; then it asks no more."""
        write(work(here) / "skills", "tidy")

        assert self.run(here)[1] == "the skill 'tidy' comes with the project and was never used here"
        self.accept(here)
        assert self.run(here)[1] is None

    def test_a_change_asks_again(self, here: ToolContext) -> None:
        """A skill that was good once may have become another."""
        folder = write(work(here) / "skills", "tidy")
        self.accept(here)
        (folder / "more.sh").write_text("curl evil")

        assert self.run(here)[1] == "the skill 'tidy' has changed since it was last used"

    def test_the_same_name_elsewhere_asks_again(self, here: ToolContext) -> None:
        """A yes is for one skill in one place."""
        write(work(here) / "skills", "tidy")
        self.accept(here)
        (work(here) / "skills").rename(work(here) / "old")
        write(work(here) / ".claude/skills", "tidy")

        assert self.run(here)[1] is not None

    def test_a_yes_is_to_what_was_seen(self, here: ToolContext) -> None:
        """A replacement of the skill between the question and the run is not what the yes was about."""
        write(work(here) / "skills", "tidy", "Be good.")
        seen, _why = self.run(here)
        write(work(here) / "skills", "tidy", "Be evil.")
        found = shelf(here).find("tidy")

        assert found is not None
        assert not shelf(here).is_seen(found, seen)

    def test_nobody_brings_the_hash_along(self, here: ToolContext) -> None:
        """The caller cannot say what the skill is: the gate looks for itself."""
        write(work(here) / "skills", "tidy")
        honest, _why = self.run(here)
        forged, why = self.run(here, **{SEEN: "0" * 64})

        assert forged == honest
        assert why is not None

    def test_what_cannot_be_looked_at_is_not_run(self, here: ToolContext) -> None:
        """A skill without a hash is seen by nobody, whatever the call says."""
        folder = write(work(here) / "skills", "tidy")
        (folder / "huge").touch()
        with (folder / "huge").open("r+b") as file:
            file.truncate(64 * 1024 * 1024)
        found = shelf(here).find("tidy")
        assert found is not None

        assert not shelf(here).is_seen(found, self.run(here)[0])
        assert SEEN not in self.run(here, **{SEEN: "0" * 64})[0].arguments

    def test_the_hubs_and_the_persons_own_need_no_look(self, here: ToolContext) -> None:
        """Things that a person put into their home are theirs."""
        write(home(here) / ".claude/skills", "tidy")
        seen, why = self.run(here)
        found = shelf(here).find("tidy")
        assert found is not None

        assert why is None
        assert shelf(here).is_seen(found, seen)

    def test_other_calls_and_unknown_skills_are_left_alone(self, here: ToolContext) -> None:
        """The gate learns nothing from the shelf about what it does not know."""
        listing = order("skill_list")

        assert shelf(here).examined(listing) == (listing, ())
        assert self.run(here)[1] is None

    def test_pins_that_were_lost_are_asked_for_again(self, here: ToolContext) -> None:
        """A file that is not what it should be says yes to nothing."""
        write(work(here) / "skills", "tidy")
        self.accept(here)
        for broken in ("{", "[]"):
            (here.data / PINS).write_text(broken)
            assert self.run(here)[1] is not None
        self.accept(here)
        assert self.run(here)[1] is None
