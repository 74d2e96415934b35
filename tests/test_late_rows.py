"""Pages of a long table have the rows that they would have if all rows were read."""

import pytest
from django.core.paginator import Paginator
from django.db import connection
from django.db.models import Case, CharField, F, Value, When
from django.db.models.functions import Coalesce
from django.utils import timezone

from crowd.models import Worker
from tests.cases import apart
from tests.judgments.desk_world import make_place
from web.tables import LateRows, late

pytestmark = pytest.mark.django_db
ORDERS = [
    ("pk",),
    ("-pk",),
    ("external_id",),
    ("-external_id",),
    ("simulated", "pk"),
    ("-simulated", "-external_id"),
    (F("notes_or_none").asc(nulls_last=True), "pk"),
    (F("notes_or_none").desc(nulls_first=True), "-pk"),
    ("endpoint__name", "-pk"),
]
PAGES = [(start, start + 4) for start in range(0, 24, 4)]


@pytest.fixture
def workers():
    """Twenty-three, in no order, some of two endpoints, half of them simulated, some without a value."""
    for number_of_place, place in enumerate((make_place(), make_place())):
        Worker.objects.bulk_create(
            Worker(
                endpoint=place.stage.endpoint,
                external_id=f"{number * 7 % 23:02}{number_of_place}",
                simulated=number % 2 == 0,
                first_seen_at=timezone.now(),
            )
            for number in range(11 + number_of_place)
        )
    return with_notes(Worker.objects.select_related("endpoint"))


def with_notes(rows):
    some = Case(When(pk__in=list(Worker.objects.values_list("pk", flat=True))[::3], then="external_id"),
                default=None, output_field=CharField(null=True))  # fmt: skip
    return rows.annotate(notes_or_none=some, said=Coalesce(F("external_id"), Value("")))


def test_every_page_of_every_order_has_the_same_rows(workers, subtests):
    for order in ORDERS:
        with subtests.test(order=order):
            rows = workers.order_by(*order)
            found, whole = LateRows(rows), list(rows)
            for start, stop in PAGES:
                assert found[start:stop] == whole[start:stop]


def test_rows_have_what_was_asked_for_with_them(workers, django_assert_num_queries):
    found = LateRows(workers.order_by("pk"))
    with django_assert_num_queries(3):
        row = found[20:24][0]
        assert (row.said, bool(row.endpoint.name)) == (row.external_id, True)


def test_it_counts_once(workers, django_assert_num_queries):
    found = LateRows(workers)
    with django_assert_num_queries(1):
        assert (found.count(), len(found), found.count()) == (23, 23, 23)


def test_pages_are_those_of_a_paginator(workers):
    rows = workers.order_by("external_id", "pk")
    ours, plain = Paginator(late(rows), 5), Paginator(rows, 5)
    assert (ours.count, ours.num_pages) == (plain.count, plain.num_pages)
    for number in (*plain.page_range, "last", "99", "nonsense"):
        assert list(ours.get_page(number)) == list(plain.get_page(number))


def test_without_rows_there_is_one_empty_page():
    page = Paginator(late(Worker.objects.order_by("pk")), 5).get_page(3)
    assert (list(page), page.number, page.paginator.num_pages) == ([], 1, 1)


def test_beyond_the_end_there_is_nothing(workers):
    found = LateRows(workers.order_by("pk"))
    assert found[100:104] == []
    assert len(found[20:100]) == found.count() - 20


def test_rows_deleted_after_counting_are_missing_and_nothing_breaks(workers, subtests):
    for page in PAGES:
        with apart(subtests, page=page):
            rows = workers.order_by("pk")
            found = LateRows(rows)
            found.count()
            Worker.objects.filter(pk__in=list(rows.values_list("pk", flat=True)[1:23:2])).delete()
            left = list(rows)
            shown = found[slice(*page)]
            assert len(shown) <= 4
            assert shown == [row for row in left if row in shown]


def test_rows_deleted_between_their_keys_and_themselves_are_left_out(workers):
    late_rows = LateRows(workers.order_by("pk"))
    whole, statements = list(workers.order_by("pk")), []

    def one_goes(execute, sql, params, many, context):
        statements.append(sql)
        if len(statements) == 3:  # after those of the count and of the keys
            Worker.objects.filter(pk=whole[1].pk).delete()
        return execute(sql, params, many, context)

    with connection.execute_wrapper(one_goes):
        assert late_rows[0:4] == [whole[0], *whole[2:4]]


def test_what_is_no_plain_table_is_paged_as_ever(workers, subtests):
    for change in [
        lambda rows: rows.values("pk"),
        lambda rows: rows.order_by("pk")[:10],
        lambda rows: rows.distinct(),
        lambda rows: rows.union(rows),
        list,
    ]:
        with subtests.test(change=change):
            assert not isinstance(late(change(workers)), LateRows)
