"""One dialect as an MCP server: its tools, the hub's resources, and a prompt that says how to work here.

The SDK is told what there is and hands over each request with its params checked; everything else is the dialect's
and the core's. Who asks is decided per request, by the token that came with it.
"""

import logging
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any
from uuid import UUID

from mcp import types
from mcp.server import Server
from mcp.server.context import CallNext, HandlerResult
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

import hubbub
from hubbub.core import wakes
from hubbub.core.transaction import Transactions
from hubbub.dialects.call import Call, Site
from hubbub.dialects.dialect import Dialect
from hubbub.model.errors import HubError, Invalid
from hubbub.model.orders import AskFirst, Outcome
from hubbub.model.rights import Actor
from hubbub.serve import resources
from hubbub.serve.followers import Followers
from hubbub.serve.mcp.asking import client_of, sealed, unfinished
from hubbub.serve.mcp.context import (
    Context,
    arguments,
    caller,
    idempotency_key,
    progress,
    resource_not_found,
    surroundings,
)
from hubbub.serve.mcp.narrowed import wanted
from hubbub.serve.mcp.push import Push

PROMPT = "work-here"
PROMPT_SAYS = "How an agent works with this hub"
REFUSED = -32000  # JSON-RPC leaves this range to servers

log = logging.getLogger(__name__)

Measure = Callable[[Dialect, str], AbstractContextManager[None]]  # around a call of the tool of that name


Saw = Callable[[UUID, str, str], None]  # told of a project, its agent, and the tool that this called


def unmeasured(_dialect: Dialect, _tool: str) -> AbstractContextManager[None]:
    """Measures nothing."""
    return nullcontext()


def unseen(_project: UUID, _agent: str, _tool: str) -> None:
    """Notes nothing."""


class DialectServer:
    """What the SDK asks for, answered by a dialect. `server` is the SDK's side of it."""

    def __init__(
        self,
        dialect: Dialect,
        transactions: Transactions,
        followers: Followers,
        site: Site,
        *,
        measure: Measure = unmeasured,
        saw: Saw = unseen,
    ) -> None:
        self.dialect = dialect
        self.site = site
        self.measure, self.saw = measure, saw
        self.transactions = transactions
        self.tools = types.ListToolsResult(tools=[_tool(dialect, name) for name in dialect.tools])
        push = Push(transactions, followers)
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
        self.server.middleware[:] = [refusals]  # and not the SDK's tracing, which every call would pay for
        if dialect.streams:
            self.server.middleware.append(sealed(dialect.name))

    def input_schema(self, name: str) -> dict[str, Any] | None:
        """The schema of a tool's arguments; None if there is no such tool."""
        tool = self.dialect.tools.get(name)
        return dict(tool.schema) if tool else None

    async def list_tools(self, ctx: Context, params: object) -> types.ListToolsResult:
        asked = wanted(ctx.request)
        return types.ListToolsResult(tools=[tool for tool in self.tools.tools if asked.has(tool.name)])

    async def call_tool(
        self, ctx: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        if not wanted(ctx.request).has(params.name):
            return _result(Outcome(self.dialect.unknown(params.name), is_error=True))
        call = surroundings(ctx, self.site)
        call.client, call.progress = client_of(ctx, params), progress(ctx)
        try:
            with self.measure(self.dialect, params.name):
                answer = await self.dialect.call(
                    self.transactions,
                    caller(ctx),
                    params.name,
                    arguments(ctx, params),
                    idempotency_key(ctx),
                    call,
                )
        except AskFirst as first:
            return unfinished(first)
        finally:
            self._note(caller(ctx), call, params.name)
        return _result(answer, await self._mail(ctx, call))

    def _note(self, actor: Actor, call: Call, tool: str) -> None:
        speaker = _speaker(actor, call)
        if speaker is not None and tool in self.dialect.tools:
            self.saw(*speaker, f"{self.dialect.name}.{tool}")

    async def _mail(self, ctx: Context, call: Call) -> str | None:
        """What the caller is to be told of its mail, where its address asks for that."""
        speaker = _speaker(caller(ctx), call)
        if speaker is None or not wanted(ctx.request).unread:
            return None
        return await self.transactions.read(caller(ctx), lambda tx: wakes.mention(tx, *speaker))

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
    """Say a refusal as a JSON-RPC error, and of a bug no more than that there is one."""
    try:
        return await call_next(ctx)
    except (MCPError, ValidationError):
        raise
    except HubError as error:
        code = types.INVALID_PARAMS if isinstance(error, Invalid) else REFUSED
        raise MCPError(code, str(error), {"error": error.code}) from None
    except Exception:
        log.exception("a bug in %s", ctx.method)
        raise MCPError(types.INTERNAL_ERROR, "the hub failed to answer this; its log says why") from None


def _speaker(actor: Actor, call: Call) -> tuple[UUID, str] | None:
    """The project and the agent that called a tool, where that is known."""
    if actor.project_id is not None and actor.agent is not None:
        return actor.project_id, actor.agent
    return call.speaker


def _result(answer: Outcome, mail: str | None = None) -> types.CallToolResult:
    texts = answer.shown if mail is None else (*answer.shown, mail)
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=text) for text in texts],
        structured_content=dict(answer.content),
        is_error=answer.is_error,
    )


def _tool(dialect: Dialect, name: str) -> types.Tool:
    tool = dialect.tools[name]
    return types.Tool(
        name=tool.name,
        description=tool.description,
        input_schema=dict(tool.schema),
        annotations=types.ToolAnnotations(read_only_hint=tool.reads),
    )
