"""Assembly of this machine: its policy, its gate, its audit log, its tools."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from hubbub.model.fleet.calls import ToolSpec
from hubbub.model.redaction import Redactor, names_secret
from hubbub.node.agents.supervisor import AgentSupervisor
from hubbub.node.audit.audit_log import FILE, AuditLog
from hubbub.node.gate import host_facts
from hubbub.node.local_node import LocalNode
from hubbub.node.policy import node_policy
from hubbub.node.policy.node_policy import PolicyFile
from hubbub.node.requests.hub_client import HubClient
from hubbub.node.tools import (
    agents,
    commands,
    delegation,
    downloads,
    files,
    forwarding,
    grep_files,
    logs,
    permissions,
    skills,
    ssh,
)
from hubbub.node.tools.tool_context import Tool

TOOLS: Mapping[str, Tool] = {
    name: tool
    for module in (
        agents,
        commands,
        forwarding,
        delegation,
        downloads,
        files,
        logs,
        permissions,
        grep_files,
        skills,
        ssh,
    )
    for name, tool in module.TOOLS.items()
}


def open_node(
    *,
    data: Path,
    log_file: Path,
    config: Path,
    cwd: Path,
    hub: HubClient,
    catalogue: Sequence[ToolSpec],
    secrets: Iterable[str] = (),
    name: str | None = None,
    environment: Mapping[str, str] | None = None,
    is_attended: bool = False,
    policy_file: Path | None = None,
    keeps_agents: bool = False,
) -> LocalNode:
    """Build this machine, with `data` as its own folder and the policy of `policy_file`, else `node.toml` in `config`.

    Agents work in `cwd`, unless the policy names another; `log_file` is the daemon's log, which they may read.
    `secrets` are shown to nobody, wherever they appear. `is_attended` says that the operator sits at the client, and is
    asked there whatever the policy says. `keeps_agents` says that people may place agents here: it is for the one
    process that always runs.
    """
    variables = {**(os.environ if environment is None else environment)}  # os.environ is slow to read
    home = Path(variables.get("HOME") or Path.home()).resolve()
    cwd = cwd.resolve()
    file = PolicyFile(policy_file or config / node_policy.FILE, cwd, home=home)
    redactor = Redactor([*secrets, *_held(variables)])
    around = host_facts.HostFacts(home=home, cwd=cwd, own=(data, config), environment=variables)
    return LocalNode(
        about=host_facts.describe(data, name=name),
        data=data,
        log_file=log_file,
        world=around.world,
        policy=(lambda: replace(file.current(), elicitation=True)) if is_attended else file.current,
        hub=hub,
        redactor=redactor,
        audit=AuditLog(data / FILE),
        tools=TOOLS,
        catalogue=catalogue,
        agents=AgentSupervisor(hub, data, redactor.text) if keeps_agents else None,
    )


def _held(variables: Mapping[str, str]) -> Iterable[str]:
    """Yield the secrets in the environment."""
    return (value for name, value in variables.items() if names_secret(name))
