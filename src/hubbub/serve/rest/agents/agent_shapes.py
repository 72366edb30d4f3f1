"""The JSON of agents: their states, places, last activities, and wakers."""

from typing import Literal
from uuid import UUID

from pydantic import Field

from hubbub.model.fleet.managed_agents import ManagedAgentStatus
from hubbub.model.log.attention import AgentState
from hubbub.model.mail.wakes import WakeMethod
from hubbub.model.records import Condition
from hubbub.serve.rest.base.shapes import NeedShape, OutlookShape, Shape


class TodoItemShape(Shape):
    text: str
    done: bool


class PlacedShape(Shape):
    node: str = Field(description="the machine on which it was started")
    status: ManagedAgentStatus
    since: int
    restarts: int
    exit_code: int | None = Field(description="of its last end")


class WorkShape(Shape):
    id: UUID
    number: int
    title: str
    started_at: int | None


class ToldShape(Shape):
    at: int
    kind: Literal["notified", "seen", "acked"] = Field(description="how far the message got")
    after_ms: int = Field(description="how long after it came into the inbox that was")


class LastWakeShape(Shape):
    id: UUID
    at: int
    status: str = Field(description="woken, queued; or how it ended: answered, refused, ignored, …")
    client: str | None
    method: WakeMethod | None
    answered_ms: int | None = Field(description="how long after it the agent looked into its inbox")


class WakeShape(OutlookShape):
    method: str = Field(description="stream, wait or worker; a waker's method; or none: it looks by itself")
    last: ToldShape | None = Field(description="the newest message that it was told of")
    last_wake: LastWakeShape | None = Field(description="the last wake that anybody brought it")


class AgentShape(Shape):
    name: str
    condition: Condition
    state: AgentState = Field(
        description="its state as people see it: its condition, unless something says more"
    )
    need: NeedShape | None = Field(description="why a person is needed, and from when on; null: for nothing")
    live: bool = Field(description="whether it is there now")
    unread: int = Field(description="messages and tasks that wait to be acknowledged")
    description: str | None = Field(None, description="what people say that it is for")
    doing: str | None = None
    instance: str | None = None
    hostname: str | None = None
    server: str | None = None
    runtime: str | None = None
    model: str | None = None
    output: str | None = None
    progress: float | None = None
    area: str | None = Field(None, description="where it says, or said last, that it works")
    files: list[str] | None = Field(None, description="and on what: paths and patterns")
    todos: list[TodoItemShape] = Field(description="its to-do list")
    machine: str | None = Field(None, description="where it runs, as far as is known")
    placed: PlacedShape | None = Field(
        None, description="how it fares, if it was started on a machine from here"
    )
    work: WorkShape | None = Field(None, description="the task that it began last, of those that it works on")
    last_output: str | None = Field(None, description="the last line that it was seen to put out")
    last_output_at: int | None = None
    last_tool: str | None = Field(None, description="the last tool that it called here, after its dialect")
    last_tool_at: int | None = None
    wake: WakeShape
    since: int | None = Field(None, description="when its present or last presence began")
    seen_at: int | None = None
    expires_at: int | None = Field(None, description="when it is gone, if it stays silent")
    now: int = Field(description="the hub's time, to see how long that is")
    created_at: int
