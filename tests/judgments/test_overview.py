"""What judging adds to the pages of a whole project: a step of the funnel, agreement, figures of people."""

import pytest
from django.utils import timezone

from crowd.desk import agreement
from crowd.models import Assignment, Stage
from crowd.selectors.people import people as people_of
from judgments.models import FilterRun, Score
from judgments.selectors.scores import JudgedQueries, count_judged_queries
from judgments.services import filter_runs, reports
from tests.judgments.desk_world import Place, as_, candidate_of, check, judge, make_place, people, worker_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def place() -> Place:
    found = make_place(redundancy=2)
    people(found)
    return found


def scored(place: Place, **means: float | None) -> None:
    """A filter run in force that left these means."""
    run = FilterRun.objects.create(
        stage=place.stage, recipe="default", parameters={}, last_judgment=0, created_at=timezone.now()
    )
    Score.objects.bulk_create(
        Score(run=run, candidate=candidate_of(place, name), n_raw=2, n_kept=2, mean=mean)
        for name, mean in means.items()
    )


def test_queries_are_judged_when_all_their_answers_have_the_judgments_that_count(place):
    assert count_judged_queries(place.project) is None  # without systems
    judge(place, [("q1/a", "A1", 4), ("q1/a", "A2", 5), ("q2/a", "A1", 4)])
    gone, aside = candidate_of(place, "q3/a"), candidate_of(place, "q4/a")
    assert count_judged_queries(place.project) == JudgedQueries(queries=4, scored=1)
    type(aside).objects.filter(pk=aside.pk).update(aside="exact")
    type(gone.query).objects.filter(pk=gone.query_id).update(status="withdrawn")
    assert count_judged_queries(place.project) == JudgedQueries(queries=2, scored=1)
    page = as_("viewer").get(f"/desk/projects/{place.project.slug}/")
    step = next(each.step for each in page.context["funnel"] if each.step.label.startswith("Judged"))
    assert [(each.name, each.count) for each in step.counts] == [
        ("passed", 1), ("waiting", 1), ("undecided", 0),
    ]  # fmt: skip
    candidate_of(place, "q1/b")
    assert count_judged_queries(place.project) == JudgedQueries(queries=2, scored=0)
    Stage.objects.filter(pk=place.stage.pk).update(config={"systems": ["a"]})  # nobody is asked about b
    assert count_judged_queries(place.project) == JudgedQueries(queries=2, scored=1)
    scored(place, **{"q1/a": None, "q2/a": 4.0})
    assert count_judged_queries(place.project) == JudgedQueries(queries=2, scored=1)


def test_rejected_work_is_not_counted(place):
    row, _ = judge(place, [("q1/a", "A1", 4), ("q1/a", "A2", 5)])
    Assignment.objects.filter(pk=row.assignment_id).update(state="rejected")
    assert count_judged_queries(place.project) == JudgedQueries(queries=1, scored=0)


ROWS = [
    (f"q{number}/a", worker, score)
    for number, base in enumerate([1, 5, 2, 4, 3, 1, 5, 2, 4, 3] * 3)
    for worker, score in (("A1", base), ("A2", base), ("A3", 1 + number % 5))
]


def test_agreement_comes_from_the_stored_report_and_people_have_their_figures(place):
    judge(place, ROWS)
    check(place, "A3", [True, *[False] * 5])
    before = agreement.agreements_of([place.stage])[place.stage.pk]
    assert (before.now, before.note) == (None, "no report was made yet")
    reports.keep(reports.make(place.stage, lambda *_: None))
    row = agreement.agreements_of([place.stage])[place.stage.pk]
    assert (row.items, row.after) == (30, None)
    assert row.before is not None
    assert row.signature.startswith("krippendorff-alpha")
    filter_runs.apply(stage=place.stage, recipe="default", parameters={}, actor=None)
    reports.keep(reports.make(place.stage, lambda *_: None))
    row = agreement.agreements_of([place.stage])[place.stage.pk]
    assert row.after == pytest.approx(1.0)
    assert row.before < 0.9
    assert row.note.endswith("cross-fitted")
    found = {row.name: row for row in people_of(place.project)}
    assert found["A1"].kappa > found["A3"].kappa
    assert (found["A3"].presented, found["A3"].failed) == (6, 5)
    assert "failed checks" in found["A3"].flags
    assert found["A1"].ratings == 30
    worker = worker_of(place, "A1")
    page = as_("viewer").get(f"/desk/projects/{place.project.slug}/workers/{worker.pk}/").content.decode()
    assert "How often they gave each score, beside everybody" in page
    assert "Judgments by the time of their HIT" in page
