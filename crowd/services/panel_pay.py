"""What panels pay beside whole rewards: a part of one, and a fixed sum to those who are screened out.

A part is asked for by us, or given on the panel's own pages; either way it is booked when the panel says that
it was paid, at the amount that was paid. Screen-outs are paid by the panel itself, by the code that the
person comes back with; their money is set aside with the study, slot by slot.
"""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone

from core.money import format_amount
from core.projects.models import Event
from core.projects.services import record
from core.revisions import ShownValues, mark_of_values
from crowd import budget
from crowd.adapters.base import MarketplaceRefusedError, Panel
from crowd.budget import Cost, MovementPurpose
from crowd.errors import BudgetError, CrowdError
from crowd.models import (
    Assignment,
    Endpoint,
    LedgerEntry,
    MarketOperation,
    PanelStudy,
    PanelSubmission,
    Stage,
)
from crowd.outbox.calls import NOTHING, plan
from crowd.panelmodels import LEAST_PERCENT, MOST_PERCENT, MOST_SLOTS, PARTIAL, make_code
from crowd.panelmodels import SCREENED_OUT as SCREENED_OUT_CODE
from crowd.services import decisions
from crowd.sources import stage_at

State, Kind = Assignment.State, MarketOperation.Kind
#: The panel's words for what was paid in part, and for who was screened out.
IN_PART, SCREENED_OUT = "PARTIALLY APPROVED", "SCREENED OUT"
#: Beginning of the target of operations that raise the number of paid screen-outs.
SLOTS = "screen-outs:"
#: Statuses in which a part can be paid.
PAYABLE_IN_PART = ("ACTIVE", "AWAITING REVIEW")
#: Reasons of movements in the ledger.
PART_REASON, SCREEN_OUT_REASON = "part of the reward", "screen-out"


# Terms of a study, set before it is made.


def mark_of_terms(study: PanelStudy | None) -> str:
    """Equal as long as the terms of a study are; of one that was not made yet, that of the first terms."""
    terms = (study.screen_out_cents, study.screen_out_slots, study.pays_in_part) if study else (0, 0, False)
    return mark_of_values("crowd.panel.terms", terms)


@transaction.atomic
def set_terms(
    study: PanelStudy,
    *,
    screen_out_cents: int,
    screen_out_slots: int,
    pays_in_part: bool,
    actor: Any,
    seen: ShownValues | None = None,
) -> None:
    """Say what a study pays beside whole rewards. Raises CrowdError once it was asked for at the panel.

    With `seen`, ConflictError where its terms are other than were shown.
    """
    if seen is not None:
        seen.check(mark_of_terms(PanelStudy.objects.select_for_update(of=("self",)).get(pk=study.pk)))
    stage = stage_at(study.stage, study.endpoint_id)
    if stage.endpoint.protocol != Endpoint.Protocol.PROLIFIC and (screen_out_cents or pays_in_part):
        raise CrowdError(f"{stage.endpoint.label} pays whole rewards only, as far as is publicly known.")
    if bool(screen_out_cents) != bool(screen_out_slots):
        raise CrowdError("Paid screen-outs need both, the amount and how many there may be.")
    if screen_out_cents and not 0 < screen_out_cents < stage.reward_cents:
        reward = format_amount(stage.reward_cents, stage.endpoint.currency)
        raise CrowdError(f"A screen-out is paid at least a cent, and less than the reward of {reward}.")
    codes = {kind: code for kind, code in study.codes.items() if kind != PARTIAL}
    if pays_in_part:
        codes[PARTIAL] = study.codes.get(PARTIAL) or make_code()
    if not studies_to_make(stage).filter(pk=study.pk).exists():
        raise CrowdError(
            "The study is there already; a panel takes these terms with a new study only. "
            "Of a study that has paid screen-outs, their number can be raised."
        )
    PanelStudy.objects.filter(pk=study.pk).update(
        screen_out_cents=screen_out_cents,
        screen_out_slots=screen_out_slots,
        screen_out_fee_cents=_fee(stage, screen_out_cents),
        pays_in_part=pays_in_part,
        codes=codes,
    )
    record(
        project=stage.project,
        action="panel.terms",
        subject=stage.slug,
        actor=actor,
        details={
            "screen_out_cents": screen_out_cents,
            "screen_out_slots": screen_out_slots,
            "pays_in_part": pays_in_part,
        },
    )


@transaction.atomic
def raise_slots(study: PanelStudy, *, slots: int, actor: Any) -> MarketOperation:
    """Plan to let a study that runs pay so many screen-outs in all; their money is set aside with it.

    A panel changes nothing else of a published study's codes: the amount stays, and a study that was made
    without paid screen-outs gets none. Raises CrowdError, and BudgetError where the money is not there.
    """
    study = PanelStudy.objects.select_for_update(no_key=True).select_related("endpoint").get(pk=study.pk)
    stage = stage_at(
        Stage.objects.select_related("project", "endpoint").get(pk=study.stage_id), study.endpoint
    )
    if study.endpoint.protocol != Endpoint.Protocol.PROLIFIC:
        raise CrowdError(f"{study.endpoint.label} pays no screen-outs, as far as is publicly known.")
    if not study.external_id:
        raise CrowdError("The study is not there yet: say how many screen-outs it pays with its terms.")
    if study.state == PanelStudy.State.STOPPED:
        raise CrowdError("The study was stopped, so it screens out no more people.")
    if not study.screen_out_cents:
        raise CrowdError(
            "This study was made without paid screen-outs, and the panel takes their amount with a new study "
            "only. Make another stage for the units that are left, and set its terms before you open it."
        )
    if slots_under_way(study) is not None:
        raise CrowdError(
            "A change of the number of screen-outs is on its way. Wait until the panel has confirmed it."
        )
    more = slots - study.screen_out_slots
    if more < 1:
        raise CrowdError(
            f"Their number can only be raised: there are {study.screen_out_slots:,}. What is not used goes "
            "back to the budget when the study stops."
        )
    if slots > MOST_SLOTS:
        raise CrowdError(f"At most {MOST_SLOTS:,} screen-outs.")
    operation = plan(
        kind=Kind.PLACES,
        endpoint=stage.endpoint,
        stage=stage,
        target=_target(study),
        purpose=f"screen-outs {_changes_of_slots(study).count() + 1}",
        payload={
            "ref": study.external_id,
            "code": study.codes[SCREENED_OUT_CODE],
            "slots": slots,
            "before": study.screen_out_slots,
        },
        cost=Cost(study.screen_out_cents, study.screen_out_fee_cents) * more,
        actor=actor,
    )
    record(
        project=stage.project,
        action="panel.screen_outs",
        subject=stage.slug,
        actor=actor,
        details={"from": study.screen_out_slots, "to": slots},
    )
    return operation


def _target(study: PanelStudy) -> str:
    return f"{SLOTS}{study.pk}"


def _changes_of_slots(study: PanelStudy) -> QuerySet[MarketOperation]:
    return MarketOperation.objects.filter(kind=Kind.PLACES, target=_target(study))


def slots_under_way(study: PanelStudy) -> int | None:
    """How many screen-outs the panel was asked for and has not confirmed; None where nothing is under way."""
    going = _changes_of_slots(study).exclude(state__in=MarketOperation.FINAL).first()
    return None if going is None else int(going.payload["slots"])


def slots_asked(study: PanelStudy) -> int:
    """How many screen-outs the study pays in all, with those that the panel has not confirmed yet."""
    return slots_under_way(study) or study.screen_out_slots


def add_confirmed_slots(study: PanelStudy, operation: MarketOperation) -> None:
    """Count the screen-outs that the panel confirmed, in the transaction that stores its answer.

    A study that paused after the last one goes on. The study's row is locked; the caller saves it.
    """
    more = operation.payload["slots"] - operation.payload["before"]
    ran_out = not study.screen_out_left
    study.screen_out_slots += more
    study.screen_out_left += more
    source_stage = stage_at(study.stage, study.endpoint_id)
    if ran_out and study.state == PanelStudy.State.OPEN and source_stage.status == Stage.Status.OPEN:
        plan(
            kind=Kind.MOVE,
            endpoint=source_stage.endpoint,
            stage=source_stage,
            target=operation.target,
            purpose=f"go on after {operation.purpose}",
            payload={"ref": study.external_id, "action": "START"},
        )


def _fee(stage: Stage, cents: int) -> int:
    if not cents:
        return 0
    return budget.payment_fee(stage.endpoint, cents)


def screen_out_cost(study: PanelStudy | None) -> Cost:
    """What all slots of a study may cost."""
    if study is None:
        return NOTHING
    return Cost(study.screen_out_cents, study.screen_out_fee_cents) * study.screen_out_slots


def studies_to_make(stage: Stage) -> QuerySet[PanelStudy]:
    """Studies of the stage's sources that no panel was asked for, or that it refused: terms may change."""
    creations = MarketOperation.objects.filter(
        stage=stage, endpoint=OuterRef("endpoint"), kind=Kind.STUDY
    ).exclude(state=MarketOperation.State.REFUSED)
    return PanelStudy.objects.filter(~Exists(creations), stage=stage, external_id="")


def screen_outs_to_reserve(stage: Stage) -> dict[int, int]:
    """What paid screen-outs will set aside with their studies, fee included, by endpoint."""
    studies = studies_to_make(stage).exclude(screen_out_slots=0)
    return {study.endpoint_id: screen_out_cost(study).total for study in studies}


def take_screen_out_fee(stage: Stage, market: Panel) -> None:
    """Take the account's fee on a screen-out into the terms of a study that is to be made.

    It is asked for at that amount: a panel rounds per payment, so a share of the reward's fee is not it.
    """
    study = studies_to_make(stage).filter(endpoint=stage.endpoint_id).exclude(screen_out_cents=0).first()
    if study is None:
        return
    fee = None
    # A calculator may refuse sums that are too small for a reward.
    with suppress(MarketplaceRefusedError):
        fee = market.quote_fee(reward=study.screen_out_cents, places=100)
    PanelStudy.objects.filter(pk=study.pk).update(
        screen_out_fee_cents=_fee(stage, study.screen_out_cents) if fee is None else fee
    )


def release_slots(study: PanelStudy, *, at: datetime) -> None:
    """Give back what is set aside for screen-outs that will not happen; in the caller's transaction."""
    left = study.screen_out_left
    if left and PanelStudy.objects.filter(pk=study.pk, screen_out_left=left).update(screen_out_left=0):
        cost = Cost(study.screen_out_cents, study.screen_out_fee_cents) * left
        budget.release(study.stage, cost, MovementPurpose("unused screen-outs"), at=at)
        study.screen_out_left = 0


# A part of a reward.


@transaction.atomic
def pay_in_part(submission: PanelSubmission, *, percent: int, note: str, actor: Any) -> MarketOperation:
    """Plan to end a submission with a share of the reward; once for each submission.

    Raises CrowdError for a person who has no work here, and BudgetError where the share of unfinished work
    does not fit the budget: its place goes to another person, who gets the whole reward.
    """
    study = submission.study
    stage = stage_at(study.stage, study.endpoint_id)
    if not LEAST_PERCENT <= percent <= MOST_PERCENT:
        raise CrowdError(f"A part is {LEAST_PERCENT} to {MOST_PERCENT} percent of the reward.")
    if not study.pays_in_part or PARTIAL not in study.codes:
        raise CrowdError("This study was made without a code for parts of a reward.")
    if submission.status not in PAYABLE_IN_PART:
        raise CrowdError(f"This submission is {submission.status.lower()} at the panel.")
    rows = Assignment.objects.select_for_update(no_key=True, of=("self",)).select_related("hit")
    rows = rows.filter(stage=stage, worker__endpoint=study.endpoint_id)
    work = rows.filter(external_id=submission.external_id).first()
    if work is None or work.state not in (State.WORKING, State.STORED, State.SUBMITTED):
        raise CrowdError("This person has no work here of which a part could be paid.")
    decided = MarketOperation.objects.filter(assignment=work, kind__in=[Kind.APPROVE, Kind.REJECT]).exclude(
        state=MarketOperation.State.REFUSED
    )
    if decided.exists():
        raise CrowdError("A decision on this work is on its way already, or was made.")
    cents = share_of(work.hit.reward_cents, percent)
    operation = plan(
        kind=Kind.PARTIAL,
        endpoint=stage.endpoint,
        stage=stage,
        assignment=work,
        target=f"submission:{submission.pk}",
        purpose="part of the reward",
        payload={
            "ref": submission.external_id,
            "code": study.codes[PARTIAL],
            "percent": percent,
            "note": note.strip()[:1000],
        },
        cost=_part(work, cents) if work.state == State.WORKING else NOTHING,
        actor=actor,
    )
    record(
        project=stage.project,
        action="submission.paid_in_part",
        subject=submission.external_id,
        actor=actor,
        details={"percent": percent, "cents": cents, "note": note.strip()[:300]},
    )
    return operation


def share_of(reward_cents: int, percent: int) -> int:
    """A share in whole cents, rounded up."""
    return -(-reward_cents * percent // 100)


def _part(work: Assignment, cents: int) -> Cost:
    return Cost(cents, decisions.share_of_fee(work.hit, cents))


def state_amount(submission: PanelSubmission, *, cents: int, actor: Any) -> None:
    """A person says what the panel paid in part, where it does not say so itself; then it is booked."""
    stage = submission.study.stage
    with transaction.atomic():
        work = (
            Assignment.objects.select_for_update(no_key=True, of=("self",))
            .select_related("hit", "stage", "worker")
            .filter(stage=stage, worker__endpoint=submission.study.endpoint_id)
            .filter(external_id=submission.external_id)
            .first()
        )
        if submission.status != IN_PART or work is None:
            raise CrowdError("Nothing was paid in part for this submission.")
        if work.paid_cents is not None:
            raise CrowdError("What was paid is booked already.")
        if not 0 < cents < work.hit.reward_cents:
            reward = format_amount(work.hit.reward_cents, work.endpoint.currency)
            raise CrowdError(f"A part is less than the reward of {reward}.")
        _book_part(work, cents, at=timezone.now())
        record(
            project=stage.project,
            action="submission.amount_stated",
            subject=submission.external_id,
            actor=actor,
            details={"cents": cents},
        )


# What the panel says was paid, in the transaction that stores it.


def book_parts(works: Iterable[Assignment], submissions: dict[str, PanelSubmission], *, at: datetime) -> None:
    """Book each part at the sum that was paid; work whose sum is not known waits for a person."""
    for work in works:
        amount = _amount(work, submissions[work.external_id])
        if amount is None:
            decisions.hold_assignment(work, note="Paid in part at the panel, which does not say how much.")
            continue
        try:
            with transaction.atomic():
                _book_part(work, amount, at=at)
        except BudgetError as error:
            note = f"Paid in part at the panel, but not booked here: {error}"
            Assignment.objects.filter(pk=work.pk).update(held=True, note=note[:300])


def _amount(work: Assignment, submission: PanelSubmission) -> int | None:
    """What the panel says, where that is a part; else what we asked for."""
    reward = work.hit.reward_cents
    if submission.reward_cents is not None and 0 < submission.reward_cents < reward:
        return submission.reward_cents
    payment = _find_part_payment(work)
    return share_of(reward, payment.payload["percent"]) if payment else None


def _find_part_payment(work: Assignment) -> MarketOperation | None:
    return (
        MarketOperation.objects.filter(assignment=work, kind=Kind.PARTIAL)
        .exclude(state=MarketOperation.State.REFUSED)
        .first()
    )


def _book_part(work: Assignment, cents: int, *, at: datetime) -> None:
    """An answer is approved at its part; unfinished work is over, its part paid beside the place's money."""
    if not Assignment.objects.filter(pk=work.pk, paid_cents=None).update(paid_cents=cents):
        return
    work.paid_cents = cents
    payment = _find_part_payment(work)
    if payment is not None and payment.amount_cents:
        cost = Cost(payment.amount_cents, payment.fee_cents)
        budget.release(work.stage, cost, MovementPurpose("booked as paid", operation=payment), at=at)
    if work.state == State.WORKING:
        cost = _part(work, cents)
        budget.reserve(work.stage, cost, MovementPurpose("for a part", assignment=work), at=at)
        budget.spend(work.stage, cost, MovementPurpose(PART_REASON, assignment=work), at=at)
        decisions.end_assignment(work)
    elif work.submitted_at is not None:
        decisions.book_approval(work, at=at)
    # What was answered and not listed is collected as approved work, at its part.


def unbooked_parts(stage: Stage) -> QuerySet[PanelSubmission]:
    """Submissions that were paid in part and whose amount is not booked."""
    mine = Assignment.objects.filter(stage=stage, worker__endpoint=stage.endpoint_id)
    work = mine.filter(external_id=OuterRef("external_id"), paid_cents=None)
    rows = PanelSubmission.objects.filter(study__stage=stage, study__endpoint=stage.endpoint_id)
    return rows.filter(Exists(work), status=IN_PART).order_by("pk")


def count_unfinished_parts(stage: Stage) -> int:
    """Places of the study that were paid in part without an answer: somebody else has to come for each."""
    mine = Assignment.objects.filter(stage=stage, worker__endpoint=stage.endpoint_id)
    return mine.filter(state=State.ENDED, paid_cents__isnull=False).count()


def book_screen_outs(study: PanelStudy, rows: Iterable[PanelSubmission], *, at: datetime) -> None:
    """Book what the panel paid to those who were screened out, each once.

    What the budget has no room for is in `unbooked_screen_outs`, and every later reading tries it again.
    """
    if not study.screen_out_cents:
        return
    for row in rows:
        with suppress(BudgetError), transaction.atomic():
            _book_screen_out(study, row, at=at)


def _book_screen_out(study: PanelStudy, row: PanelSubmission, *, at: datetime) -> None:
    unbooked = PanelSubmission.objects.filter(
        study=study, external_id=row.external_id, screen_out_booked_at=None
    )
    paid = row.reward_cents if row.reward_cents is not None else study.screen_out_cents
    if not paid or not unbooked.update(screen_out_booked_at=at):
        return
    slot = Cost(study.screen_out_cents, study.screen_out_fee_cents)
    purpose = MovementPurpose(SCREEN_OUT_REASON)
    cost = slot
    if paid != slot.cents:
        cost = Cost(paid, _fee(stage_at(study.stage, study.endpoint_id), paid))
    had_slot = PanelStudy.objects.filter(pk=study.pk, screen_out_left__gt=0).update(
        screen_out_left=F("screen_out_left") - 1
    )
    if had_slot and cost != slot:
        budget.release(study.stage, slot, MovementPurpose("screen-out at another amount"), at=at)
    if not had_slot or cost != slot:
        budget.reserve(study.stage, cost, purpose, at=at)
    budget.spend(study.stage, cost, purpose, at=at)


def unbooked_screen_outs(study: PanelStudy) -> QuerySet[PanelSubmission]:
    """Screen-outs that were paid and could not be booked, since the budget has no room for them."""
    rows = PanelSubmission.objects.filter(study=study, status=SCREENED_OUT, screen_out_booked_at=None)
    return rows.exclude(Q(reward_cents=0)) if study.screen_out_cents else rows.none()


# What the panel charged in fees, which is known for sure only afterwards.

#: Reason of movements in the ledger that make our fees those of the panel; the endpoint's name follows.
CHARGE_REASON = "fee as charged by"


@dataclass(frozen=True, slots=True)
class BookedCharges:
    """What is spent at a study, and how much more its fees are than was estimated; negative: less."""

    cents: int
    fee_cents: int
    corrected_cents: int

    @property
    def saved_cents(self) -> int:
        """How much less than the estimate was charged."""
        return max(0, -self.corrected_cents)


def booked_charges(study: PanelStudy) -> BookedCharges:
    """Rewards, parts, screen-outs and bonuses of a study as our books have them."""
    of_study = (
        Q(assignment__worker__endpoint=study.endpoint_id)
        | Q(operation__endpoint=study.endpoint_id)
        | Q(operation=None, assignment=None, reason__in=[SCREEN_OUT_REASON, _charge_reason(study)])
    )
    movements = LedgerEntry.objects.filter(of_study, stage=study.stage_id)
    spent = budget.spent_in(movements)
    corrected = budget.spent_in(movements.filter(reason=_charge_reason(study)))
    return BookedCharges(spent.cents, spent.fee_cents, corrected.fee_cents)


def _charge_reason(study: PanelStudy) -> str:
    return f"{CHARGE_REASON} {study.endpoint.name}"


def book_charges(study: PanelStudy, charged: tuple[int, int], *, at: datetime) -> None:
    """Book fees as the panel charged them, once both books have the same payments.

    `charged` is what it paid for the study in all, and fee and tax on it. Sums are compared, so that nothing
    is booked twice. What it charged less goes back to the budget; where the budget has no room for more, the
    difference is noted only.
    """
    paid_cents, fee_cents = charged
    with transaction.atomic():
        study = PanelStudy.objects.select_for_update(no_key=True, of=("self",)).get(pk=study.pk)
        booked = booked_charges(study)
        if paid_cents != booked.cents or fee_cents == booked.fee_cents:
            return
        why = _book_difference(study, fee_cents - booked.fee_cents, at=at)
        details = {"fee_cents": fee_cents, "booked_fee_cents": booked.fee_cents, "not_booked": why}
        last = _last_charges(study)
        if last is None or last.details != details:
            record(
                project=study.stage.project,
                action="panel.charged",
                subject=_charges_subject(study),
                details=details,
            )


def _book_difference(study: PanelStudy, more: int, *, at: datetime) -> str:
    """Book so many cents of fees more, or fewer; why not, where the budget has no room for them."""
    purpose = MovementPurpose(_charge_reason(study))
    if more < 0:
        budget.refund(study.stage, Cost(0, -more), purpose, at=at)
        return ""
    try:
        budget.reserve(study.stage, Cost(0, more), purpose, at=at)
    except BudgetError as error:
        return str(error)
    budget.spend(study.stage, Cost(0, more), purpose, at=at)
    return ""


def _charges_subject(study: PanelStudy) -> str:
    return f"{study.stage.slug} at {study.endpoint.name}"


def _last_charges(study: PanelStudy) -> Event | None:
    events = study.stage.project.events.filter(subject=_charges_subject(study), action="panel.charged")
    return events.order_by("-pk").first()


def unbooked_fees(study: PanelStudy, booked: BookedCharges) -> dict[str, Any] | None:
    """What the panel was last seen to charge in fees where our books could not follow, and why."""
    last = _last_charges(study)
    if last is None or last.details["booked_fee_cents"] != booked.fee_cents or not last.details["not_booked"]:
        return None
    return dict(last.details)
