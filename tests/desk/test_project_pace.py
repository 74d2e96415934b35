"""What the overview says of pay and of the end: figures where they tell something, else why not."""

from datetime import timedelta

import pytest
from django.core.cache import cache
from django.utils import timezone

from core.projects.services import record
from crowd.models import Assignment, Endpoint, Stage, Worker
from crowd.selectors.project_pace import end_of, pay_of
from crowd.selectors.work_lists import LATELY, stage_cards
from tests.desk.conftest import make_hit, make_stage, make_work

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def opened(stage) -> Stage:
    """The poll is open, and nothing is kept from another test."""
    Stage.objects.filter(pk=stage.pk).update(status=Stage.Status.OPEN, opened_at=timezone.now())
    stage.refresh_from_db()
    cache.clear()
    return stage


def told(project, *, stopped=False):
    cache.clear()
    return end_of(stage_cards(project), stopped=stopped)


def test_pay_is_the_median_of_those_who_are_paid(project, opened):
    hit = make_hit(opened, 30)
    assert pay_of(project, stage_cards(project)).reason == "nobody was paid yet"
    for number in range(11):
        make_work(hit, f"A{number}", telemetry={"active_ms": 60_000 if number < 6 else 600_000})
    make_work(hit, "GAVE-BACK", state=Assignment.State.ENDED, telemetry={"active_ms": 1})
    cache.clear()
    pay = pay_of(project, stage_cards(project))
    assert (pay.cents, pay.assignments, pay.currency) == (600, 11, "USD")
    Assignment.objects.filter(worker__external_id="A6").update(paid_cents=1_000)  # a bonus
    cache.clear()
    assert pay_of(project, stage_cards(project)).cents == 600
    Worker.objects.filter(external_id="A1").update(simulated=True)
    Assignment.objects.filter(worker__external_id="A2").update(paid_cents=0)
    cache.clear()
    few = pay_of(project, stage_cards(project))
    assert (few.cents, few.assignments) == (None, 9)
    Worker.objects.update(simulated=True)
    cache.clear()
    assert pay_of(project, stage_cards(project)).reason == "only simulated people were paid"


def test_pay_by_study_links_counts_where_they_promise_money(project, opened):
    Endpoint.objects.update(protocol=Endpoint.Protocol.LINK)
    hit = make_hit(opened, 30)
    for number in range(11):
        make_work(hit, f"A{number}")
    assert pay_of(project, stage_cards(project)).reason == "nobody was paid yet"


def test_the_end_follows_from_the_last_days_or_is_not_told(project, opened, endpoint):
    now = timezone.now()
    assert told(project).reason == "all answers that were asked for are in"
    hit = make_hit(opened, 30)
    assert told(project).reason == "A poll got no answer in three days"
    for number in range(10):
        make_work(hit, f"A{number}", stored_at=now - timedelta(hours=10))
    end = told(project)
    assert abs(end.at - (now + timedelta(hours=20))) < timedelta(minutes=1)
    assert told(project, stopped=True).at is None
    slow = make_stage(project, endpoint, "slow", title="Slow")
    Stage.objects.filter(pk=slow.pk).update(status=Stage.Status.OPEN)
    make_work(make_hit(slow), "B", stored_at=now - LATELY - timedelta(hours=1))
    assert told(project).reason == "Slow got no answer in three days"
    Stage.objects.filter(project=project).update(status=Stage.Status.CLOSED)
    assert told(project).reason == "no stage is open"


def test_the_overview_says_what_cannot_finish_in_red_with_the_remedy(project, opened, owner):
    Stage.objects.filter(pk=opened.pk).update(reserved_cents=2_000)
    hit = make_hit(opened, 30)
    for number in range(11):
        make_work(hit, f"A{number}")
    record(project=project, action="stage.budget_reached", subject=opened.slug)
    page = owner.get(f"/desk/projects/{project.slug}/").content.decode()
    assert '<span class="chip bad">cannot finish</span>' in page
    assert "Raise it, or ask fewer people for each unit." in page
    assert "A stage cannot finish: see above" in page
    assert '<strong class="bad">$6.00</strong>' in page
    assert "Median of 11 paid assignments, below the floor of" in " ".join(page.split())
