"""One REST call: its caller, its project, and its way to the core."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, TypeVar

from fastapi import Depends, Header, Query, Request
from fastapi.dependencies.models import Dependant
from pydantic import BaseModel

from hubbub.core.log import idempotency
from hubbub.core.log.idempotency import Reply
from hubbub.core.people import access
from hubbub.core.transaction import Transactions
from hubbub.core.work import tasks
from hubbub.model.argument_names import complaint
from hubbub.model.errors import Conflict, Invalid, ProjectRequired
from hubbub.model.json_fields import storable
from hubbub.model.people.rights import Actor, Right
from hubbub.model.records import Project, Task
from hubbub.serve.http.guard import actor_of
from hubbub.store.tx import Operation, Tx

T = TypeVar("T")
Answer = BaseModel | Reply

MOST_TOLD = 5  # unknown parameters of one call


@dataclass(frozen=True, slots=True, kw_only=True)
class RestCall:
    """The context that every endpoint gets."""

    actor: Actor
    transactions: Transactions
    project: str | None
    key: str | None
    digest: str
    attempt: int | None = None

    async def read(self, operation: Operation[T], *, long: bool = False) -> T:
        return await self.transactions.read(self.actor, operation, long=long)

    async def write(self, operation: Operation[T]) -> T:
        return await self.transactions.write(self.actor, operation)

    async def create(self, operation: Operation[Answer]) -> Reply:
        """Do a creation once for each `Idempotency-Key`; a repeated call gets the same answer."""

        def once(tx: Tx) -> Reply:
            answer = operation(tx)
            return answer.model_dump(mode="json") if isinstance(answer, BaseModel) else answer

        return await self.write(idempotency.once(self.key, self.digest, once))

    async def create_secret(self, operation: Operation[tuple[Answer, str]]) -> tuple[Reply, str]:
        """Do a `create` that is answered with a secret. The secret is not stored, so it can be sent only once."""
        secrets: list[str] = []

        def once(tx: Tx) -> Answer:
            answer, secret = operation(tx)
            secrets.append(secret)
            return answer

        reply = await self.create(once)
        if not secrets:
            raise Conflict("this was made by an earlier call with the same key; its secret is told only once")
        return reply, secrets[-1]

    def enter(self, tx: Tx, right: Right = Right.WRITE) -> Project:
        """Return the project of the call, in which the caller has `right`."""
        return access.enter(tx, self.project, right)

    def task(self, tx: Tx, ref: str, right: Right = Right.WRITE) -> Task:
        """Return the task that `ref` names, by its id or by its number in the project; locked, if it is to be changed.

        Raises `NotFound`; `ProjectRequired` for a number that may mean several projects; `Forbidden`.
        """
        projects = access.visible(tx, self.project)
        if tasks.is_number(ref) and len(projects) != 1:
            raise ProjectRequired([project.slug for project in projects])
        task = tasks.find(tx, [project.id for project in projects], ref, lock=right is not Right.READ)
        access.enter(tx, str(task.project_id), right)
        return task


async def _call(
    request: Request,
    project: Annotated[str | None, Query(description="which project, by its slug or id")] = None,
    idempotency_key: Annotated[
        str | None,
        Header(description="the same key: done once", json_schema_extra={"minLength": 1, "maxLength": 256}),
    ] = None,
    idempotency_attempt: Annotated[
        int | None,
        Header(
            description="how often the call was made with this key, for orders to machines",
            ge=idempotency.FIRST_ATTEMPT,
            le=idempotency.LAST_ATTEMPT,
        ),
    ] = None,
) -> RestCall:
    for value in (*request.query_params.values(), *request.path_params.values()):
        _require_storable(str(value))
    _require_known(request)
    _require_storable(idempotency_key or "")
    return RestCall(
        actor=actor_of(request.scope),
        transactions=request.app.state.transactions,
        project=project,
        key=idempotency_key,
        digest=await _digest(request, project) if idempotency_key is not None else "",
        attempt=idempotency_attempt,
    )


async def _digest(request: Request, project: str | None) -> str:
    """Return the digest of the request, by which two calls with one key are compared."""
    asked = f"{request.method} {request.url.path} {project}\n".encode() + await request.body()
    return hashlib.sha256(asked).hexdigest()


def _require_known(request: Request) -> None:
    """Refuse unknown query parameters: a filter that is not applied answers another question."""
    if not request.query_params:
        return
    known = list(dict.fromkeys(_parameters(request.scope["route"].dependant)))
    strange = [name for name in request.query_params if name not in known]
    if strange:
        said = [complaint("this call", name, known, "parameter") for name in strange[:MOST_TOLD]]
        raise Invalid("; ".join(said))


def _parameters(dependant: Dependant) -> Iterator[str]:
    """Yield the names of the query parameters of a call, also of what it depends on."""
    yield from (each.alias for each in dependant.query_params)
    for each in dependant.dependencies:
        yield from _parameters(each)


def _require_storable(value: str) -> None:
    try:
        storable(value)
    except ValueError as error:
        raise Invalid(f"names and other values {error}") from None


Call = Annotated[RestCall, Depends(_call)]
