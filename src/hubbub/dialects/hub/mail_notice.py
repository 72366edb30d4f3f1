"""A dialect whose replies count unread mail, and whose calls may go on after their transaction.

So a client that nothing can wake notices its mail: the reply to any call counts the unread letters.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, Unpack

from hubbub.core.actions import inbox
from hubbub.core.transaction import Transactions
from hubbub.dialects.call import Call
from hubbub.dialects.dialect import (
    BadArguments,
    Dialect,
    Refusal,
    Reply,
    Run,
    Shape,
    Tool,
    ToolOptions,
    complete,
)
from hubbub.model import argument_names
from hubbub.model.errors import HubError
from hubbub.model.fleet.calls import ToolResult
from hubbub.model.people.rights import Actor
from hubbub.store.tx import Tx

KEY, UNREAD, IGNORED = "key", "unread", "ignored"
ACCEPTED = {  # by tool: the name that others use for an argument, and its own
    "task": {"id": "task"},
    "board": {"assignee": "to"},
}
MOST_TOLD = 5  # unknown arguments of one call
ONWARD = "hub/onward"  # the note by which a call goes on

Looks = Callable[[Mapping[str, object]], bool]
Onward = Callable[[Transactions, Actor, str | None], Awaitable[ToolResult]]


@dataclass
class MailNoticeDialect(Dialect):
    """Tools that count unread mail, and take their idempotency key among their arguments.

    `in_steps` may go on after their transaction: the dialect keeps no answer for their keys. `caller` returns the
    caller, if it is known before the call; `looking` tells with which arguments a call of a tool changes nothing.
    """

    in_steps: frozenset[str] = frozenset()
    caller: Callable[[Tx, Call], str | None] = lambda _tx, _call: None
    looking: dict[str, Looks] = field(default_factory=dict)

    def tool(
        self,
        refusals: Mapping[type[HubError], Refusal] | None = None,
        *,
        required: Sequence[str] = (),
        looks: Looks | None = None,
        **options: Unpack[ToolOptions],
    ) -> Callable[[Run], Run]:
        """Register a tool like any dialect; the function's reply gets the number of unread letters, if there are any.

        `looks` tells by its arguments whether a call changes nothing; without it `reads` decides for all.
        """
        register = super().tool(refusals, required=required, **options)

        def registered(run: Run) -> Run:
            @wraps(run)
            def telling(tx: Tx, **values: Any) -> Reply:
                return {**with_unread(tx, run(tx, **values)), **_ignored(values.get("call"))}

            register(telling)
            self.looking[run.__name__] = looks or (lambda _: options.get("reads", False))
            return run

        return registered

    def understood(self, tool: Tool, arguments: Mapping[str, object]) -> Mapping[str, object]:
        """Check the arguments like any dialect; a call that changes something takes no unknown ones."""
        given, known = renamed(tool.name, arguments), tuple(tool.input.model_fields)
        probably = {argument_names.meant(name, known) or name: given[name] for name in _strange(tool, given)}
        if probably and not self.looking[tool.name]({**given, **probably}):
            raise BadArguments(_complaints(tool, given))
        return given

    def is_one_step(self, tool: str, given: Mapping[str, object]) -> bool:
        """Tell whether a call ends in one step: a tool of `in_steps` takes two if it has two arguments."""
        return tool not in self.in_steps or len(given) < 2

    def speaker(self, call: Call | None, tx: Tx) -> str | None:
        """Return the caller if agents share its token, since each has keys of its own."""
        return None if call is None or tx.actor.agent is not None else self.caller(tx, call)

    async def call(
        self,
        transactions: Transactions,
        actor: Actor,
        name: str,
        arguments: Mapping[str, object],
        key: str | None = None,
        call: Call | None = None,
        *,
        shape: Shape = complete,
    ) -> ToolResult:
        """Call a tool like any dialect; then do the part that the call left for after its transaction."""
        assert call is not None  # it names the caller, and how the call goes on
        given = arguments.get(KEY)
        chosen = given if isinstance(given, str) else key
        call.attempt = call.attempt if chosen is key else None  # it counts those with the other key
        kept = None if name in self.in_steps else chosen
        if (tool := self.tools.get(name)) is not None:
            call.notes[IGNORED] = _complaints(tool, renamed(name, arguments))
        answer = await super().call(transactions, actor, name, arguments, kept, call, shape=shape)
        onward = call.notes.pop(ONWARD, None)
        if onward is None or answer.is_error:
            return answer
        go_on: Onward = onward  # type: ignore[assignment]  # notes are anything
        try:
            return await go_on(transactions, actor, chosen)
        except HubError as error:
            return self.refuse(error)


def renamed(tool: str, arguments: Mapping[str, object]) -> dict[str, object]:
    """Return the arguments by their own names, if they came by a name that is accepted for them; without nulls."""
    given = {name: value for name, value in arguments.items() if value is not None}
    for other, name in ACCEPTED.get(tool, {}).items():
        if other in given and name not in given:
            given[name] = given.pop(other)
    return given


def _strange(tool: Tool, given: Mapping[str, object]) -> list[str]:
    """Return the first unknown arguments; more would make neither sentence nor decision better."""
    return [name for name in given if name not in tool.input.model_fields and name != KEY][:MOST_TOLD]


def _complaints(tool: Tool, given: Mapping[str, object]) -> str:
    known = tuple(tool.input.model_fields)
    return "; ".join(argument_names.complaint(tool.name, name, known) for name in _strange(tool, given))


def _ignored(call: Call | None) -> Reply:
    """Tell of the unknown arguments of a call that went without them, as it changes nothing."""
    said = call.notes.get(IGNORED) if call is not None else None
    return {IGNORED: said} if said else {}


def continue_after_commit(call: Call, onward: Onward) -> None:
    """Answer the call with the result of `onward`, once the transaction is committed."""
    call.notes[ONWARD] = onward


def with_unread(tx: Tx, reply: Reply) -> Reply:
    """Return the reply with the number of letters that the calling agent has not read, if there are any."""
    speaker = tx.speaker
    if tx.actor.project_id is not None and tx.actor.agent is not None:
        speaker = tx.actor.project_id, tx.actor.agent
    unread = inbox.unread(tx, *speaker) if speaker is not None else 0
    return {**reply, UNREAD: unread} if unread else reply
