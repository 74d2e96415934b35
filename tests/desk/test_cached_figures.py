"""Figures of pages: quick ones are of now, slow ones are kept for a while, and the page says how old."""

from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.urls import reverse
from django.utils import timezone
from django.utils.http import parse_http_date

from crowd.selectors import stage_status
from tests.judgments.desk_world import as_, judge, make_place, people
from web import cache
from web.cache import cached, cached_before

KEY = ("test", 1)


class Clock:
    """The clock of `web.cache`, which a test moves on."""

    def __init__(self):
        self.now = timezone.now().timestamp()

    def time(self):
        return self.now

    monotonic = time


@pytest.fixture
def clock(monkeypatch):
    """As on a server: what takes more than a tenth of a second is kept."""
    clock = Clock()
    monkeypatch.setattr(cache, "time", clock)
    monkeypatch.setattr(cache, "CHEAP_SECONDS", 0.1)
    return clock


def count_slowly(clock, value, seconds):
    """A function that counts for so long."""

    def count():
        clock.now += seconds
        return value

    return count


def test_what_is_quick_is_counted_at_each_look(clock):
    assert cached(KEY, count_slowly(clock, "old", 0.05)) == "old"
    assert cached(KEY, lambda: "new") == "new"


@pytest.mark.parametrize(("seconds", "kept_for"), [(1, 20), (10, 200), (100, 600)])
def test_what_takes_long_is_kept_twenty_times_as_long_and_ten_minutes_at_most(clock, seconds, kept_for):
    begun = clock.now
    cached(KEY, count_slowly(clock, "old", seconds))
    clock.now = begun + kept_for - 0.1
    assert cached(KEY, lambda: "new") == "old"
    clock.now += 0.2
    assert cached(KEY, lambda: "new") == "new"


def test_of_an_unchanged_stamp_it_is_counted_once_and_of_another_key_again(clock):
    assert cached(KEY, lambda: "first", stamp=(1, 2)) == "first"
    clock.now += 1000
    assert cached(KEY, lambda: "second", stamp=(1, 2)) == "first"
    assert cached(KEY, lambda: "second", stamp=(1, 3)) == "second"
    assert cached(("test", 2), lambda: "another", stamp=(1, 3)) == "another"
    assert [cached_before(KEY), cached_before(("test", 3))] == ["second", None]


def test_a_figure_may_be_none_and_an_error_is_not_kept(clock):
    assert cached(KEY, count_slowly(clock, None, 5)) is None
    assert cached(KEY, lambda: "new") is None

    def fail():
        raise ValueError("no such column")

    clock.now += 101
    with pytest.raises(ValueError, match="no such column"):
        cached(KEY, fail)
    assert cached(KEY, lambda: "new") == "new"


@pytest.mark.django_db
def test_a_page_and_a_file_say_when_their_older_figures_were_counted(clock, monkeypatch):
    place = make_place()
    people(place)
    judge(place, [("q1", "A", 5)])
    client, mark = as_("owner"), "Some figures on this page are from "
    page = reverse("judgments:agreement", args=[place.project.slug, place.stage.slug])
    csv = reverse("judgments:figure_csv", args=[place.project.slug, place.stage.slug, "histogram"])
    assert mark not in client.get(page).content.decode()
    assert "Last-Modified" not in client.get(csv)
    from judgments.selectors import live as selectors

    build = selectors._build_live
    monkeypatch.setattr(selectors, "_build_live", lambda *given: count_slowly(clock, build(*given), 10)())
    judge(place, [("q1", "B", 4)])
    counted_at = datetime.fromtimestamp(clock.now, UTC)
    client.get(page)
    judge(place, [("q2", "A", 3)])
    clock.now += 60
    assert f"{mark}{timezone.localtime(counted_at):%H:%M}" in client.get(page).content.decode()
    answer = client.get(csv)
    assert parse_http_date(answer["Last-Modified"]) == int(counted_at.timestamp())
    assert answer["Content-Disposition"].endswith(f'-histogram-counted-{counted_at:%Y%m%dT%H%M%SZ}.csv"')


@pytest.mark.django_db
def test_the_status_of_a_stage_that_takes_long_is_of_a_while_ago_but_for_what_a_person_changes(
    clock, monkeypatch
):
    place, other = make_place(), make_place()
    judge(place, [("q1", "A", 5), ("q1", "B", 4), ("q2", "A", 3)])
    build = stage_status._build_status
    monkeypatch.setattr(stage_status, "_build_status", lambda stage: count_slowly(clock, build(stage), 10)())
    with time_machine.travel(timezone.now(), tick=False):
        first_look = timezone.now()
        first = stage_status.standing(place.stage)
    judge(place, [("q2", "B", 4)])
    assert (first.counted_at, first.pay.assignments) == (None, 3)
    assert stage_status.standing(place.stage) == first
    with time_machine.travel(timezone.now() + timedelta(seconds=30)):
        assert stage_status.standing(place.stage).counted_at == first_look
    assert stage_status.standing(other.stage).pay.assignments == 0
    place.stage.budget_cents += 1
    assert stage_status.standing(place.stage).pay.assignments == 4
