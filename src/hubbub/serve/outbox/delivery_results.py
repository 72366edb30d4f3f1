"""The meaning of an HTTP answer, or of its absence, for a parcel.

The sentences are the hub's own: those of a library may contain an address, which may be secret.
"""

from datetime import timedelta
from email.utils import parsedate_to_datetime
from http import HTTPStatus

import httpx2

from hubbub.model.log.outbox_items import LONGEST_WAIT, AttemptReport, AttemptResult

SECONDS_LENGTH = 9  # digits; more is no number of seconds to wait


def retry_after(headers: httpx2.Headers, now: int) -> timedelta | None:
    """Return the wait that `Retry-After` asks for at `now`, in Unix milliseconds; at most our longest wait."""
    asked = headers.get("Retry-After", "").strip()
    if asked.isascii() and asked.isdigit() and len(asked) <= SECONDS_LENGTH:
        return _bounded(int(asked))
    try:
        return _bounded(parsedate_to_datetime(asked).timestamp() - now / 1000)
    except (ValueError, OverflowError):
        return None


def until(moment: str, now: int) -> timedelta | None:
    """Return the time from `now`, in Unix milliseconds, to a Unix time in seconds; None if that is malformed."""
    if not (moment.isascii() and moment.isdigit() and len(moment) <= 2 * SECONDS_LENGTH):
        return None
    return _bounded(int(moment) - now / 1000)


def _bounded(seconds: float) -> timedelta:
    return timedelta(seconds=max(1.0, min(seconds, LONGEST_WAIT.total_seconds())))


def failed(status: int, headers: httpx2.Headers, now: int) -> AttemptReport:
    """Report an answer that another attempt may improve; a broken server may have taken the parcel nevertheless."""
    return AttemptReport(
        fate=AttemptResult.FAILED,
        status=status,
        reason=f"it answered {status}",
        wait=retry_after(headers, now),
        doubtful=status >= HTTPStatus.INTERNAL_SERVER_ERROR,
    )


def refused(status: int, reason: str) -> AttemptReport:
    """Report an answer that another attempt would get again."""
    return AttemptReport(fate=AttemptResult.REFUSED, status=status, reason=f"it answered {status}: {reason}")


def unanswered(error: httpx2.RequestError) -> AttemptReport:
    """Report an attempt without an answer. Unless there was no connection, the parcel may have arrived."""
    if isinstance(error, httpx2.ConnectTimeout | httpx2.ConnectError | httpx2.PoolTimeout):
        is_untrusted = "CERTIFICATE_VERIFY_FAILED" in str(error)
        reason = "its certificate is not valid" if is_untrusted else "it cannot be reached"
        return AttemptReport(fate=AttemptResult.FAILED, reason=reason)
    slow = isinstance(error, httpx2.TimeoutException)
    reason = "it took too long to answer" if slow else "the connection was lost before it answered"
    return AttemptReport(fate=AttemptResult.FAILED, reason=reason, doubtful=True)
