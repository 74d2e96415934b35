"""What the answer to an operation changes in our rows, in the caller's transaction.

An operation is finished by one conditional update: whoever finds it finished already changes nothing.
"""

from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from core.projects.services import record
from crowd import budget
from crowd.adapters.base import CallRefusal, CallSuccess, EarlierSuccess, Outcome
from crowd.budget import Cost, MovementPurpose
from crowd.models import Hit, MarketOperation, PanelStudy, Stage, StageSource
from crowd.outbox.calls import plan
from crowd.services import decisions, panel_pay
from crowd.sources import is_closed_at

Kind = MarketOperation.Kind
State = MarketOperation.State


def apply(operation: MarketOperation, outcome: Outcome[Any]) -> bool:
    """Finish an operation with a clear outcome; False where it was finished before."""
    refused = isinstance(outcome, CallRefusal)
    ref = _reference(outcome)
    if not refused and operation.kind == Kind.PUBLISH and not ref:
        look_it_up(operation)
        return False
    finished = (
        MarketOperation.objects.filter(pk=operation.pk)
        .exclude(state__in=MarketOperation.FINAL)
        .update(
            state=State.REFUSED if refused else State.CONFIRMED,
            finished_at=timezone.now(),
            lease_owner=None,
            lease_until=None,
            needs_person=False,
            result_ref=ref,
            request_id=str(getattr(outcome, "raw", {}).get("request_id", "")),
            error_code=outcome.code[:80] if isinstance(outcome, CallRefusal) else "",
            error_text=outcome.text[:2000] if isinstance(outcome, CallRefusal) else "",
        )
    )
    if not finished:
        return False
    if refused:
        assert isinstance(outcome, CallRefusal)
        _after_refusal(operation, outcome)
    else:
        _after_success(operation, ref)
    return True


def _reference(outcome: Outcome[Any]) -> str:
    if isinstance(outcome, CallSuccess | EarlierSuccess) and isinstance(outcome.ref, str):
        return outcome.ref
    return ""


def look_it_up(operation: MarketOperation, refused: CallRefusal | None = None) -> None:
    """Have the reconciler find out: what was published, or whether an attempt before this refusal counted."""
    MarketOperation.objects.filter(pk=operation.pk).exclude(state__in=MarketOperation.FINAL).update(
        state=State.UNKNOWN,
        needs_person=False,
        result_lost=True,
        lease_owner=None,
        lease_until=None,
        error_code=refused.code[:80] if refused else "",
        error_text=refused.text[:2000] if refused else "",
    )


def ask_a_person(operation: MarketOperation, why: str) -> None:
    """Put an operation on the screen of what a person must decide; nothing is repeated by itself."""
    MarketOperation.objects.filter(pk=operation.pk).exclude(state__in=MarketOperation.FINAL).update(
        state=State.UNKNOWN, needs_person=True, lease_owner=None, lease_until=None, error_text=why[:2000]
    )


def overtake(operation: MarketOperation, why: str) -> None:
    """Finish an operation that costs nothing and was overtaken; the work is as the other one left it."""
    MarketOperation.objects.filter(pk=operation.pk).exclude(state__in=MarketOperation.FINAL).update(
        state=State.REFUSED,
        finished_at=timezone.now(),
        needs_person=False,
        lease_owner=None,
        lease_until=None,
        error_code="Overtaken",
        error_text=why[:2000],
    )


def _after_success(operation: MarketOperation, ref: str) -> None:
    now = timezone.now()
    stage, cost = operation.stage, Cost(operation.amount_cents, operation.fee_cents)
    match operation.kind:
        case Kind.PUBLISH:
            _published(operation, ref, now)
        case Kind.EXTEND:
            assert operation.hit is not None
            decisions.add_places(operation.hit, operation.payload["places"])
        case Kind.CLOSE:
            assert operation.hit is not None
            Hit.objects.filter(pk=operation.hit.pk).update(expires_at=now)
        case Kind.DEADLINE:
            assert operation.hit is not None
            Hit.objects.filter(pk=operation.hit.pk).update(expires_at=operation.payload["when"])
        case Kind.APPROVE:
            assert operation.assignment is not None
            decisions.book_approval(operation.assignment, at=now)
        case Kind.UNREJECT:
            assert operation.assignment is not None and stage is not None
            if not decisions.book_approval(operation.assignment, at=now, reserved=True):
                budget.release(stage, cost, MovementPurpose("approved already", operation=operation), at=now)
        case Kind.REJECT:
            assert operation.assignment is not None
            decisions.book_rejection(operation.assignment, at=now)
        case Kind.BONUS:
            assert stage is not None
            budget.spend(stage, cost, MovementPurpose("bonus", operation=operation), at=now)
        case Kind.STUDY | Kind.PLACES | Kind.MOVE:
            _study_changed(operation, ref)
        case Kind.GROUP:
            decisions.note_group_made(operation.payload["group_pk"], ref)
        case _:
            pass


def _study_changed(operation: MarketOperation, ref: str) -> None:
    """What a panel confirmed about a stage's study."""
    study = PanelStudy.objects.select_for_update(no_key=True).get(
        stage=operation.stage_id, endpoint=operation.endpoint_id
    )
    match operation.kind:
        case Kind.STUDY:
            study.external_id, study.state = ref, PanelStudy.State.OPEN
            study.places = operation.payload["places"]
            study.screen_out_left = operation.payload.get("screen_out_slots", 0)
        case Kind.PLACES if "slots" in operation.payload:
            panel_pay.add_confirmed_slots(study, operation)
        case Kind.PLACES:
            study.places = max(study.places, operation.payload["places"])
        case _:
            study.state = MOVED[operation.payload["action"]]
    study.save(update_fields=["external_id", "state", "places", "screen_out_slots", "screen_out_left"])
    if study.state == PanelStudy.State.STOPPED:
        panel_pay.release_slots(study, at=timezone.now())


#: What a study is after it was moved.
MOVED = {
    "PAUSE": PanelStudy.State.PAUSED,
    "START": PanelStudy.State.OPEN,
    "STOP": PanelStudy.State.STOPPED,
}


def _published(operation: MarketOperation, ref: str, now: datetime) -> None:
    """A HIT is on offer; one of a stage that was closed meanwhile is taken off again."""
    assert operation.hit is not None and operation.stage is not None
    status = (
        Stage.objects.select_for_update(no_key=True)
        .values_list("status", flat=True)
        .get(pk=operation.stage.pk)
    )
    Hit.objects.filter(pk=operation.hit.pk, state=Hit.State.PLANNED).update(
        state=Hit.State.OPEN,
        external_id=ref,
        published_at=now,
        expires_at=now + timedelta(seconds=operation.payload["open_seconds"]),
    )
    closed = status == Stage.Status.CLOSED or is_closed_at(operation.stage, operation.endpoint_id)
    if closed and operation.hit.compensates_id is None:
        plan(
            kind=Kind.CLOSE,
            endpoint=operation.endpoint,
            stage=operation.stage,
            hit=operation.hit,
            target=f"hit:{operation.hit.pk}",
            purpose="close",
            payload={"ref": ref},
        )


def _after_refusal(operation: MarketOperation, outcome: CallRefusal) -> None:
    now = timezone.now()
    stage = operation.stage
    if stage is None:
        return
    cost = Cost(operation.amount_cents, operation.fee_cents)
    budget.release(stage, cost, MovementPurpose("refused", operation=operation), at=now)
    if operation.kind == Kind.PUBLISH and operation.hit:
        Hit.objects.filter(pk=operation.hit.pk).update(state=Hit.State.REFUSED)
        if operation.hit.compensates_id is None:
            # Asking again for the same would be refused again, every few seconds.
            _pause_stage(operation, f"A HIT was refused: {outcome.code}: {outcome.text}")
    if operation.kind in (Kind.STUDY, Kind.PLACES) and "slots" not in operation.payload:
        _pause_stage(operation, f"The panel refused the study: {outcome.text}")
    if operation.kind in (Kind.APPROVE, Kind.REJECT, Kind.UNREJECT) and operation.assignment:
        decisions.hold_assignment(
            operation.assignment, note=f"{operation.get_kind_display()} was refused: {outcome.text}"
        )
    record(
        project=stage.project,
        action="operation.refused",
        subject=f"{operation.kind} {operation.target}",
        details={"code": outcome.code, "text": outcome.text[:500], "operation": str(operation.pk)},
    )


def account_refused(operation: MarketOperation, code: str, text: str) -> None:
    """The account is empty or its keys are not taken: pause the stage, so that a person sees it first."""
    if code == "InsufficientFunds":
        _pause_stage(operation, f"The marketplace account has no funds: {text}")
    else:
        _pause_stage(operation, f"The marketplace does not accept the endpoint's keys: {code}: {text}")


def _pause_stage(operation: MarketOperation, why: str) -> None:
    if operation.stage is None or _pause_source(operation, why):
        return
    paused = Stage.objects.filter(pk=operation.stage.pk, status=Stage.Status.OPEN).update(
        status=Stage.Status.PAUSED
    )
    if paused:
        record(
            project=operation.stage.project,
            action="stage.paused",
            subject=operation.stage.slug,
            details={"why": why[:500]},
        )


def _pause_source(operation: MarketOperation, why: str) -> bool:
    """Where the stage has several sources, pause the one of this endpoint; whether it has."""
    assert operation.stage is not None
    rows = StageSource.objects.filter(stage=operation.stage, endpoint=operation.endpoint_id)
    paused = rows.filter(status=StageSource.Status.OPEN).update(status=StageSource.Status.PAUSED)
    if paused:
        record(
            project=operation.stage.project,
            action="source.paused",
            subject=operation.stage.slug,
            details={"source": operation.endpoint.name, "why": why[:500]},
        )
    return bool(paused) or rows.exists()
