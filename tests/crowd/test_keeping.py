"""Figures that are cached: what is stale is shown until a job has the new, and nothing fails in silence."""

import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.contrib import messages
from django.contrib.staticfiles import finders
from django.urls import reverse
from django.utils import timezone
from django.utils.http import parse_http_date

from core.jobs import figures as stored
from core.jobs import handlers, runner, services
from core.jobs.figures import FigureKind
from core.jobs.models import Job, StoredFigure
from crowd.desk.overview import OverviewPart
from crowd.selectors import stage_sizes, stage_status
from distillery.tasks import prune
from judgments.selectors.live import live
from tests.crowd.test_concurrency import at_once
from tests.judgments.desk_world import as_, judge, make_place, people
from web import cache
from web.cache import FigureStore, cached, counted, counted_before, counted_or_none, figures, order_dependent
from web.page_figures import BeingCountedError, NotMadeError, oldest_on_page, page_figures, read_together
from web.pages import show as pages_show

WAIT = 10
#: What counting gives or raises, by the figure's name; a test says so.
answers = {}


def count(name):
    answer = answers[name]
    if isinstance(answer, Exception):
        raise answer
    return answer


KIND = FigureKind("test", count)
K = {"name": "k"}
BROKEN = ValueError("no such column")


@pytest.fixture(autouse=True)
def _kind(monkeypatch):
    real = stored.parts_of
    monkeypatch.setattr(stored, "parts_of", lambda kind: (*real(kind), KIND))
    answers.clear()
    answers["k"] = "figures"


@pytest.fixture
def server(monkeypatch):
    """As on a server: what takes a tenth of a second is costly, and a page waits for no worker."""
    monkeypatch.setattr(cache, "CHEAP_SECONDS", 0.1)
    monkeypatch.setattr(cache, "FIRST_WAIT_SECONDS", 0.0)


def work():
    """Do what waits, as a worker would."""
    for pk in (
        Job.objects.filter(kind=stored.COUNT, state="queued").order_by("pk").values_list("pk", flat=True)
    ):
        Job.objects.filter(pk=pk).update(run_after=timezone.now() - timedelta(seconds=1))
        runner.run(job_id=pk)


def jobs():
    return list(Job.objects.filter(kind=stored.COUNT).values_list("state", flat=True))


def made_before(value, stamp=1, *, key="k", took=1.0, age=60.0):
    """As if this process had made it by `cached`."""
    figures.set(key, cache._CacheEntry(stamp, value, time.time() - age, took), 60)


def counted_earlier(value="old", stamp=1, *, took=1.0, age=60.0, state=""):
    """As if a job had counted it; this process has not read it yet."""
    answers["k"] = value
    counted_or_none(KIND, K, stamp=stamp, state=state)
    work()
    at = timezone.now() - timedelta(seconds=age)
    StoredFigure.objects.update(seconds=took, counted_at=at)
    figures.clear()


def look(stamp=1, **more):
    """A page asks for it."""
    with page_figures():
        return counted(KIND, K, stamp=stamp, **more)


def broken():
    raise BROKEN


class TestSmall:
    """What this process counts itself, while the page waits."""

    def test_of_one_stamp_it_is_made_once(self):
        made = []
        for _ in range(3):
            assert cached("k", 1, lambda: made.append(1) or "figures") == "figures"
        assert made == [1]

    def test_what_is_cheap_is_made_again_at_once_when_the_stamp_changes(self, server):
        made_before("old", took=0.05)
        assert cached("k", 2, lambda: "new") == "new"

    def test_what_took_a_second_is_made_again_after_twenty(self, server):
        made_before("old", took=1.0, age=19.0)
        assert cached("k", 2, broken) == "old"
        made_before("old", took=1.0, age=21.0)
        assert cached("k", 2, lambda: "new") == "new"

    def test_nothing_older_than_ten_minutes_is_shown(self, server):
        made_before("old", took=100.0, age=601)
        with pytest.raises(ValueError, match="no such column"):
            cached("k", 2, broken)


@pytest.mark.django_db
class TestLarge:
    """What a job counts."""

    @pytest.fixture(autouse=True)
    def _as_on_a_server(self, server):
        pass

    def test_a_page_does_not_wait_and_says_since_when_it_is_counted(self):
        for _ in range(2):
            with pytest.raises(BeingCountedError):
                look()
        assert jobs() == ["queued"]
        work()
        answers["k"] = BROKEN
        assert look() == "figures"
        assert jobs() == ["done"]

    def test_another_process_reads_what_was_counted_and_then_asks_no_more(self, django_assert_num_queries):
        counted_earlier(stamp=1)
        answers["k"] = BROKEN
        with django_assert_num_queries(2):
            assert look() == "old"
        with django_assert_num_queries(0):
            assert look() == "old"
        assert jobs() == ["done"]

    def test_a_page_waits_a_moment_for_a_worker(self, monkeypatch):
        monkeypatch.setattr(cache, "FIRST_WAIT_SECONDS", WAIT)
        monkeypatch.setattr(cache.time, "sleep", lambda _: work())
        assert look() == "figures"

    def test_what_is_no_page_counts_itself(self):
        assert counted(KIND, K, stamp=1) == "figures"
        assert jobs() == []

    def test_small_things_are_counted_at_once(self):
        assert look(large=False) == look(stamp=2, large=lambda: False) == "figures"
        assert jobs() == []

    def test_what_was_quick_before_is_counted_at_once_also_of_another_state(self):
        counted_earlier(took=0.05)
        answers["k"] = "new"
        assert look(stamp=2) == "new"
        figures.clear()
        assert look(stamp=2, state="filters changed") == "new"
        assert jobs() == ["done"]

    def test_what_is_stale_is_shown_until_the_new_is_there(self):
        counted_earlier(took=1.0, age=21.0)
        answers["k"] = "new"
        assert look(stamp=2) == look(stamp=3) == "old"
        assert jobs() == ["queued"]
        work()
        assert look(stamp=2) == "new"

    def test_what_took_a_second_is_counted_again_after_twenty(self):
        counted_earlier(took=1.0, age=19.0)
        assert look(stamp=2) == "old"
        assert jobs() == ["done"]

    def test_nothing_older_than_ten_minutes_is_shown_and_nothing_of_another_state(self):
        counted_earlier(age=601)
        with pytest.raises(BeingCountedError):
            look(stamp=2)
        counted_earlier()
        with pytest.raises(BeingCountedError):
            look(stamp=1, state="filters changed")
        work()
        assert look(stamp=1, state="filters changed") == "old"

    def test_what_could_not_be_counted_is_said_and_tried_again_as_any_job(self):
        answers["k"] = BROKEN
        with pytest.raises(BeingCountedError):
            look()
        work()
        with pytest.raises(NotMadeError, match="ValueError: no such column"):
            look()
        assert jobs() == ["queued"]
        answers["k"] = "figures"
        work()
        assert look() == "figures"

    def test_what_failed_for_good_is_left_alone_for_a_while(self):
        counted_earlier(took=1.0)
        Job.objects.update(state="failed", error="ValueError: no such column", finished_at=timezone.now())
        assert look(stamp=2) == "old"
        with pytest.raises(NotMadeError, match="no such column"):
            look(stamp=2, state="filters changed")
        assert jobs() == ["failed"]
        Job.objects.update(finished_at=timezone.now() - timedelta(seconds=61))
        assert look(stamp=2) == "old"
        assert jobs() == ["queued"]

    def test_a_figure_whose_worker_died_is_counted_by_another(self):
        with pytest.raises(BeingCountedError):
            look()
        services.claim(job_id=Job.objects.get(kind=stored.COUNT).pk)
        Job.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
        services.reconcile()
        work()
        assert look() == "figures"
        assert Job.objects.get(kind=stored.COUNT).attempts == 2

    def test_where_no_worker_runs_a_page_says_so_and_shows_what_there_is(self):
        with pytest.raises(BeingCountedError) as found:
            look()
        assert not found.value.is_unserved
        Job.objects.update(created_at=timezone.now() - timedelta(seconds=40))
        with pytest.raises(BeingCountedError) as found:
            look()
        assert found.value.is_unserved and found.value.seconds >= 40
        counted_earlier(age=900)
        with pytest.raises(BeingCountedError):
            look(stamp=2)
        Job.objects.update(created_at=timezone.now() - timedelta(seconds=40))
        with page_figures():
            assert counted(KIND, K, stamp=2) == "old"
            assert (timezone.now() - oldest_on_page()).total_seconds() >= 900

    def test_figures_are_of_their_version_alone(self, settings):
        counted_earlier()
        settings.DISTILLERY_VERSION = "another"
        with pytest.raises(BeingCountedError):
            look()

    def test_what_was_not_signed_for_this_figure_is_never_unpickled(self):
        counted_earlier()
        StoredFigure.objects.update(value=stored.pack("forged", purpose="another figure"))
        with pytest.raises(BeingCountedError):
            look()

    def test_a_figure_has_half_an_hour(self):
        assert handlers.longest_of(stored.COUNT) == timedelta(minutes=30)

    def test_figures_that_no_page_shows_are_deleted_with_their_jobs(self):
        counted_earlier()
        prune()
        assert StoredFigure.objects.count() == 1
        Job.objects.update(finished_at=timezone.now() - timedelta(hours=2))
        prune()
        assert (StoredFigure.objects.count(), jobs()) == (0, [])
        with pytest.raises(BeingCountedError):
            look()
        work()
        assert look() == "old"

    def test_where_figures_take_too_much_storage_the_oldest_are_deleted(self, monkeypatch):
        for name in "abc":
            answers[name] = name * 5
            counted_or_none(KIND, {"name": name}, stamp=1)
            work()
        sizes = [len(each.value) for each in StoredFigure.objects.order_by("-counted_at")]
        monkeypatch.setattr(stored, "MOST_BYTES", sum(sizes[:2]))
        prune()
        assert [each.arguments["name"] for each in StoredFigure.objects.order_by("pk")] == ["b", "c"]
        prune()
        assert len(jobs()) == 2

    def test_one_that_is_too_large_is_not_stored_and_the_page_says_so(self, monkeypatch, caplog):
        monkeypatch.setattr(stored, "LARGEST", 30)
        for _ in range(2):
            with pytest.raises(BeingCountedError):
                look()
        work()
        with pytest.raises(NotMadeError, match="The figure 'test' takes 0 MB; 0 MB are stored at most"):
            look()
        assert "stored at most; its arguments: {'name': 'k'}" in caplog.text
        assert (jobs(), StoredFigure.objects.get().value) == (["failed"], None)

    def test_a_figure_may_be_none(self):
        counted_earlier(None, took=1.0)
        answers["k"] = BROKEN
        assert look() is None
        assert jobs() == ["done"]

    def test_keys_have_nothing_to_do_with_each_other(self):
        answers["a"] = "another"
        assert [counted(KIND, {"name": name}, stamp=1) for name in ("k", "a", "k")] == [
            "figures", "another", "figures",
        ]  # fmt: skip


@pytest.mark.django_db
class TestTogether:
    """A page orders all that it needs before it waits."""

    @pytest.fixture(autouse=True)
    def _as_on_a_server(self, server):
        answers.update(a="first", b="second")

    def reads(self, *names):
        return [lambda name=name: counted(KIND, {"name": name}, stamp=1) for name in names]

    def test_all_that_is_unknown_is_ordered_at_the_first_look(self):
        with page_figures(), pytest.raises(BeingCountedError):
            read_together(*self.reads("a", "b"))
        assert jobs() == ["queued", "queued"]
        work()
        with page_figures():
            assert read_together(*self.reads("a", "b")) == ["first", "second"]

    def test_it_waits_for_them_after_all_were_ordered(self, monkeypatch):
        monkeypatch.setattr(cache, "FIRST_WAIT_SECONDS", WAIT)
        found = []
        monkeypatch.setattr(cache.time, "sleep", lambda _: (found.append(jobs()), work()))
        with page_figures():
            assert read_together(*self.reads("a", "b")) == ["first", "second"]
        assert found == [["queued", "queued"]]

    def test_parts_of_a_page_that_do_so_themselves_are_ordered_together(self):
        parts = [lambda read=read: read_together(read) for read in self.reads("a", "b")]
        with page_figures(), pytest.raises(BeingCountedError):
            read_together(*parts, *self.reads("k"))
        assert jobs() == ["queued"] * 3

    def test_one_that_could_not_be_counted_keeps_no_other_from_being_ordered(self):
        answers["a"] = BROKEN
        with page_figures(), pytest.raises(BeingCountedError):
            read_together(*self.reads("a"))
        work()
        with page_figures(), pytest.raises(NotMadeError, match="no such column"):
            read_together(*self.reads("a", "b"))
        assert len(jobs()) == 2

    def test_a_figure_is_ordered_beside_the_one_that_its_stamp_is_made_of(self):
        def read():
            with order_dependent(KIND, {"name": "b"}, state=str):
                stamp = counted(KIND, {"name": "a"}, stamp=1)
            return counted(KIND, {"name": "b"}, stamp=stamp)

        with page_figures(), pytest.raises(BeingCountedError):
            read()
        work()
        StoredFigure.objects.update(seconds=1.0)
        with page_figures():
            assert read() == "second"
        assert jobs() == ["done", "done"]

    def test_what_is_no_page_reads_one_after_the_other(self):
        assert read_together(*self.reads("a", "b")) == ["first", "second"]
        assert jobs() == []


@pytest.mark.django_db
class TestNoWait:
    """Figures that no page waits for."""

    def test_the_first_one_is_none_until_it_is_counted(self):
        assert counted_or_none(KIND, K, stamp=1) is None
        assert counted_or_none(KIND, K, stamp=1) is None
        assert jobs() == ["queued"]
        work()
        answers["k"] = BROKEN
        assert counted_or_none(KIND, K, stamp=1) == "figures"

    def test_what_is_stale_is_shown_until_the_new_is_there(self):
        counted_earlier()
        answers["k"] = "new"
        assert [counted_or_none(KIND, K, stamp=stamp) for stamp in (2, 3)] == ["old", "old"]
        work()
        assert counted_or_none(KIND, K, stamp=2) == "new"

    def test_what_could_not_be_counted_is_said(self):
        answers["k"] = BROKEN
        assert counted_or_none(KIND, K, stamp=1) is None
        work()
        with pytest.raises(NotMadeError, match="ValueError: no such column"):
            counted_or_none(KIND, K, stamp=1)
        answers["k"] = "figures"
        work()
        assert counted_or_none(KIND, K, stamp=1) == "figures"

    def test_what_was_counted_before_is_read_in_one_question(self, server, django_assert_num_queries):
        counted_earlier()
        with django_assert_num_queries(1):
            assert counted_before(KIND, [K, {"name": "never"}]) == ["old", None]


@pytest.mark.django_db(transaction=True)
def test_pages_of_many_processes_order_a_figure_once(server):
    key = stored.key_of(KIND, K)
    for round_number in range(3):
        at_once(4, lambda _, stamp=str(round_number): stored.order(KIND, K, key=key, state="", stamp=stamp))
        assert jobs() == ["queued"]
        work()
        assert StoredFigure.objects.get().counted == round_number + 1


class TestAge:
    """Figures from before, and what a page says about their age."""

    @pytest.fixture(autouse=True)
    def _as_on_a_server(self, server):
        pass

    def test_a_page_knows_when_the_oldest_of_its_figures_were_made(self):
        for key, age in (("k", 200), ("older", 400), ("newer", 100)):
            made_before("old", key=key, took=100.0, age=age)
        with page_figures():
            assert oldest_on_page() is None
            for key in ("k", "older", "newer"):
                cached(key, 2, broken)
            age = timezone.now() - oldest_on_page()
            assert 400 <= age.total_seconds() < 400 + WAIT
        assert oldest_on_page() is None

    @pytest.mark.parametrize(("stamp", "age", "dated"), [(1, 200, False), (2, 2, False), (2, 200, True)])
    def test_figures_that_are_of_now_or_say_their_age_themselves_need_no_word(self, stamp, age, dated):
        made_before("old", took=100.0, age=age)
        with page_figures():
            assert cached("k", stamp, broken, dated=dated) == "old"
            assert oldest_on_page() is None

    @pytest.mark.django_db
    @pytest.mark.parametrize(
        ("age", "dated", "says"), [(200, False, True), (2, False, False), (200, True, False)]
    )
    def test_so_it_is_with_those_of_a_job(self, age, dated, says):
        counted_earlier(took=100.0, age=age)
        with page_figures():
            assert counted(KIND, K, stamp=2, dated=dated) == "old"
            assert (oldest_on_page() is not None) == says


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

    def test_a_page_says_when_its_older_figures_were_counted(self, place, monkeypatch, server):
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

    def test_a_file_says_in_its_name_when_its_older_figures_were_counted(self, place, monkeypatch, server):
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

    def test_it_says_that_no_worker_has_begun(self, place, monkeypatch):
        def unserved(*_args, **_kwargs):
            raise BeingCountedError(90.0, is_unserved=True)

        client = as_("owner")
        assert "No jobs worker has begun" not in client.get(self.address(place)).content.decode()
        monkeypatch.setattr("crowd.desk.projects.overview.compose_overview", unserved)
        answer = client.get(self.address(place))
        assert answer.status_code == 202
        assert "No jobs worker has begun to count in 90 s." in answer.content.decode()

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
