"""Runs with losses and kills drawn by a seed: nothing is paid twice, nobody stays unpaid in silence.

`PANEL_RUNS=1000 pytest tests/crowd/panels/test_crashes.py` runs as many seeds, from
`PANEL_FIRST` on; the suite runs a few.
"""

import os
import random
import threading
from collections import Counter
from datetime import timedelta

import pytest
from django.db.models import F, Sum
from django.utils import timezone

from crowd.adapters.prolific_client import ProlificClient
from crowd.models import Assignment, EndpointRound, LedgerEntry, MarketOperation, PanelStudy, PanelSubmission
from crowd.outbox import dispatch as outbox
from crowd.services import panel_pay, panels, review, stages
from crowd.services.tick import tick
from tests.crowd.panels.test_stages import Participant, endpoint, server  # noqa: F401  # fixtures
from tests.crowd.world import make_stage
from tests.scale import TEST_ALL

pytestmark = pytest.mark.django_db
Kind, State = MarketOperation.Kind, MarketOperation.State
RUNS = int(os.environ.get("PANEL_RUNS", "3" if TEST_ALL else "1"))
FIRST = int(os.environ.get("PANEL_FIRST", "0"))
#: Where a process may die: before and after each of these.
STEPS = (
    (ProlificClient, "call"),
    (outbox, "_announce"),
    (outbox, "_settle"),
    (outbox, "_prepare"),
    (panels, "_store_batch"),
)


@pytest.fixture
def panel(server):  # noqa: F811  # the fixture's value
    """An account of its own for each seed: lists of a thousand seeds would get longer and longer."""
    server.control("reset")
    server.control("deposit", cents=100_000)
    return server


class KilledError(BaseException):
    """The process is dead: nothing catches it."""


class Fate:
    """Kills the process at steps that a seed chooses; none any more once it is over."""

    def __init__(self, seed, monkeypatch):
        self.random, self.active = random.Random(seed), True
        self._lock = threading.Lock()
        for place, name in STEPS:
            monkeypatch.setattr(place, name, self._wrap(getattr(place, name)))

    def _wrap(self, step):
        def wrapped(*values, **named):
            self._maybe_die()
            result = step(*values, **named)
            self._maybe_die()
            return result

        return wrapped

    def _maybe_die(self):
        with self._lock:
            if self.active and self.random.random() < 0.04:
                raise KilledError


def begin_again():
    """Another process, some time later: leases are over, what was put off is due."""
    past = timezone.now() - timedelta(seconds=1)
    MarketOperation.objects.filter(lease_until__isnull=False).update(lease_until=past)
    MarketOperation.objects.exclude(state__in=MarketOperation.FINAL).update(not_before=past)
    EndpointRound.objects.update(lease_owner=None, lease_until=None)
    PanelStudy.objects.update(hinted_at=timezone.now())


def unfinished():
    """Whether anything is still to be done by itself: what waits for its moment, say."""
    waiting = MarketOperation.objects.exclude(state__in=MarketOperation.FINAL)
    return waiting.filter(needs_person=False).exists()


def live_through(panel, fate, rounds):
    """Rounds, each of which may be killed; the panel loses calls and answers meanwhile.

    Where nothing is lost any more, rounds end with the first that finds nothing to do.
    """
    for _ in range(rounds):
        begin_again()
        draw = fate.random
        faults = {draw.choice(["lost_before", "lost_after", "error", "throttle"]): draw.randint(1, 2)}
        panel.control("faults", **(faults if fate.active and draw.random() < 0.5 else {}))
        try:
            calm = tick().idle and not fate.active and not unfinished()
        except KilledError:
            continue
        if calm:
            break
    panel.control("faults")


@pytest.mark.timeout(1800)  # eight seconds of work, on a machine that does much else
@pytest.mark.parametrize("seed", range(FIRST, FIRST + RUNS))
def test_nothing_is_paid_twice_and_nobody_stays_unpaid(panel, endpoint, client, monkeypatch, seed):  # noqa: F811
    """One study, each submission paid once, in whole, in part or as a screen-out, each bonus at most once.

    What is not known is a person's to decide; the books agree with what was paid.
    """
    stage = make_stage(endpoint, items=["tea"], redundancy=4, expected_seconds=30, reward_cents=20)
    panel_pay.set_terms(
        panels.study_of(stage), screen_out_cents=5, screen_out_slots=2, pays_in_part=True, actor=None
    )
    stages.open_stage(stage=stage)
    fate = Fate(seed, monkeypatch)
    live_through(panel, fate, 4)
    fate.active = False
    live_through(panel, fate, 4)
    study = PanelStudy.objects.get(stage=stage)
    name = f"distillery/{study.key.hex}"
    assert [each["internal_name"] for each in panel.get("/studies/")["results"]].count(name) == 1
    before = len(panel.get("/_control/payments")["payments"])
    leaver, unfit = Participant(panel, client, stage), Participant(panel, client, stage)
    leaver.open()
    panel.control("complete", submission_id=unfit.submission, code=study.codes["SCREENED_OUT"])
    people = [Participant(panel, client, stage).finish() for _ in range(3)]
    live_through(panel, fate, 2)
    left = PanelSubmission.objects.get(external_id=leaver.submission)
    panel_pay.pay_in_part(left, percent=50, note="", actor=None)
    [letter] = panels.write_to_participants(study, [leaver.person], text="Thank you.", actor=None)
    for number, person in enumerate(people):
        review.bonus(assignment=person.work, actor=None, cents=10 + number, reason="Good.", purpose="q")
    panel_pay.raise_slots(PanelStudy.objects.get(stage=stage), slots=5, actor=None)
    fate.active = True
    live_through(panel, fate, 5)
    fate.active = False
    for _ in range(2):
        panel.control("clock", seconds=1800)
        MarketOperation.objects.filter(
            kind__in=[Kind.BONUS, Kind.MESSAGE], first_sent_at__isnull=False
        ).update(first_sent_at=F("first_sent_at") - timedelta(minutes=40))
        live_through(panel, fate, 3)
    # The panel pays bonuses minutes after the call that it accepted: all that are on their way are counted.
    panel.control("clock", seconds=1800)
    paid = panel.get("/_control/payments")["payments"][before:]
    rewards = Counter(each["submission_id"] for each in paid if each["kind"] == "reward")
    bonuses = Counter(each["submission_id"] for each in paid if each["kind"] == "bonus")
    assert rewards == {person.submission: 1 for person in people}
    assert max(bonuses.values(), default=0) <= 1
    for operation in MarketOperation.objects.filter(kind=Kind.BONUS).select_related("assignment"):
        was_paid = bool(bonuses[operation.assignment.external_id])
        assert operation.state == State.CONFIRMED if was_paid else operation.needs_person, operation
    others = sorted(
        (each["kind"], each["submission_id"]) for each in paid if each["kind"] in ("partial", "screen_out")
    )
    assert others == [("partial", leaver.submission), ("screen_out", unfit.submission)]
    written = panel.get(f"/messages/?user_id={leaver.person}")["results"]
    letter.refresh_from_db()
    assert len(written) <= 1
    assert letter.needs_person or (letter.state == State.CONFIRMED and len(written) == 1)
    states = Counter(Assignment.objects.values_list("state", flat=True))
    assert states == {Assignment.State.APPROVED: 3, Assignment.State.ENDED: 1}
    stage.refresh_from_db()
    in_doubt = sum(
        operation.amount_cents + operation.fee_cents
        for operation in MarketOperation.objects.filter(kind=Kind.BONUS, needs_person=True)
    )
    # One place and one slot of a screen-out are still open, and the three slots that came later.
    place = 20 + stage.hits.get().fee_cents
    slot = PanelStudy.objects.get(stage=stage)
    assert (slot.screen_out_slots, slot.screen_out_left) == (5, 4)
    codes = panel.get(f"/studies/{study.external_id}/")["completion_codes"]
    assert [each["slots"] for code in codes for each in code["actions"] if "slots" in each] == [4]
    slots = 4 * (slot.screen_out_cents + slot.screen_out_fee_cents)
    assert stage.reserved_cents == in_doubt + place + slots
    booked = LedgerEntry.objects.filter(stage=stage, kind="spend").aggregate(n=Sum("cents"))["n"]
    doubted = sum(each["amount"] for each in paid if each["kind"] == "bonus") - sum(
        MarketOperation.objects.filter(kind=Kind.BONUS, state=State.CONFIRMED).values_list(
            "amount_cents", flat=True
        )
    )
    assert booked + doubted == sum(each["amount"] for each in paid)
