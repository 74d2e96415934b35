"""People who come by a requester's link: from consent to the code, what they may take, and what is paid."""

import csv
import io
import re
import threading
from datetime import timedelta
from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, connection, transaction
from django.test import Client
from django.utils import timezone

from core.origin import Owner
from core.projects.models import Project
from marketplace import clock, inbox
from marketplace.batches import results
from marketplace.errors import Refusal
from marketplace.lifecycle import assignments, review
from marketplace.lifecycle import hits as hit_services
from marketplace.lifecycle.expiry import settle
from marketplace.models import (
    HIT,
    Activity,
    Holding,
    LedgerEntry,
    Letter,
    QualificationGrant,
    Requester,
    Worker,
)
from marketplace.money import finance, ledger, payouts
from marketplace.qualifications import grants
from marketplace.qualifications.eligibility import LOCALE, normalise
from people import visits
from people.errors import JoinError, PeopleError
from people.links import LinkPlan, make_link
from people.models import ConsentText, Guest, StudyLink, Visit
from people.visits import ArrivalFacts, withdraw_guest
from tests.batches import making
from tests.people.test_joining import agree, come
from tests.site import world
from tests.studylinks.conftest import PAGE

pytestmark = pytest.mark.django_db
RETURNS = {
    "completed": {"code": "C0MPLETE", "address": "https://panel.example.org/?cc={code}&w={worker_id}"},
    "screened_out": {"code": "N0TY0U", "address": ""},
}
State = Holding.State


def submit_task(client: Client, address: str):
    """Do the HIT of this page, as the page around its frame does; the answer after the way back."""
    page = client.get(address).content.decode()
    to = re.search(r'data-submit="([^"]+)"', page)[1]
    sent = client.post(to, {"answer": "Blue."}, headers={"Accept": "application/json"})
    assert sent.json() == {"arrived": True}
    back = client.get(re.search(r'data-continue="([^"]+)"', page)[1])
    return client.get(back["Location"])


def do_everything(client: Client, path: str, query: str = ""):
    """From the link to the page at the end, and how many HITs lay between."""
    answer, count = agree(client, path, come(client, path, query)), 0
    while answer["Location"].startswith("/guest/"):
        answer, count = submit_task(client, answer["Location"]), count + 1
    return client.get(answer["Location"]).content.decode(), count


def join_link(link: StudyLink, who: str) -> Visit:
    """The visit of a person with an id who agreed."""
    visit = visits.open_visit(link, ArrivalFacts(pairs=[("pid", who)]))
    return visits.agree(visit, ConsentText.objects.get(requester_id=link.requester_id))


def begin(visit: Visit) -> Holding | str:
    """The HIT that the visit is at now, or how it ended."""
    if visits.lead(visit, "") is None:
        visit.refresh_from_db()
        return visit.outcome
    return Holding.objects.get(worker__worker_id=visit.guest.worker_id, state=State.ACCEPTED)


def test_from_the_link_to_the_code_by_two_hits(new_link, path_of, client, hits, lab):
    link = new_link(returns=RETURNS, id_parameters=["pid"])
    end, count = do_everything(client, path_of(link), "?pid=a")
    assert count == 2
    assert "C0MPLETE" in end
    assert "https://panel.example.org/?cc=C0MPLETE&amp;w=a" in end
    visit, worker = Visit.objects.get(), Worker.objects.get()
    assert (visit.outcome, visit.guest.worker_id) == ("completed", worker.worker_id)
    assert (worker.guest_of, worker.user) == (lab, None)
    rows = Holding.objects.filter(worker=worker)
    assert {(row.hit_id, row.state, row.visit_id, row.unpaid) for row in rows} == {
        (hit.pk, "submitted", visit.pk, True) for hit in hits
    }


def test_a_hit_says_how_far_one_is_and_how_to_stop_or_leave(new_link, path_of, client, hits):
    path = path_of(new_link(most_tasks=2))
    task = agree(client, path, come(client, path))["Location"]
    page = client.get(task).content.decode()
    assert "0 of 2 tasks done" in page
    ways = {title: unescape(to) for to, title in re.findall(r'<li><a href="([^"]+)"[^>]*>([^<]+)</a>', page)}
    assert list(ways) == ["Your work here", "Stop for now", "Withdraw"]
    assert 'id="withdraw"' in client.get(ways["Withdraw"]).content.decode()
    stopped = client.get(ways["Stop for now"]).content.decode()
    assert "stays in this browser" in stopped
    on = unescape(re.search(r'class="button" href="([^"]+)"', stopped)[1])
    assert client.get(on)["Location"] == task
    assert "1 of 2 tasks done" in client.get(submit_task(client, task)["Location"]).content.decode()
    # Another browser that only has the task's address stops, and sees no private page.
    assert Client().get(ways["Stop for now"]).status_code == 200
    assert 'id="withdraw"' not in Client().get(ways["Withdraw"], follow=True).content.decode()


def test_it_works_without_cookies(new_link, path_of, hits):
    path = path_of(new_link(returns=RETURNS))
    answer = agree(Client(), path, come(Client(), path))
    while answer["Location"].startswith("/guest/"):
        answer = submit_task(Client(), answer["Location"])
    assert "C0MPLETE" in Client().get(answer["Location"]).content.decode()
    assert Guest.objects.count() == 1


def test_a_task_on_the_requesters_own_server_leads_back_too(new_link, path_of, client, group):
    """Such a page sends its form by itself; what it gets in its frame has the way on."""
    world.post(group)
    path = path_of(new_link(returns=RETURNS))
    task = agree(client, path, come(client, path))["Location"]
    frame = re.search(r'<iframe[^>]+src="([^"]+)"', client.get(task).content.decode())[1]
    query = parse_qs(urlsplit(unescape(frame)).query)
    to = urlsplit(query["turkSubmitTo"][0]).path
    sent = Client().post(
        f"{to}/mturk/externalSubmit", {"assignmentId": query["assignmentId"][0], "answer": "Blue."}
    )
    going_on = re.search(r'href="([^"]+/continue)"', sent.content.decode())[1]
    end = client.get(urlsplit(going_on).path, follow=True).content.decode()
    assert "C0MPLETE" in end


def test_the_browser_keeps_its_rights_on_the_way_back_from_a_task(new_link, path_of, hits, client):
    path = path_of(new_link())
    answer = submit_task(client, agree(client, path, come(client, path))["Location"])
    assert answer["Location"].startswith("/guest/")
    assert client.get(f"{path}work/").status_code == 200


def test_an_id_is_one_guest_for_all_links_and_never_does_a_hit_twice(new_link, hits):
    first, second = (new_link(id_parameters=["pid"]) for _ in range(2))
    one = join_link(first, "a")
    world.submit(begin(one))
    two = join_link(second, "a")
    assert one.guest == two.guest
    world.submit(begin(two))
    assert begin(two) == begin(one) == "completed"
    assert Holding.objects.values("hit").distinct().count() == Holding.objects.count() == 2


def test_the_same_id_from_two_panels_is_two_people(new_link, hits):
    links = [new_link(id_parameters=["pid"], id_source=source) for source in ("leeds", "lyon", "lyon")]
    guests = [join_link(link, "17").guest_id for link in links]
    assert guests[0] != guests[1] == guests[2]


def test_a_link_to_a_batch_leads_to_nothing_else(new_link, lab, group, hits):
    batch = making.published(lab)
    visit = join_link(new_link(target=f"batch:{batch.number}", id_parameters=["pid"]), "a")
    for _ in range(batch.task_count):
        held = begin(visit)
        assert held.hit.batch_id == batch.pk
        world.submit(held)
    assert begin(visit) == "completed"


def test_a_guest_can_take_nothing_of_another_requester(new_link, hits):
    other = world.make_requester("Other Lab")
    foreign = world.post(world.make_group(other))
    join_link(new_link(id_parameters=["pid"]), "a")
    with pytest.raises(Refusal, match="study link of another requester"):
        world.take(Worker.objects.get(), foreign)


def test_a_link_of_one_requester_cannot_lead_to_the_batch_of_another(new_link, lab):
    other = world.make_requester("Other Lab")
    batch = making.draft(other)
    with pytest.raises(PeopleError, match="cannot lead to 'batch:"):
        new_link(target=f"batch:{batch.number}")
    kind = world.make_qualification(other, "Theirs")
    with pytest.raises(PeopleError, match="Choose what is granted"):
        new_link(granted=kind.qualification_type_id)


def test_who_lacks_a_requirement_is_screened_out(new_link, lab):
    needs = [{"QualificationTypeId": LOCALE, "Comparator": "EqualTo", "LocaleValues": [{"Country": "DE"}]}]
    world.post(world.make_group(lab, requirements=normalise(needs)), question=PAGE)
    link = new_link(id_parameters=["pid"], returns=RETURNS)
    visit = join_link(link, "a")
    assert begin(visit) == "screened_out"
    assert visit.code == "N0TY0U"


def test_joining_grants_a_qualification_once(new_link, lab):
    kind = world.make_qualification(lab, "Reader")
    needs = [
        {
            "QualificationTypeId": kind.qualification_type_id,
            "Comparator": "EqualTo",
            "IntegerValues": [7],
            "ActionsGuarded": "DiscoverPreviewAndAccept",
            "RequiredToPreview": False,
        }
    ]
    world.post(world.make_group(lab, requirements=needs), question=PAGE)
    link = new_link(id_parameters=["pid"], granted=kind.qualification_type_id, granted_value=7)
    visit = join_link(link, "a")
    assert isinstance(begin(visit), Holding)
    worker = Worker.objects.get()
    granted = Activity.objects.filter(requester=lab, action="qualification.granted")
    assert [(row.subject, row.details) for row in granted] == [(worker.worker_id, "Reader: 7")]
    grants.revoke(qualification_type=kind, worker=worker, reason="No.")
    again = visits.open_visit(link, ArrivalFacts(pairs=[("pid", "a"), ("session", "2")]))
    visits.agree(again, ConsentText.objects.get())
    assert QualificationGrant.objects.get().status == "Revoked"
    assert granted.count() == 1


@pytest.mark.parametrize("compensation", ["nothing", "credit", "panel"])
def test_an_approval_without_money_gives_the_hold_back(new_link, lab, hits, compensation):
    before = Requester.objects.get(pk=lab.pk)
    visit = join_link(new_link(id_parameters=["pid"], compensation=compensation), "a")
    done = world.submit(begin(visit))
    world.approve(done)
    lab.refresh_from_db()
    done.refresh_from_db()
    cost = done.hit.reward_cents + done.hit.fee_cents
    assert lab.available_cents == before.available_cents + cost
    assert (lab.held_cents, lab.paid_cents, lab.fees_cents) == (before.held_cents - cost, 0, 0)
    assert (done.state, done.paid_cents, done.pay_cents) == ("approved", 0, 0)
    assert not LedgerEntry.objects.filter(credit="workers").exists()
    with pytest.raises(Refusal, match="nothing is paid here"):
        review.send_bonus(
            holding=done, worker_id=done.worker.worker_id, cents=5, reason="!", now=timezone.now()
        )
    assert ledger.audit() == []


@pytest.mark.parametrize(
    ("compensation", "words"),
    [("nothing", "Nothing"), ("credit", "Course credit"), ("panel", "Money, paid by the panel")],
)
def test_results_of_a_batch_say_what_was_paid_and_what_people_get(new_link, lab, compensation, words):
    batch = making.published(lab, "question,image_url\nWhat?,x\n", places=3)
    mturks = next(results.result_lines(batch, now=clock.now())).strip().split(",")
    hit = HIT.objects.get(batch=batch)
    done = assignments.submit(holding=world.take(world.make_worker(), hit), fields=[("answer", "rosa")])
    for pid, pay in (("ada", compensation), ("bo", "money")):
        link = new_link(id_parameters=["pid"], target=f"batch:{batch.number}", compensation=pay)
        assignments.submit(holding=begin(join_link(link, pid)), fields=[("answer", pid)])
    review.approve(holding=done, feedback=None, override=False, now=clock.now())
    HIT.objects.filter(pk=hit.pk).update(reward_cents=77)
    lines = "".join(results.result_lines(batch, now=clock.now()))
    rows = list(csv.DictReader(io.StringIO(lines)))
    assert {(row["Answer.answer"], row["Reward"], row["Compensation"]) for row in rows} == {
        ("rosa", "$0.10", "Money, paid by us"),
        ("ada", "$0.00", words),
        ("bo", "$0.77", "Money, paid by us"),
    }
    assert [name for name in rows[0] if name not in ("Answer.answer", *results.OF_LINKS)] == mturks
    assert {row["Withdrawn"] for row in rows} == {""}
    withdraw_guest(Guest.objects.get(identity="ada"), link)
    again = csv.DictReader(io.StringIO("".join(results.result_lines(batch, now=clock.now()))))
    assert [row["Answer.answer"] for row in again if row["Withdrawn"]] == ["ada"]


def test_a_rejection_that_is_taken_back_pays_no_money_either(new_link, lab, hits):
    visit = join_link(new_link(id_parameters=["pid"]), "a")
    done = world.submit(begin(visit))
    world.reject(done, "No.")
    lab.refresh_from_db()
    available = lab.available_cents
    review.approve(holding=done, feedback=None, override=True, now=timezone.now())
    lab.refresh_from_db()
    assert (lab.available_cents, lab.paid_cents) == (available, 0)
    assert ledger.audit() == []


def test_work_for_money_is_paid_like_anybodys(new_link, path_of, lab, group, client):
    Requester.objects.update(fee_profile="mturk-2026")
    group.requester.refresh_from_db()
    world.post(group, question=PAGE)
    link = new_link(id_parameters=["pid"], compensation="money")
    path = path_of(link)
    task = agree(client, path, come(client, path, "?pid=a"))["Location"]
    assert "$0.50" in client.get(task).content.decode()
    submit_task(client, task)
    world.approve(Holding.objects.get(state=State.SUBMITTED))
    lab.refresh_from_db()
    assert (lab.paid_cents, lab.fees_cents, lab.held_cents) == (50, 10, 0)
    own = client.get(f"{path}work/").content.decode()
    assert "You have earned 0.50" in own.replace("$", "")
    assert "make an account below" in own
    # Owed, and in no file of a payment service before the person says how they are paid.
    report = finance.make_payable(requester=lab, until=clock.now())
    assert (report.cents, report.workers) == (50, 1)
    [claim] = payouts.claims_up_to(report)
    assert claim.standing == payouts.ClaimState.UNSAID
    assert ledger.audit() == []


def test_work_for_credit_says_so_and_names_no_money(new_link, path_of, hits, client):
    path = path_of(new_link(compensation="credit"))
    page = client.get(agree(client, path, come(client, path))["Location"]).content.decode()
    assert "Course credit" in page
    assert "$0.50" not in page


def test_automatic_approval_of_unpaid_work_moves_no_money(new_link, lab):
    world.post(world.make_group(lab, auto_approval_s=60, reward_cents=50), question=PAGE)
    visit = join_link(new_link(id_parameters=["pid"]), "a")
    with world.in_the_past(hours=1):
        held = begin(visit)
        world.submit(held)
    settle(requester=lab)
    held.refresh_from_db()
    lab.refresh_from_db()
    assert (held.state, held.paid_cents, lab.paid_cents, lab.fees_cents) == ("approved", 0, 0, 0)
    assert ledger.audit() == []


def test_all_rejected_is_failed_checks_and_the_limit_of_tasks_holds(new_link, hits):
    visit = join_link(new_link(id_parameters=["pid"], most_tasks=1), "a")
    done = world.submit(begin(visit))
    assert begin(visit) == "completed"
    world.reject(done, "No.")
    StudyLink.objects.update(most_tasks=0)
    visit = Visit.objects.select_related("link", "guest").get()
    world.reject(world.submit(begin(visit)), "No.")
    assert begin(visit) == "failed_checks"


def test_expired_cancelled_and_full_hits_are_not_given(new_link, group):
    hit = world.post(group, question=PAGE, places=1)
    link = new_link(id_parameters=["pid"])
    one, two = join_link(link, "a"), join_link(link, "b")
    assert begin(one).hit == hit
    assert begin(two) == "nothing_left"
    other = world.post(group, question=PAGE)
    hit_services.set_expiration(hit=other, expires_at=timezone.now() - timedelta(1), now=timezone.now())
    assert begin(two) == "nothing_left"
    world.post(group, question=PAGE)
    assert isinstance(begin(two), Holding)


def test_what_is_returned_is_open_to_others_and_not_offered_again(new_link, path_of, hits, client):
    path = path_of(new_link())
    task = agree(client, path, come(client, path))["Location"]
    assert client.post(f"{task}return", follow=True).status_code == 200
    states = dict(Holding.objects.values_list("hit", "state"))
    assert states == {hits[0].pk: "returned", hits[1].pk: "accepted"}
    # The page of what is over leads on to what is not.
    assert client.get(task, follow=True).redirect_chain[-1][0].startswith("/guest/")


def test_storage_and_counts_of_the_page_need_the_signature(new_link, path_of, hits, client):
    path = path_of(new_link())
    task = agree(client, path, come(client, path))["Location"]
    given = {"changes": '[["local", "seen", "yes", null]]'}
    assert client.post(f"{task}storage", given).status_code == 204
    assert client.post(f"{task}attention", {"left": "2"}).status_code == 204
    forged = task.replace("/guest/", "/guest/9")
    for page in ("", "continue"):
        assert client.get(f"{forged}{page}").status_code == 404
    for page in ("return", "storage", "attention"):
        assert client.post(f"{forged}{page}", {}).status_code == 404


def test_a_person_goes_on_at_another_device(new_link, path_of, hits, client):
    path = path_of(new_link())
    task = agree(client, path, come(client, path))["Location"]
    own = client.get(f"{path}work/").content.decode()
    code = re.search(r"<code>([A-Z2-9]{5}-[A-Z2-9]{5})</code>", own)[1]
    other = Client()
    answer = other.post(f"{path}code/", {"code": code})
    assert other.get(answer["Location"])["Location"] == task


@pytest.mark.parametrize("registration", ["open", "invitation"])
def test_a_guest_becomes_an_account_with_id_and_history(
    new_link, path_of, hits, client, settings, registration, lab
):
    settings.MARKETPLACE_REGISTRATION = registration
    path = path_of(new_link())
    submit_task(client, agree(client, path, come(client, path))["Location"])
    state = re.search(r'name="v" value="([^"]+)"', client.get(f"{path}work/").content.decode())[1]
    client.post(f"{path}account/", {"v": state, "username": "ada", "password": "plum tree harbour"})
    worker = Worker.objects.get()
    assert (worker.user.username, worker.name) == ("ada", "ada")
    assert worker.guest_of == (None if registration == "open" else lab)
    browser = Client()
    browser.force_login(worker.user, backend="django.contrib.auth.backends.ModelBackend")
    assert "Answer a question" in browser.get("/history").content.decode()
    foreign = world.post(world.make_group(world.make_requester("Other Lab"), "Theirs"))
    page = browser.get("/").content.decode()
    assert ("Theirs" in page) == (registration == "open")
    assert foreign.open_places == 1


def test_who_withdraws_gives_back_and_the_requester_reads_of_it(new_link, path_of, hits, client, lab):
    path = path_of(new_link())
    agree(client, path, come(client, path))
    state = re.search(r'name="v" value="([^"]+)"', client.get(f"{path}work/").content.decode())[1]
    assert "You withdrew" in client.post(f"{path}withdraw/", {"v": state}, follow=True).content.decode()
    assert Holding.objects.get().state == "returned"
    letter = Letter.objects.get(requester=lab)
    assert letter.worker.worker_id in letter.body
    assert Activity.objects.filter(requester=lab, action="guest.withdrew").count() == 1
    assert client.get(path, follow=True).status_code == 200
    assert Holding.objects.count() == 1


def test_a_guest_without_an_account_has_no_inbox(new_link, hits, lab):
    visit = join_link(new_link(id_parameters=["pid"]), "a")
    world.submit(begin(visit))
    found = inbox.notify_workers(
        requester=lab, worker_ids=[visit.guest.worker_id], subject="Hello", body="You"
    )
    assert "study link" in found[visit.guest.worker_id]


def test_a_row_has_one_owner(new_link, lab):
    link = new_link()
    project = Project.objects.create(
        slug="p", title="P", created_at=timezone.now(), pseudonym_key="k", budget_cents=1
    )
    with pytest.raises(IntegrityError), transaction.atomic():
        StudyLink.objects.filter(pk=link.pk).update(project=project)
    with pytest.raises(IntegrityError), transaction.atomic():
        StudyLink.objects.filter(pk=link.pk).update(requester_id=None)


@pytest.mark.django_db(transaction=True)
def test_the_last_place_and_the_grant_are_given_once_to_many_at_once(lab, group):
    """Sixteen arrivals of eight people at four places: four join, each gets the qualification once."""
    kind = world.make_qualification(lab, "Reader")
    for _ in range(3):
        world.post(group, question=PAGE, places=4)
    plan = LinkPlan(
        title="Race", target="requester:all", quota=4, id_parameters=["pid"],
        granted=kind.qualification_type_id, granted_value=3,
    )  # fmt: skip
    link = make_link(owner=Owner(Owner.Kind.REQUESTER, lab.pk), plan=plan, actor=None)
    gate = threading.Barrier(16)
    failures: list[BaseException] = []

    def arrive(number: int) -> None:
        try:
            row = StudyLink.objects.get(pk=link.pk)
            facts = ArrivalFacts(pairs=[("pid", str(number % 8)), ("session", str(number))])
            visit = visits.open_visit(row, facts)
            gate.wait(timeout=60)
            try:
                visit = visits.agree(visit, ConsentText.objects.get(requester_id=lab.pk))
            except JoinError:
                return
            visits.lead(visit, "")
        except BaseException as error:
            failures.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=arrive, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert Guest.objects.count() == Worker.objects.count() == 4
    assert QualificationGrant.objects.filter(value=3).count() == 4
    assert Activity.objects.filter(action="qualification.granted").count() == 4
    # Two arrivals of one person work on one HIT.
    assert Holding.objects.count() == 4
    assert ledger.audit() == []


def test_a_user_of_the_same_name_does_not_stop_an_account(new_link, path_of, hits, client):
    world.make_worker("rosa")
    path = path_of(new_link())
    agree(client, path, come(client, path))
    state = re.search(r'name="v" value="([^"]+)"', client.get(f"{path}work/").content.decode())[1]
    answer = client.post(f"{path}account/", {"v": state, "username": "rosa", "password": "plum tree harbour"})
    assert answer.status_code == 422
    assert User.objects.filter(username="rosa").count() == 1
