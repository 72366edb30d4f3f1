"""The tools that reach other machines, their agents, and the workspaces they are in."""

from datetime import timedelta
from typing import Annotated, Literal

from pydantic import Field, WithJsonSchema

from hubbub.dialects.call import Call
from hubbub.dialects.cmdop import argument_checks, connect_operations
from hubbub.dialects.cmdop.tool_set import DIALECT, Name, TimeoutMs
from hubbub.dialects.dialect import Reply
from hubbub.store.tx import Tx

TotalMs = Annotated[int, Field(ge=1000, le=600_000)]
PerHostMs = Annotated[int, Field(ge=1000, le=300_000)]
Hosts = Annotated[
    list[str],
    Field(min_length=1),
    WithJsonSchema({"type": "array", "items": {"type": "string"}}),
]
Operation = Literal[
    "list",
    "exec",
    "share",
    "key_set",
    "key_show",
    "key_clear",
    "workspace_list",
    "workspace_use",
    "workspace_sync",
    "whoami",
]


@DIALECT.tool(told_once="url", shown=connect_operations.shown, fits=argument_checks.connect)
def connect(
    tx: Tx,
    call: Call,
    operation: Operation,
    hostname: Name | None = None,
    command: str | None = None,
    timeout_ms: TimeoutMs | None = None,
    expires_in: Annotated[int, Field(ge=60, le=2_592_000)] | None = None,
    key: Annotated[str, Field(min_length=1, max_length=500)] | None = None,
    workspace: Name | None = None,
) -> Reply:
    """Reach the machines and workspaces of the hub.

    list: the machines of the workspace. exec: run a command on hostname. share: a link to a view of hostname, good for
    expires_in seconds. key_set, key_show, key_clear: the workspace's API key. workspace_list, workspace_use,
    workspace_sync: your workspaces. whoami: this machine.
    """
    lasts = timedelta(seconds=expires_in) if expires_in is not None else None
    wanted = connect_operations.ConnectArguments(hostname=hostname, lasts=lasts, key=key, workspace=workspace)
    return connect_operations.OPERATIONS[operation](tx, call, wanted)


@DIALECT.on_machine()
def ssh_session(
    operation: Literal["open", "send", "read", "close", "list"],
    hostname: Name | None = None,
    session_id: Name | None = None,
    command: str | None = None,
) -> None:
    """A shell on another machine over SSH: open one to hostname, send it a command, read what came, close it."""


@DIALECT.on_machine()
def ask_agent(hostname: str, prompt: str, timeout_ms: TimeoutMs | None = None) -> None:
    """Have the agent of a machine work on a prompt; gives its text and the tool calls that it made."""


@DIALECT.on_machine()
def ask_agent_stream(hostname: str, prompt: str, timeout_ms: TimeoutMs | None = None) -> None:
    """Like ask_agent; its text comes as progress while it works, and whole at the end."""


@DIALECT.on_machine(fits=argument_checks.hosts)
def ask_agents(
    hostnames: Hosts,
    prompt: str,
    per_host_timeout_ms: PerHostMs | None = None,
    total_timeout_ms: TotalMs | None = None,
) -> None:
    """Have the agents of some machines work on a prompt at once. by_host has what each said, timed_out who didn't."""
