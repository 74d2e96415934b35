"""A stage at the simulated CloudResearch Connect, whose contract is from third parties."""

import random
import re
import threading
from collections import Counter
from datetime import timedelta

import pytest
from distillery_panel_simulator.connect import ConnectSimulator
from distillery_panel_simulator.prolific_state import Options
from django.utils import timezone

from crowd.adapters import registry
from crowd.adapters.connect import ConnectClient
from crowd.errors import CrowdError
from crowd.models import Assignment, EndpointRound, MarketOperation, PanelStudy, PanelSubmission
from crowd.outbox import dispatch as outbox
from crowd.services import panel_pay, panels, review, stages
from crowd.services.endpoints import create_endpoint
from crowd.services.tick import tick
from tests.crowd.panels.test_stages import Participant, work_on
from tests.crowd.panels.worlds import TOKEN, Panel, served
from tests.crowd.world import make_stage

pytestmark = pytest.mark.django_db
State, Kind = Assignment.State, MarketOperation.Kind


class ConnectPanel(Panel):
    """Calls of a simulated Connect, without sockets."""

    def __init__(self):
        self.simulator = ConnectSimulator(":memory:", TOKEN, Options(fee_percent=40, balance=100_000_000))
        self.state = self.simulator.state

    def payments(self):
        return self.get("/_control/payments")["payments"]


@pytest.fixture(scope="module")
def server():
    with served(ConnectPanel()) as panel:
        yield panel


@pytest.fixture
def panel(server):
    server.control("faults")
    return server


@pytest.fixture
def endpoint(panel):
    made = create_endpoint(
        name="connect", preset="connect", url=panel.simulator.site, access_key="", secret=TOKEN
    )
    made.real_money = False
    made.save()
    return made


@pytest.fixture
def stage(endpoint):
    """One thing for three people, two minutes for half a dollar."""
    made = make_stage(endpoint, items=["tea"], redundancy=3, expected_seconds=120, reward_cents=50)
    stages.open_stage(stage=made)
    work_on()
    made.refresh_from_db()
    return made


def test_a_stage_is_one_project_and_its_books_agree(panel, stage, client):
    study = PanelStudy.objects.get(stage=stage)
    there = panel.simulator.state.get("project", study.external_id)
    assert (there["status"], there["participants"], there["cents"]) == ("Live", 3, 50)
    people = [Participant(panel, client, stage).finish() for _ in range(3)]
    work_on()
    work_on()
    review.bonus(assignment=people[0].work, actor=None, cents=25, reason="Very good.", purpose="q")
    work_on()
    listed = [each for each in panel.payments() if each["study_id"] == study.external_id]
    assert Counter((each["kind"], each["amount"]) for each in listed) == {("reward", 50): 3, ("bonus", 25): 1}
    stage.refresh_from_db()
    assert stage.spent_cents == sum(each["amount"] + each["fees"] for each in listed)
    assert stage.reserved_cents == 0
    assert set(Assignment.objects.values_list("state", flat=True)) == {State.APPROVED}
    stages.close_stage(stage=stage)
    work_on()
    study.refresh_from_db()
    assert study.state == "stopped"
    endpoint = stage.endpoint
    endpoint.refresh_from_db()
    assert endpoint.balance_cents is not None


def test_who_is_not_listed_takes_a_place_for_a_while_and_is_paid_nothing(panel, stage, client):
    """An address can be made up: it is let in, its answer waits, and is set aside when its time is over."""
    honest = Participant(panel, client, stage)
    made_up = honest.url.replace(honest.submission, "f" * 32)
    assert honest.open(honest.url.replace(honest.submission, "no-id")).status_code == 403
    assert honest.open(honest.url.replace(honest.study.external_id, "0" * 32)).status_code == 403
    page = honest.open(made_up)
    ticket = re.search(r'name="ticket" value="([^"]+)"', page.content.decode())[1]
    client.post(page.redirect_chain[-1][0], {"ticket": ticket, "0|choice": "yes"})
    work_on()
    assert Assignment.objects.get(external_id="f" * 32).state == State.STORED
    PanelSubmission.objects.filter(external_id="f" * 32).update(seen_at=timezone.now() - timedelta(days=2))
    work_on()
    assert Assignment.objects.get(external_id="f" * 32).state == State.QUARANTINED
    assert not [each for each in panel.payments() if each["study_id"] == honest.study.external_id]


def test_what_connect_cannot_do_is_said(panel, stage, client):
    study = PanelStudy.objects.get(stage=stage)
    with pytest.raises(CrowdError, match="whole rewards only"):
        panel_pay.set_terms(study, screen_out_cents=5, screen_out_slots=1, pays_in_part=False, actor=None)
    people = [Participant(panel, client, stage).finish() for _ in range(2)]
    type(stage).objects.update(approve_at_once=False)
    work_on()
    operations = panels.write_to_participants(
        study, [each.person for each in people], text="Thank you.", actor=None
    )
    assert len(operations) == 2
    review.reject(assignment=people[0].work, actor=None, reason="The answer is empty.")
    work_on()
    assert panel.state.count("message") >= 2
    assert people[0].work.state == State.REJECTED
    review.override(assignment=people[0].work, actor=None, note="It was not empty.")
    work_on()
    assert people[0].work.state == State.APPROVED
    assert "contract from third parties" in stage.endpoint.label
    market = registry.adapter(stage.endpoint)
    assert market.quote_fee(reward=50, places=1) is None


def test_a_token_is_remembered_and_a_lower_pay_is_refused(panel, endpoint):
    """The same call with the same token pays once; without one, it would pay again."""
    client = ConnectClient(url=panel.simulator.site, key=TOKEN)
    draft = {
        "name": "A",
        "payment": 1.0,
        "estimatedTimeInMinutes": 2,
        "participants": 1,
        "projectUrl": "https://lab.example/p",
    }
    first, again = (client.create_project(draft, token="t1").ref for _ in range(2))
    assert first == again
    assert "less than" in client.create_project({**draft, "payment": 0.2}, token="t2").text
    assert "another call" in client.create_project({**draft, "name": "B"}, token="t1").text
    client.move_project(first, "Live", token="t3")
    [person] = panel.people()
    came = panel.control("arrive", study_id=first, participant_id=person)
    panel.control("complete", submission_id=came["submission_id"], code=None)
    for token in ("b1", "b1", "b2"):
        client.pay_bonus(first, came["submission_id"], 10, "Good.", token=token)
    assert [each["amount"] for each in panel.payments() if each["study_id"] == first] == [10, 10]
    made = make_stage(endpoint, items=["tea"], redundancy=1, expected_seconds=600, reward_cents=50)
    with pytest.raises(CrowdError, match=r"asks for at least \$7\.50"):
        stages.open_stage(stage=made)


class KilledError(BaseException):
    """The process is dead: nothing catches it."""


@pytest.mark.parametrize("seed", range(2))
def test_nothing_is_paid_twice_and_nobody_stays_unpaid(panel, stage, client, monkeypatch, seed):
    """Losses and kills drawn by a seed, and tokens that the panel forgot meanwhile."""
    draw, alive = random.Random(seed), threading.Event()
    lock = threading.Lock()

    def mortal(step):
        def wrapped(*values, **named):
            for moment in (1, 2):
                with lock:
                    if alive.is_set() and draw.random() < 0.04:
                        raise KilledError
                if moment == 1:
                    result = step(*values, **named)
            return result

        return wrapped

    steps = ((ConnectClient, "call"), (outbox, "_announce"), (outbox, "_settle"), (panels, "_store_batch"))
    for place, name in steps:
        monkeypatch.setattr(place, name, mortal(getattr(place, name)))

    def live_through(rounds):
        for _ in range(rounds):
            past = timezone.now() - timedelta(seconds=1)
            MarketOperation.objects.filter(lease_until__isnull=False).update(lease_until=past)
            MarketOperation.objects.exclude(state__in=MarketOperation.FINAL).update(not_before=past)
            EndpointRound.objects.update(lease_owner=None, lease_until=None)
            PanelStudy.objects.update(hinted_at=timezone.now())
            fault = draw.choice(["lost_before", "lost_after", "error", "throttle"])
            panel.control(
                "faults", **({fault: draw.randint(1, 2)} if alive.is_set() and draw.random() < 0.5 else {})
            )
            try:
                tick()
            except KilledError:
                continue
        panel.control("faults")

    people = [Participant(panel, client, stage).finish() for _ in range(3)]
    live_through(2)
    for number, person in enumerate(people):
        review.bonus(assignment=person.work, actor=None, cents=10 + 5 * number, reason="Good.", purpose="q")
    alive.set()
    live_through(5)
    # The panel forgets its tokens; ours are repeated all the same.
    panel.control("clock", seconds=25 * 3600)
    live_through(3)
    alive.clear()
    live_through(5)
    listed = [each for each in panel.payments() if each["study_id"] == people[0].study.external_id]
    for kind in ("reward", "bonus"):
        paid = Counter(each["submission_id"] for each in listed if each["kind"] == kind)
        assert paid == {person.submission: 1 for person in people}, kind
    stage.refresh_from_db()
    assert stage.spent_cents == sum(each["amount"] + each["fees"] for each in listed)
    assert stage.reserved_cents == 0
