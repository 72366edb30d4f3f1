import asyncio
from pathlib import Path
from typing import Any

from hubbub.model.fleet.calls import NodeCall, ToolResult
from hubbub.node.policy.node_policy import OpenAIRuntime
from hubbub.node.skills.skill_registry import PINS, SkillRegistry
from hubbub.node.tools.skills import TOOLS, skill_run
from hubbub.node.tools.tool_context import ToolContext
from tests.cli.processes import ends
from tests.node.model_endpoint import Calls, Says, endpoint
from tests.node.tool_contexts import NotingHub, begun, endless, order, place, shell


def call(here: ToolContext, asked: NodeCall) -> ToolResult:
    async def called() -> ToolResult:
        return await TOOLS[asked.tool](here, asked)

    return asyncio.run(called())


def let_through(here: ToolContext, asked: NodeCall) -> NodeCall:
    """The order as it leaves the gate when a person has said yes."""
    return SkillRegistry(here.world, here.policy, here.data).examined(asked)[0]


def write(folder: Path, name: str, text: str) -> Path:
    (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / name / "SKILL.md").write_text(f"---\nname: {name}\ndescription: About {name}.\n---\n{text}\n")
    return folder / name


def value(outcome: ToolResult) -> dict[str, Any]:
    assert isinstance(outcome.value, dict)
    return outcome.value


def test_skill_list_tells_name_origin_and_description(tmp_path: Path) -> None:
    """Every skill that can be run is a row, in the order of their names."""
    here = place(tmp_path)
    write(tmp_path / "work" / "skills", "tidy", "Do.")

    rows = call(here, order("skill_list")).value

    assert isinstance(rows, list)
    assert {"name": "tidy", "origin": "project", "description": "About tidy."} in rows
    assert {"hub", "project"} == {row["origin"] for row in rows}
    assert [row["name"] for row in rows] == sorted(row["name"] for row in rows)


def test_skill_run_puts_the_skill_in_front_of_the_prompt(tmp_path: Path) -> None:
    """The agent reads the skill's text, where its files are, and then what it is asked; it is a task of the hub."""
    hub = NotingHub()
    here = place(tmp_path, hub=hub, runtime=shell("cat"))
    folder = write(tmp_path / "work" / "skills", "tidy", "Put things away.")

    outcome = call(here, let_through(here, order("skill_run", name="Tidy", prompt="the kitchen")))

    text = f"Put things away.\n\nThe files of this skill are in {folder.resolve()}.\n\n---\n\nthe kitchen"
    assert outcome.value == {"text": text, "tool_calls": [], "task_id": "1", "status": "done"}
    assert (hub.tasks["1"].title, hub.tasks["1"].text) == ("tidy: the kitchen", text)


def test_skill_run_tells_the_tools_that_were_called(tmp_path: Path) -> None:
    """The agent's steps on its way are in the result."""

    async def gate(asked: NodeCall) -> ToolResult:
        return ToolResult(value={"content": "x", "truncated": False})

    with endpoint(Calls([("read_file", {"path": "a"})]), Says(["tidy"])) as model:
        runtime = OpenAIRuntime(model.url, "m")
        here = place(tmp_path, runtime=runtime, perform=gate)
        outcome = call(here, order("skill_run", name="code-review", prompt="this"))

    assert value(outcome)["tool_calls"] == [{"name": "read_file", "arguments": {"path": "a"}, "ok": True}]
    assert model.asked[0]["messages"][-1]["content"].startswith("# Reviewing a change")


def test_a_skill_that_was_used_is_remembered(tmp_path: Path) -> None:
    """The next use of the same project's skill raises no doubt."""
    here = place(tmp_path, runtime=shell("cat"))
    write(tmp_path / "work" / "skills", "tidy", "Do.")
    asked = order("skill_run", name="tidy", prompt="go")

    call(here, let_through(here, asked))

    assert SkillRegistry(here.world, here.policy, here.data).examined(asked)[1] == ()


def test_a_skill_that_the_gate_has_not_seen_is_not_run(tmp_path: Path) -> None:
    """A project's skill that changed after the question, or was never looked at, is refused and not remembered."""
    here = place(tmp_path, runtime=shell("touch ran"))
    write(tmp_path / "work" / "skills", "tidy", "Be good.")
    asked = order("skill_run", name="tidy", prompt="go")
    seen = let_through(here, asked)
    write(tmp_path / "work" / "skills", "tidy", "Be evil.")

    for each in (asked, seen):
        outcome = call(here, each)
        assert value(outcome)["code"] == "failed"
        assert "has changed since a person was asked" in value(outcome)["error"]
    assert not (tmp_path / "work" / "ran").exists()
    assert not (here.data / PINS).exists()


def test_an_unknown_skill_is_not_found(tmp_path: Path) -> None:
    """The answer says where to look."""
    outcome = call(place(tmp_path), order("skill_run", name="fly", prompt="go"))

    assert value(outcome) == {
        "error": "there is no skill 'fly'; skill_list tells which there are",
        "code": "not_found",
    }


def test_a_machine_without_an_agent_says_how_to_get_one(tmp_path: Path) -> None:
    """The task that was begun ends as failed."""
    hub = NotingHub()
    outcome = call(place(tmp_path, hub=hub), order("skill_run", name="hand-over", prompt="go"))

    assert value(outcome)["code"] == "failed"
    assert value(outcome)["status"] == "failed"
    assert "[runtime] in node.toml" in value(outcome)["error"]
    assert hub.tasks["1"].failed


def test_a_caller_that_leaves_ends_the_run(tmp_path: Path) -> None:
    """A caller that waits for a skill and gives up stops it; its task says so."""
    hub = NotingHub()
    here = place(tmp_path, hub=hub, runtime=endless(tmp_path))

    async def story() -> int:
        asked = order("skill_run", name="code-review", prompt="go")
        calling = asyncio.create_task(skill_run(here, asked))
        pid = await begun(here)
        calling.cancel()
        await asyncio.gather(calling, return_exceptions=True)
        return pid

    pid = asyncio.run(story())

    assert hub.tasks["1"].failed
    assert ends(pid)
