"""A stage at the simulated Prolific: people come, answer, are paid and leave, and replies are lost."""

import base64
import hashlib
import hmac
import json
import re
import time
from datetime import timedelta
from urllib.parse import urlsplit

import pytest
from django.utils import timezone

from core.crypto import seal
from core.projects.services import set_role
from crowd.errors import CrowdError
from crowd.models import Assignment, Hit, MarketOperation, PanelHook, PanelStudy, PanelSubmission, Stage
from crowd.services import panels, review, stages
from crowd.services.endpoints import create_endpoint
from crowd.services.tick import tick
from tests.crowd.panels.worlds import TOKEN, Panel, served
from tests.crowd.world import make_stage

pytestmark = pytest.mark.django_db
State, Kind = Assignment.State, MarketOperation.Kind


@pytest.fixture(scope="module")
def server():
    """One simulated panel over HTTP for this module; each test has its own study in it."""
    with served(Panel()) as panel:
        panel.control("deposit", cents=10_000_000)
        yield panel


@pytest.fixture
def panel(server):
    """The panel without faults of the test before."""
    server.control("faults")
    return server


@pytest.fixture
def endpoint(panel):
    """The workspace of the simulated account."""
    workspace = panel.get("/_control/state")["workspace_id"]
    made = create_endpoint(
        name="prolific", preset="prolific", url=panel.simulator.site, access_key=workspace, secret=TOKEN
    )
    made.real_money = False
    made.save()
    return made


@pytest.fixture
def stage(endpoint) -> Stage:
    """Two things, two people each, 30 seconds for ten cents, published."""
    made = make_stage(endpoint, redundancy=2, expected_seconds=30, reward_cents=20)
    stages.open_stage(stage=made)
    work_on()
    made.refresh_from_db()
    return made


def work_on() -> None:
    """Rounds until nothing is left, each with a fresh look at the panel."""
    for _ in range(8):
        PanelStudy.objects.update(hinted_at=timezone.now())
        MarketOperation.objects.exclude(state__in=MarketOperation.FINAL).update(not_before=timezone.now())
        if tick().idle:
            return


class Participant:
    """A person of the panel with a browser."""

    def __init__(self, panel, client, stage, person=""):
        self.panel, self.client, self.stage = panel, client, stage
        self.study = PanelStudy.objects.get(stage=stage)
        person = person or panel.people()[0]
        self.person = person
        came = panel.control("arrive", study_id=self.study.external_id, participant_id=person)
        self.submission, self.url = came["submission_id"], came["url"]

    def open(self, url="", agree="yes"):
        """The study's address, and consent where it is asked for, up to the page that is shown."""
        parts = urlsplit(url or self.url)
        page = self.client.get(f"{parts.path}?{parts.query}", follow=True)
        asked = dict(re.findall(r'name="(state|text)" value="([^"]+)"', page.content.decode()))
        return (
            self.client.post(f"{parts.path}consent/", {**asked, "agree": agree}, follow=True)
            if asked
            else page
        )

    def answer(self, choice="yes"):
        """Do the task; the page at the end."""
        page = self.open()
        address = page.redirect_chain[-1][0]
        ticket = re.search(r'name="ticket" value="([^"]+)"', page.content.decode())[1]
        sent = self.client.post(address, {"ticket": ticket, "0|choice": choice})
        assert sent.status_code == 302, sent.content
        return self.open(sent.headers["Location"])

    def finish(self, choice="yes"):
        """Answer, and go back to the panel with the code that was shown."""
        page = self.answer(choice).content.decode()
        self.panel.control("complete", submission_id=self.submission, code=self.code(page))
        return self

    @staticmethod
    def code(page):
        """The completion code of a page."""
        return re.search(r"<strong>(\w+)</strong>", page)[1]

    @property
    def work(self):
        """Our row of the work."""
        return Assignment.objects.get(external_id=self.submission)


def test_a_stage_is_one_study_and_its_books_agree(panel, stage, client):
    """Four people, two HITs of two places: all paid by both sides, to the cent."""
    study = PanelStudy.objects.get(stage=stage)
    there = panel.get(f"/studies/{study.external_id}/")
    assert (there["status"], there["total_available_places"], there["reward"]) == ("ACTIVE", 4, 20)
    before = panel.payments()
    for _ in range(4):
        Participant(panel, client, stage).finish()
    work_on()
    work_on()
    assert set(Assignment.objects.values_list("state", flat=True)) == {State.APPROVED}
    assert set(Hit.objects.values_list("state", flat=True)) == {Hit.State.CLOSED}
    stage.refresh_from_db()
    paid = panel.payments()[len(before) :]
    assert paid == [("reward", 20)] * 4
    cost = panel.get(f"/studies/{study.external_id}/cost/")["rewards"]
    total = sum(round(cost[part]["amount"]) for part in ("rewards", "fees", "tax"))
    assert (stage.spent_cents, stage.reserved_cents) == (total, 0)


def test_who_comes_is_asked_of_the_panel(panel, stage, client):
    honest = Participant(panel, client, stage)
    other = Participant(panel, client, stage)
    for wrong in (
        honest.url.replace(honest.person, other.person),
        honest.url.replace(honest.submission, "0" * 24),
        honest.url.partition("?")[0],
        honest.url.replace(honest.study.external_id, "0" * 24),
    ):
        page = honest.open(wrong)
        assert page.status_code == 403, wrong
    assert not Assignment.objects.exists()
    first, again = honest.open(), honest.open()
    assert first.status_code == again.status_code == 200
    assert Assignment.objects.count() == 1


def test_who_does_not_agree_gets_no_task_and_the_version_is_kept_of_who_does(panel, stage, client):
    """Refused: its own code, nothing stored. Agreed: which version, and when; a forged state is nobody's."""
    no, yes = Participant(panel, client, stage), Participant(panel, client, stage)
    page = no.open(agree="no").content.decode()
    assert no.code(page) == no.study.codes["NO_CONSENT"]
    assert not Assignment.objects.exists()
    yes.open()
    row = PanelSubmission.objects.get(external_id=yes.submission)
    assert (row.consent_text.version, row.consented_at is not None) == (1, True)
    assert PanelSubmission.objects.get(external_id=no.submission).consented_at is None
    forged = client.post(f"/panel/{yes.study.key}/consent/", {"state": "x:y", "agree": "yes", "text": "1"})
    assert forged.status_code == 404


def test_a_secure_link_is_proof_until_it_is_changed(panel, endpoint, client):
    """Signed links where they are asked for, also after the panel changed its keys; never a forged one."""
    endpoint.proves_arrivals = True
    endpoint.save()
    stage = make_stage(endpoint, redundancy=3, expected_seconds=30, reward_cents=20)
    stages.open_stage(stage=stage)
    work_on()
    first = Participant(panel, client, stage)
    assert "prolific_token=" in first.url
    assert first.open().status_code == 200
    panel.control("keys", drop_old=True)
    second, third = Participant(panel, client, stage), Participant(panel, client, stage)
    assert second.open().status_code == 200
    mixed = third.url.replace(third.submission, second.submission, 1)
    assert third.open(mixed).status_code == 403
    assert third.open(third.url[:-3]).status_code == 403
    assert third.open(third.url.partition("&prolific_token")[0]).status_code == 403


def test_a_person_who_returns_leaves_the_place_to_another(panel, stage, client):
    early, late = Participant(panel, client, stage), Participant(panel, client, stage)
    early.open()
    late.answer()
    for gone in (early, late):
        panel.control("return", submission_id=gone.submission)
    work_on()
    assert early.work.state == State.ENDED
    assert late.work.state == State.QUARANTINED
    assert "pays nothing" in late.work.note
    for _ in range(4):
        Participant(panel, client, stage).finish()
    work_on()
    assert Assignment.objects.filter(state=State.APPROVED).count() == 4


def test_a_rejection_needs_the_panels_words_and_asks_for_one_more(panel, stage, client):
    """Too short a reason is refused at once; a good one rejects, and the HIT's unit is asked again."""
    work = Participant(panel, client, stage).finish().work
    Stage.objects.filter(pk=stage.pk).update(approve_at_once=False)
    work_on()
    for short in ("Bad.", f"LOW_EFFORT: {'x' * 99}"):
        with pytest.raises(CrowdError, match=r"Not rejected\. Prolific asks for at least 100 characters"):
            review.reject(assignment=work, actor=None, reason=short)
    assert not MarketOperation.objects.filter(assignment=work, kind="reject").exists()
    review.reject(
        assignment=work, actor=None, reason=f"LOW_EFFORT: {'The answer has nothing to do with it. ' * 4}"
    )
    work_on()
    work.refresh_from_db()
    assert work.state == State.REJECTED
    there = panel.get(f"/submissions/{work.external_id}/")
    assert there["status"] == "REJECTED"
    stage.refresh_from_db()
    assert panels.wanted_places(stage) == 4


def test_a_bonus_is_sent_once_whatever_is_lost(panel, stage, client):
    work = Participant(panel, client, stage).finish().work
    work_on()
    work.refresh_from_db()
    before = panel.payments()
    review.bonus(assignment=work, actor=None, cents=50, reason="A good answer.", purpose="quality")
    panel.control("faults", lost_after=1, path="/api/v1/bulk-bonus-payments/*")
    tick()
    operation = MarketOperation.objects.get(kind=Kind.BONUS)
    assert operation.state == MarketOperation.State.UNKNOWN
    assert operation.payload["prepared"]
    for _ in range(3):
        work_on()
    panel.control("clock", seconds=1200)
    MarketOperation.objects.filter(pk=operation.pk).update(
        first_sent_at=timezone.now() - timedelta(minutes=20)
    )
    work_on()
    operation.refresh_from_db()
    assert operation.state == MarketOperation.State.CONFIRMED
    assert panel.payments()[len(before) :] == [("bonus", 50)]


def test_a_bonus_that_was_lost_on_the_way_waits_for_a_person(panel, stage, client):
    """The call never arrived: the list does not show it, and after an hour a person decides."""
    work = Participant(panel, client, stage).finish().work
    work_on()
    work.refresh_from_db()
    before = panel.payments()
    review.bonus(assignment=work, actor=None, cents=70, reason="A good answer.", purpose="quality")
    panel.control("faults", lost_before=1, path="/api/v1/bulk-bonus-payments/*")
    tick()
    panel.control("clock", seconds=4000)
    work_on()
    operation = MarketOperation.objects.get(kind=Kind.BONUS)
    assert not operation.needs_person
    MarketOperation.objects.filter(pk=operation.pk).update(
        first_sent_at=timezone.now() - timedelta(minutes=61)
    )
    work_on()
    operation.refresh_from_db()
    assert (operation.state, operation.needs_person) == (MarketOperation.State.UNKNOWN, True)
    assert panel.payments()[len(before) :] == []


@pytest.mark.parametrize("fault", ["lost_before", "lost_after"])
def test_a_study_is_made_once_whatever_is_lost(panel, endpoint, fault):
    stage = make_stage(endpoint, redundancy=3, expected_seconds=30, reward_cents=20)
    stages.open_stage(stage=stage)
    panel.control("faults", **{fault: 2}, path="/api/v1/studies/*")
    for _ in range(4):
        work_on()
    study = PanelStudy.objects.get(stage=stage)
    name = f"distillery/{study.key.hex}"
    listed = [each for each in panel.get("/studies/")["results"] if each["internal_name"] == name]
    assert [each["id"] for each in listed] == [study.external_id]
    assert panel.get(f"/studies/{study.external_id}/")["total_available_places"] == 6


def test_a_study_follows_its_stage(panel, stage):
    study = PanelStudy.objects.get(stage=stage)
    for change, status in (
        (stages.pause_stage, "PAUSED"),
        (stages.open_stage, "ACTIVE"),
        (stages.close_stage, "COMPLETED"),
    ):
        stage.refresh_from_db()
        change(stage=stage)
        work_on()
        assert panel.study_status({"id": study.external_id}) == status


def test_pay_below_the_panels_least_is_refused_before_anything_is_made(panel, endpoint):
    """And so are rules that are no filters, and a stage without an estimate."""
    for fields, words in (
        ({"expected_seconds": 3600, "reward_cents": 20}, "asks for at least"),
        ({"expected_seconds": None}, "expected minutes"),
        (
            {
                "expected_seconds": 30,
                "eligibility": [{"kind": "country", "op": "In", "values": ["DE"], "hide": "accept"}],
            },
            "filters",
        ),
    ):
        stage = make_stage(endpoint, **fields)
        with pytest.raises(CrowdError, match=words):
            stages.open_stage(stage=stage)
    assert not MarketOperation.objects.exists()


def signed(secret, body, moment=None):
    """Headers of a hook."""
    stamp = str(int(moment or time.time()))
    mac = hmac.new(secret.encode(), stamp.encode() + body, hashlib.sha256).digest()
    return {
        "X-Prolific-Request-Timestamp": stamp,
        "X-Prolific-Request-Signature": base64.b64encode(mac).decode(),
        "X-Event-ID": "event-1",
    }


def test_hooks_are_hints_taken_once_and_only_when_signed(panel, endpoint, stage, client):
    endpoint.hook_secret_sealed = seal("a secret", purpose="crowd.hook")
    endpoint.save()
    PanelStudy.objects.update(hinted_at=None)
    body = json.dumps({"resource_id": "x", "event_type": "submission.status.change"}).encode()
    address = f"/panel/hooks/{endpoint.name}/"

    def send(headers, raw=body):
        return client.post(address, raw, content_type="application/json", headers=headers)

    assert send({}).status_code == 401
    assert send(signed("another", body)).status_code == 401
    assert send(signed("a secret", body, time.time() - 400)).status_code == 401
    assert send(signed("a secret", b"[]"), b"[]").status_code == 400
    assert not PanelHook.objects.exists()
    assert send(signed("a secret", body)).json() == {"taken": True}
    assert send(signed("a secret", body)).json() == {"taken": False}
    assert PanelStudy.objects.get(stage=stage).hinted_at is not None
    assert client.post("/panel/hooks/nowhere/", body, content_type="application/json").status_code == 404


@pytest.mark.long
def test_many_submissions_are_stored_with_few_queries(panel, stage, django_assert_max_num_queries):
    study = PanelStudy.objects.get(stage=stage)
    row = panels.PanelRow("s", "p", "ACTIVE", "", timezone.now(), None, return_requested=False)
    rows = [row.__class__(f"s{n}", f"p{n}", "ACTIVE", "", None, None, False) for n in range(400)]
    with django_assert_max_num_queries(10):
        assert panels.store_rows(study, rows) == 400
    assert panels.store_rows(study, rows) == 0
    assert PanelSubmission.objects.count() == 400


def test_a_code_without_an_answer_is_shown_to_a_person_who_asks_for_its_return(
    panel, stage, client, admin_user
):
    """Stolen or guessed, it brings a submission to review that has no answer here."""
    thief, other = Participant(panel, client, stage), Participant(panel, client, stage)
    panel.control("complete", submission_id=other.submission, code=other.study.codes["COMPLETED"])
    work_on()
    assert [row.external_id for row in panels.unanswered(stage)] == [other.submission]
    assert not Assignment.objects.exists()
    panel.control("complete", submission_id=thief.submission, code="GUESSED")
    Participant(panel, client, stage).finish()
    set_role(project=stage.project, user=admin_user, role="owner")
    client.force_login(admin_user)
    address = f"/desk/projects/{stage.project.slug}/stages/{stage.slug}/panel/"
    read = client.post(f"{address}read/", follow=True).content.decode()
    assert "2 submissions changed" in read
    page = client.get(address, {"state": "unanswered"}).content.decode()
    assert thief.submission in page
    assert "GUESSED" in page
    row = PanelSubmission.objects.get(external_id=thief.submission)
    for _ in range(2):
        client.post(f"{address}{row.pk}/return/", {"why": "There is no answer of yours."})
    work_on()
    assert MarketOperation.objects.get(kind=Kind.RETURN).state == MarketOperation.State.CONFIRMED
    assert panel.get(f"/submissions/{thief.submission}/")["return_requested"]
    assert client.get(address, {"format": "csv"}).status_code == 200


def test_administrators_add_panels_and_ask_for_the_balance(panel, client, admin_user, settings):
    client.force_login(admin_user)
    workspace = panel.get("/_control/state")["workspace_id"]
    entered = {
        "preset": "prolific",
        "name": "pool",
        "url": panel.simulator.site,
        "access_key": workspace,
        "secret": TOKEN,
    }
    page = client.post("/desk/settings/endpoints/add/", entered, follow=True).content.decode()
    assert "pool" in page
    assert TOKEN not in page
    assert "can be spent" in client.post("/desk/settings/endpoints/pool/check/", follow=True).content.decode()
    hooks = "/desk/settings/endpoints/pool/hooks/"
    assert "public https addresses" in client.post(hooks, follow=True).content.decode()
    settings.TASK_URL = "https://lab.example.org"
    assert "sends its hooks to" in client.post(hooks, follow=True).content.decode()
    assert "Sends hooks" in client.post(hooks, follow=True).content.decode()
