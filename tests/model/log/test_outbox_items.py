"""The delays between attempts."""

from datetime import timedelta

from hubbub.model.log.outbox_items import LONGEST_WAIT, TRIES, wait_after


def test_waits_grow_up_to_six_hours() -> None:
    """The longest wait is a second at first, four times as long after each failure, and never more than six hours."""
    longest = [wait_after(attempts, 1.0) for attempts in range(1, TRIES)]
    assert longest[:4] == [timedelta(seconds=seconds) for seconds in (1, 4, 16, 64)]
    assert longest == sorted(longest)
    assert longest[-1] == LONGEST_WAIT


def test_all_tries_fit_into_a_day() -> None:
    """The last of the tries is made a day after the first, at the most, give or take minutes."""
    total = sum((wait_after(attempts, 1.0) for attempts in range(1, TRIES)), timedelta())
    assert abs(total - timedelta(days=1)) < timedelta(minutes=10)


def test_any_part_of_a_wait_is_as_likely() -> None:
    """The wait is the share of the longest one that chance says, down to none at all."""
    assert wait_after(3, 0.0) == timedelta()
    assert wait_after(3, 0.25) == timedelta(seconds=4)
