"""The marketplace's proof of who holds what, as the task page of its requester reads it."""

from datetime import timedelta
from urllib.parse import parse_qsl, urlsplit

import pytest
from django.test import Client

from crowd.adapters.mturk import Account, MTurkAdapter
from marketplace.accounts import accesskeys
from marketplace.lifecycle import assignments
from marketplace.models import Holding
from marketplace.site import taskpages

from .conftest import make_hit, make_requester


def page_of(key):
    """The task page's adapter, which calls with this key."""
    return MTurkAdapter(
        Account("http://127.0.0.1:9/mturk/api", "us-east-1", key.access_key, key.secret, "USD", 0, 1)
    )


@pytest.fixture
def holding(requester, worker):
    return assignments.accept(worker=worker, hit=make_hit(requester))


def address(holding):
    """The parameters of the task page's address."""
    url = taskpages.frame_url(holding=holding, base_url="https://market.example.org")
    return dict(parse_qsl(urlsplit(url).query))


def test_every_valid_key_of_the_requester_proves_an_arrival_and_no_other(requester, holding):
    first, second = (accesskeys.issue_key(requester=requester, label=str(n)) for n in (1, 2))
    stranger = accesskeys.issue_key(requester=make_requester())
    assert page_of(first).arrival(address(holding)).proven
    assert page_of(second).arrival(address(holding)).proven
    assert not page_of(stranger).arrival(address(holding)).proven
    accesskeys.end_key(key=first.row, after=timedelta())
    assert not page_of(first).arrival(address(holding)).proven
    assert page_of(second).arrival(address(holding)).proven


def test_a_proof_is_good_for_what_it_names_alone(requester, holding):
    page = page_of(accesskeys.issue_key(requester=requester))
    given = address(holding)
    for name, other in (("workerId", "AOTHER"), ("assignmentId", "3OTHER"), ("hitId", "3OTHER")):
        assert not page.arrival(given | {name: other}).proven
    to, _, proofs = given["turkSubmitTo"].partition("~")
    assert not page.arrival(given | {"turkSubmitTo": f"{to}x~{proofs}"}).proven
    assert not page.arrival(given | {"turkSubmitTo": to}).proven
    assert not page.arrival(given | {"turkSubmitTo": f"{to}~"}).proven


def test_work_goes_to_the_address_with_its_proof(requester, holding):
    accesskeys.issue_key(requester=requester)
    to = urlsplit(address(holding)["turkSubmitTo"]).path
    for path in (f"{to}/mturk/externalSubmit", f"{to}//mturk/externalSubmit"):
        assert Client().post(path, {"answer": "Blue."}).status_code == 200
    assert Holding.objects.get(pk=holding.pk).state == "submitted"
