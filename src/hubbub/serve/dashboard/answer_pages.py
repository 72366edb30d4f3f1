"""The page behind a link on a telephone: one question, everything asked for, and yes or no by one tap.

Looking changes nothing, since programs that preview links look, too; the answer is a POST. A button of a notification
also posts, without the page. The link's holder stands for the person who allowed it, for this question alone.
"""

from functools import partial
from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from hubbub.core.fleet import phone_answers
from hubbub.core.transaction import Transactions
from hubbub.model.errors import Conflict, Forbidden, HubError
from hubbub.model.fleet.approvals import Approval, ApprovalStatus
from hubbub.model.log.answer_links import VERBS
from hubbub.model.people.rights import SYSTEM
from hubbub.model.timestamps import duration_text
from hubbub.serve.dashboard.pages import Pages, words_for
from hubbub.serve.http import page_paths
from hubbub.store.tx import Tx

Seen = tuple[Approval, list[Approval], int]


class AnswerPages:
    """The handlers of `/answer/{token}`, and of the two answers below it."""

    def __init__(self, transactions: Transactions, pages: Pages) -> None:
        self._transactions, self._pages = transactions, pages

    def routes(self) -> list[Route]:
        path = f"{page_paths.ANSWER}/{{token}}"
        return [
            Route(path, self.look, methods=["GET"]),
            *(
                Route(f"{path}/{verb}", partial(self.answer, approved=approved), methods=["POST"])
                for verb, approved in VERBS.items()
            ),
        ]

    async def look(self, request: Request) -> Response:
        """Show the question as it stands."""
        return await self._page(request)

    async def answer(self, request: Request, *, approved: bool) -> Response:
        """Take the answer; a late one is told what happened before."""
        token: str = request.path_params["token"]
        try:
            await self._transactions.write(
                SYSTEM, lambda tx: phone_answers.answer(tx, token, approved=approved)
            )
        except (Conflict, Forbidden) as error:
            status = HTTPStatus.CONFLICT if isinstance(error, Conflict) else HTTPStatus.FORBIDDEN
            return await self._page(request, problem=str(error), status=status)
        except HubError:
            return self._nothing(request)
        return await self._page(request)

    async def _page(
        self, request: Request, *, problem: str = "", status: HTTPStatus = HTTPStatus.OK
    ) -> Response:
        token: str = request.path_params["token"]

        def look(tx: Tx) -> Seen:
            return (*phone_answers.look(tx, token), tx.now)

        try:
            approval, lately, now = await self._transactions.read(SYSTEM, look)
        except HubError:
            return self._nothing(request)
        return self._pages.page(
            request,
            "answer.html",
            status=status,
            token=token,
            asked=approval,
            ago=duration_text(now - approval.created_at),
            left=duration_text(max(0, approval.expires_at - now)),
            lately=lately,
            problem=problem,
            waits=approval.status is ApprovalStatus.PENDING and approval.expires_at > now,
            needs_more=phone_answers.needs_more(approval),
        )

    def _nothing(self, request: Request) -> Response:
        return self._pages.error(request, HTTPStatus.NOT_FOUND, words_for(request)("answer.nothing"))
