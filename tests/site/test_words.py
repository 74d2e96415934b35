"""Times, durations, countries."""

from datetime import UTC, datetime, timedelta

from marketplace.countries import COUNTRIES
from marketplace.money.amounts import money
from web import durations as words

NOW = datetime(2026, 11, 20, 12, 0, 0, tzinfo=UTC)


def test_durations_are_said_in_two_units(subtests):
    for seconds, said in [
        (0, "0 s"),
        (45, "45 s"),
        (60, "1 min"),
        (90, "1 min 30 s"),
        (754, "12 min"),
        (3600, "1 h"),
        (5400, "1 h 30 min"),
        (86_400, "1 day"),
        (100_000, "1 day 3 h"),
        (7 * 86_400 + 7200, "7 days"),
    ]:
        with subtests.test(seconds=seconds, said=said):
            assert words.span(seconds) == said


def test_times_gone_are_relative_until_they_are_long_ago(subtests):
    for back, said in [
        (timedelta(seconds=2), "just now"),
        (timedelta(seconds=40), "40 s ago"),
        (timedelta(minutes=59), "59 min ago"),
        (timedelta(hours=23), "23 h ago"),
        (timedelta(days=1), "1 day ago"),
        (timedelta(days=9), "9 days ago"),
        (timedelta(days=20), "31 Oct 2026"),
    ]:
        with subtests.test(back=back, said=said):
            assert f">{said}</time>" in words.ago(NOW - back, NOW)


def test_times_to_come_are_relative_until_they_are_far(subtests):
    for on, said in [
        (timedelta(seconds=-1), "now"),
        (timedelta(seconds=30), "in 30 s"),
        (timedelta(minutes=19, seconds=59), "in 19 min"),
        (timedelta(hours=23), "in 23 h"),
        (timedelta(hours=23, minutes=59), "in 1 day"),
        (timedelta(days=3), "in 3 days"),
        (timedelta(days=6, hours=23, minutes=59), "in 7 days"),
        (timedelta(days=30), "on 20 Dec 2026"),
    ]:
        with subtests.test(on=on, said=said):
            assert f">{said}</time>" in words.ahead(NOW + on, NOW)


def test_every_time_says_the_moment_in_full():
    assert words.clock(NOW) == (
        '<time datetime="2026-11-20T12:00:00+00:00" title="20 Nov 2026, 12:00:00 UTC">12:00 UTC</time>'
    )
    assert "20 Nov 2026, 12:00 UTC</time>" in words.moment(NOW)


def test_money_is_said_with_its_currency_and_thousands(settings):
    said = {0: "$0.00", 15: "$0.15", 123_456: "$1,234.56", 100_000_000: "$1,000,000.00"}
    assert {cents: money(cents) for cents in said} == said
    settings.MARKETPLACE_CURRENCY = "CHF"
    assert money(123_450) == "1,234.50 CHF"


def test_all_countries_of_the_standard_are_there():
    assert len(COUNTRIES) == 249
    assert all(len(code) == 2 and code.isupper() for code in COUNTRIES)
    assert COUNTRIES["US"] == "United States"
