"""The tools for long-term memory, summaries, and the orchestrator's own notes."""

from typing import Annotated

from pydantic import AfterValidator, Field

from hubbub.core.people import runs
from hubbub.core.work import memory, summaries
from hubbub.dialects.call import Call
from hubbub.dialects.dialect import Reply
from hubbub.dialects.relay.tool_set import DIALECT, Name, RunId, Text, enter, no
from hubbub.model.errors import NotFound
from hubbub.model.people.rights import Right
from hubbub.store.tx import Tx

LINE_ENDS = frozenset("\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029")


def _key(key: str) -> str:
    if key.startswith("#") or not LINE_ENDS.isdisjoint(key):
        raise ValueError("must not begin with # and must be one line")
    return key


Key = Annotated[str, Field(min_length=1, max_length=256), AfterValidator(_key)]
Long = Annotated[str, Field(max_length=131_072)]


@DIALECT.tool(reads=True)
def read_memory(tx: Tx, call: Call, agent_id: Name | None = None) -> Reply:
    """Read your memory; the project's, if agent_id is left out."""
    here = enter(tx, call, agent_id, Right.READ)
    document = memory.read(tx, here.project.id, here.name if agent_id is not None else None)
    return {"content": document.text if document is not None else None}


@DIALECT.tool()
def write_memory(tx: Tx, call: Call, key: Key, content: Long, agent_id: Name | None = None) -> Reply:
    """Write a section of your memory, replacing its content; of the project's, if agent_id is left out."""
    here = enter(tx, call, agent_id)
    memory.write(tx, here.project.id, here.name if agent_id is not None else None, key, content)
    return {}


@DIALECT.tool()
def append_memory(tx: Tx, call: Call, agent_id: Name, content: Long) -> Reply:
    """Add something to your memory, with the date."""
    here = enter(tx, call, agent_id)
    memory.append(tx, here.project.id, here.name, content)
    return {}


@DIALECT.tool()
def save_session_summary(tx: Tx, call: Call, agent_id: Name, session_id: RunId, summary: Long) -> Reply:
    """Keep what happened in a session, for those who come later."""
    here = enter(tx, call, agent_id)
    summaries.save(tx, here.project.id, session_id, here.name, summary)
    return {}


@DIALECT.tool(reads=True)
def list_sessions(tx: Tx, call: Call, agent_id: Name) -> Reply:
    """List the sessions with a summary, newest first."""
    here = enter(tx, call, agent_id, Right.READ)
    return {"sessions": summaries.names(tx, here.project.id)}


@DIALECT.tool({NotFound: lambda _e: no("session not found")}, reads=True)
def get_session_summary(tx: Tx, call: Call, agent_id: Name, session_id: RunId) -> Reply:
    """The summary of a session."""
    here = enter(tx, call, agent_id, Right.READ)
    return {"summary": summaries.find(tx, here.project.id, session_id).text}


@DIALECT.tool()
def save_orchestrator_state(tx: Tx, call: Call, agent_id: Name, state: Text) -> Reply:
    """Keep what you need to go on after your context was compacted. One for each session."""
    here = enter(tx, call, agent_id)
    runs.write_notebook(tx, here.run, state, by=here.name)
    return {}


@DIALECT.tool(reads=True)
def get_orchestrator_state(tx: Tx, call: Call, agent_id: Name) -> Reply:
    """Return the state kept by save_orchestrator_state in this session; null if there is none."""
    return {"state": enter(tx, call, agent_id, Right.READ).run.notebook}
