"""Options of an address: only some of the tools, and news of mail beside the answers.

`/mcp/relay?tools=send_message,get_messages` lists and calls these as if there were no others; with `?unread=true` an
answer is followed by a note on unread mail, for clients that nothing can wake. Each request carries its own options, so
that they apply in every revision of the protocol and to calls outside sessions.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import cast

from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.types import Scope

from hubbub.model.errors import Invalid

TOOLS = "tools"
MOST, LONGEST = 5, 64  # names that a refusal repeats, and characters of each
UNREAD = "unread"


@dataclass(frozen=True, slots=True)
class AddressOptions:
    """The options of an address; `tools` is None for all of them."""

    tools: frozenset[str] | None = None
    unread: bool = False

    def has(self, tool: str) -> bool:
        return self.tools is None or tool in self.tools


ALL = AddressOptions()


def parse(scope: Scope, known: Collection[str]) -> None:
    """Parse the options in a request's address into the scope, for `options_of`. Raises `Invalid`."""
    asked = ALL
    if scope["query_string"]:
        query = Request(scope).query_params
        asked = AddressOptions(_chosen(query, known), _tells_unread(query))
    scope.setdefault("state", {})["wanted"] = asked


def options_of(request: Request | None) -> AddressOptions:
    """Return the options in a request's address, once it was parsed."""
    return ALL if request is None else options_at(request.scope)


def options_at(scope: Scope) -> AddressOptions:
    """Return the options that `parse` stored in the scope."""
    return cast(AddressOptions, scope["state"]["wanted"])


def _chosen(query: QueryParams, known: Collection[str]) -> frozenset[str] | None:
    """Return the tools that the address names; None if it names none, and means all.

    Raises `Invalid` for one that is not among the `known`, with a sentence that lists those.
    """
    if TOOLS not in query:
        return None
    named = [name.strip() for given in query.getlist(TOOLS) for name in given.split(",")]
    wanted = frozenset(filter(None, named))
    unknown = sorted(wanted - set(known))
    if wanted and not unknown:
        return wanted
    missing = ", ".join(repr(each[:LONGEST]) for each in unknown[:MOST])
    wrong = f"there is no tool {missing}" if unknown else "it names none"
    raise Invalid(f"?{TOOLS}= names the tools to have, by commas: {wrong}; there are {', '.join(known)}")


def _tells_unread(query: QueryParams) -> bool:
    """Tell whether the address asks for news of unread mail. Raises `Invalid` for anything but true or false."""
    wanted = query.getlist(UNREAD)
    if not set(wanted) <= {"true", "false"}:
        raise Invalid(f"?{UNREAD}= is true to be told of unread mail beside each answer, else false")
    return "true" in wanted
