"""Retries at the hub's request: a call refused as too fast is sent again, unseen by its caller."""

import time
from collections.abc import Callable, Mapping
from typing import Protocol, TypeVar

TOO_MANY = 429
LONGEST_PAUSE = 10.0  # seconds to wait at the hub's request, without telling the caller
PATIENT = 6  # tries at a request, while the hub asks to wait


class RetryableResponse(Protocol):
    """The part of the hub's response that matters here."""

    @property
    def status_code(self) -> int: ...

    @property
    def headers(self) -> Mapping[str, str]: ...


A = TypeVar("A", bound=RetryableResponse)


def retry_seconds(answer: RetryableResponse) -> float | None:
    """Return the seconds to wait before the same request; None if the hub asks for no wait, or a too long one.

    The hub did nothing for a request with such a response: any request may be sent again.
    """
    after = answer.headers.get("retry-after", "")
    if answer.status_code != TOO_MANY or not after.isdecimal() or float(after) > LONGEST_PAUSE:
        return None
    return float(after)


def patiently(ask: Callable[[], A]) -> A:
    """Return the response to the request that `ask` sends, repeated where the hub asks to wait."""
    answer = ask()
    for _ in range(PATIENT - 1):
        wait = retry_seconds(answer)
        if wait is None:
            break
        time.sleep(wait)
        answer = ask()
    return answer
