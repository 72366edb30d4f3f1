"""The members of a team."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from hubbub.workspace import teams
from hubbub.workspace.locations import Workspace
from hubbub.workspace.team_errors import TeamError
from hubbub.workspace.teams import TeamAgent

Write = Callable[[str], Path]

FULL = """
agents:
  fe:
    name: Frontend
    emoji: 🎨
    description: builds what people see
    tags: [web, ui]
    tools: [claim_task, send_message]
    systemPrompt: You are {agent_id}.
    language: Korean
    hooks:
      before_task: git pull
      after_task: [make lint, make test]
    validate_prompt: Does it build?
    review_checklist: Is it accessible?
"""


def _short(prompt: str = "P") -> str:
    return f"name: N, emoji: E, tools: [t], systemPrompt: {prompt}"


SHORT = _short()


def _one(workspace: Workspace) -> TeamAgent:
    [persona] = teams.team(workspace, "r1")
    return persona


def test_an_agent_is_what_its_entry_says(workspace: Workspace, team_file: Write) -> None:
    """Every key of an entry is found again in the agent's persona."""
    team_file(FULL)

    assert _one(workspace) == TeamAgent(
        id="fe",
        name="Frontend",
        emoji="🎨",
        description="builds what people see",
        tags=("web", "ui"),
        tools=("claim_task", "send_message"),
        system_prompt="You are fe.",
        language="Korean",
        base_id=None,
        validate_prompt="Does it build?",
        review_checklist="Is it accessible?",
        before_task=("git pull",),
        after_task=("make lint", "make test"),
    )


def test_most_keys_may_be_left_out(workspace: Workspace, team_file: Write) -> None:
    """Name, emoji, tools and prompt make an agent; the description is then empty, the rest is not there."""
    team_file(f"agents: {{fe: {{{SHORT}}}}}")

    assert _one(workspace) == TeamAgent("fe", "N", "E", "", None, ("t",), "P", None, None, None, None, (), ())


@pytest.mark.parametrize("key", ["name", "emoji", "tools", "systemPrompt"])
def test_an_agent_needs_them(workspace: Workspace, team_file: Write, key: str) -> None:
    """A team member that inherits nothing must have a name, an emoji, tools and a prompt."""
    team_file(f"agents: {{fe: {{{re.sub(rf'{key}: [^,]+(, )?', '', SHORT).rstrip(', ')}}}}}")

    with pytest.raises(TeamError, match=f"^session-agents-r1.yml: agent 'fe': {key}: is missing$"):
        teams.team(workspace, "r1")


def test_agents_come_in_the_order_of_the_file(workspace: Workspace, team_file: Write) -> None:
    """A listing has the agents as they are written, without those who are disabled."""
    team_file(
        f"agents: {{z: {{{SHORT}}}, off: {{disabled: true}}, a: {{{SHORT}}}, on: {{{SHORT}, disabled: false}}}}"
    )

    assert [persona.id for persona in teams.team(workspace, "r1")] == ["z", "a", "on"]


def test_blocks_and_ids_are_filled_in(workspace: Workspace, team_file: Write) -> None:
    """`{{name}}` becomes the block, `{agent_id}` the id, also in the block; a block in a block stays, as do braces."""
    team_file(
        f"""
        agents:
          fe: {{{_short("'{agent_id}: {{rules}} {{rules}} { {end} } {{ rules }} {{empty}}'")}}}
        shared_blocks: {{rules: "{{{{end}}}} for {{agent_id}}", end: never, empty: ''}}
        """
    )

    assert _one(workspace).system_prompt == "fe: {{end}} for fe {{end}} for fe { {end} } {{ rules }} "


def test_the_file_speaks_for_agents_that_do_not(workspace: Workspace, team_file: Write) -> None:
    """An agent's own language and checklist come before those of its file."""
    team_file(
        f"""
        agents:
          own: {{{SHORT}, language: French, review_checklist: mine}}
          none: {{{SHORT}}}
        language: German
        review_checklist: ours
        """
    )

    found = {one.id: (one.language, one.review_checklist) for one in teams.team(workspace, "r1")}

    assert found == {"own": ("French", "mine"), "none": ("German", "ours")}


def test_who_extends_another_is_like_it_but_for_what_it_says(workspace: Workspace, team_file: Write) -> None:
    """`extends` brings all that the entry does not say itself; the prompt is then told its own id."""
    team_file(FULL + "  fe2: {extends: fe, name: Second, tags: []}")

    first, second = teams.team(workspace, "r1")

    assert (second.id, second.name, second.base_id, second.tags) == ("fe2", "Second", "fe", ())
    assert second.system_prompt == "You are fe2."
    assert (second.emoji, second.tools, second.language) == (first.emoji, first.tools, first.language)
    assert (second.before_task, second.after_task) == (first.before_task, first.after_task)
    assert (second.validate_prompt, second.review_checklist) == (
        first.validate_prompt,
        first.review_checklist,
    )


def test_the_order_of_entries_does_not_matter(workspace: Workspace, team_file: Write) -> None:
    """One may extend what comes later, and through several others; the base is the one it names."""
    team_file(f"agents: {{c: {{extends: b}}, b: {{extends: a, name: B}}, a: {{{SHORT}}}}}")

    found = [(one.id, one.name, one.emoji, one.base_id) for one in teams.team(workspace, "r1")]

    assert found == [("c", "B", "E", "b"), ("b", "B", "E", "a"), ("a", "N", "E", None)]


@pytest.mark.parametrize(
    ("hooks", "before_task", "after_task"),
    [
        ("false", (), ()),
        ("{}", ("git pull",), ("make lint", "make test")),
        ("{before_task: false}", (), ("make lint", "make test")),
        ("{after_task: false}", ("git pull",), ()),
        ("{after_task: ./check}", ("git pull",), ("./check",)),
    ],
)
def test_hooks_are_inherited_one_by_one(
    workspace: Workspace,
    team_file: Write,
    hooks: str,
    before_task: tuple[str, ...],
    after_task: tuple[str, ...],
) -> None:
    """A hook that an entry does not name is inherited; `false` is none, for one of them or for both."""
    team_file(FULL + f"  fe2: {{extends: fe, hooks: {hooks}}}")

    second = teams.team(workspace, "r1")[1]

    assert (second.before_task, second.after_task) == (before_task, after_task)


def test_who_is_disabled_is_nobodys_base(workspace: Workspace, team_file: Write, pool_file: Write) -> None:
    """To extend an agent that is disabled, here, in the pool or by what it inherits, is an error that names both."""
    pool_file(f"agents: {{off: {{{SHORT}, disabled: true}}, on: {{{SHORT}}}}}")
    for agents, extended in (
        (f"base: {{{SHORT}, disabled: true}}, fe: {{extends: base}}", "base"),
        ("fe: {extends: off}", "off"),
        ("off: {name: Own}, fe: {extends: off}", "off"),
        ("fe: {extends: off, disabled: true}", "off"),
    ):
        team_file(f"agents: {{{agents}}}")
        problem = f"agent 'fe': extends: the agent '{extended}' is disabled"
        with pytest.raises(TeamError, match=rf"^session-agents-r1\.yml: {re.escape(problem)}$"):
            teams.team(workspace, "r1")
    team_file("agents: {on:, fe: {extends: on}, fe2: {extends: fe, disabled: true}}")
    assert [one.id for one in teams.team(workspace, "r1")] == ["on", "fe"]


@pytest.mark.parametrize(
    ("agents", "problem"),
    [
        ("a: {extends: b}", "agent 'a': extends: there is no agent 'b' in this file"),
        ("a: {extends: a}", "agent 'a': extends: a → a goes in a circle"),
        (
            "a: {extends: b}, b: {extends: c}, c: {extends: b}",
            "agent 'a': extends: a → b → c → b goes in a circle",
        ),
        (
            ", ".join(f"a{n}: {{extends: a{n + 1}}}" for n in range(30)) + f", a30: {{{SHORT}}}",
            "agent 'a0': extends: more than 16 agents, one through the other",
        ),
    ],
)
def test_what_cannot_be_extended(workspace: Workspace, team_file: Write, agents: str, problem: str) -> None:
    """Unknown agents, circles and endless chains are refused."""
    team_file(f"agents: {{{agents}}}")

    with pytest.raises(TeamError, match=rf"^session-agents-r1\.yml: {re.escape(problem)}$"):
        teams.team(workspace, "r1")


def test_a_team_takes_from_the_pool(workspace: Workspace, team_file: Write, pool_file: Write) -> None:
    """`extends` looks in the file and then in the pool, and an agent may extend the pool agent of its own id."""
    pool_file(FULL)
    team_file(
        f"agents: {{be: {{{SHORT}}}, fe: {{extends: fe, name: One}}, fe2: {{extends: fe}}, x: {{extends: be}}}}"
    )

    found = [(one.id, one.name, one.base_id, one.system_prompt) for one in teams.team(workspace, "r1")]

    assert found == [
        ("be", "N", None, "P"),
        ("fe", "One", "fe", "You are fe."),
        ("fe2", "One", "fe", "You are fe2."),
        ("x", "N", "be", "P"),
    ]


def test_the_same_id_inherits(workspace: Workspace, team_file: Write, pool_file: Write) -> None:
    """An entry with the id of a pool agent is that agent, but for what it says itself."""
    pool_file(FULL + f"  dev: {{{SHORT}}}\n  be: {{extends: dev}}\n  off: {{{SHORT}, disabled: true}}")
    team_file("agents: {fe: {name: Today}, be:, off:}")

    first, second = teams.team(workspace, "r1")

    assert (first.name, first.tools, first.after_task) == (
        "Today",
        ("claim_task", "send_message"),
        ("make lint", "make test"),
    )
    assert (first.base_id, second.base_id) == (None, "dev")


def test_a_prompt_has_the_blocks_of_its_own_file(
    workspace: Workspace, team_file: Write, pool_file: Write
) -> None:
    """A block means what it means where the prompt is written, also for a team that has one of the same name."""
    quoting = _short("'{{rules}}'")
    pool_file(f"agents: {{fe: {{{quoting}}}}}\nshared_blocks: {{rules: from the pool}}")
    team_file(
        "agents: {fe:, be: {extends: fe, systemPrompt: '{{rules}}'}}\nshared_blocks: {rules: from the team}"
    )

    assert [one.system_prompt for one in teams.team(workspace, "r1")] == ["from the pool", "from the team"]


def test_language_and_checklist_across_files(
    workspace: Workspace, team_file: Write, pool_file: Write
) -> None:
    """The language of a team's file comes before what is inherited, its checklist after that."""
    pool_file(f"agents: {{fe: {{{SHORT}, language: French}}}}\nreview_checklist: of the pool")
    team_file(
        "agents: {fe:, be: {extends: fe, language: Czech}}\nlanguage: German\nreview_checklist: of the team"
    )

    found = [(one.language, one.review_checklist) for one in teams.team(workspace, "r1")]

    assert found == [("German", "of the pool"), ("Czech", "of the pool")]


def test_the_pool_is_in_the_relay_folder_or_at_the_root(workspace: Workspace) -> None:
    """The pool in the relay folder comes before the one at the root of the project."""
    (workspace.root / "agents.pool.yml").write_text(f"agents: {{root: {{{SHORT}}}}}")
    assert [one.id for one in teams.pool(workspace)] == ["root"]

    (workspace.folder / "agents.pool.yml").write_text(f"agents: {{folder: {{{SHORT}}}}}")
    assert [one.id for one in teams.pool(workspace)] == ["folder"]


def test_the_pool_stands_alone(workspace: Workspace, pool_file: Write) -> None:
    """Agents of the pool extend agents of the pool, and no others."""
    pool_file("agents: {fe: {extends: be}}")

    with pytest.raises(
        TeamError, match=r"^agents\.pool\.yml: agent 'fe': extends: there is no agent 'be' in this file$"
    ):
        teams.pool(workspace)


def test_files_that_are_not_there(workspace: Workspace) -> None:
    """A missing team file is named, and a missing pool is told as Relay tells it."""
    with pytest.raises(TeamError, match=r"^session-agents-r1\.yml is not in the relay folder$"):
        teams.team(workspace, "r1")
    with pytest.raises(TeamError, match=r"^No agent pool configured$"):
        teams.pool(workspace)


def test_a_broken_pool_is_not_passed_over(workspace: Workspace, team_file: Write, pool_file: Write) -> None:
    """A pool that cannot be read fails the team that stands on it, with the name of the pool's file."""
    team_file(f"agents: {{fe: {{{SHORT}}}}}")
    pool_file("agents: [")

    with pytest.raises(TeamError, match=r"^agents\.pool\.yml: line 1: "):
        teams.team(workspace, "r1")


@pytest.mark.parametrize("run", ["", "..", "a/b", "../../etc/passwd", "a.b", "ä", "x" * 129, "a\n", "a\0"])
def test_a_run_leads_nowhere_else(workspace: Workspace, run: str) -> None:
    """Only what can be the name of a run is looked for."""
    with pytest.raises(
        TeamError, match=r"names no team file: 1 to 128 letters from A to Z, digits, '-' or '_'$"
    ):
        teams.team(workspace, run)


def test_no_prompt_is_endless(workspace: Workspace, team_file: Write) -> None:
    """Prompts that grow beyond all use by their blocks are refused before they are built."""
    endless = _short("'" + "{{b}}" * 10_000 + "'")
    team_file(f"agents: {{fe: {{{endless}}}}}\nshared_blocks: {{b: {'x' * 100_000}}}")

    with pytest.raises(TeamError, match=r"all prompts together exceed 4,194,304 characters$"):
        teams.team(workspace, "r1")


def test_one_persona(workspace: Workspace, team_file: Write, pool_file: Write) -> None:
    """An agent is looked for in the run's team, or in the pool if the run has none; the disabled are nowhere."""
    pool_file(FULL + "  off: {extends: fe, disabled: true}\n  be: {extends: fe, name: Pooled}")
    pooled = teams.team_agent(workspace, "r1", "be")
    assert pooled is not None
    assert pooled.name == "Pooled"
    assert teams.team_agent(workspace, "r1", "off") is None
    assert teams.team_agent(workspace, "r1", "who") is None

    team_file("agents: {fe: {hooks: false}}")
    first = teams.team_agent(workspace, "r1", "fe")
    assert first is not None
    assert first.after_task == ()
    assert teams.team_agent(workspace, "r1", "be") is None


def test_nobody_without_files(workspace: Workspace) -> None:
    """Where there are no team files, nobody has a persona."""
    assert teams.team_agent(workspace, "r1", "fe") is None


@pytest.mark.parametrize("name", ["session-agents-r1.yml", "agents.pool.yml", "../agents.pool.yml"])
def test_whether_there_are_team_files(workspace: Workspace, name: str) -> None:
    """A pool at either place, or the team file of any run, is a team file; other files are not."""
    (workspace.folder / "session-agents-r1.yml.bak").touch()
    assert not teams.are_there(workspace)

    (workspace.folder / name).touch()
    assert teams.are_there(workspace)


def test_no_folder_no_files(tmp_path: Path) -> None:
    """Where there is no relay folder there are no team files; where it cannot be looked into, there may be."""
    assert not teams.are_there(Workspace(tmp_path, tmp_path / ".relay"))

    (tmp_path / ".relay").touch()
    assert teams.are_there(Workspace(tmp_path, tmp_path / ".relay"))


def test_the_documented_example_works(workspace: Workspace, team_file: Write, pool_file: Write) -> None:
    """The example of the reference means what the reference says it does."""
    page = (Path(__file__).parents[2] / "docs/reference/team-files.md").read_text("utf-8")
    pooled, team, _ = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    pool_file(pooled)
    team_file(team)

    [dev, pool_fe] = teams.pool(workspace)
    fe, fe2 = teams.team(workspace, "r1")

    assert fe == pool_fe
    assert fe.tools == dev.tools
    assert (fe2.name, fe2.base_id, fe2.language) == ("Second frontend", "fe", "English")
    assert 'Always set agent_id to "fe2".' in fe2.system_prompt
    assert (fe2.before_task, fe2.after_task) == ((), ("make lint", "make test"))
