"""When a stage may be done: the pace of the last hours, with its range."""

from datetime import UTC, datetime, timedelta

from crowd.selectors.stage_status import pace

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)


def hours(*counts):
    """Submissions in the hours before now, the last one nearest."""
    return [(NOW - (len(counts) - number) * HOUR, count) for number, count in enumerate(counts)]


def test_an_even_pace_gives_the_time_that_is_left_with_a_range():
    found = pace(hours(10, 10, 10, 10), 40, 1, NOW)
    assert (found.per_hour, found.submissions, found.hours) == (10, 40, 4)
    assert found.likely == NOW + 4 * HOUR
    found = pace(hours(25, 25, 25, 25), 100, 1, NOW)
    assert found.soonest == NOW + 100 / (25 + 1.96 * 10 / 4) * HOUR
    assert found.latest == NOW + 100 / (25 - 1.96 * 10 / 4) * HOUR
    even, bursty = pace(hours(25, 25, 25, 25), 100, 1, NOW), pace(hours(80, 10, 0, 10), 100, 1, NOW)
    assert bursty.soonest < even.soonest
    assert bursty.latest is None
    assert pace(hours(10, 10), 50, 5, NOW).likely == NOW + HOUR
    assert pace(hours(10, 0, 0, 0), 5, 1, NOW).per_hour == 2.5


def test_little_work_nothing_missing_or_an_old_pace_tells_nothing():
    assert pace(hours(1, 1, 1, 1), 10, 1, NOW) is None
    assert pace([], 10, 1, NOW) is None
    assert pace(hours(10, 10), 0, 1, NOW) is None
    assert pace([(NOW - 20 * HOUR, 500)], 10, 1, NOW) is None
