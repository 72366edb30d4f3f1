"""The hub's knowledge of our account: whether it is open, and the consequences of a limit.

All times are the hub's: a machine's own clock may be wrong.
"""

import re
import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Any

from hubbub.client import Hub, HubRefused, HubUnreachable, segment
from hubbub.model.limits.usage_limits import LimitKind, read
from hubbub.model.timestamps import duration_text
from hubbub.worker.shell_command import CommandExit

LOOK = timedelta(seconds=5)  # between checks for the end of a pause: people end one at any time
SHORT = 400  # characters: a short output may be the report of a limit, even if the command ended well
LINES, LENGTH = 20, 40_000  # of each output: the parser reads no more of both
MISSING = 404  # from a hub without accounts
# The name goes into a command line, so it never looks like an option.
_CONVERSATION = re.compile(
    r"(?:session_id|thread_id|sessionID|session id)\"?\s*[:=]\s*\"?(\w[\w-]{7,79})", re.ASCII
)


class UsageGate:
    """The account of one agent, as its worker sees it."""

    def __init__(
        self, hub: Hub, agent: str, account: str | None, program: str | None, say: Callable[[str], None]
    ) -> None:
        """Take the account's name, from people or from the program's sign-in, and the known program, if there is one.

        Without either nobody says that the command uses an account: what it prints about limits is only text.
        """
        self.hub, self.agent, self.account, self.say = hub, agent, account, say
        self._program, self._is_of_maker = program, account is not None or program is not None

    def is_open(self) -> bool:
        """Tell whether something may be begun now. Raises `HubUnreachable` and `HubRefused`."""
        return self._left(self._ask()) is None

    def stopped(self) -> str | None:
        """Return why our agent must stop, if so. Raises `HubUnreachable` and `HubRefused`."""
        found: str | None = self._ask().get("stopped")
        return found

    def join(self) -> None:
        """Tell the hub which account we share, if we know: another's limit is then ours at once."""
        if self.account is not None:
            with suppress(HubUnreachable, HubRefused):  # else our first limit tells it
                path = f"/accounts/{segment('account', self.account)}/join"
                self.hub.post(path, {"agent": self.agent})

    def shows_limit(self, ended: CommandExit) -> bool:
        """Tell whether a usage limit ended a run.

        A run that ended well was never overloaded: the program waited that out itself.
        """
        printed = _printed(ended)
        is_an_answer = ended.exit_code == 0 and len(printed) > SHORT
        if not self._is_of_maker or ended.timed_out or ended.exit_code < 0 or is_an_answer:
            return False
        notice = read(printed, now=0, program=self._program)
        return notice is not None and not (ended.exit_code == 0 and notice.kind is LimitKind.OVERLOADED)

    def report(self, ended: CommandExit) -> timedelta | None:
        """Report the limit that a run shows; return the length of the pause, None if the hub knows of no limits.

        Raises `HubUnreachable` and `HubRefused`.
        """
        now = self._ask()["now"]
        limit = read(_printed(ended), now=now, program=self._program) if now is not None else None
        if limit is None:
            return None
        body = {"agent": self.agent, "kind": limit.kind, "until": limit.until, "account": self.account}
        return self._left(self.hub.post("/limits", body)) or timedelta(0)

    def wait(self, is_over: threading.Event, look: Callable[[], None]) -> None:
        """Wait until the pause has ended, or `is_over` is set; `look` is called first, and regularly."""
        look()
        while not is_over.wait(LOOK.total_seconds()):
            look()
            try:
                if self.is_open():
                    return
            except (HubUnreachable, HubRefused):
                continue  # the hub is away; it comes back

    def _ask(self) -> Any:
        try:
            return self.hub.get("/limits", agent=self.agent)
        except HubRefused as error:
            if error.status != MISSING:
                raise
            return {"goes_on_at": None, "now": None}

    def _left(self, found: Any) -> timedelta | None:
        """Return the time until something may be begun; None if it may now."""
        at = found["goes_on_at"]
        return timedelta(milliseconds=at - found["now"]) if at is not None else None


def _printed(ended: CommandExit) -> str:
    return f"{ended.stdout.lines(LINES, LENGTH)}\n{ended.stderr.lines(LINES, LENGTH)}".strip()


def told(left: timedelta) -> str:
    """Format the length of a pause for people."""
    return f"paused for {duration_text(int(left.total_seconds() * 1000))}"


def conversation_of(ended: CommandExit) -> str | None:
    """Return the name that the program printed for continuing its conversation."""
    found = _CONVERSATION.search(
        f"{ended.stderr.text()}\n{ended.stdout.text()}"
    )  # later output may be quoted
    return found[1] if found else None
