"""Memory, summaries and the orchestrator's state: what is there for those who come later."""

import json
from datetime import UTC, datetime

import pytest

from tests.dialects.conftest import both_engines
from tests.dialects.relay.callers import Team, no, yes
from tests.dialects.relay.requirements import requires

TEXTS = [
    "four spaces, no tabs",
    "",
    "\n\n leading and trailing \n\n",
    "## a heading\n\nof its own\n\n## and another",
    "---\n*2026-03-14*\n\nlooks like an append",
    "Ünïcode 🦊\r\n名\ttab",
]


def _memory(team: Team, name: str | None = None) -> str | None:
    """Return the text of the memory of an agent, or of the project."""
    caller = team.agent(name or "lead")
    content: str | None = yes(caller.read_memory(agent_id=name))["content"]
    return content


@requires("read_memory.none", "read_memory.agent", "read_memory.project")
def test_there_is_no_memory_at_first(team: Team) -> None:
    """The project's memory and an agent's are null until something is written."""
    assert _memory(team) is None
    assert _memory(team, "fe") is None


@requires("write_memory.adds", "write_memory.reply", "write_memory.project", "read_memory.agent",
          "read_memory.project", "memory.apart", "memory.form")  # fmt: skip
def test_memories_are_apart(team: Team) -> None:
    """The project's memory and each agent's are documents of their own, with their sections in order."""
    fe, be = team.agent("fe"), team.agent("be")
    assert yes(fe.write_memory(key="tech-stack", content="of fe")) == {}
    assert yes(be.write_memory(key="tech-stack", content="of be")) == {}
    assert yes(fe.write_memory(agent_id=None, key="tech-stack", content="of all")) == {}
    assert yes(be.write_memory(agent_id=None, key="约定 #2", content="more")) == {}

    assert _memory(team, "fe") == "## tech-stack\n\nof fe\n"
    assert _memory(team, "be") == "## tech-stack\n\nof be\n"
    assert _memory(team) == "## tech-stack\n\nof all\n\n## 约定 #2\n\nmore\n"
    assert yes(be.read_memory(agent_id=None))["content"] == _memory(team)


@requires("write_memory.replaces")
@both_engines
def test_a_section_is_replaced_in_its_place(team: Team) -> None:
    """Writing a key again changes its content, and neither its place nor any other section."""
    fe = team.agent("fe")
    for key in ("a", "b", "c"):
        fe.write_memory(key=key, content=f"old {key}")

    yes(fe.write_memory(key="b", content="new"))

    assert _memory(team, "fe") == "## a\n\nold a\n\n## b\n\nnew\n\n## c\n\nold c\n"


@requires("memory.headings", "memory.form", "write_memory.replaces")
@pytest.mark.parametrize("text", TEXTS)
def test_content_is_not_torn(team: Team, text: str) -> None:
    """Content of any kind, with lines like headings too, is read back to the letter, and replaced as a whole."""
    fe = team.agent("fe")
    fe.write_memory(key="before", content="1")
    fe.write_memory(key="k", content=text)
    fe.write_memory(key="after", content="2")

    assert _memory(team, "fe") == f"## before\n\n1\n\n## k\n\n{text}\n\n## after\n\n2\n"
    fe.write_memory(key="k", content="short")
    assert _memory(team, "fe") == "## before\n\n1\n\n## k\n\nshort\n\n## after\n\n2\n"


@requires("memory.twenty")
@both_engines
@pytest.mark.parametrize("whose", [None, "fe"])
def test_twenty_writes_at_once_keep_twenty_sections(team: Team, whose: str | None) -> None:
    """None of 20 writes of different keys at once, to a memory that was not there yet, is lost."""
    team.begin()
    writes = [{"agent_id": whose, "key": f"k{n}", "content": f"c{n}"} for n in range(20)]

    answers = team.program().at_once("write_memory", writes)

    assert all(yes(answer) == {} for answer in answers)
    memory = yes(team.member("fe").read_memory(agent_id=whose))["content"]
    sections = memory.removesuffix("\n").split("\n\n## ")
    assert sorted(each.removeprefix("## ") for each in sections) == sorted(f"k{n}\n\nc{n}" for n in range(20))


@requires("memory.twenty", "append_memory.appends")
@both_engines
def test_appends_and_writes_at_once_keep_everything(team: Team) -> None:
    """None of ten appends and ten writes to one memory at once is lost."""
    team.begin()
    fe = team.member("fe")
    asked = [fe.soon("append_memory", content=f"appended {n}.") for n in range(10)]
    asked += [fe.soon("write_memory", key=f"k{n}", content=f"written {n}.") for n in range(10)]
    for each in asked:
        assert yes(each()) == {}

    memory = _memory(team, "fe") or ""
    for n in range(10):
        assert memory.count(f"appended {n}.") == memory.count(f"written {n}.") == 1


@requires("append_memory.appends", "append_memory.reply", "memory.append", "memory.apart")
def test_what_is_appended_has_its_date(team: Team) -> None:
    """An append is a blank line, ---, the UTC date in italics, a blank line and the content, in one's own memory."""
    fe = team.agent("fe")
    fe.write_memory(key="k", content="c")
    day = datetime.fromtimestamp(team.hub.clock() / 1000, UTC).date()

    assert yes(fe.append_memory(content="## learned\nmuch")) == {}
    assert yes(fe.append_memory(content="more")) == {}

    first = f"\n---\n*{day}*\n\n## learned\nmuch\n"
    assert _memory(team, "fe") == f"## k\n\nc\n{first}\n---\n*{day}*\n\nmore\n"
    assert (_memory(team), _memory(team, "be")) == (None, None)


@requires("save_session_summary.reply", "save_session_summary.keeps", "get_session_summary.reply")
@pytest.mark.parametrize("text", TEXTS)
def test_a_summary_is_kept(team: Team, text: str) -> None:
    """The saved state of a session is read back to the letter, by anyone, and the newer replaces the older."""
    lead = team.agent("lead")
    yes(lead.save_session_summary(session_id="2026-03-14-007", summary="older"))

    assert yes(lead.save_session_summary(session_id="2026-03-14-007", summary=text)) == {}

    assert yes(team.agent("fe").get_session_summary(session_id="2026-03-14-007")) == {"summary": text}


@requires("list_sessions.newest_first", "summaries.empty")
@both_engines
def test_sessions_are_listed(team: Team) -> None:
    """The sessions with a summary are listed newest first, whatever they are called; at first there are none."""
    lead = team.agent("lead")
    lead.start_session(session_id="without")
    assert yes(lead.list_sessions()) == {"sessions": []}

    for run in ("b", "c", "a"):
        team.later(seconds=1)
        lead.save_session_summary(session_id=run, summary=run)
    lead.save_session_summary(session_id="b", summary="again")

    assert yes(lead.list_sessions()) == {"sessions": ["a", "c", "b"]}


@requires("summaries.unknown", "tokens.foreign")
def test_a_session_without_a_summary(team: Team, elsewhere: Team) -> None:
    """A session that was never summed up, or in another project only: session not found."""
    lead = team.agent("lead")
    lead.start_session(session_id="r")
    elsewhere.agent("lead").save_session_summary(session_id="r", summary="s")

    for run in ("r", "unknown"):
        assert no(lead.get_session_summary(session_id=run)) == "session not found"


@requires("save_orchestrator_state.reply", "get_orchestrator_state.reply", "get_orchestrator_state.none",
          "save_orchestrator_state.scoped")  # fmt: skip
def test_the_state_is_kept_to_the_letter(team: Team) -> None:
    """State is null at first, then whatever text was saved last, whoever asks, and never looked into."""
    lead = team.agent("lead")
    assert yes(lead.get_orchestrator_state()) == {"state": None}

    for state in (json.dumps({"iteration": 3, "base_agents": ["名"]}), "not JSON {", ""):
        assert yes(lead.save_orchestrator_state(state=state)) == {}
        assert yes(team.agent("fe").get_orchestrator_state()) == {"state": state}
