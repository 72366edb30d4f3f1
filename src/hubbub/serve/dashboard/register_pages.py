"""Registering by an invitation: a person follows its link, chooses a name and a password, and is signed in."""

from http import HTTPStatus
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from hubbub.core.people import logins, users
from hubbub.core.people.users import BadInvitation
from hubbub.model.errors import Conflict, Invalid, TooMany
from hubbub.model.records import Project
from hubbub.serve.dashboard.login_pages import LoginPages
from hubbub.serve.dashboard.pages import words_for
from hubbub.serve.http import page_paths
from hubbub.serve.http.passwords import check
from hubbub.store.tx import Tx


class RegisterPages:
    """The handlers of `/register`, with and without the code of an invitation."""

    def __init__(self, login: LoginPages, public_url: str | None) -> None:
        self._public_url = public_url
        self._login, self._pages, self._gatekeeper = login, login.pages, login.gatekeeper

    def routes(self) -> list[Route]:
        return [
            Route(page_paths.REGISTER, self.form, methods=["GET"]),
            Route(page_paths.REGISTER, self.register, methods=["POST"]),
            Route(f"{page_paths.REGISTER}/{{code}}", self.form, methods=["GET"]),
        ]

    async def form(self, request: Request) -> Response:
        """Show the form, without using the invitation up: programs that preview links fetch it, too."""
        code: str | None = request.path_params.get("code")
        if code is None:
            return self._form(request)
        project = await self._invited_to(request, code)
        return project if isinstance(project, Response) else self._form(request, code, project)

    async def register(self, request: Request) -> Response:
        """Register the person, sign them in, and lead them into the project of the invitation."""
        words, fields = words_for(request), await self._login.sent(request)
        if isinstance(fields, Response):
            return fields
        code, name, password = (fields.get(each, "") for each in ("code", "name", "password"))
        project = await self._invited_to(request, code := code.strip())
        if isinstance(project, Response):
            return project
        if problem := _problem(name, password):
            status, text = HTTPStatus.BAD_REQUEST, words(problem)
            return self._form(request, code, project, name=name, problem=text, status=status)
        kept, browser = await self._gatekeeper.passwords.hash(password), request.headers.get("user-agent")

        def begin(tx: Tx) -> str:
            user = users.accept(tx, name, kept, code)
            return logins.begin(tx, user, browser, way="invitation")

        try:
            return await self._login.enter(request, begin, f"/?{urlencode({'project': project.slug})}")
        except Conflict:
            status, text = HTTPStatus.CONFLICT, words("register.taken")
            return self._form(request, code, project, name=name, problem=text, status=status)
        except BadInvitation:
            return self._bad(request, code)

    async def _invited_to(self, request: Request, code: str) -> Project | Response:
        """Return the project of the invitation; else the page that says why there is none."""
        try:
            return await self._gatekeeper.invited(request.scope, code)
        except TooMany as error:
            problem = words_for(request)("login.too_many", seconds=error.retry_after)
            answer = self._form(request, code, problem=problem, status=HTTPStatus.TOO_MANY_REQUESTS)
            answer.headers["Retry-After"] = str(error.retry_after)
            return answer
        except BadInvitation:
            return self._bad(request, code)

    def _bad(self, request: Request, code: str) -> Response:
        problem = words_for(request)("register.bad_code")
        return self._form(request, code, problem=problem, status=HTTPStatus.FORBIDDEN)

    def _form(
        self,
        request: Request,
        code: str = "",
        project: Project | None = None,
        *,
        name: str = "",
        problem: str = "",
        status: HTTPStatus = HTTPStatus.OK,
    ) -> Response:
        return self._pages.page(
            request,
            "register.html",
            status=status,
            code=code[:100],
            project=project,
            name=name[:50],
            problem=problem,
            hub=(self._public_url or str(request.base_url)).rstrip("/"),
        )


def _problem(name: str, password: str) -> str:
    """Return the key of the words about a name or a password that nobody may choose; empty if both are good."""
    try:
        users.checked(name)
    except Invalid:
        return "register.bad_name"
    try:
        check(password, name)
    except Invalid:
        return "register.bad_password"
    return ""
