"""All rows that match a filter are chosen at once: how many is said, confirmed, and counted again."""

import re

import pytest

from crowd.models import Assignment, MarketOperation
from tests.desk.conftest import at, make_hit, make_work
from tests.saving import messages_of
from web.tables import ROWS

pytestmark = pytest.mark.django_db
COUNT = ROWS + 2


@pytest.fixture
def work(stage):
    hit = make_hit(stage, places=COUNT)
    return [make_work(hit, f"A{number}") for number in range(COUNT)]


def approve(client, stage, query="", **fields):
    return client.post(at("approve_chosen", stage) + query, fields, follow=True)


def test_only_a_list_of_several_pages_offers_it_and_says_how_many(manager, stage, work):
    offer = re.compile(r'name="every" value="(\d+)"')
    page = manager.get(at("work", stage)).content.decode()
    assert offer.findall(page) == [str(COUNT)]
    assert f"Select all {COUNT} pieces of work that match this filter" in " ".join(page.split())
    assert not offer.findall(manager.get(at("work", stage) + "?worker=A3").content.decode())


def test_how_many_is_confirmed_with_what_it_costs_before_anything_happens(manager, stage, work):
    Assignment.objects.filter(pk=work[0].pk).update(state="approved")
    page = approve(manager, stage, "?state=all", every=COUNT, chosen=[work[1].pk])
    said = page.content.decode()
    assert f"Approve {COUNT - 1} pieces of work?" in said
    assert "Each is paid $0.10, together $2.60 and the" in said
    assert "Pay cannot be taken back." in said
    assert not MarketOperation.objects.exists()
    fields = dict(re.findall('name="(every|confirmed)" value="([^"]*)"', said))
    page = approve(manager, stage, "?state=all", **fields)
    assert messages_of(page) == [f"{COUNT - 1} approved: on the way to the marketplace."]
    assert page.redirect_chain[-1][0] == at("work", stage) + "?state=all"
    assert MarketOperation.objects.count() == COUNT - 1


def test_only_what_the_filter_shows_is_acted_on(manager, stage, work):
    approve(manager, stage, "?worker=A3", every=1, confirmed=1)
    assert MarketOperation.objects.get().assignment == work[3]


def test_where_the_number_changed_since_nothing_happens(manager, stage, work, monkeypatch):
    for every in (COUNT - 1, COUNT + 1, "x"):
        page = approve(manager, stage, every=every, confirmed=1)
        assert messages_of(page) == [
            f"{every} matched when you confirmed, {COUNT} match now. Nothing was done."
        ]
    monkeypatch.setattr("web.forms.MOST_MATCHING", ROWS)
    page = approve(manager, stage, every=COUNT, confirmed=1)
    assert messages_of(page) == [f"More than {ROWS} match; narrow the filter. Nothing was done."]
    page = approve(manager, stage, "?worker=nobody", every=1)
    assert messages_of(page) == ["None of them can be chosen any more. Nothing was done."]
    assert not MarketOperation.objects.exists()


def test_where_too_many_match_the_list_says_so(manager, stage, work, monkeypatch):
    monkeypatch.setattr("crowd.desk.work.MOST_MATCHING", ROWS)
    page = manager.get(at("work", stage)).content.decode()
    assert f"More than {ROWS} match: narrow the filter to choose all." in page
    assert 'name="every"' not in page


def test_a_letter_goes_to_all_whom_a_filter_leaves_and_to_nobody_where_it_leaves_none(manager, stage, work):
    page = manager.get(at("workers", stage) + "?state=all&q=A").content.decode()
    assert '<input type="hidden" name="q" value="A">' in page
    assert f"Select all {COUNT} workers that match this filter" in " ".join(page.split())
    page = manager.get(at("message", stage) + "?q=A1&every=27").content.decode()
    assert "Write to 11 workers" in page
    assert page.count('name="worker"') == 11
    page = manager.get(at("message", stage) + "?q=nobody&every=1", follow=True)
    assert messages_of(page) == ["None of them can be chosen any more. Nothing was done."]
