"""One dialect as an MCP server: its tools, the hub's resources, and a prompt on how to work here.

The SDK is given the lists and passes on each request with its params checked; everything else is the dialect's and the
core's. The caller is identified per request, by the token that came with it.
"""

import logging
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any
from uuid import UUID

from mcp import types
from mcp.server import Server
from mcp.server.context import CallNext, HandlerResult
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError
from starlette.requests import Request

import hubbub
from hubbub.core.people.access import StaleToken
from hubbub.core.presence import wakes
from hubbub.core.transaction import Transactions
from hubbub.dialects.call import Call, HubContext, NotYet
from hubbub.dialects.dialect import Dialect, Shape, complete
from hubbub.model.agents.connections import Connection
from hubbub.model.errors import HubError, Invalid
from hubbub.model.fleet.calls import InputRequired, ToolResult
from hubbub.model.mail.wakes import READ_INBOX
from hubbub.model.people.rights import Actor
from hubbub.serve.http.guard import actor_of
from hubbub.serve.live import resources
from hubbub.serve.live.subscribers import Subscribers
from hubbub.serve.mcp.address_options import AddressOptions, options_of
from hubbub.serve.mcp.connection_cache import ConnectionCache
from hubbub.serve.mcp.elicitation import client_of, input_required, state_boundary
from hubbub.serve.mcp.listeners import Measure, Saw, unmeasured, unseen
from hubbub.serve.mcp.request_context import (
    Context,
    arguments,
    call_context,
    caller,
    idempotency_key,
    progress_reporter,
    resource_not_found,
)
from hubbub.serve.mcp.resource_updates import ResourceUpdates
from hubbub.store.tx import Tx

PROMPT = "work-here"
PROMPT_SAYS = "How an agent works with this hub"
REFUSED = -32000  # JSON-RPC leaves this range to servers

log = logging.getLogger(__name__)


class DialectServer:
    """The handlers of the SDK's requests, answered by a dialect. `server` is the SDK's side of it."""

    def __init__(
        self,
        dialect: Dialect,
        transactions: Transactions,
        followers: Subscribers,
        known: ConnectionCache,
        site: HubContext,
        *,
        measure: Measure = unmeasured,
        saw: Saw = unseen,
    ) -> None:
        self.dialect = dialect
        self.site = site
        self.measure, self.saw = measure, saw
        self.transactions = transactions
        self.tools = types.ListToolsResult(tools=[_tool(dialect, name) for name in dialect.tools])
        self.known = known
        push = ResourceUpdates(transactions, followers, known)
        self.server: Server[Any] = Server(
            dialect.name,
            version=hubbub.__version__,
            instructions=dialect.guide,
            get_tool_input_schema=self.input_schema,
            on_list_tools=self.list_tools,
            on_call_tool=self.call_tool,
            on_list_resources=self.list_resources,
            on_list_resource_templates=self.list_resource_templates,
            on_read_resource=self.read_resource,
            on_subscribe_resource=push.subscribe,
            on_unsubscribe_resource=push.unsubscribe,
            on_subscriptions_listen=push.listen,
            on_list_prompts=self.list_prompts,
            on_get_prompt=self.get_prompt,
        )
        self.server.middleware[:] = [refusals]  # without the SDK's tracing, which costs time in every call
        if dialect.streams:
            self.server.middleware.append(state_boundary(dialect.name))

    def input_schema(self, name: str) -> dict[str, Any] | None:
        """Return the schema of a tool's arguments; None if there is no such tool."""
        tool = self.dialect.tools.get(name)
        return dict(tool.schema) if tool else None

    async def list_tools(self, ctx: Context, params: object) -> types.ListToolsResult:
        asked = options_of(ctx.request)
        return types.ListToolsResult(tools=[tool for tool in self.tools.tools if asked.has(tool.name)])

    async def call_tool(
        self, ctx: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        call = call_context(ctx, self.site)
        call.client, call.progress = client_of(ctx, params), progress_reporter(ctx)
        key, call.attempt = idempotency_key(ctx)
        try:
            answer = await self.perform(
                self.transactions,
                caller(ctx),
                params.name,
                arguments(ctx, params),
                key=key,
                call=call,
                asked=options_of(ctx.request),
            )
        except InputRequired as first:
            return input_required(first)
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=text) for text in answer.shown],
            structured_content=dict(answer.content),
            is_error=answer.is_error,
        )

    async def perform(
        self,
        transactions: Transactions,
        actor: Actor,
        tool: str,
        given: Mapping[str, object],
        *,
        key: str | None,
        call: Call,
        asked: AddressOptions,
        shape: Shape = complete,
    ) -> ToolResult:
        """Do a call of a tool, however it came in; `asked` are the options of its address.

        `shape` is as in `Dialect.call`, if nothing is added to the result.
        """
        if not asked.has(tool):
            return ToolResult(self.dialect.unknown(tool), is_error=True)
        begun = time.perf_counter()
        try:
            shape = complete if asked.unread else shape
            answer = await self.dialect.call(transactions, actor, tool, given, key, call, shape=shape)
        except (NotYet, StaleToken):  # it will be made again
            raise
        except BaseException:
            self._note(actor, call, tool, begun)
            raise
        self._note(actor, call, tool, begun)
        speaker = _speaker(actor, call)
        if speaker is None or not asked.unread:
            return answer
        mail = await self.transactions.read(actor, lambda tx: wakes.mention(tx, *speaker))
        if mail is None:
            return answer
        told = mail.replace(READ_INBOX, self.dialect.read_mail)
        return replace(answer, texts=(*answer.shown, told), structured=answer.content)

    async def leave(self, request: Request, connection: Connection) -> None:
        """Tell the dialect that a client ends its connection; the end holds whatever the dialect refuses."""
        leave = self.dialect.leave
        if leave is None:
            return
        call = Call(site=self.site, headers=request.headers, connection=connection.id)

        def operation(tx: Tx) -> None:
            tx.door = self.dialect.name
            leave(tx, call)

        with suppress(HubError):
            await self.transactions.write(actor_of(request.scope), operation)

    def _note(self, actor: Actor, call: Call, tool: str, begun: float) -> None:
        self.measure(self.dialect, tool, time.perf_counter() - begun)
        speaker = _speaker(actor, call)
        if speaker is not None and tool in self.dialect.tools:
            self.saw(*speaker, f"{self.dialect.name}.{tool}")

    async def list_resources(self, ctx: Context, params: object) -> types.ListResourcesResult:
        return types.ListResourcesResult(
            resources=[
                types.Resource(
                    uri=entry.address,
                    name=entry.name,
                    description=entry.description,
                    mime_type=resources.MIME_TYPE,
                )
                for entry in resources.listed(caller(ctx))
            ]
        )

    async def list_resource_templates(
        self, ctx: Context, params: object
    ) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(
            resource_templates=[
                types.ResourceTemplate(
                    uri_template=entry.address,
                    name=entry.name,
                    description=entry.description,
                    mime_type=resources.MIME_TYPE,
                )
                for entry in resources.TEMPLATES
            ]
        )

    async def read_resource(
        self, ctx: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        uri = str(params.uri)
        with resource_not_found(ctx, uri):
            text = await self.transactions.read(caller(ctx), lambda tx: resources.read(tx, uri))
        contents = types.TextResourceContents(uri=uri, mime_type=resources.MIME_TYPE, text=text)
        return types.ReadResourceResult(contents=[contents])

    async def list_prompts(self, ctx: Context, params: object) -> types.ListPromptsResult:
        argument = types.PromptArgument(name="name", description="The name you work under", required=False)
        prompt = types.Prompt(name=PROMPT, description=PROMPT_SAYS, arguments=[argument])
        return types.ListPromptsResult(prompts=[prompt])

    async def get_prompt(self, ctx: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        if params.name != PROMPT:
            raise MCPError(types.INVALID_PARAMS, f"there is no such prompt; the only one is {PROMPT}")
        name = (params.arguments or {}).get("name") or caller(ctx).agent
        text = f"You work here as {name}.\n\n{self.dialect.guide}" if name else self.dialect.guide
        message = types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))
        return types.GetPromptResult(description=PROMPT_SAYS, messages=[message])


async def refusals(ctx: Context, call_next: CallNext) -> HandlerResult:
    """Turn a refusal into a JSON-RPC error, and a bug into one without details."""
    try:
        return await call_next(ctx)
    except (MCPError, ValidationError):
        raise
    except Exception as error:  # noqa: BLE001  # it is logged there
        raise as_told(error, ctx.method) from None


def as_told(error: Exception, method: str) -> MCPError:
    """Make the protocol's error for a refusal, or for a bug, which is logged. Call it where the error was caught."""
    if isinstance(error, HubError):
        code = types.INVALID_PARAMS if isinstance(error, Invalid) else REFUSED
        return MCPError(code, str(error), {"error": error.code})
    log.error("a bug in %s", method, exc_info=error)
    return MCPError(types.INTERNAL_ERROR, "the hub failed to answer this; its log says why")


def _speaker(actor: Actor, call: Call) -> tuple[UUID, str] | None:
    """Return the project and the agent that called a tool, if they are known."""
    if actor.project_id is not None and actor.agent is not None:
        return actor.project_id, actor.agent
    return call.speaker


def _tool(dialect: Dialect, name: str) -> types.Tool:
    tool = dialect.tools[name]
    return types.Tool(
        name=tool.name,
        description=tool.description,
        input_schema=dict(tool.schema),
        annotations=types.ToolAnnotations(read_only_hint=tool.reads),
    )
