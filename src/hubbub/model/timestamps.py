"""Times as people and programs write them."""

from datetime import UTC, datetime, timedelta

from hubbub.model.errors import Invalid

MILLISECOND = timedelta(milliseconds=1)
EPOCH = datetime.fromtimestamp(0, UTC)
PARTS = 999  # activities of one millisecond that get a moment each
_UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second"))


def parse_timestamp(argument: str, text: str) -> int:
    """Parse an ISO 8601 time into whole Unix milliseconds; UTC if it names no zone.

    Raises `Invalid`, which names the argument.
    """
    return milliseconds(_since_epoch(argument, text))


def _since_epoch(argument: str, text: str) -> timedelta:
    try:
        moment = datetime.fromisoformat(text.strip())
        zoned = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return zoned - EPOCH
    except (ValueError, OverflowError):
        raise Invalid(f"{argument}: must be an ISO 8601 time, such as 2026-04-12T10:00:00Z") from None


def parse_microseconds(argument: str, text: str) -> int:
    """Parse a time into whole Unix microseconds; a time in whole milliseconds stands for the end of its millisecond."""
    found = _since_epoch(argument, text) // timedelta(microseconds=1)
    return found if found % 1000 else found + PARTS


def exact_microseconds(at: int, number: int) -> int:
    """Return the exact Unix microseconds of the activity with this number, which orders those of one millisecond."""
    return at * 1000 + number % PARTS + 1


def milliseconds(duration: timedelta) -> int:
    """Return a duration in whole milliseconds, to be added to times."""
    return duration // MILLISECOND


def utc_time(at: int) -> str:
    """Format a moment in Unix milliseconds for people, to the minute: `2026-04-12 18:30 UTC`."""
    return f"{datetime.fromtimestamp(at / 1000, UTC):%Y-%m-%d %H:%M} UTC"


def duration_text(milliseconds: int) -> str:
    """Format a duration in its largest unit, rounded down, such as `4 seconds`."""
    seconds = max(0, milliseconds) // 1000
    for unit, noun in _UNITS:
        if seconds >= unit:
            number = seconds // unit
            return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
    return "less than a second"
