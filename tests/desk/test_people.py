"""Workers over all stages of a project: their figures, the table, a page for each, exclusion."""

import csv
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from core.projects.models import Event
from core.projects.services import create_project
from crowd.models import Exclusion, Stage
from crowd.selectors import people as selectors
from crowd.selectors.people import Knowledge, WorkerFigures, people
from tests.desk.conftest import HOSTILE, make_hit, make_stage, make_work

pytestmark = pytest.mark.django_db
PLACE = "/desk/projects/reading/workers/"


@pytest.fixture
def second(project, endpoint):
    return make_stage(project, endpoint, slug="second", title="Second", reward_cents=30)


def work(stage, name="A1", seconds=60, **fields):
    return make_work(make_hit(stage), name, telemetry={"active_ms": seconds * 1000}, **fields)


def the(project, name="A1"):
    return next(row for row in people(project) if row.name == name)


def test_work_of_all_stages_counts_together_with_the_pay_of_an_hour(project, stage, second):
    work(stage, seconds=60)
    row = work(stage, seconds=120)
    work(second, seconds=90)
    work(second, state="rejected")
    found = the(project)
    assert (found.done, found.units, found.rejected) == (3, 3, 1)
    assert (found.pace.seconds, found.pace.per_hour) == (90, 600)
    assert [each.done for each in found.stages] == [2, 1]
    assert [each.pace.per_hour for each in found.stages] == [450, 1200]
    type(row).objects.filter(pk=row.pk).update(state="rejected")
    assert (the(project).done, the(project).rejected) == (2, 2), "figures follow the work"


def test_time_is_from_opening_to_sending_where_nothing_was_measured(project, stage):
    now = timezone.now()
    make_work(make_hit(stage), telemetry={}, arrived_at=now - timedelta(seconds=200), stored_at=now)
    assert the(project).pace.seconds == 200
    work(stage, "BACK", state="ended")  # is seen but counts nothing
    found = the(project, "BACK")
    assert (found.done, found.pace.seconds, found.pace.per_hour) == (0, None, None)


def test_checks_that_were_shown_and_failed_are_counted(project, stage):
    Stage.objects.filter(pk=stage.pk).update(checks_per_hit=1)
    for failed in (0, 0, 1):
        work(stage, failed_checks=failed)
    found = the(project)
    assert (found.presented, found.failed) == (3, 1)
    low, high = found.passed_interval
    assert (round(low, 3), round(high, 3)) == (0.208, 0.939)


def test_somebody_much_faster_than_usual_is_flagged(project, stage):
    for number in range(4):
        work(stage, f"B{number}", seconds=90)
    for _ in range(2):
        work(stage, seconds=10)
    assert the(project).flags == ("very fast",)
    assert the(project, "B0").flags == ()


def test_what_a_room_above_knows_takes_the_place_of_what_is_counted_here(project, stage, monkeypatch):
    row = work(stage, failed_checks=3)
    known = WorkerFigures(
        ratings=40, kappa=0.5, kappa_n=30, presented=4, failed=1, removed=10, flags=("low kappa",)
    )
    source = Knowledge("poll", lambda _: {row.worker_id: known}, lambda _: 0)
    monkeypatch.setattr(selectors, "parts_of", lambda _: (source,))
    found = the(project)
    assert (found.kappa, found.kappa_n, found.presented, found.failed) == (0.5, 30, 4, 1)
    assert (found.removed_share, found.flags) == (0.25, ("low kappa",))


def names(answer):
    return [row.name for row in answer.context["rows"].object_list]


def test_nobody_is_ranked_on_few_units(manager, project, stage):
    Stage.objects.filter(pk=stage.pk).update(units_per_hit=20)
    work(stage, "SLOW", seconds=500)
    work(stage, "QUICK", seconds=100)
    other = make_stage(project, stage.endpoint, slug="other")
    work(other, "FEW", seconds=1)
    assert names(manager.get(f"{PLACE}?order=time")) == ["QUICK", "SLOW", "FEW"]
    assert names(manager.get(f"{PLACE}?order=-time")) == ["SLOW", "QUICK", "FEW"]


def test_the_address_filters(manager, stage):
    work(stage, "GOOD")
    work(stage, "BAD", state="rejected")
    assert names(manager.get(f"{PLACE}?state=rejected")) == ["BAD"]
    assert names(manager.get(f"{PLACE}?q=goo")) == ["GOOD"]
    assert names(manager.get(f"{PLACE}?state=nonsense")) == ["GOOD", "BAD"]
    work(stage, "=1+1")
    answer = manager.get(f"{PLACE}?format=csv&q=%3D1")
    [row] = csv.DictReader(b"".join(answer.streaming_content).decode().splitlines())
    assert row["worker"] == "'=1+1"
    assert (row["answered"], row["pay_dollars"], row["pay"]) == ("1", "6.00", "")


def test_a_worker_has_a_page_with_their_stages(manager, stage, second, endpoint):
    row = work(stage)
    work(second)
    page = manager.get(f"{PLACE}{row.worker_id}/").content.decode()
    assert "A poll" in page
    assert "Second" in page
    assert "too little to compare" in page
    other = make_stage(
        create_project(slug="other", title="Other", budget_cents=1000), endpoint, budget_cents=0
    )
    row = work(other, "ELSEWHERE")
    assert manager.get(f"{PLACE}{row.worker_id}/").status_code == 404
    assert manager.post(f"{PLACE}{row.worker_id}/exclude/", {"reason": "No"}).status_code == 404


def test_excluding_somebody_needs_a_reason_and_is_logged_for_every_stage(manager, stage, second):
    row = work(stage)
    manager.post(f"{PLACE}{row.worker_id}/exclude/", {"reason": ""})
    assert not Exclusion.objects.exists()
    manager.post(f"{PLACE}{row.worker_id}/exclude/", {"reason": "Copies answers."})
    assert sorted(Exclusion.objects.values_list("scope", flat=True)) == sorted(
        f"stage:{each.pk}" for each in (stage, second)
    )
    events = Event.objects.filter(action="worker.excluded")
    assert [event.details["why"] for event in events] == ["Copies answers."] * 2
    assert names(manager.get(f"{PLACE}?state=excluded")) == ["A1"]


def test_who_was_excluded_is_readmitted_with_a_reason_for_the_log(manager, stage, second):
    row = work(stage)
    assert "Readmit" not in manager.get(f"{PLACE}{row.worker_id}/").content.decode()
    manager.post(f"{PLACE}{row.worker_id}/exclude/", {"reason": "Copies answers."})
    assert "Readmit" in manager.get(f"{PLACE}{row.worker_id}/").content.decode()
    in_stage = reverse("desk:readmit", args=["reading", stage.slug, row.worker_id])
    assert "Readmit" in manager.get(in_stage.replace("readmit/", "")).content.decode()
    manager.post(in_stage, {"reason": ""})
    assert Exclusion.objects.count() == 2
    manager.post(in_stage, {"reason": "They explained it."})
    assert Exclusion.objects.get().scope == f"stage:{second.pk}"
    manager.post(f"{PLACE}{row.worker_id}/readmit/", {"reason": "Here, too."})
    assert not Exclusion.objects.exists()
    events = Event.objects.filter(action="worker.readmitted").order_by("pk")
    assert [event.details["stage"] for event in events] == [stage.slug, second.slug]


def test_workers_of_all_my_projects_are_listed_with_their_projects(owner, as_, people, stage, endpoint):
    mine = make_stage(
        create_project(slug="mine", title="Mine", owner=people["owner"]), endpoint, budget_cents=0
    )
    work(stage, "BOTH")
    work(mine, "BOTH")
    theirs = make_stage(create_project(slug="theirs", title="Theirs"), endpoint, budget_cents=0)
    work(theirs, "BOTH")
    work(theirs, "STRANGE")
    rows = owner.get("/desk/workers/").context["rows"].object_list
    assert [(row.external_id, row.done, row.in_projects) for row in rows] == [
        ("BOTH", 2, [("reading", "Reading"), ("mine", "Mine")])
    ]


def test_hostile_names_are_words(manager, stage):
    row = work(stage, HOSTILE[:40])
    for place in (PLACE, f"{PLACE}{row.worker_id}/", "/desk/workers/"):
        assert "<script>alert" not in manager.get(place).content.decode()


def test_writing_to_everybody_reads_two_tables_and_says_where_they_are_too_many(manager, stage, monkeypatch):
    for number in range(3):
        make_work(make_hit(stage), f"A{number}")
    with CaptureQueriesContext(connection) as asked:
        found = selectors.workers_of(stage, most=10)
    assert [row.external_id for row in found] == ["A0", "A1", "A2"]
    assert len(asked) == 2
    assert [row.external_id for row in selectors.workers_of(stage, most=2)] == ["A0", "A1"]
    assert selectors.workers_of(stage, most=9, among=[found[1].pk, 10**9]) == [found[1]]
    address = reverse("desk:message", args=["reading", stage.slug])
    assert "all 3 workers" in manager.get(address).content.decode()
    monkeypatch.setattr("crowd.services.review.MOST_WRITTEN_TO", 2)
    page = manager.get(address).content.decode()
    assert "Write to more than 2 workers" in page
    assert "These are more than 2 people; choose some." in page
    assert "<textarea" not in page
