"""The tools about the surroundings of the work: the hub, the run, the team."""

from hubbub.core.agents import connections
from hubbub.core.people import runs
from hubbub.dialects.call import Call
from hubbub.dialects.dialect import Reply
from hubbub.dialects.relay.tool_set import (
    DIALECT,
    Name,
    RelayContext,
    RunId,
    enter,
    identify,
    no,
    run_named,
)
from hubbub.model.people.rights import Right
from hubbub.store.tx import Tx
from hubbub.workspace import team_listing
from hubbub.workspace.hook_steps import LISTS
from hubbub.workspace.locations import Workspace

NO_FOLDER = "there is no such file: the hub has no relay folder; over stdio it is that of your machine"


@DIALECT.tool(reads=True)
def get_server_info(tx: Tx, call: Call, agent_id: Name) -> Reply:
    """The dashboard's address and what else there is to know of the hub. Call this before you begin."""
    here = enter(tx, call, agent_id, Right.READ)
    return {
        "dashboardUrl": call.site.url,
        "dashboardAvailable": True,
        "port": call.site.port,
        "sessionId": here.run.name,
        "instanceId": call.site.instance,
    }


@DIALECT.tool()
def start_session(tx: Tx, call: Call, agent_id: Name, session_id: RunId) -> Reply:
    """Declare the session to work in; call it once, before any other tool. An old one shows its rows again."""
    run_named(tx, call)  # it has to be a valid name, though the run does not change
    project, name = identify(tx, call, agent_id)
    runs.start(tx, project.id, session_id, by=name)
    connections.remember(tx, call.connection, session_id)
    return {"session_id": session_id}


@DIALECT.tool(reads=True)
def list_agents(tx: Tx, call: Call, agent_id: Name, session_id: RunId | None = None) -> Reply:
    """The agents of a session's team, from its team file; none without a session_id."""
    here = enter(tx, call, agent_id, Right.READ)
    if session_id is None or call.meta.get(LISTS):
        return {"agents": []}
    workspace = _workspace(call, here)
    if workspace is None:
        return no(f"session-agents-{session_id}.yml: {NO_FOLDER}")
    return {"agents": team_listing.team(workspace, session_id)}


@DIALECT.tool(reads=True)
def list_pool_agents(tx: Tx, call: Call, agent_id: Name) -> Reply:
    """All agents of the pool, to choose a team from; without their prompts."""
    here = enter(tx, call, agent_id, Right.READ)
    if call.meta.get(LISTS):
        return {"agents": []}
    workspace = _workspace(call, here)
    if workspace is None:
        return no("No agent pool configured")
    return {"agents": team_listing.pool(workspace)}


def _workspace(call: Call, here: RelayContext) -> Workspace | None:
    """Return the relay folder of the hub itself; it belongs to one project alone."""
    return call.site.workspace if here.project.slug == call.site.workspace_project else None
