"""Arguments by other names: one is accepted; a call that changes something is refused if it has any other.

A model that uses the name of an argument in another tool would otherwise omit it without knowing,
and `task` would claim another task than the one meant.
"""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches

ACCEPTED = {"task": {"id": "task"}}  # by tool: the name in replies, and the name of the argument
LONGEST_SHOWN = 64
_ALIKE = 0.7  # share of a name that two words have in common which are probably the same

_ALSO: Mapping[str, str] = {
    "ack": "acked acks acknowledge id ids",
    "action": "verb do",
    "artifact": "id ref artifact_id",
    "before": "cursor next",
    "command": "cmd shell script",
    "doing": "task activity working_on",
    "expires_in": "ttl timeout expires",
    "files": "paths path file globs",
    "folder": "cwd workdir dir directory path",
    "key": "idempotency_key",
    "kind": "type",
    "machine": "host hostname node",
    "name": "title agent alias",
    "needs": "depends_on dependencies blocked_by after",
    "paths": "files path file globs patterns",
    "progress": "percent percentage pct",
    "proof": "evidence",
    "repository": "repo project",
    "reply_to": "in_reply_to replyto message id parent thread",
    "task": "id task_id ref number",
    "text": "body content message result reason note comment description prompt",
    "timeout": "wait timeout_ms",
    "title": "name subject",
    "to": "recipient receiver assignee agent alias",
}


def renamed(tool: str, arguments: Mapping[str, object]) -> dict[str, object]:
    """Return the arguments by their own names, if they came by a name that is accepted for them."""
    given = {name: value for name, value in arguments.items() if value is not None}
    for other, name in ACCEPTED.get(tool, {}).items():
        if other in given and name not in given:
            given[name] = given.pop(other)
    return given


def meant(name: str, known: Iterable[str]) -> str | None:
    """Return the argument that was probably meant by `name`; None if no argument is similar."""
    word = name.lower().replace("-", "_")
    also = (each for each in known if word == each or word in _ALSO.get(each, "").split())
    return next(also, None) or next(iter(get_close_matches(word, known, n=1, cutoff=_ALIKE)), None)


def complaint(tool: str, name: str, known: Iterable[str]) -> str:
    """Return the sentence for an argument that the tool does not have."""
    likely = meant(name, known)
    hint = f"did you mean {likely}?" if likely is not None else f"its arguments are {', '.join(known)}"
    return f"{name[:LONGEST_SHOWN]}: {tool} has no such argument; {hint}"
