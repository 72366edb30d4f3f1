"""Fan-out: asking the agents of several machines, at the hub or on a machine: time limits, and each one's entry."""

from collections.abc import Mapping
from datetime import timedelta

from hubbub.model.fleet.calls import NodeCall, RefusalCode, ToolResult, refused

MOST_HOSTS = 100  # that are asked at once
PATIENCE = timedelta(minutes=2)  # for one machine's agent, by default
TOTAL_PATIENCE = timedelta(minutes=5)  # for those of several
FAREWELL = timedelta(seconds=1)  # for a machine to say that no person has answered it

Entry = Mapping[str, object]


def patience(order: NodeCall, name: str, otherwise: timedelta) -> timedelta:
    """Return the time in the argument, given in milliseconds."""
    given = order.arguments.get(name)
    return timedelta(milliseconds=given) if isinstance(given, int) else otherwise


def patience_with_each(order: NodeCall) -> timedelta:
    """Return the time for each of several machines, at most the time for all."""
    total = patience(order, "total_timeout_ms", TOTAL_PATIENCE)
    return min(patience(order, "per_host_timeout_ms", PATIENCE), total)


def patience_with_person(patience: timedelta) -> timedelta:
    """Return the time for a person who is asked first: less than for the machine, so that their silence is told."""
    return max(patience - FAREWELL, patience / 2)


def timed_out(host: str, after: timedelta) -> ToolResult:
    """Make the result for a machine whose agent did not answer in time."""
    sentence = f"the agent of {host!r} did not answer within {after.total_seconds():g} seconds"
    return refused(RefusalCode.TIMEOUT, sentence)


def entry(outcome: ToolResult, host: str) -> Entry:
    """Reduce the result of one machine, asked alone or among others, to an answer or an error."""
    value = outcome.value
    among = value.get("by_host") if isinstance(value, Mapping) and not outcome.is_error else None
    match among.get(host) if isinstance(among, Mapping) else value:
        case {"text": str(text), "tool_calls": list(calls)}:
            return {"text": text, "tool_calls": calls}
        case {"error": str(error), "code": str(code)}:
            return {"error": error, "code": code}
        case _:
            return {"error": "the machine's answer makes no sense", "code": str(RefusalCode.FAILED)}


def combined(entries: Mapping[str, Entry]) -> ToolResult:
    """Combine the entries of all, each by the name it was asked by, and list the late ones."""
    timed_out = [host for host, each in entries.items() if each.get("code") == RefusalCode.TIMEOUT]
    return ToolResult(value={"by_host": dict(entries), "timed_out": timed_out})
