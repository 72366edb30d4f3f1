"""Routers of the interface. Each route makes its schemas when they are first needed: all at once take a second."""

from collections.abc import Callable
from threading import RLock
from typing import Any, get_type_hints

from fastapi import APIRouter, Depends
from fastapi.concurrency import run_in_threadpool
from fastapi.routing import APIRoute
from fastapi.security import HTTPBearer
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from hubbub.serve.rest.base.shapes import Failure, complete

REFUSALS: dict[int | str, dict[str, Any]] = {
    "4XX": {"model": Failure, "description": "Refused: the fault and the allowed values, in one sentence"},
    "503": {"model": Failure, "description": "The store could not do it; nothing of the call was kept"},
}

# For the OpenAPI page alone: the token has been checked before a request comes here.
BEARER = HTTPBearer(auto_error=False, description="A token: utok_… of a person, ntok_… of a project")

_making = RLock()  # a thread makes each, and hubs of one process share them


class DeferredRoute(APIRoute):
    """A route that knows its path and methods from the beginning, and all else from its first request on."""

    def __init__(
        self,
        path: str,
        endpoint: Callable[..., Any],
        *,
        methods: list[str],
        include_in_schema: bool,
        **more: Any,
    ) -> None:
        Route.__init__(self, path, endpoint, include_in_schema=include_in_schema)
        self.methods = set(methods)
        self._options: dict[str, Any] | None = {"include_in_schema": include_in_schema, **more}
        self.app = self._first

    def __getattr__(self, name: str) -> Any:
        """Return what the description of the interface tells of a route that has had no request."""
        if name not in APIRoute.__annotations__:
            raise AttributeError(name)
        self.make()
        return object.__getattribute__(self, name)

    async def _first(self, scope: Scope, receive: Receive, send: Send) -> None:
        await run_in_threadpool(self.make)
        await self.app(scope, receive, send)

    def make(self) -> None:
        """Make the schemas of the call, unless they are made."""
        with _making:
            if (options := self._options) is None:
                return
            self._options = None
            for hint in get_type_hints(self.endpoint).values():
                complete(hint)
            super().__init__(self.path, self.endpoint, methods=self.methods, **options)


class Router(APIRouter):
    """The routes of a noun."""

    def __init__(self, noun: str, route: type[DeferredRoute] = DeferredRoute) -> None:
        super().__init__(tags=[noun], dependencies=[Depends(BEARER)], responses=REFUSALS, route_class=route)
