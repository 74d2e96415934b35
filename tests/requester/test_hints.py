"""Hints for reviewers: what is noted of how work came about, and what they are shown of it."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from marketplace.lifecycle import traces
from marketplace.models import Holding, Likeness, PayeeDetails, WorkerTrace, WorkTrace
from marketplace.requester.work import hints_for
from marketplace.site.taskpages import submit_signature
from tests.site import world
from tests.site.conftest import signed_in

TEXT = "The tower was built of iron in 1889 and stands beside the river since then."


@pytest.fixture
def task(lab):
    return world.post(world.make_group(lab), places=5)


def comes(worker, hit, address="192.0.2.7", browser: Client | None = None) -> Holding:
    """The worker accepts the HIT on the site, from an address."""
    client = browser or signed_in(worker.user)
    group = hit.hit_type.group_id
    client.post(f"/projects/{group}/tasks/accept", {"hit_id": hit.hit_id}, REMOTE_ADDR=address)
    return Holding.objects.select_related("worker", "hit__hit_type").get(worker=worker, hit=hit)


def sends(holding: Holding, text: str = TEXT) -> Holding:
    url = f"/s/{submit_signature(holding.pk)}/mturk/externalSubmit"
    assert Client().post(url, {"assignmentId": holding.assignment_id, "answer": text}).status_code == 200
    Holding.objects.filter(pk=holding.pk).update(accepted_at=timezone.now() - timedelta(minutes=5))
    holding.refresh_from_db()
    return holding


def kinds(lab, holding) -> list[str]:
    return [hint.kind for hint in hints_for(lab.pk, [holding]).get(holding.pk, [])]


def test_a_shared_address_is_shown_and_kept_as_a_keyed_digest(lab, task, rosa, ben, at, as_owner):
    first, second = sends(comes(rosa, task), "Blue."), sends(comes(ben, task), "Red.")
    assert "192.0.2.7" not in str(list(WorkerTrace.objects.values_list()))
    page = as_owner.get(at(f"work/{first.pk}/")).text
    assert "Shared network address" in page and ben.worker_id in page and "no reason to reject" in page
    listed = as_owner.get(at("review/work/?hints=address")).text
    assert rosa.worker_id in listed and ben.worker_id in listed
    assert "No such work." in as_owner.get(at("review/work/?hints=browser")).text
    assert kinds(lab, second) == ["address"]


def test_people_who_worked_for_others_alone_are_not_told_of(lab, other, task, rosa, ben):
    sends(comes(ben, world.post(world.make_group(other))), "Red.")
    assert kinds(lab, sends(comes(rosa, task), "Blue.")) == []


def test_another_address_is_no_hint(lab, task, rosa, ben):
    sends(comes(ben, task, "198.51.100.1"), "Red.")
    assert kinds(lab, sends(comes(rosa, task), "Blue.")) == []


def test_a_shared_browser_is_its_cookie_whoever_signs_in(lab, task, rosa, ben):
    browser, work = Client(), {}
    for worker in (rosa, ben):
        browser.post("/accounts/login/", {"username": worker.name, "password": "still warm copper"})
        work[worker] = sends(comes(worker, task, f"192.0.2.{worker.pk}", browser), "Blue.")
        browser.post("/accounts/logout/")
    assert kinds(lab, work[rosa]) == kinds(lab, work[ben]) == ["browser"]


def test_a_shared_payee(lab, task, rosa, ben, at, as_owner):
    work = [sends(comes(worker, task, f"192.0.2.{worker.pk}"), "Blue.") for worker in (rosa, ben)]
    for worker in (rosa, ben):
        PayeeDetails.objects.create(worker=worker, method="paypal", digest="d" * 64)
    assert kinds(lab, work[0]) == ["payee"]
    assert rosa.worker_id in as_owner.get(at("review/work/?hints=payee")).text


def test_the_same_words_and_nearly_the_same_find_each_other(lab, task, rosa, ben, at, as_owner):
    zoe = world.make_worker("zoe")
    said = {
        rosa: TEXT,
        ben: f"  {TEXT.upper()}",
        zoe: "Quite another thing that has nothing of it at all, you see.",
    }
    work = {each: sends(comes(each, task, f"192.0.2.{each.pk}"), text) for each, text in said.items()}
    assert traces.compare_answers() == 3
    assert traces.compare_answers() == 0
    assert (kinds(lab, work[rosa]), kinds(lab, work[ben]), kinds(lab, work[zoe])) == (
        ["alike"],
        ["alike"],
        [],
    )
    assert Likeness.objects.filter(identical=True).count() == 2
    page = as_owner.get(at(f"work/{work[rosa].pk}/")).text
    assert "wrote the same words" in page and f"work/{work[ben].pk}/" in page
    assert zoe.worker_id not in as_owner.get(at("review/work/?hints=alike")).text


def test_sketches_of_like_texts_are_near():
    words = " ".join(f"{TEXT} Year {year} was {year * 7} steps long." for year in range(8)).lower().split()
    changed = [*words[:40], "maybe", *words[40:]]
    assert traces._near(traces.sketch(words), traces.sketch(changed))
    assert not traces._near(traces.sketch(words), traces.sketch(["one", "two", "three"]))


def test_choices_and_short_answers_are_not_compared(lab, task, rosa, ben):
    for worker in (rosa, ben):
        sends(comes(worker, task, f"192.0.2.{worker.pk}"), "yes")
    assert not WorkTrace.objects.exists() and traces.compare_answers() == 0


def test_what_the_browser_counted_is_of_ones_own_work(lab, task, rosa, ben, at, as_owner):
    browser = signed_in(rosa.user)
    holding = comes(rosa, task, browser=browser)
    counts = {"holding": holding.pk, "left": 4, "left_seconds": 70, "pastes": 1, "pasted": 200}
    assert browser.post("/tasks/attention", counts).status_code == 204
    browser.post("/tasks/attention", {**counts, "left": 1, "pasted": "9" * 40})
    signed_in(ben.user).post("/tasks/attention", {**counts, "left": 90})
    trace = WorkTrace.objects.get()
    assert (trace.left, trace.left_seconds, trace.pastes, trace.pasted_characters) == (4, 70, 1, 200)
    sends(holding)
    assert kinds(lab, holding) == ["pasted", "left"]
    assert "Pasted once, 200 characters" in as_owner.get(at(f"work/{holding.pk}/")).text
    assert rosa.worker_id in as_owner.get(at("review/work/?hints=any")).text


def test_under_a_floor_it_was_fast(lab, task, rosa, at, as_owner):
    holding = sends(comes(rosa, task), "Blue.")
    Holding.objects.filter(pk=holding.pk).update(submitted_at=holding.accepted_at + timedelta(seconds=1))
    holding.refresh_from_db()
    assert kinds(lab, holding) == ["fast"]
    assert rosa.worker_id in as_owner.get(at("review/work/?hints=fast&state=all")).text


def test_a_country_that_differs_is_shown(lab, task, rosa, at, as_owner):
    type(rosa).objects.update(country="US")
    holding = sends(comes(rosa, task), "Blue.")
    WorkerTrace.objects.update(country="IN")
    holding.worker.refresh_from_db()
    assert kinds(lab, holding) == ["country"]
    assert "They stated US and came from IN." in as_owner.get(at(f"work/{holding.pk}/")).text
    assert rosa.worker_id in as_owner.get(at("review/work/?hints=country")).text


def test_traces_go_after_their_time_and_none_are_made_where_none_are_kept(lab, task, rosa, ben, settings):
    sends(comes(rosa, task))
    settings.TRACES_KEPT_DAYS = 30
    long_ago = timezone.now() - timedelta(days=31)
    WorkerTrace.objects.update(last_at=long_ago)
    WorkTrace.objects.update(at=long_ago)
    assert traces.forget_traces() == 2
    settings.TRACES_KEPT_DAYS = 0
    sends(comes(ben, task))
    assert not WorkerTrace.objects.exists() and not WorkTrace.objects.exists()


def test_the_table_as_a_file_names_hints(lab, task, rosa, ben, at, as_owner):
    for worker in (rosa, ben):
        sends(comes(worker, task), "Blue.")
    answer = as_owner.get(at("review/work/?format=csv"))
    assert "address" in b"".join(answer.streaming_content).decode()
