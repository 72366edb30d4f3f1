"""The three addresses for exports, `/v1/metrics`, `/v1/logs` and `/v1/traces`, as in OTLP over HTTP.

Any token that may write in a project may export there. Records that are not about tokens are accepted and dropped; late
or senseless ones are rejected in part, so that no client sends them again.
"""

import zlib
from collections.abc import Callable, Mapping
from functools import partial
from http import HTTPStatus

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from hubbub.core.cost import meter
from hubbub.core.cost.meter import LATEST, Noted
from hubbub.core.people import access
from hubbub.core.transaction import Transactions, VouchedTransactions
from hubbub.model.cost.prices import Prices
from hubbub.model.cost.spending import Measure, Reading
from hubbub.model.errors import Forbidden, HubError, ProjectDenied, ProjectRequired, StoreUnavailable, TooMany
from hubbub.model.people.rights import Right
from hubbub.model.programs.extras import NotInstalled
from hubbub.serve.http import body_limits
from hubbub.serve.http.error_responses import http_error
from hubbub.serve.http.guard import MIB, OTLP, actor_of, mark_of
from hubbub.serve.otlp.readings import Understood, understand
from hubbub.serve.otlp.usage_names import Signal
from hubbub.serve.otlp.wire_formats import JSON, PROTOBUF, WIRE_FORMATS, Unread, WireFormat
from hubbub.store.tx import Tx

LIMIT = 4 * MIB  # of a body, compressed or not
SHORT = 20  # readings that may be counted on the event loop
GZIP = 16 + zlib.MAX_WBITS

Use = Callable[[Mapping[Measure, int]], None]

# gRPC codes of refusals, beside the HTTP status.
INVALID, DENIED, EXHAUSTED, UNAVAILABLE = 3, 7, 8, 14
REFUSED: Mapping[type[HubError], tuple[HTTPStatus, int]] = {
    ProjectRequired: (HTTPStatus.BAD_REQUEST, INVALID),
    ProjectDenied: (HTTPStatus.FORBIDDEN, DENIED),
    Forbidden: (HTTPStatus.FORBIDDEN, DENIED),
    NotInstalled: (HTTPStatus.UNSUPPORTED_MEDIA_TYPE, INVALID),
    TooMany: (HTTPStatus.TOO_MANY_REQUESTS, EXHAUSTED),
    StoreUnavailable: (HTTPStatus.SERVICE_UNAVAILABLE, UNAVAILABLE),
}


class Exports:
    """Receives exports of clients, and counts them, in budgets by the `prices`. `use` is told the new use."""

    def __init__(self, transactions: Transactions, use: Use, prices: Prices) -> None:
        self._transactions = transactions
        self._prices = prices
        self._use = use

    def routes(self) -> list[Route]:
        return [Route(path, partial(self._export, signal=Signal(path.rpartition("/")[2]))) for path in OTLP]

    async def _export(self, request: Request, signal: Signal) -> Response:
        """Answer an export. Raises `StaleToken` if its token has another holder by now."""
        if request.method != "POST":
            return await http_error(request, HTTPException(HTTPStatus.METHOD_NOT_ALLOWED))
        form, mark = WIRE_FORMATS[PROTOBUF if _media(request) == PROTOBUF else JSON], mark_of(request.scope)
        ways = VouchedTransactions(self._transactions, mark) if mark is not None else self._transactions
        try:
            return await self._counted(request, signal, form, ways)
        except (Unread, HubError) as error:
            if isinstance(ways, VouchedTransactions):
                await ways.confirm(actor_of(request.scope))
            return _refused(form, error)

    async def _counted(
        self, request: Request, signal: Signal, form: WireFormat, ways: Transactions
    ) -> Response:
        """Read an export, and count it. Raises `Unread` and the errors of `REFUSED`."""
        body = await request.body()
        if request.headers.get("content-encoding", "").strip().lower() == "gzip":
            body = await body_limits.run_off_loop(_unzipped, body)
        understood = await body_limits.run_off_loop(partial(_understood, form, signal), body)
        noted = await self._note(request, ways, understood.readings)
        self._use(noted.used)
        rejected, why = _rejected(understood, noted)
        return Response(form.answer(signal, rejected, why), media_type=form.media)

    async def _note(self, request: Request, ways: Transactions, readings: list[Reading]) -> Noted:
        """Count the readings; a client without the right is refused even if its export has no tokens."""
        named = request.query_params.get("project")

        def note(tx: Tx) -> Noted:
            return meter.note(tx, access.enter(tx, named, Right.WRITE), readings, self._prices)

        actor = actor_of(request.scope)
        if not readings:
            return await ways.read(actor, note)
        return await ways.write(actor, note, short=len(readings) <= SHORT)


def _understood(form: WireFormat, signal: Signal, body: bytes) -> Understood:
    if len(body) > LIMIT:
        raise Unread(f"the body is larger than {LIMIT // MIB} MiB", is_large=True)
    return understand(signal, form.read(signal, body))


def _unzipped(body: bytes) -> bytes:
    """Decompress a body. Raises `Unread` if it is damaged, or larger than a body may be."""
    inflating = zlib.decompressobj(GZIP)
    try:
        content = inflating.decompress(body, LIMIT + 1)
    except zlib.error:
        raise Unread("the body is not compressed by gzip, as its header says") from None
    if not inflating.eof and len(content) <= LIMIT:
        raise Unread("the body ends too early")
    return content


def _rejected(understood: Understood, noted: Noted) -> tuple[int, str]:
    """Return the number of rejected records, and one sentence for each reason."""
    why = sorted(set(understood.wrong))[:5]
    if noted.late:
        why.append(f"{noted.late} are older than {LATEST.days} days")
    return len(understood.wrong) + noted.late, "; ".join(why)


def _media(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def _refused(form: WireFormat, error: Unread | HubError) -> Response:
    """Return the refusal of an export, with the status of HTTP and the code of gRPC."""
    headers: dict[str, str] = {}
    if isinstance(error, Unread):
        code, status = INVALID, HTTPStatus.BAD_REQUEST
        status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE if error.is_large else status
    else:
        status, code = next(REFUSED[kind] for kind in type(error).__mro__ if kind in REFUSED)
        headers = {"Retry-After": str(error.retry_after)} if isinstance(error, TooMany) else headers
    return Response(form.refusal(code, str(error)), status, headers, form.media)
