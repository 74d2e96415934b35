"""Rows in bulk: what is written and read by COPY is what Django's own way writes and reads."""

import numpy as np
import pytest
from django.contrib.auth.models import User
from django.db.models import F
from django.utils import timezone

from core import bulk_rows
from core.bulk_rows import BulkTable, insert_columns, integer_columns
from core.jobs.models import Job
from core.projects.models import Event
from core.projects.services import create_project
from judgments.models import Candidate, ImportedScore, Judgment, System
from tests.judgments.desk_world import judge, make_place

pytestmark = pytest.mark.django_db

ODD = [
    "",
    "plain",
    "a\tb",
    "a\nb\r\nc",
    "\\N",
    "\\.",
    "back\\slash\\",
    'quo"te',
    "it's 5 %s %%",
    "क\u0301 \U0001f600",
]


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    monkeypatch.setattr(bulk_rows, "BATCH", 4)
    monkeypatch.setattr(bulk_rows, "_BLOCK", 100)


@pytest.fixture
def project():
    return create_project(slug="bulk", title="Bulk", budget_cents=100)


def test_columns_are_stored_as_they_are_whatever_signs_they_hold(project):
    now = timezone.now()
    actor = User.objects.create_user("ada")
    details = [{"text": text, "none": None, "n": 1.5} for text in ODD]
    insert_columns(
        Event,
        {
            "project_id": project.pk,
            "at": now,
            "actor_id": [actor.pk if number % 2 else None for number in range(len(ODD))],
            "action": "bulk",
            "subject": ODD,
            "details": details,
        },
    )
    rows = Event.objects.filter(action="bulk").order_by("pk")
    assert list(rows.values_list("subject", flat=True)) == ODD
    assert list(rows.values_list("details", flat=True)) == details
    assert {row.at for row in rows} == {now}
    assert [row.actor_id for row in rows] == [actor.pk if number % 2 else None for number in range(len(ODD))]


def test_what_is_not_named_has_its_default(project):
    insert_columns(System, {"project_id": project.pk, "name": ["a", "b"], "created_at": timezone.now()})
    made = System.objects.get(project=project, name="a")
    fresh = System(project=project, name="a", created_at=made.created_at)
    for field in System._meta.concrete_fields[1:]:
        assert getattr(made, field.attname) == getattr(fresh, field.attname)


def test_rows_that_django_adds_afterwards_have_keys_of_their_own(project):
    at = timezone.now()
    insert_columns(System, {"project_id": project.pk, "name": ["a", "b"], "created_at": at})
    table = BulkTable(System, "project_id", "name", "created_at")
    keys = [table.add(project.pk, f"n{number}", at) for number in range(9)]
    table.close()
    last = System.objects.create(project=project, name="z", created_at=at)
    assert (
        list(System.objects.filter(name__startswith="n").order_by("pk").values_list("pk", flat=True)) == keys
    )
    assert last.pk not in keys


def test_no_rows_are_no_statement(project, django_assert_num_queries):
    with django_assert_num_queries(0):
        insert_columns(System, {"project_id": project.pk, "name": []})


@pytest.mark.parametrize("count", [0, 1, 4, 23])
def test_whole_numbers_are_read_as_django_reads_them(count):
    place = make_place()
    judge(place, [(f"q{number % 5}", f"W{number}", number % 5 + 1) for number in range(count)])
    rows = (
        Judgment.objects.filter(stage=place.stage).order_by("-pk").values_list("pk", "candidate_id", "score")
    )
    found = integer_columns(rows, "i8", "i4", "i2")
    assert [column.dtype for column in found] == [np.int64, np.int32, np.int16]
    assert list(zip(*(column.tolist() for column in found), strict=True)) == list(rows)


def test_wide_numbers_come_in_four_bytes_where_they_fit():
    place = make_place()
    judge(place, [(f"q{number}", "W", 1) for number in range(9)])
    wide = Judgment.objects.order_by("pk").annotate(far=F("pk") + (1 << 40)).values_list("pk", "far", "score")
    found = integer_columns(wide, "i8", "i8", "i2", narrow=True)
    assert [column.dtype for column in found] == [np.int32, np.int64, np.int16]
    assert list(zip(*(column.tolist() for column in found), strict=True)) == list(wide)
    none = integer_columns(wide.filter(pk=0), "i8", "i8", "i2", narrow=True)
    assert [column.tolist() for column in none] == [[], [], []]


def test_columns_that_hold_nulls_or_texts_are_refused():
    place = make_place()
    judge(place, [(f"q{number}", "W", 1) for number in range(9)])
    Candidate.objects.filter(query__key="q3").update(line=7)
    some = Candidate.objects.order_by("pk")
    for rows in (
        some.values_list("pk", "line"),
        some.values_list("line", "pk"),
        some.values_list("pk", "text"),
    ):
        with pytest.raises((ValueError, TypeError)):
            integer_columns(rows, "i8", "i8")


def test_a_question_with_a_percent_sign_and_parameters_is_read_too(project):
    Job.objects.all().delete()
    at = timezone.now()
    insert_columns(System, {"project_id": project.pk, "name": ["5 %s", "b' %", "c"], "created_at": at})
    rows = System.objects.filter(name__in=["5 %s", "b' %"]).annotate(twice=F("pk") * 2).order_by("pk")
    pk, twice = integer_columns(rows.values_list("pk", "twice"), "i8", "i8")
    assert twice.tolist() == [2 * key for key in rows.values_list("pk", flat=True)] == (pk * 2).tolist()


def test_a_constant_may_be_a_list():
    """As the default of a JSON field is: it is one value for all rows, not a column."""
    judge(make_place(), [("q1", "W", 1), ("q2", "W", 1)])
    keys = list(Candidate.objects.values_list("pk", flat=True)[:2])
    insert_columns(ImportedScore, {"candidate_id": keys, "mean": 2.5, "n": 3})
    assert [row.ratings for row in ImportedScore.objects.filter(candidate__in=keys)] == [[], []]


def test_a_question_that_nothing_can_answer_has_no_rows():
    (pk,) = integer_columns(Candidate.objects.filter(pk__in=[]).values_list("pk"), "i8")
    assert (pk.dtype, pk.tolist()) == (np.int64, [])
