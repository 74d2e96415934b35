"""People who come by a link: dealt work on our own pages, with the books of any marketplace."""

import re
from datetime import timedelta

import pytest
from django.conf import settings
from django.test import Client
from django.utils import timezone

from crowd.adapters import registry
from crowd.adapters.link import read_arrival, sign_arrival
from crowd.errors import CrowdError
from crowd.models import Assignment, Claim, Exclusion, Hit, LedgerEntry, Stage
from crowd.services import stages
from crowd.services.arrivals import RETURN_IT
from crowd.services.deals import Dealt, NoWork, NoWorkError, deal
from crowd.services.endpoints import create_endpoint
from crowd.services.tick import tick
from tests.cases import apart
from tests.crowd.world import make_project, make_stage

pytestmark = pytest.mark.django_db
State = Assignment.State
BACK = f"{settings.TASK_URL}/join/somewhere/next"


@pytest.fixture
def endpoint():
    """Study links of this installation."""
    return create_endpoint(name="links", preset="link", access_key="", secret="")


@pytest.fixture
def stage(endpoint) -> Stage:
    """A poll about two things by two people each, open and on offer."""
    made = make_stage(endpoint, redundancy=2)
    stages.open_stage(stage=made)
    tick()
    made.refresh_from_db()
    return made


def come(stage: Stage, who: str, **more) -> Dealt:
    """A person asks for work."""
    return deal(stage, worker_id=who, submit_to=BACK, **more)


def do(client: Client, dealt: Dealt, choice: str = "yes"):
    """A person opens the task page and sends their answer."""
    page = client.get(dealt.task_address)
    assert page.status_code == 200, page.content
    hidden = dict(re.findall(r'name="(ticket)" value="([^"]+)"', page.content.decode()))
    return client.post(dealt.task_address, {**hidden, "0|choice": choice})


def test_work_is_dealt_answered_paid_and_closed(stage, client):
    for who in ("ada", "bo"):
        pages = []
        for _ in range(2):
            dealt = come(stage, who)
            sent = do(client, dealt)
            assert (sent.status_code, sent.headers["Location"]) == (302, BACK)
            pages.append(dealt.assignment_pk)
        assert len(set(pages)) == 2
    with pytest.raises(NoWorkError) as none_left:
        come(stage, "cy")
    assert none_left.value.reason == NoWork.NOTHING_LEFT
    while not tick().idle:
        pass
    stage.refresh_from_db()
    assert set(Assignment.objects.values_list("state", flat=True)) == {State.APPROVED}
    assert set(Hit.objects.values_list("state", flat=True)) == {Hit.State.CLOSED}
    assert (stage.spent_cents, stage.reserved_cents) == (40, 0)
    assert LedgerEntry.objects.filter(kind="spend").count() == 4


def test_a_person_gets_the_open_task_again_with_what_was_written(stage, client):
    first = come(stage, "ada")
    page = client.get(first.task_address).content.decode()
    ticket = re.search(r'name="ticket" value="([^"]+)"', page)[1]
    kept = client.post(
        first.task_address.partition("?")[0] + "draft/",
        {"fields": {"0|choice": "no"}, "telemetry": {}},
        content_type="application/json",
        headers={"authorization": f"Ticket {ticket}"},
    )
    assert kept.json() == {"kept": True}
    again = come(stage, "ada")
    assert again.assignment_pk == first.assignment_pk
    assert re.search(r'value="no"\s+checked', Client().get(again.task_address).content.decode())


def test_a_session_has_one_piece_of_work_for_ever(stage, client):
    first = come(stage, "ada", session="s1")
    do(client, first)
    again = come(stage, "ada", session="s1")
    assert again.assignment_pk == first.assignment_pk
    assert client.get(again.task_address).headers["Location"] == BACK
    assert come(stage, "ada", session="s2").assignment_pk != first.assignment_pk


def test_no_place_is_given_twice(stage):
    given, refused = 0, 0
    for number in range(6):
        try:
            come(stage, f"p{number}")
        except NoWorkError:
            refused += 1
        else:
            given += 1
    assert (given, refused) == (4, 2)
    assert Claim.objects.filter(stage=stage).count() == 4


def test_a_late_answer_is_taken_while_the_budget_lasts(stage, client):
    """Work whose time is over frees its place; who finishes after all gets one more, or hears why not."""
    late = come(stage, "late")
    page = client.get(late.task_address).content.decode()
    ticket = re.search(r'name="ticket" value="([^"]+)"', page)[1]
    others = [come(stage, f"p{number}") for number in range(3)]
    assert len(others) == 3
    Assignment.objects.filter(pk=late.assignment_pk).update(arrived_at=timezone.now() - timedelta(hours=9))
    tick()
    assert Assignment.objects.get(pk=late.assignment_pk).state == State.ENDED
    come(stage, "next")
    Stage.objects.filter(pk=stage.pk).update(budget_cents=40)
    refused = client.post(late.task_address, {"ticket": ticket, "0|choice": "yes"})
    assert refused.status_code == 409
    assert "taken all places" in refused.content.decode()
    Stage.objects.filter(pk=stage.pk).update(budget_cents=50)
    sent = client.post(late.task_address, {"ticket": ticket, "0|choice": "yes"})
    assert sent.headers["Location"] == BACK
    stage.refresh_from_db()
    assert (stage.reserved_cents, Assignment.objects.get(pk=late.assignment_pk).state) == (50, State.STORED)
    tick()
    stage.refresh_from_db()
    assert (stage.spent_cents, stage.reserved_cents) == (10, 40)


def test_whom_a_stage_does_not_take_is_told_why(endpoint, client):
    """Exclusions, stages apart, limits, tests that were not passed, and a stage that is closed."""
    project = make_project()
    first = make_stage(endpoint, project)
    stages.open_stage(stage=first)
    apart = make_stage(endpoint, project, apart_from=[first.slug])
    tested = make_stage(
        endpoint,
        project,
        eligibility=[{"kind": "passed", "op": "Exists", "values": [first.slug], "hide": "discover"}],
    )
    few = make_stage(endpoint, project, max_hits_per_worker=1)
    country = [{"kind": "country", "op": "In", "values": ["DE"], "hide": "accept"}]
    with pytest.raises(CrowdError, match="country"):  # of which a link knows nothing
        stages.open_stage(stage=make_stage(endpoint, project, eligibility=country))
    for stage in (apart, tested, few):
        stages.open_stage(stage=stage)
    while not tick().idle:
        pass
    do(client, come(first, "ada"))
    do(client, come(few, "ada"))
    first.refresh_from_db()
    worker = Assignment.objects.filter(stage=first).first().worker
    Exclusion.objects.create(worker=worker, scope=f"stage:{first.pk}", reason="-", created_at=timezone.now())
    with pytest.raises(NoWorkError, match="passed a test") as untested:
        come(tested, "bo")
    assert untested.value.reason == NoWork.EXCLUDED
    stages.close_stage(stage=tested)
    reasons = {}
    for stage, who in ((first, "ada"), (apart, "ada"), (few, "ada"), (tested, "bo")):
        with pytest.raises(NoWorkError) as refused:
            come(stage, who)
        assert str(RETURN_IT) not in str(refused.value)
        reasons[stage.pk] = refused.value.reason
    assert list(reasons.values()) == [NoWork.EXCLUDED, NoWork.EXCLUDED, NoWork.LIMIT, NoWork.CLOSED]


def test_a_forged_arrival_is_a_preview(stage, client, subtests):
    """Only what this installation signed opens work."""
    cut_short = sign_arrival(listing="", submission="s", worker="w", submit_to=BACK)[:-1]
    for forged in ["", "x", "a:b:c", cut_short]:
        with apart(subtests, forged=forged):
            hit = Hit.objects.filter(stage=stage).first()
            assert read_arrival(forged) is None
            page = client.get(f"/task/{hit.key}/", {"arrival": forged})
            assert page.status_code == 200
            assert not Assignment.objects.exists()


def test_an_answer_that_nobody_decided_is_approved_by_time(stage, client):
    """As at every marketplace, work that waits too long for a decision is paid."""
    Stage.objects.filter(pk=stage.pk).update(approve_at_once=False)
    dealt = come(stage, "ada")
    do(client, dealt)
    tick()
    assert Assignment.objects.get(pk=dealt.assignment_pk).state == State.SUBMITTED
    past = timezone.now() - timedelta(seconds=stage.auto_approve_seconds + 60)
    Assignment.objects.filter(pk=dealt.assignment_pk).update(
        stored_at=past, submitted_at=past, auto_approve_at=past
    )
    tick()
    assert Assignment.objects.get(pk=dealt.assignment_pk).state == State.APPROVED


def test_the_adapter_tells_what_the_tables_say(stage, client, endpoint):
    market = registry.adapter(endpoint)
    do(client, come(stage, "ada"))
    (new, old) = market.iter_listings()
    assert (old.state, old.places, old.available, old.pending) == ("open", 2, 1, 0)
    assert new.available == 2
    (work,) = market.iter_submissions(old.ref)
    assert (work.worker, work.state) == ("ada", "submitted")
    assert market.get_submission(work.ref) == work
    assert market.find_by_key(old.key) == old
    assert market.get_listing("elsewhere") is None
    assert list(market.iter_bonuses()) == []


def test_a_task_opens_after_the_installation_moved_to_another_address(stage, client, settings):
    """The endpoint was made under the old one; work that somebody had begun there still goes on."""
    begun = come(stage, "ada")
    settings.TASK_URL = "https://answers.example.org"
    back = "https://answers.example.org/join/somewhere/next"
    moved = deal(stage, worker_id="bo", submit_to=back)
    assert [do(client, dealt).status_code for dealt in (begun, moved)] == [302, 302]
    assert Assignment.objects.exclude(stored_at=None).count() == 2
    elsewhere = deal(stage, worker_id="cy", submit_to="https://evil.example.org/x")
    page = client.get(elsewhere.task_address)
    assert "a place we do not know" in page.content.decode()
