"""Answers that are booked together leave exactly what they leave when each is booked alone."""

import pytest

from core.projects.models import Project
from crowd.adapters.base import CallRefusal, CallSuccess, CallThrottling, EarlierSuccess, Outcome, Unknown
from crowd.models import Assignment, Hit, LedgerEntry, MarketOperation, Stage
from crowd.outbox import dispatch
from crowd.services import review, stages
from tests.crowd.world import answer, make_hit, make_stage

pytestmark = pytest.mark.django_db
Kind, State = MarketOperation.Kind, Assignment.State
OUTCOMES: list[Outcome[str]] = [
    CallSuccess("ref-0", {"request_id": "r-0"}),
    EarlierSuccess("ref-1"),
    CallRefusal("ParameterValidationError", "The reward is too high."),
    CallSuccess("ref-3", {"request_id": "r-3"}),
    CallThrottling(1.0),
    EarlierSuccess(None),
    Unknown("no answer"),
    CallSuccess("ref-7", {"request_id": "r-7"}),
]


def operations(stage: Stage, kind: str) -> list[MarketOperation]:
    found = MarketOperation.objects.filter(stage=stage, kind=kind).order_by("hit", "assignment")
    return list(found.select_related("stage__project", "stage__endpoint", "hit", "assignment", "endpoint"))


def publishing(stage: Stage) -> list[MarketOperation]:
    stages.open_stage(stage=stage)
    MarketOperation.objects.filter(stage=stage).update(state=MarketOperation.State.SENT)
    return operations(stage, Kind.PUBLISH)


def approvals(stage: Stage, count: int) -> list[MarketOperation]:
    """Of submitted work whose money is reserved."""
    works = [answer(make_hit(stage, f"item:{n}"), worker_id=f"A{n}") for n in range(count)]
    Assignment.objects.filter(stage=stage).update(state=State.SUBMITTED)
    Stage.objects.filter(pk=stage.pk).update(reserved_cents=12 * count)
    Project.objects.filter(pk=stage.project_id).update(reserved_cents=12 * count)
    for work in works:
        review.approve(assignment=work, actor=None)
    MarketOperation.objects.filter(stage=stage).update(state=MarketOperation.State.SENT)
    return operations(stage, Kind.APPROVE)


def paying(stage: Stage) -> list[MarketOperation]:
    """Approvals, of which the first work was rejected and the fourth was paid already."""
    found = approvals(stage, len(OUTCOMES))
    for place, state in ((0, State.REJECTED), (3, State.APPROVED)):
        Assignment.objects.filter(pk=found[place].assignment_id).update(state=state)
    return operations(stage, Kind.APPROVE)


def left(stage: Stage) -> dict[str, object]:
    """Everything that booking changes, without keys and times."""
    stage.refresh_from_db()
    stage.project.refresh_from_db()
    return {
        "operations": [
            (each.kind, each.state, each.result_ref, each.request_id, each.error_code, each.needs_person)
            for each in MarketOperation.objects.filter(stage=stage).order_by("hit", "assignment", "kind")
        ],
        "hits": list(Hit.objects.filter(stage=stage).order_by("pk").values_list("state", "places")),
        "on offer": list(
            Hit.objects.filter(stage=stage, external_id__startswith="ref")
            .order_by("pk")
            .values_list("external_id", flat=True)
        ),
        "work": list(Assignment.objects.filter(stage=stage).order_by("pk").values_list("state", "held")),
        "ledger": sorted(LedgerEntry.objects.filter(stage=stage).values_list("kind", "cents", "fee_cents")),
        "money": (stage.reserved_cents, stage.spent_cents, stage.status),
        "project's money": (stage.project.reserved_cents, stage.project.spent_cents),
    }


@pytest.mark.parametrize("sent", [publishing, paying])
@pytest.mark.parametrize("closed", [False, True])
def test_a_mixed_batch_leaves_what_single_bookings_leave(sent, closed, market):
    found = []
    for at_once in (len(OUTCOMES), 1):
        stage = make_stage(items=[str(number) for number in range(len(OUTCOMES))])
        pairs = list(zip(sent(stage), OUTCOMES, strict=True))
        if closed:
            Stage.objects.filter(pk=stage.pk).update(status=Stage.Status.CLOSED)
        for start in range(0, len(pairs), at_once):
            dispatch._settle_together(pairs[start : start + at_once])
        found.append(left(stage))
    assert found[0] == found[1]


def test_the_ordinary_ones_of_a_batch_are_booked_together(market):
    stage = make_stage(items=[str(number) for number in range(len(OUTCOMES))])
    pairs = list(zip(publishing(stage), OUTCOMES, strict=True))
    rest = dispatch.book_in_bulk(stage, pairs)
    assert [outcome for _, outcome in rest] == [OUTCOMES[place] for place in (2, 4, 5, 6)]


def test_an_answer_that_comes_twice_is_booked_once(market):
    stage = make_stage(items=["tea", "milk"])
    pairs = [(each, CallSuccess("ref", {})) for each in approvals(stage, 2)]
    for _ in range(2):
        dispatch._settle_together(pairs)
    stage.refresh_from_db()
    assert (stage.reserved_cents, stage.spent_cents) == (0, 24)
    assert LedgerEntry.objects.filter(stage=stage, kind=LedgerEntry.Kind.SPEND).count() == 2
