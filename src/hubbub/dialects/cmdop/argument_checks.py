"""Checks of a call's arguments together, after each has passed by itself.

They run with those of the single arguments, before a machine's gate sees the call: no person is asked about a call
that can only fail. They do not look at the machine or the board, since the gate decides who may look.
"""

from collections.abc import Mapping, Sequence

from hubbub.model.fleet import fan_out

Arguments = Mapping[str, object]

_NEEDED = {
    "exec": {
        "hostname": "exec needs a hostname and a command",
        "command": "exec needs a hostname and a command",
    },
    "key_set": {"key": "give the API key to keep"},
    "workspace_use": {"workspace": "workspace_list names those that there are"},
}


def connect(given: Arguments) -> str | None:
    """Return what an operation of `connect` lacks, in a sentence; None if nothing."""
    needed = _NEEDED.get(str(given["operation"]), {})
    return next((f"{name} is missing: {why}" for name, why in needed.items() if name not in given), None)


def lines(given: Arguments) -> str | None:
    """Return why no file can have such lines; None if one can."""
    start, end = given.get("start", 1), given.get("end")
    is_turned = isinstance(start, int) and isinstance(end, int) and end < start
    return "start and end are lines counted from 1, and start is not behind end" if is_turned else None


def written(given: Arguments) -> str | None:
    """Return why nothing can be written to that path; None if it can."""
    return _folder("path", given)


def saved(given: Arguments) -> str | None:
    """Return why nothing can be downloaded to that path; None if it can."""
    return _folder("dest", given)


def _folder(name: str, given: Arguments) -> str | None:
    is_folder = str(given[name]).endswith("/")
    return f"{name} ends in a slash, so it names a folder; name a file" if is_folder else None


def hosts(given: Arguments) -> str | None:
    """Return why that many machines cannot be asked at once; None if they can."""
    named = given["hostnames"]
    known = {str(each).casefold() for each in named} if isinstance(named, Sequence) else set()
    if len(known) <= fan_out.MOST_HOSTS:
        return None
    return f"hostnames: at most {fan_out.MOST_HOSTS} machines can be asked at once"


def issue(given: Arguments) -> str | None:
    """Return why the title of an issue is not enough; None if it is."""
    return None if str(given["title"]).strip() else "title: must say something"


def change(given: Arguments) -> str | None:
    """Return why the arguments change nothing of an issue; None if they do."""
    is_any = any(name in given for name in ("body", "status", "assignee"))
    return None if is_any else "nothing to change: give body, status or assignee"
