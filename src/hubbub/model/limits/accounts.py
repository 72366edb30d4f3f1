"""Accounts with makers of models, each limited in its use over time; agents that share one are paused together.

The hub knows an account only by a name, chosen by people or made from a fingerprint; never by its secret.
"""

import re
import zlib
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated
from uuid import UUID

from hubbub.model.errors import Invalid
from hubbub.model.fields import CARD, REST, Seen
from hubbub.model.limits.usage_limits import LimitKind
from hubbub.model.timestamps import milliseconds

MOST = 200  # accounts of a project
MOST_AGENTS = 500
LONGEST = timedelta(days=366)  # of a pause that has an end
SPREAD = timedelta(
    seconds=60
)  # over which the agents of an account resume after a pause, each at its own moment
IN_A_ROW = timedelta(hours=2)  # after a pause; another notice without a time within it counts as one more
WITHOUT_END = 253_370_764_800_000  # the year 9999: the end of a pause without an end

_NAME = re.compile(r"[A-Za-z0-9][\w.@+-]{0,79}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    project_id: UUID
    name: Annotated[str, Seen(REST | CARD)]
    is_set: Annotated[bool, Seen(REST, "true if people have set which agents share it")] = False
    paused_at: Annotated[int | None, Seen(REST | CARD, "null: it is not paused")] = None
    paused_until: Annotated[
        int | None,
        Seen(REST | CARD, "the end of the pause; null while it is paused: a person ends it"),
    ] = None
    limit_kind: Annotated[LimitKind | None, Seen(REST | CARD, "the limit; null if a person paused it")] = None
    paused_by: Annotated[
        str | None,
        Seen(REST | CARD, "the person who paused it, or the agent whose program reported the limit"),
    ] = None
    notices: int = 0  # of a limit, in a row, without a time
    resumed_at: int | None = None  # when it last went on
    all_paused_at: Annotated[
        int | None, Seen(REST, "when its pause left no agent that continues; null: some agent does")
    ] = None

    def is_paused(self, now: int) -> bool:
        return self.paused_at is not None and (self.paused_until is None or now < self.paused_until)

    def held_until(self, now: int) -> int | None:
        """Return the end of the pause, before which nothing begins; None if the account is not paused."""
        if not self.is_paused(now):
            return None
        return self.paused_until if self.paused_until is not None else WITHOUT_END


def named(name: str) -> str:
    """Check the name of an account. Raises `Invalid`."""
    if not _NAME.fullmatch(name):
        raise Invalid("account: a name has letters, digits and . _ @ + -, and at most 80 of them")
    return name


def goes_on_at(until: int, agent: str) -> int:
    """Return when an agent goes on after a pause. Agents differ by some seconds; each always gets the same time."""
    return until if until >= WITHOUT_END else until + zlib.crc32(agent.encode()) % milliseconds(SPREAD)
