"""The documents' addresses: each page, and a search over all of them. Anyone may read them."""

from functools import cache
from http import HTTPStatus

from markupsafe import Markup
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from hubbub import __version__
from hubbub.serve.dashboard.pages import Pages
from hubbub.serve.documents.library import LONGEST_SEARCH, Library
from hubbub.serve.http.guard import error_response
from hubbub.serve.http.page_paths import DOCUMENTS


class DocumentPages:
    """The handlers of the documents' addresses."""

    def __init__(self, pages: Pages) -> None:
        self.pages = pages

    def routes(self) -> list[Route]:
        return [
            Route(DOCUMENTS, self.show, methods=["GET"]),
            Route(f"{DOCUMENTS}/{{name:path}}", self.show, methods=["GET"]),
        ]

    async def show(self, request: Request) -> Response:
        """Show a document, or the matches of a search."""
        return await run_in_threadpool(self._page, request)  # which may have much to read or search

    def _page(self, request: Request) -> Response:
        library, wanted = Library.own(), request.query_params.get("q", "")[:LONGEST_SEARCH].strip()
        address = request.url.path.rstrip("/")
        document = library.documents.get(address.lower().removesuffix(".md"))
        if document is None:
            return error_response(HTTPStatus.NOT_FOUND, "not_found", f"there is no document at {address}")
        if document.address != request.url.path:
            return RedirectResponse(document.address, HTTPStatus.PERMANENT_REDIRECT)
        return self.pages.page(
            request,
            "document.html",
            article=None if wanted else _article(address),
            document=document,
            groups=library.groups(),
            places=library.search(wanted),
            version=__version__,
            wanted=wanted,
        )


@cache
def _article(address: str) -> Markup:
    """Return a document as HTML, rendered when it is first read."""
    from hubbub.serve.documents.rendering import render  # takes a while to import

    library = Library.own()
    return render(library, library.documents[address])
