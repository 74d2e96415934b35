"""What judging adds to the pages of a whole project: a step of the funnel, agreement, figures of people."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from crowd.desk import agreement
from crowd.models import Assignment, Stage
from crowd.selectors.people import people as people_of
from judgments.models import FilterRun, Score
from judgments.selectors.scores import JudgedQueries, count_judged_queries
from judgments.services import filter_runs, reports
from tests.judgments.desk_world import (
    Place,
    as_,
    candidate_of,
    check,
    judge,
    make_place,
    people,
    query_of,
    worker_of,
)

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


def test_a_project_without_systems_has_no_such_step(place):
    assert count_judged_queries(place.project) is None


def test_without_filters_an_answer_is_scored_with_as_many_judgments_as_were_asked_for(place):
    judge(place, [("q1/a", "A1", 4), ("q1/a", "A2", 5), ("q2/a", "A1", 4)])
    candidate_of(place, "q3/a")
    assert count_judged_queries(place.project) == JudgedQueries(queries=3, scored=1)


def test_a_query_is_judged_when_all_its_answers_are(place):
    judge(place, [("q1/a", "A1", 4), ("q1/a", "A2", 5)])
    candidate_of(place, "q1/b")
    assert count_judged_queries(place.project) == JudgedQueries(queries=1, scored=0)


def test_with_filters_in_force_their_scores_count(place):
    judge(place, [("q1/a", "A1", 4), ("q1/a", "A2", 5), ("q2/a", "A1", 4)])
    scored(place, **{"q1/a": None, "q2/a": 4.0})
    assert count_judged_queries(place.project) == JudgedQueries(queries=2, scored=1)


def test_rejected_work_is_not_counted(place):
    row, _ = judge(place, [("q1/a", "A1", 4), ("q1/a", "A2", 5)])
    Assignment.objects.filter(pk=row.assignment_id).update(state="rejected")
    assert count_judged_queries(place.project) == JudgedQueries(queries=1, scored=0)


def test_queries_that_were_taken_out_and_answers_set_aside_do_not_count(place):
    candidate_of(place, "q1/a")
    candidate_of(place, "q2/a")
    aside = candidate_of(place, "q3/a")
    type(aside).objects.filter(pk=aside.pk).update(aside="exact")
    query = query_of(place, "q1")
    type(query).objects.filter(pk=query.pk).update(status="withdrawn")
    assert count_judged_queries(place.project) == JudgedQueries(queries=1, scored=0)


def test_answers_of_systems_that_nobody_is_asked_about_do_not_count(place):
    Stage.objects.filter(pk=place.stage.pk).update(config={"systems": ["a"]})
    judge(place, [("q1/a", "A1", 4), ("q1/a", "A2", 5)])
    candidate_of(place, "q1/human")
    candidate_of(place, "q2/human")
    assert count_judged_queries(place.project) == JudgedQueries(queries=1, scored=1)


def test_the_overview_draws_the_step(place):
    judge(place, [("q1/a", "A1", 4), ("q1/a", "A2", 5)])
    candidate_of(place, "q2/a")
    page = as_("viewer").get(f"/desk/projects/{place.project.slug}/")
    step = next(row.step for row in page.context["funnel"] if row.step.label.startswith("Judged"))
    assert [(count.name, count.count) for count in step.counts] == [
        ("passed", 1),
        ("waiting", 1),
        ("undecided", 0),
    ]


@pytest.mark.long
def test_the_overview_asks_as_many_questions_for_many_answers_as_for_few(place):
    client, counted = as_("viewer"), []
    for start in (0, 10):
        judge(place, [(f"q{n}/a", f"A{n}", 4) for n in range(start, start + 10)])
        with CaptureQueriesContext(connection) as asked:
            client.get(f"/desk/projects/{place.project.slug}/")
        counted.append(len(asked))
    assert counted[0] == counted[1] <= 53


ROWS = [
    (f"q{number}/a", worker, score)
    for number, base in enumerate([1, 5, 2, 4, 3, 1, 5, 2, 4, 3] * 3)
    for worker, score in (("A1", base), ("A2", base), ("A3", 1 + number % 5))
]


def test_a_row_of_agreement_comes_from_the_stored_report(place):
    judge(place, ROWS)
    before = agreement.agreements_of([place.stage])[place.stage.pk]
    assert (before.now, before.note) == (None, "no report was made yet")
    reports.keep(reports.make(place.stage, lambda *_: None))
    row = agreement.agreements_of([place.stage])[place.stage.pk]
    assert row.items == 30
    assert row.after is None
    assert row.before is not None
    assert row.signature.startswith("krippendorff-alpha")


def test_after_removing_workers_both_numbers_stand_in_the_row(place):
    judge(place, ROWS)
    check(place, "A3", [False] * 6)
    filter_runs.apply(stage=place.stage, recipe="default", parameters={}, actor=None)
    reports.keep(reports.make(place.stage, lambda *_: None))
    row = agreement.agreements_of([place.stage])[place.stage.pk]
    assert row.after == pytest.approx(1.0)
    assert row.before < 0.9
    assert row.note.endswith("cross-fitted")


def test_what_judging_knows_of_people_stands_in_the_projects_table(place):
    judge(place, ROWS)
    check(place, "A3", [True, False, False])
    found = {row.name: row for row in people_of(place.project)}
    assert found["A1"].kappa > found["A3"].kappa
    assert (found["A3"].presented, found["A3"].failed) == (3, 2)
    assert "failed checks" in found["A3"].flags
    assert found["A1"].ratings == 30


def test_a_workers_page_has_their_scores_beside_the_crowds(place):
    judge(place, ROWS)
    worker = worker_of(place, "A1")
    page = as_("viewer").get(f"/desk/projects/{place.project.slug}/workers/{worker.pk}/").content.decode()
    assert "How often they gave each score, beside everybody" in page
    assert "Judgments by the time of their HIT" in page
