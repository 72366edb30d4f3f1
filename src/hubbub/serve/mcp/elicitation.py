"""Questions to a client's person: by a request of ours up to 2025-11-25, by an unfinished result since 2026-07-28.

Questions of the hub's own machine go this way; those of another machine go by `hubbub.bridge`, in its own process.
"""

import secrets

from mcp import types
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

from hubbub.model.fleet import elicitation
from hubbub.model.fleet.calls import Client, InputRequired, Question
from hubbub.serve.mcp.request_context import Context, caller


class ElicitingClient:
    """The client of one call, as far as it can be asked."""

    def __init__(self, ctx: Context, params: types.CallToolRequestParams) -> None:
        self._ctx, self._params = ctx, params

    @property
    def approval_id(self) -> str | None:
        return self._params.request_state

    async def ask(self, question: Question, approval_id: str) -> bool | None:
        if self._ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
            answer = (
                (self._params.input_responses or {}).get(elicitation.KEY)
                if approval_id == self.approval_id
                else None
            )
            if not isinstance(answer, types.ElicitResult):
                raise InputRequired(question, approval_id)
            return _said(answer)
        request_id = self._ctx.request_id
        return _said(
            await self._ctx.session.elicit_form(
                elicitation.sentence(question), elicitation.SCHEMA, request_id
            )
        )


def client_of(ctx: Context, params: types.CallToolRequestParams) -> Client | None:
    """Return the client to ask; None if it shows no questions, or there is no way back to it."""
    capabilities = ctx.session.client_capabilities
    if capabilities is None or capabilities.elicitation is None:
        return None
    is_modern = ctx.protocol_version in MODERN_PROTOCOL_VERSIONS
    return ElicitingClient(ctx, params) if is_modern or ctx.session.can_send_request else None


def input_required(first: InputRequired) -> types.InputRequiredResult:
    """Make the result that tells the client to ask its person, and to make the call again."""
    params = types.ElicitRequestFormParams(
        message=elicitation.sentence(first.question), requested_schema=elicitation.SCHEMA
    )
    request = types.ElicitRequest(params=params)
    return types.InputRequiredResult(
        input_requests={elicitation.KEY: request}, request_state=first.approval_id
    )


def state_boundary(audience: str) -> RequestStateBoundary:
    """Seal the state that a client brings back, so that nobody else reads, changes or uses it."""
    security = RequestStateSecurity(
        keys=[secrets.token_bytes(32)],
        bind_principal=lambda ctx: str(caller(ctx).token_id),
    )
    return RequestStateBoundary(security, default_audience=audience)


def _said(answer: types.ElicitResult) -> bool | None:
    return elicitation.read_answer(answer.action, answer.content)
