"""Waiting as the hub asks a program to: what was refused for haste is sent again, and nobody above need hear of it."""

import time
from collections.abc import Callable, Mapping
from typing import Protocol, TypeVar

TOO_MANY = 429
LONGEST_PAUSE = 10.0  # seconds that the hub may have us wait, without our caller hearing of it
PATIENT = 6  # tries at a request, while the hub has us wait


class RetryableResponse(Protocol):
    """What came back from the hub, as far as it matters here."""

    @property
    def status_code(self) -> int: ...

    @property
    def headers(self) -> Mapping[str, str]: ...


A = TypeVar("A", bound=RetryableResponse)


def retry_seconds(answer: RetryableResponse) -> float | None:
    """How many seconds the hub asks us to wait before the same request; None if it does not, or it is too long.

    Nothing was done of what it answers so: it may be sent again, whatever it is.
    """
    after = answer.headers.get("Retry-After", "")
    if answer.status_code != TOO_MANY or not after.isdecimal() or float(after) > LONGEST_PAUSE:
        return None
    return float(after)


def patiently(ask: Callable[[], A]) -> A:
    """The answer to a request that `ask` sends, again where the hub has us wait."""
    answer = ask()
    for _ in range(PATIENT - 1):
        wait = retry_seconds(answer)
        if wait is None:
            break
        time.sleep(wait)
        answer = ask()
    return answer
