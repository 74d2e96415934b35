"""Figures that are cached: what is stale is shown until the new is there, and nothing fails in silence."""

import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.contrib import messages
from django.contrib.staticfiles import finders
from django.db import connections
from django.urls import reverse
from django.utils import timezone
from django.utils.http import parse_http_date

from crowd.desk.overview import OverviewPart
from crowd.models import Stage
from crowd.selectors import stage_sizes, stage_status
from distillery import dbtimeouts
from judgments.selectors.live import live
from tests.judgments.desk_world import as_, judge, make_place, people
from web import cache
from web.cache import (
    BeingCountedError,
    FigureStore,
    NotMadeError,
    cached,
    cached_before,
    cached_or_none,
    cached_rows,
    figures,
    page_figures,
)
from web.pages import show as pages_show

WAIT = 10


def until(done):
    """Wait for what a thread does."""
    end = time.monotonic() + WAIT
    while not done():
        assert time.monotonic() < end
        time.sleep(0.01)


def aside_is_over(key="k"):
    until(lambda: figures.get(f"{key}:aside") is None)


def made_before(value, stamp=1, *, key="k", took=1.0, age=60.0):
    figures.set(key, cache._CacheEntry(stamp, value, time.time() - age, took), 60)


@pytest.fixture
def costly(monkeypatch):
    """As on a server: what takes a tenth of a second is costly."""
    monkeypatch.setattr(cache, "CHEAP_SECONDS", 0.1)


@pytest.fixture(autouse=True)
def _threads_without_a_database(request, monkeypatch):
    """Threads of tests that need no database open no connection."""
    if request.node.get_closest_marker("django_db") is None:
        monkeypatch.setattr(cache, "_lift_limit", lambda: None)


def broken():
    raise ValueError("no such column")


def test_of_one_stamp_it_is_made_once():
    made = []
    for _ in range(3):
        assert cached("k", 1, lambda: made.append(1) or "figures") == "figures"
    assert made == [1]


def test_what_is_cheap_is_made_anew_at_once_when_the_stamp_changes(costly):
    made_before("old", took=0.05)
    assert cached("k", 2, lambda: "new") == "new"


def test_what_is_costly_is_shown_stale_until_the_new_is_there(costly):
    made_before("old")
    go = threading.Event()
    assert cached("k", 2, lambda: go.wait(WAIT) and "new") == "old"
    assert cached("k", 2, lambda: "never made twice at once") == "old"
    go.set()
    aside_is_over()
    assert cached("k", 2, broken) == "new"


def test_what_was_made_just_now_is_not_made_anew_yet(costly):
    made_before("old", age=5)
    assert cached("k", 2, broken) == "old"
    assert figures.get("k:error") is None


def test_what_is_very_old_is_waited_for(costly):
    made_before("old", age=601)
    assert cached("k", 2, lambda: "new") == "new"


def test_what_cannot_be_made_anew_is_raised_once_the_old_is_too_old(costly):
    made_before("old")
    assert cached("k", 2, broken) == "old"
    aside_is_over()
    assert cached_before("k") == "old"
    made_before("old", age=601)
    with pytest.raises(ValueError, match="no such column"):
        cached("k", 2, broken)


def test_what_failed_aside_is_left_alone_for_a_while_and_then_tried_again(costly):
    made_before("old")
    cached("k", 2, broken)
    aside_is_over()
    assert figures.get("k:error") == "ValueError: no such column"
    assert cached("k", 2, lambda: "new") == "old"
    aside_is_over()
    assert cached_before("k") == "old"
    figures.delete("k:error")
    assert cached("k", 2, lambda: "new") == "old"
    aside_is_over()
    assert cached_before("k") == "new"


def test_nobody_waits_for_the_first_one():
    assert cached_or_none("k", 1, lambda: "new") is None
    aside_is_over()
    assert cached_or_none("k", 1, broken) == "new"


def test_soon_shows_what_is_stale_until_the_new_is_there():
    made_before("old", stamp=1)
    go = threading.Event()
    assert cached_or_none("k", 2, lambda: go.wait(WAIT) and "new") == "old"
    assert cached_or_none("k", 3, lambda: "newer") == "old"
    go.set()
    aside_is_over()
    assert cached_or_none("k", 2, broken) == "new"


def test_what_could_not_be_made_soon_is_said():
    assert cached_or_none("k", 1, broken) is None
    aside_is_over()
    with pytest.raises(NotMadeError, match="ValueError: no such column"):
        cached_or_none("k", 1, lambda: "new")
    figures.delete("k:error")
    cached_or_none("k", 1, lambda: "new")
    aside_is_over()
    assert cached_or_none("k", 1, broken) == "new"


class TestFirstLook:
    """Figures of something large that nobody has looked at yet."""

    @pytest.fixture(autouse=True)
    def _as_on_a_server(self, costly, monkeypatch):
        monkeypatch.setattr(cache, "FIRST_WAIT_SECONDS", 0.0)

    def test_a_page_does_not_wait_and_says_since_when_they_are_counted(self):
        go, asked = threading.Event(), []
        with page_figures():
            for _ in range(2):
                with pytest.raises(BeingCountedError):
                    cached("k", 1, lambda: asked.append(1) or (go.wait(WAIT) and "figures"), large=True)
        go.set()
        aside_is_over()
        assert asked == [1]
        with page_figures():
            assert cached("k", 1, broken, large=True) == "figures"

    def test_a_page_waits_a_moment_for_what_is_quick(self, monkeypatch):
        monkeypatch.setattr(cache, "FIRST_WAIT_SECONDS", WAIT)
        with page_figures():
            assert cached("k", 1, lambda: "figures", large=True) == "figures"

    def test_whoever_is_no_page_waits(self):
        assert cached("k", 1, lambda: "figures", large=True) == "figures"

    def test_small_things_are_waited_for(self):
        with page_figures():
            assert cached("k", 1, lambda: "figures") == "figures"

    def test_what_was_quick_before_is_made_at_once(self):
        made_before("old", took=0.05)
        with page_figures():
            assert cached("k", 2, lambda: "new", large=True) == "new"

    def test_what_cannot_be_made_is_raised_on_the_page(self):
        with page_figures():
            with pytest.raises(BeingCountedError):
                cached("k", 1, broken, large=True)
            aside_is_over()
            with pytest.raises(NotMadeError, match="no such column"):
                cached("k", 1, lambda: "figures", large=True)


class TestAge:
    """Figures from before, and what a page says about their age."""

    @pytest.fixture(autouse=True)
    def _as_on_a_server(self, costly):
        pass

    def test_a_page_knows_when_the_oldest_of_its_figures_were_made(self):
        for key, age in (("k", 200), ("older", 400), ("newer", 100)):
            made_before("old", key=key, took=100.0, age=age)
        with page_figures():
            assert cache.oldest_on_page() is None
            for key in ("k", "older", "newer"):
                cached(key, 2, broken)
            age = timezone.now() - cache.oldest_on_page()
            assert 400 <= age.total_seconds() < 400 + WAIT
        assert cache.oldest_on_page() is None

    @pytest.mark.parametrize(("stamp", "age", "dated"), [(1, 200, False), (2, 2, False), (2, 200, True)])
    def test_figures_that_are_of_now_or_say_their_age_themselves_need_no_word(self, stamp, age, dated):
        made_before("old", took=100.0, age=age)
        with page_figures():
            assert cached("k", stamp, broken, dated=dated) == "old"
            assert cache.oldest_on_page() is None


@pytest.mark.only_on("postgresql")
@pytest.mark.django_db(transaction=True)
def test_what_is_counted_aside_has_longer_than_a_statement_of_a_page():
    def limit():
        with connections["default"].cursor() as cursor:
            cursor.execute("SHOW statement_timeout")
            return cursor.fetchone()[0]

    dbtimeouts.limit_connections("web")
    try:
        assert cached_or_none("k", 1, limit) is None
        aside_is_over()
        assert cached_before("k") == "30min"
    finally:
        dbtimeouts.connection_created.disconnect(dispatch_uid="distillery.dbtimeouts")


class TestRows:
    """What a table says, of large ones cached."""

    def test_a_small_table_is_asked_each_time(self):
        answers = iter((1, 2))
        assert [cached_rows(Stage, "k", lambda: next(answers)) for _ in range(2)] == [1, 2]

    def test_a_large_one_is_asked_again_after_a_while(self, monkeypatch):
        monkeypatch.setattr(cache, "_estimate_rows", lambda: {Stage._meta.db_table: cache.LARGE_TABLE})
        answers = iter((1, 2))
        assert cached_rows(Stage, "k", lambda: next(answers)) == 1
        monkeypatch.setattr(cache, "CHEAP_SECONDS", -1.0)
        assert cached_rows(Stage, "k", lambda: next(answers)) == 1
        aside_is_over()


def test_a_store_gives_the_same_object_until_its_time_is_over_and_forgets_the_least_asked():
    store, value = FigureStore(most=2), ["figures"]
    store.set("a", value, 60)
    store.set("b", 1, 60)
    assert store.get("a") is value
    assert not store.add("b", 2, 60)
    store.get("a")
    store.set("c", 3, 60)
    assert (store.get("a"), store.get("b"), store.get("c")) == (value, None, 3)
    store.set("c", 3, 0)
    assert store.get("c") is None


def test_a_store_holds_a_bounded_number_of_rows_but_always_the_newest_value():
    store = FigureStore(most_rows=5)
    for key, rows in (("a", 2), ("b", 3), ("c", 1)):
        store.set(key, key, 60, rows=rows)
    assert [store.get(key) for key in "abc"] == [None, "b", "c"]
    store.set("large", "large", 60, rows=9)
    assert [store.get(key) for key in ("b", "c", "large")] == [None, None, "large"]
    store.delete("large")
    store.set("b", "b", 60, rows=5)
    assert store.get("b") == "b"


def test_a_store_drops_values_whose_time_is_over_though_no_one_asks_for_them():
    store = FigureStore(most_rows=5)
    store.set("over", "over", 0, rows=4)
    store.set("a", "a", 60, rows=1)
    assert list(store._values) == ["a"]


def test_tables_count_by_their_rows():
    cached("table", 1, lambda: ["row"] * 7)
    cached("word", 1, lambda: "figure")
    assert [figures._values[key].rows for key in ("table", "word")] == [7, 1]


@pytest.mark.django_db
class TestCountingPage:
    """What a person sees until figures of a large project are there."""

    @pytest.fixture
    def place(self, monkeypatch):
        place = make_place()
        people(place)

        def busy(*_args, **_kwargs):
            raise BeingCountedError(14.2)

        monkeypatch.setattr("crowd.desk.projects.overview.compose_overview", busy)
        return place

    def address(self, place):
        return f"/desk/projects/{place.project.slug}/"

    def test_it_opens_again_by_itself_and_says_how_long_it_has_been(self, place):
        answer = as_("owner").get(self.address(place))
        assert answer.status_code == 202
        assert (answer["Retry-After"], answer["Cache-Control"]) == ("2", "no-store")
        words = answer.content.decode()
        assert "Counting the figures of this page" in words
        assert "Counting for 14 s." in words
        assert '<noscript><meta http-equiv="refresh" content="5"></noscript>' in words
        assert finders.find("counting.js") and "counting.js" in words

    def test_a_part_of_a_page_is_not_replaced_by_the_whole_page(self, place):
        """The script takes answers of status 200 alone."""
        assert "answer.status === 200" in Path(finders.find("desk.js")).read_text(encoding="utf-8")
        assert as_("owner").get(self.address(place)).status_code == 202

    def test_a_note_is_there_again_on_the_page_that_was_asked_for(self, place, monkeypatch):
        def noting_show(request, *arguments, **options):
            messages.success(request, "Saved just now.")
            return pages_show(request, *arguments, **options)

        client = as_("owner")
        monkeypatch.setattr("web.pages.show", noting_show)
        first = client.get(self.address(place))
        monkeypatch.undo()
        assert first.content.decode().count("Saved just now.") == 1
        assert "Saved just now." in client.get(self.address(place)).content.decode()

    def test_a_page_says_when_its_older_figures_were_counted(self, place, monkeypatch, costly):
        def slow_said(*_args, **_kwargs):
            cached("k", 2, broken)
            return OverviewPart()

        monkeypatch.setattr("crowd.desk.projects.overview.compose_overview", slow_said)
        client, mark = as_("owner"), "Some figures of this page are from "
        made_before("old", stamp=2)
        assert mark not in client.get(self.address(place)).content.decode()
        made_before("old", took=100.0)
        at = timezone.now() - timedelta(seconds=60)
        words = client.get(self.address(place)).content.decode()
        assert words.partition(mark)[2][:5] in {f"{at:%H:%M}", f"{at - timedelta(seconds=WAIT):%H:%M}"}

    def test_a_file_says_in_its_name_when_its_older_figures_were_counted(self, place, monkeypatch, costly):
        def slow_live(stage):
            cached("k", 2, broken)
            return live(stage)

        monkeypatch.setattr("judgments.desk.agreement.live", slow_live)
        client = as_("owner")
        address = reverse("judgments:figure_csv", args=[place.project.slug, place.stage.slug, "histogram"])
        made_before("old", stamp=2)
        fresh = client.get(address)
        assert fresh["Content-Disposition"].endswith('-histogram.csv"')
        assert "Last-Modified" not in fresh
        made_before("old", took=100.0)
        old = client.get(address)
        at = parse_http_date(old["Last-Modified"])
        assert 60 <= timezone.now().timestamp() - at < 60 + WAIT
        stamp = datetime.fromtimestamp(at, UTC)
        assert old["Content-Disposition"].endswith(f'-histogram-counted-{stamp:%Y%m%dT%H%M%SZ}.csv"')

    def test_a_page_says_that_counting_failed_and_when_to_come_again(self, place, monkeypatch):
        def failing(*_args, **_kwargs):
            raise NotMadeError("ValueError: no such column")

        monkeypatch.setattr("crowd.desk.projects.overview.compose_overview", failing)
        answer = as_("owner").get(self.address(place))
        assert (answer.status_code, answer["Retry-After"]) == (500, "60")
        words = answer.content.decode()
        assert "could not be counted" in words and "ValueError: no such column" in words
        assert "counting.js" not in words

    def test_an_address_of_a_file_is_never_answered_with_a_page_that_looks_fine(self, place, monkeypatch):
        def busy(*_args, **_kwargs):
            raise BeingCountedError(1.0)

        monkeypatch.setattr("annotation.desk.queries.selectors.rows", busy)
        answer = as_("owner").get(f"{self.address(place)}queries.csv")
        assert (answer.status_code, answer["Retry-After"]) == (429, "2")

    def test_a_script_that_wants_a_file_is_told_to_come_again(self, place):
        answer = as_("owner").get(f"{self.address(place)}?format=csv")
        assert (answer.status_code, answer["Retry-After"]) == (429, "2")


def test_keys_have_nothing_to_do_with_each_other():
    assert [cached(key, 1, lambda key=key: key) for key in ("a:1", "a:11", "a:1")] == ["a:1", "a:11", "a:1"]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("fails", [False, True])
def test_the_thread_closes_its_connection(fails):
    used = []

    def make():
        used.append(connections["default"])
        count = Stage.objects.count()
        assert used[0].connection is not None
        return broken() if fails else count

    cached_or_none("k", 1, make)
    until(lambda: used)
    aside_is_over()
    assert used[0] is not connections["default"]
    assert used[0].connection is None


@pytest.mark.django_db
class TestStanding:
    """How a stage stands."""

    @pytest.fixture
    def place(self):
        place = make_place()
        judge(place, [("q1", "A", 5), ("q1", "B", 4), ("q2", "A", 3)])
        return place

    def test_a_small_stage_is_counted_now(self, place):
        before = stage_status.standing(place.stage)
        judge(place, [("q2", "B", 4)])
        after = stage_status.standing(place.stage)
        assert (before.counted_at, after.counted_at) == (None, None)
        assert (before.pay.assignments, after.pay.assignments) == (3, 4)

    def test_a_large_stage_is_as_it_was_some_seconds_ago_and_says_when(self, place, monkeypatch):
        monkeypatch.setattr(stage_sizes, "LARGE", 2)
        monkeypatch.setattr(stage_status, "moment", lambda: 1)
        before = stage_status.standing(place.stage)
        judge(place, [("q2", "B", 4)])
        assert stage_status.standing(place.stage) == before
        assert before.counted_at is not None and before.counted_at <= timezone.now()
        monkeypatch.setattr(stage_status, "moment", lambda: 2)
        assert stage_status.standing(place.stage).pay.assignments == 4

    def test_what_a_person_changes_is_seen_at_once(self, place, monkeypatch):
        monkeypatch.setattr(stage_sizes, "LARGE", 2)
        monkeypatch.setattr(stage_status, "moment", lambda: 1)
        stage_status.standing(place.stage)
        judge(place, [("q2", "B", 4)])
        place.stage.budget_cents += 1
        assert stage_status.standing(place.stage).pay.assignments == 4

    def test_stages_of_two_projects_are_kept_apart(self, place, monkeypatch):
        monkeypatch.setattr(stage_sizes, "LARGE", 0)
        monkeypatch.setattr(stage_status, "moment", lambda: 1)
        other = make_place()
        judge(other, [("q1", "A", 5)])
        counts = [stage_status.standing(each.stage).pay.assignments for each in (place, other, place)]
        assert counts == [3, 1, 3]

    def test_a_stage_with_one_assignment_more_is_large(self, place, monkeypatch):
        monkeypatch.setattr(stage_sizes, "LARGE", 3)
        assert not stage_sizes.is_large(place.stage)
        assert not stage_sizes.any_large(place.project)
        judge(place, [("q2", "B", 4)])
        assert stage_sizes.is_large(place.stage)
        assert stage_sizes.any_large(place.project)
