"""The adapter against a real marketplace over HTTP: every method, and what cannot be trusted."""

import contextlib
import http.server
import threading
import uuid
from datetime import UTC, datetime, timedelta

import pytest
from botocore.loaders import JSONFileLoader

from crowd.adapters.base import (
    CallRefusal,
    CallSuccess,
    CallThrottling,
    EarlierSuccess,
    MarketplaceDownError,
    MarketplaceRefusedError,
    Money,
    Rule,
    TaskSpec,
    Unknown,
)
from crowd.adapters.mturk import Account, MTurkAdapter
from tests.clients import RefusedError
from tests.server import free_port


@pytest.fixture(scope="module")
def requester(server):
    return server.requester("100.00", "mturk-2026")


@pytest.fixture(scope="module")
def market(requester):
    return adapter_of(requester)


def adapter_of(requester, **fields):
    given = {
        "endpoint_url": requester.api_url,
        "region": "us-east-1",
        "access_key": requester.access_key,
        "secret": requester.secret,
        "rate": 0.0,
        **fields,
    }
    return MTurkAdapter(Account(**given))


def task(**fields):
    given = {
        "key": uuid.uuid4().hex,
        "title": "Fünf Fragen 🙂",
        "description": "Choose <one> & go on.",
        "keywords": "",
        "reward": Money(10),
        "work_seconds": 600,
        "open_seconds": 3600,
        "auto_approve_seconds": 86400,
        "places": 2,
        "entry_url": "https://tasks.example.org/task/1/?a=1&b=2",
        **fields,
    }
    return TaskSpec(**given)


def published(market, **fields):
    outcome = market.publish(task(**fields))
    assert isinstance(outcome, CallSuccess), outcome
    return outcome.ref


@pytest.fixture
def lose_one(server, requester):
    def lose():
        server.chaos(access_key=requester.access_key, lose_response_after_commit=1)

    yield lose
    server.reset()


def test_it_calls_the_address_of_its_row_whatever_the_environment_says(server, requester, monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{free_port()}")
    monkeypatch.setenv("AWS_ENDPOINT_URL_MTURK", "https://elsewhere.example.org")
    fresh = adapter_of(server.requester("12.34"))
    assert fresh.endpoint_url == requester.api_url
    assert fresh.capabilities().idempotent == {"publish", "extend", "pay_bonus"}
    balance = fresh.check()
    assert (balance.available, balance.on_hold) == (Money(1234), Money(0))


def test_a_task_is_published_as_it_was_specified_once_for_its_key(market, requester):
    spec = task(frame_height=700)
    first = market.publish(spec)
    assert isinstance(first, CallSuccess) and first.raw["request_id"]
    listing = market.get_listing(first.ref)
    assert (listing.key, listing.state, listing.reward) == (spec.key, "open", Money(10))
    assert (listing.places, listing.available, listing.pending, listing.decided) == (2, 2, 0, 0)
    hit = requester.client.get_hit(HITId=first.ref)["HIT"]
    assert (hit["Title"], hit["RequesterAnnotation"]) == ("Fünf Fragen 🙂", f"dst:{spec.key}")
    assert "https://tasks.example.org/task/1/?a=1&amp;b=2" in hit["Question"]
    assert "<FrameHeight>700</FrameHeight>" in hit["Question"]
    assert listing.expires_at == (hit["CreationTime"] + timedelta(hours=1)).astimezone(UTC)
    assert listing.expires_at.tzinfo is UTC
    assert market.publish(spec) == EarlierSuccess(first.ref)
    assert market.find_by_key(spec.key).ref == first.ref
    assert market.find_by_key("no such key") is None
    assert first.ref in {each.ref for each in market.iter_listings()}
    assert market.get_listing("3NOSUCHHIT") is None


def test_a_lost_answer_is_unknown_and_the_next_call_says_what_it_was(market, lose_one):
    spec = task()
    lose_one()
    assert isinstance(market.publish(spec), Unknown)
    again = market.publish(spec)
    assert isinstance(again, EarlierSuccess)
    assert market.get_listing(again.ref).key == spec.key


def test_a_refusal_carries_its_code_and_throttling_and_faults_are_told_apart(server, requester, market):
    assert market.publish(task(places=0)).code
    refused = market.publish(task(reward=Money(10_000_00)))
    assert isinstance(refused, CallRefusal) and refused.code == "InsufficientFunds"
    assert isinstance(market.publish(task(title=None)), CallRefusal), "botocore refuses it"
    with pytest.raises(MarketplaceRefusedError, match="ParamValidation"):
        market.get_listing("")
    server.chaos(access_key=requester.access_key, throttle_next=1)
    assert isinstance(market.publish(task()), CallThrottling)
    server.chaos(access_key=requester.access_key, error_rate=1)
    assert isinstance(market.publish(task()), Unknown)
    with pytest.raises(MarketplaceDownError):
        market.check()
    server.reset()


def test_wrong_keys_are_refused(requester):
    stranger = adapter_of(requester, secret="wrong")
    assert stranger.publish(task()).code in {"InvalidSignatureException", "UnrecognizedClientException"}
    with pytest.raises(MarketplaceRefusedError):
        stranger.check()


def test_nobody_there_is_unknown_and_down(requester):
    nobody = adapter_of(requester, endpoint_url=f"http://127.0.0.1:{free_port()}/mturk/api")
    assert isinstance(nobody.publish(task()), Unknown)
    with pytest.raises(MarketplaceDownError):
        nobody.check()


def test_many_endpoints_read_the_model_of_the_protocol_once(market, monkeypatch):
    read = []
    load = JSONFileLoader.load_file
    monkeypatch.setattr(JSONFileLoader, "load_file", lambda self, path: read.append(path) or load(self, path))

    other = MTurkAdapter(Account("http://127.0.0.1:1/mturk/api", "us-east-1", "AK", "secret"))

    assert read == []
    assert other.endpoint_url != market.endpoint_url


@contextlib.contextmanager
def always(body: bytes, *, announced: int | None = None, **headers: str):
    """A server that answers everything with status 200 and this body, `announced` bytes long as it says."""

    class Page(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.send_header("Content-Length", str(len(body) if announced is None else announced))
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page) as portal:
        thread = threading.Thread(target=portal.serve_forever, args=[0.01])
        thread.start()
        try:
            yield f"http://127.0.0.1:{portal.server_port}/mturk/api"
        finally:
            portal.shutdown()
            thread.join()


def no_success_at(portal):
    assert isinstance(portal.pay_bonus("3SUB", "AW", Money(5), "Thanks", "key"), Unknown)
    assert isinstance(portal.approve("3SUB", ""), Unknown)
    assert isinstance(portal.publish(task()), Unknown)
    with pytest.raises(MarketplaceDownError):
        portal.get_listing("3HIT")
    with pytest.raises(MarketplaceDownError):
        list(portal.iter_listings())


def test_a_login_page_with_status_200_is_no_success(requester):
    """botocore reads it as an empty answer: a bonus would count as paid."""
    with always(b"<html><body>Please log in</body></html>", Content_Type="text/html") as url:
        no_success_at(adapter_of(requester, endpoint_url=url))


def test_an_answer_that_was_cut_off_is_no_success(requester):
    """A marketplace that dies behind its headers: botocore reads the rest as an empty answer."""
    for arrived in (b"", b'{"HIT": {"HITId": "3'):
        with always(arrived, announced=500, x_amzn_RequestId="5b1b") as url:
            no_success_at(adapter_of(requester, endpoint_url=url))


def test_json_of_another_shape_is_no_answer(requester, subtests):
    """Reading it raises nothing but the error of a marketplace that is down."""
    for body in (
        *(b"null", b"[]", b"7", b'{"HIT": null}'),
        *(b'{"HIT": [], "HITs": [7]}', b'{"HIT": {}, "HITs": {"a": 1}}'),
    ):
        sent = always(body, x_amzn_RequestId="5b1b", Content_Type="application/x-amz-json-1.1")
        with subtests.test(body=body), sent as url:
            portal = adapter_of(requester, endpoint_url=url)
            assert isinstance(portal.publish(task()), Unknown)
            for read, *asked in (
                (portal.check,),
                (portal.get_listing, "3HIT"),
                (portal.get_submission, "3SUB"),
            ):
                with pytest.raises(MarketplaceDownError):
                    read(*asked)
            with pytest.raises(MarketplaceDownError):
                list(portal.iter_listings())


def test_an_extension_adds_places_once_for_a_key_and_none_into_the_higher_fee(market):
    ref, key = published(market), uuid.uuid4().hex
    assert isinstance(market.extend(ref, 3, key), CallSuccess)
    assert market.extend(ref, 3, key) == EarlierSuccess(None)
    assert market.get_listing(ref).places == 5
    assert market.extend(ref, 5, uuid.uuid4().hex).code == "InvalidMaximumAssignmentsIncrease"


def test_a_later_deadline_is_set_once_and_what_is_closed_is_archived_once(market):
    ref = published(market)
    later = datetime.now(UTC).replace(microsecond=0) + timedelta(hours=5)
    assert isinstance(market.set_deadline(ref, later), CallSuccess)
    assert market.get_listing(ref).expires_at == later
    assert market.set_deadline(ref, later) == EarlierSuccess(ref)
    assert market.archive(ref).code == "InvalidHITState"
    assert isinstance(market.close(ref), CallSuccess)
    assert market.get_listing(ref).state == "reviewable"
    assert isinstance(market.close(ref), CallSuccess | EarlierSuccess)
    assert isinstance(market.archive(ref), CallSuccess)
    assert market.archive(ref) == EarlierSuccess(ref)


@pytest.fixture
def submitted(server, market):
    """A listing with one submission; the worker and the submission's reference."""
    ref = published(market)
    worker = server.worker()
    taken = worker.do(ref, receipt="r-1", note="ünï <code> & more")
    return ref, worker, taken["assignment_id"]


def test_submissions_are_read_with_their_answers_and_times(market, submitted):
    ref, worker, assignment = submitted
    [found] = market.iter_submissions(ref)
    assert (found.ref, found.listing, found.worker, found.state) == (
        assignment,
        ref,
        worker.worker_id,
        "submitted",
    )
    assert found.answer == {"receipt": "r-1", "note": "ünï <code> & more"}
    assert found.accepted_at <= found.submitted_at
    assert found.auto_approve_at == found.submitted_at + timedelta(days=1)
    assert found.decided_at is None
    assert market.get_submission(assignment) == found


def test_work_in_progress_is_no_submission(server, market):
    ref = published(market)
    taken = server.worker().accept(ref)
    assert list(market.iter_submissions(ref)) == []
    assert market.get_submission(taken["assignment_id"]) is None
    assert market.get_listing(ref).pending == 1


def test_approving_twice_is_done_already_and_rejecting_it_is_refused(server, market, submitted):
    ref, _, assignment = submitted
    assert list(market.iter_submissions(ref, ["approved"])) == []
    assert isinstance(market.approve(assignment, "Thank you"), CallSuccess)
    assert market.approve(assignment, "") == EarlierSuccess(assignment)
    assert market.get_submission(assignment).decided_at is not None
    assert [found.state for found in market.iter_submissions(ref, ["approved"])] == ["approved"]
    assert market.reject(assignment, "no").code == "InvalidAssignmentState"
    assert market.approve("3NOSUCHASSIGNMENT", "").code == "AssignmentDoesNotExist"
    timed = server.worker().do(published(market, auto_approve_seconds=0))["assignment_id"]
    assert market.approve(timed, "") == EarlierSuccess(timed), "time approved it"


def test_rejecting_twice_is_done_already_and_can_be_overridden(market, submitted):
    _, _, assignment = submitted
    assert isinstance(market.reject(assignment, "Empty answers"), CallSuccess)
    assert market.reject(assignment, "Empty answers") == EarlierSuccess(assignment)
    assert market.approve(assignment, "").code == "InvalidAssignmentState"
    assert isinstance(market.unreject(assignment, "Our mistake"), CallSuccess)
    assert market.unreject(assignment, "Our mistake") == EarlierSuccess(assignment)


def test_a_bonus_is_paid_once_for_a_key_and_listed_with_its_reason(server, market, submitted, lose_one):
    ref, worker, assignment = submitted
    key, reason = uuid.uuid4().hex, "Thorough. [ref 0123abcd]"
    other = market.pay_bonus(assignment, server.worker().worker_id, Money(25), reason, key)
    assert isinstance(other, CallRefusal)
    lose_one()
    assert isinstance(market.pay_bonus(assignment, worker.worker_id, Money(25), reason, key), Unknown)
    assert market.pay_bonus(assignment, worker.worker_id, Money(25), reason, key) == EarlierSuccess(None)
    [paid] = market.iter_bonuses(submission=assignment)
    assert (paid.submission, paid.worker) == (assignment, worker.worker_id)
    assert (paid.amount, paid.reason) == (Money(25), reason)
    assert list(market.iter_bonuses(listing=ref)) == [paid]
    more = market.pay_bonus(assignment, worker.worker_id, Money(5), "Thanks", uuid.uuid4().hex)
    assert isinstance(more, CallSuccess)


def test_groups_decide_who_can_accept(server, market):
    name = f"Inside {uuid.uuid4().hex}"
    group = market.ensure_group(name, "Insiders").ref
    again = market.ensure_group(name, "Insiders")  # as after a lost answer: the caller gets one that works
    assert isinstance(again, CallSuccess | EarlierSuccess) and again.ref
    worker = server.worker()
    ref = published(market, eligibility=(Rule("group", "Exists", (group,), "discover"),))
    with pytest.raises(RefusedError):
        worker.accept(ref)
    assert isinstance(market.grant(group, worker.worker_id, 1), CallSuccess)
    assert worker.accept(ref)
    assert isinstance(market.revoke(group, worker.worker_id), CallSuccess)
    assert market.revoke(group, worker.worker_id) == EarlierSuccess(worker.worker_id)


def test_rules_by_country_and_record(server, market):
    rules = (
        Rule("country", "In", ("US", "CA-QC"), "preview"),
        Rule("approval_rate", "GreaterThanOrEqualTo", (95,)),
        Rule("approved_count", "GreaterThanOrEqualTo", (0,)),
    )
    ref = published(market, eligibility=rules)
    assert server.worker(country="US").accept(ref)
    with pytest.raises(RefusedError):
        server.worker(country="FR").accept(ref)


def test_blocking_keeps_a_worker_out_until_it_is_lifted(server, market):
    worker, ref = server.worker(), published(market)
    assert isinstance(market.block(worker.worker_id, "Copies"), CallSuccess)
    with pytest.raises(RefusedError):
        worker.accept(ref)
    assert isinstance(market.unblock(worker.worker_id, "A mistake"), CallSuccess)
    assert worker.accept(ref)


def test_a_message_says_whom_it_could_not_reach(market, submitted):
    _, worker, _ = submitted
    outcome = market.message([worker.worker_id, "ANOBODY"], "Hello", "Thank you.")
    assert isinstance(outcome, CallSuccess)
    assert list(outcome.ref) == ["ANOBODY"]


def test_an_arrival_names_its_work_unless_it_is_a_preview_and_its_form_goes_where_it_came_from(market):
    query = {
        "hitId": "3HIT",
        "assignmentId": "3ASG",
        "workerId": "AW",
        "turkSubmitTo": "https://m.example.org/",
    }
    form = market.finish(market.arrival(query), {"receipt": "r"})
    assert form.url == "https://m.example.org/mturk/externalSubmit"
    assert form.fields == {"assignmentId": "3ASG", "receipt": "r"}
    preview = market.arrival(query | {"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE"})
    assert preview.is_preview
    assert (preview.listing, preview.submission, preview.worker) == ("3HIT", "", "")
