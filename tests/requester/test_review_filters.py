"""The table of all work: narrowed by time and agreement, and decided many at a time."""

from datetime import timedelta

import pytest

from marketplace import clock
from marketplace.models import Holding
from tests.site import world

State = Holding.State


@pytest.fixture
def work(lab, rosa, ben) -> list[Holding]:
    """Two answers to the first HIT alike, two to the second unlike, one to the third alone."""
    group = world.make_group(lab)
    found = []
    for answers in (("Blue.", "Blue."), ("Red.", "Green."), ("One.",)):
        hit = world.post(group, places=2)
        for worker, answer in zip((rosa, ben), answers, strict=False):
            found.append(world.submit(world.take(worker, hit), answer))
    return found


def shown(as_owner, at, query: str) -> set[int]:
    return {row.pk for row in as_owner.get(at(f"review/work/?{query}")).context["rows"]}


def test_work_is_filtered_by_agreement_and_time(as_owner, at, work):
    keys = [each.pk for each in work]
    assert shown(as_owner, at, "agreement=same") == set(keys[:2])
    assert shown(as_owner, at, "agreement=alone") == set(keys[2:4])
    assert shown(as_owner, at, "agreement=first") == {keys[4]}
    Holding.objects.filter(pk=keys[0]).update(submitted_at=clock.now() - timedelta(days=8))
    assert shown(as_owner, at, "time=older") == {keys[0]}
    assert shown(as_owner, at, "time=hour") == set(keys[1:])
    rows = as_owner.get(at("review/work/")).context["rows"]
    assert {row.pk: row.agreement for row in rows} == dict(
        zip(keys, ("1 of 1", "1 of 1", "0 of 1", "0 of 1", ""), strict=True)
    )


def test_agreement_costs_the_same_number_of_queries_however_many_rows(as_owner, at, work, queries_of):
    few = queries_of(as_owner, at("review/work/?state=all&agreement=first"))
    assert queries_of(as_owner, at("review/work/?state=all")) == few


def test_many_are_rejected_for_one_reason(as_owner, at, work):
    world.approve(work[1])
    form = {"chosen": [each.pk for each in work[:2]]}
    assert "Write the reason" in as_owner.post(at("review/work/reject/"), form, follow=True).content.decode()
    page = as_owner.post(
        at("review/work/reject/"), form | {"feedback": "Empty."}, follow=True
    ).content.decode()
    assert "1 rejected." in page and "ABEN was not rejected. It is approved already" in page
    assert Holding.objects.get(pk=work[0].pk).feedback == "Empty."
    assert "Nothing is chosen" in as_owner.post(at("review/work/reject/"), follow=True).content.decode()
