"""Wrong names of arguments and of their words: the one that was probably meant, and the sentence that says so.

A model that uses the name of an argument in another tool, or a program with a slip in a member's name, would otherwise
omit it without knowing, and `task` would claim another task than the one meant.
"""

from collections.abc import Collection, Iterable, Mapping
from difflib import get_close_matches

LONGEST_SHOWN = 64
_ALIKE = 0.65  # share of a name that two words have in common which are probably the same

_ALSO: Mapping[str, str] = {
    "ack": "acked acks acknowledge id ids",
    "action": "verb do",
    "artifact": "id ref artifact_id",
    "assignee": "to holder agent alias",
    "before": "cursor next",
    "command": "cmd shell script",
    "depends_on": "needs dependencies blocked_by after",
    "doing": "task activity working_on",
    "expires_in": "ttl timeout expires",
    "files": "paths path file globs",
    "find": "q query search text words",
    "folder": "cwd workdir dir directory path",
    "in_reply_to": "reply_to replyto message id",
    "key": "idempotency_key",
    "kind": "type",
    "machine": "host hostname node",
    "name": "title agent alias",
    "needs": "depends_on dependencies blocked_by after",
    "paths": "files path file globs patterns",
    "progress": "percent percentage pct",
    "proof": "evidence",
    "q": "find query search text words",
    "reason": "text message comment why",
    "repository": "repo project",
    "reply_to": "in_reply_to replyto message id parent thread",
    "result": "text output message",
    "sender": "from author by",
    "status": "state",
    "task": "id task_id ref number",
    "text": "body content message result reason note comment description prompt",
    "timeout": "wait timeout_ms",
    "title": "name subject",
    "to": "recipient receiver assignee agent alias",
    "ttl_seconds": "ttl expires_in expires",
    # Words for an action, a status or a priority, as the dashboard and other programs have them.
    "accepted": "acked claimed",
    "blocked": "waiting",
    "complete": "done finish close end",
    "completed": "done finished closed",
    "critical": "urgent",
    "in_review": "review",
    "queued": "open todo",
    "submit": "review hand_in",
    "working": "running in_progress",
}


def others(known: Iterable[str]) -> dict[str, str]:
    """Return the names that others have for what is known here, and which one each means."""
    return {other: str(each) for each in known for other in _ALSO.get(each, "").split()}


def meant(name: str, known: Collection[str]) -> str | None:
    """Return the argument or word that was probably meant by `name`; None if none is similar."""
    word = name[:LONGEST_SHOWN].lower().replace("-", "_")
    longer = (each for each in known if each.startswith(f"{word}_"))
    also = (each for each in known if word == each or word in _ALSO.get(each, "").split())
    return (
        (word if word in known else next(longer, None))
        or next(also, None)
        or next(iter(get_close_matches(word, known, n=1, cutoff=_ALIKE)), None)
    )


def complaint(owner: str, name: str, known: Collection[str], kind: str = "argument") -> str:
    """Return the sentence for an argument, or another `kind` of thing, that `owner` does not have."""
    likely = meant(name, known)
    those = f"its {kind}s are {', '.join(known)}" if known else "it has none"
    hint = f"did you mean {likely}?" if likely is not None else those
    shown = name[:LONGEST_SHOWN].encode("utf-8", "backslashreplace").decode()
    return f"{shown}: {owner} has no such {kind}; {hint}"
