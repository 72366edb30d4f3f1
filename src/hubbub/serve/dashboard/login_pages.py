"""Signing in, by a password or by a link that works once, and signing out."""

import hmac
from collections.abc import Sequence
from http import HTTPStatus
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from hubbub.core.people import access, logins
from hubbub.core.people.logins import BadLink
from hubbub.core.transaction import Transactions
from hubbub.model.errors import Forbidden, Invalid, TooMany, Unauthorized
from hubbub.model.people.rights import SYSTEM
from hubbub.serve.dashboard.pages import HEADERS, Pages, words_for
from hubbub.serve.http import page_paths
from hubbub.serve.http.guard import actor_of
from hubbub.serve.http.login_cookies import CSRF, LoginCookies, csrf_of, is_secure
from hubbub.serve.http.passwords import PasswordLogin
from hubbub.serve.rest.people.accounts import Me
from hubbub.store.tx import Operation, Tx

FORM = "application/x-www-form-urlencoded"
LARGEST_FORM = 16 * 1024  # bytes
MOST_FIELDS = 10


class LoginPages:
    """The handlers of the pages for signing in and out."""

    def __init__(
        self, transactions: Transactions, logins: LoginCookies, pages: Pages, gatekeeper: PasswordLogin
    ) -> None:
        self.transactions = transactions
        self.logins = logins
        self.pages = pages
        self.gatekeeper = gatekeeper

    def routes(self) -> list[Route]:
        views = ["/", "/t/{ref}", *(f"/{name}" for name in page_paths.VIEWS)]
        return [
            *(Route(path, self.view, methods=["GET"]) for path in views),
            Route(page_paths.LOGIN, self.form, methods=["GET"]),
            Route(page_paths.LOGIN, self.sign_in, methods=["POST"]),
            Route(f"{page_paths.LOGIN}/{{code}}", self.link, methods=["GET"]),
            Route(f"{page_paths.LOGIN}/{{code}}", self.redeem, methods=["POST"]),
            Route(page_paths.LOGOUT, self.sign_out, methods=["POST"]),
            Route(page_paths.ICON, self.pages.icon, methods=["GET"]),
            Route(page_paths.MANIFEST, self.pages.manifest, methods=["GET"]),
        ]

    async def view(self, request: Request) -> Response:
        actor = actor_of(request.scope)
        known = await self.transactions.read(actor, access.memberships)
        csrf = request.scope["state"].get("csrf")
        return self.pages.view(request, Me.of_actor(actor, known, csrf).model_dump(mode="json"))

    async def form(self, request: Request) -> Response:
        """Show the form; forward a visitor who has signed in already."""
        wanted = page_paths.local(request.query_params.get("next"))
        try:
            await self.logins.identify(request.scope)
        except (Unauthorized, Forbidden):
            return self._form(request, wanted)
        return _go(wanted)

    async def sign_in(self, request: Request) -> Response:
        """Sign in by name and password. An unknown name and a wrong password get the same answer, in the same time."""
        words, fields = words_for(request), await self.sent(request)
        if isinstance(fields, Response):
            return fields
        name, wanted = fields.get("name", ""), page_paths.local(fields.get("next"))
        try:
            browsers = self.logins.browsers(request.headers)
            user = await self.gatekeeper.admit(request.scope, name, fields.get("password", ""), browsers)
        except TooMany as error:
            problem = words("login.too_many", seconds=error.retry_after)
            answer = self._form(request, wanted, name, problem, HTTPStatus.TOO_MANY_REQUESTS)
            answer.headers["Retry-After"] = str(error.retry_after)
            return answer
        except Unauthorized:
            return self._form(request, wanted, name, words("login.wrong"), HTTPStatus.UNAUTHORIZED)
        browser = request.headers.get("user-agent")
        return await self.enter(request, lambda tx: logins.begin(tx, user, browser, way="password"), wanted)

    async def link(self, request: Request) -> Response:
        """Show the page of a sign-in link, without using it up: programs that preview links fetch it, too."""
        code, wanted = request.path_params["code"], page_paths.local(request.query_params.get("next"))
        return self.pages.page(request, "link.html", code=code, next=wanted)

    async def redeem(self, request: Request) -> Response:
        """Sign in by a link; a used one leads whoever is signed in already to the same view."""
        fields = await self.sent(request)
        if isinstance(fields, Response):
            return fields
        code, browser = request.path_params["code"], request.headers.get("user-agent")
        wanted = page_paths.local(fields.get("next"))
        try:
            return await self.enter(request, lambda tx: logins.redeem(tx, code, browser), wanted)
        except BadLink:
            if await self._is_signed_in(self.logins.secrets(request.headers)):
                return _go(wanted)
            problem = words_for(request)("login.bad_link")
            return self._form(request, "/", "", problem, HTTPStatus.UNAUTHORIZED)

    async def sign_out(self, request: Request) -> Response:
        """End this login, if it has not ended already."""
        fields = await self.sent(request)
        if isinstance(fields, Response):
            return fields
        presented = self.logins.secrets(request.headers)
        shown = (request.headers.get(CSRF) or fields.get("csrf", "")).encode()
        meant = [each for each in presented if hmac.compare_digest(shown, csrf_of(each).encode())]
        if meant:
            await self._end(meant)
        elif presented and await self._is_signed_in(presented):
            return self._foreign(request)
        answer = _go(page_paths.LOGIN)
        self.logins.forget(answer, is_secure=is_secure(request.scope))
        return answer

    async def sent(self, request: Request) -> dict[str, str] | Response:
        """Return the fields of a form that a page of this hub has sent; else the answer that refuses it."""
        if not self.logins.hosts.are_own_pages(request.headers):
            return self._foreign(request)
        try:
            return _fields(request, await request.body())
        except Invalid:
            problem = words_for(request)("login.unreadable")
            return self._form(request, "/", "", problem, HTTPStatus.BAD_REQUEST)

    async def enter(self, request: Request, begin: Operation[str], wanted: str) -> Response:
        """Begin a login in place of the browser's old one, and go on to the wanted view."""
        before, browsers = self.logins.secrets(request.headers), self.logins.browsers(request.headers)

        def enter(tx: Tx) -> tuple[str, str]:
            secret = begin(tx)
            for each in before:
                logins.end_by(tx, each)
            return secret, logins.know_browser(tx, secret, browsers)

        secret, browser = await self.transactions.write(SYSTEM, enter)
        answer = _go(wanted)
        self.logins.keep(answer, secret, is_secure=is_secure(request.scope))
        self.logins.keep_known(answer, browser, is_secure=is_secure(request.scope))
        return answer

    def _form(
        self,
        request: Request,
        wanted: str,
        name: str = "",
        problem: str = "",
        status: HTTPStatus = HTTPStatus.OK,
    ) -> Response:
        return self.pages.page(
            request, "login.html", status=status, next=wanted, name=name[:50], problem=problem
        )

    def _foreign(self, request: Request) -> Response:
        return self.pages.error(request, HTTPStatus.FORBIDDEN, words_for(request)("login.foreign"))

    async def _end(self, secrets: Sequence[str]) -> None:
        def end(tx: Tx) -> None:
            for each in secrets:
                logins.end_by(tx, each)

        await self.transactions.write(SYSTEM, end)

    async def _is_signed_in(self, secrets: Sequence[str]) -> bool:
        try:
            await self.transactions.read(SYSTEM, lambda tx: logins.choose(tx, secrets))
        except Unauthorized:
            return False
        return True


def _go(wanted: str) -> Response:
    return Response(None, HTTPStatus.SEE_OTHER, {**HEADERS, "Location": wanted})


def _fields(request: Request, body: bytes) -> dict[str, str]:
    """Parse the fields of a form; the last of duplicates counts. Raises `Invalid` if it is malformed or huge."""
    kind = request.headers.get("content-type", FORM).partition(";")[0].strip().lower()
    if len(body) > LARGEST_FORM or kind != FORM:
        raise Invalid("send the form of this page")
    try:
        return dict(
            parse_qsl(
                body.decode(),
                keep_blank_values=True,
                errors="strict",
                max_num_fields=MOST_FIELDS,
            )
        )
    except ValueError:  # includes invalid UTF-8
        raise Invalid("send the form of this page") from None
