"""Moments as people and programs write them."""

from datetime import UTC, datetime, timedelta

from hubbub.model.errors import Invalid

EPOCH = datetime.fromtimestamp(0, UTC)


def instant(argument: str, text: str) -> int:
    """The moment that ISO 8601 `text` names, in whole Unix milliseconds; UTC where it names no zone.

    Raises `Invalid`, which says of which argument.
    """
    try:
        moment = datetime.fromisoformat(text.strip())
        zoned = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return milliseconds(zoned - EPOCH)
    except (ValueError, OverflowError):
        raise Invalid(f"{argument}: must be an ISO 8601 time, such as 2026-04-12T10:00:00Z") from None


def milliseconds(duration: timedelta) -> int:
    """A duration in whole milliseconds, to be reckoned with moments."""
    return duration // timedelta(milliseconds=1)
