"""Stages at a panel: studies and places, what the panel says of submissions, who may come in, messages.

A panel sends people; the HITs are dealt here (`crowd.services.deals`). What a stage needs in places follows
from its HITs, so a study grows as the stage is topped up. Hooks are hints to look, nothing more. A message
that we write is an operation that is never repeated.

Where a stage has several sources, functions are given the stage as one of them meets it (`crowd.sources`).
"""

import logging
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from decimal import ROUND_UP, Decimal
from typing import Any, cast

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet, Sum
from django.urls import reverse
from django.utils import timezone

from core.crypto import seal
from core.money import format_amount
from core.projects.services import record
from crowd.adapters import registry
from crowd.adapters.base import Balance, MarketplaceDownError, MarketplaceRefusedError, Panel, PanelRow
from crowd.adapters.link import TAKEN, has_place
from crowd.adapters.panel import SignatureError
from crowd.budget import Cost
from crowd.errors import BudgetError, CrowdError
from crowd.models import (
    Assignment,
    Endpoint,
    Group,
    Hit,
    MarketOperation,
    PanelHook,
    PanelMessage,
    PanelStudy,
    PanelSubmission,
    Stage,
)
from crowd.outbox.calls import NOTHING, Contact, plan
from crowd.panelmodels import OUTCOMES, make_code
from crowd.services import decisions, panel_pay
from crowd.services.groups import rules_apart, with_groups
from crowd.services.publication import MOVE
from crowd.sources import hits_of
from metrics.figure import counted
from people.models import ConsentText

logger = logging.getLogger(__name__)
State, Kind = Assignment.State, MarketOperation.Kind
#: Submissions are read again after so long, sooner where a hook spoke, later where there are many.
_SUBMISSIONS_EVERY_S, _SECONDS_PER_ROW = 30.0, 0.02
#: Rows of the mirror that one statement writes.
_BATCH = 500
#: Purpose under which the secret of hooks is sealed.
HOOK_SEALED_FOR = "crowd.hook"
#: Statuses in which a person may work, and in which they are gone for good.
_PRESENT = ("RESERVED", "ACTIVE", "AWAITING REVIEW", "APPROVED")
_PAID = ("APPROVED",)
_GONE = ("RETURNED", "TIMED-OUT", "SCREENED OUT")


def panel_of(endpoint: Endpoint) -> Panel:
    """The adapter of a panel's endpoint."""
    return cast(Panel, registry.adapter(endpoint))


#: How often the balance is asked for while a study is there.
_BALANCE_EVERY = timedelta(minutes=10)


def ask_balance(endpoint: Endpoint, *, force: bool = False) -> Balance | None:
    """Ask a panel's account for its balance where it is time, and keep it. Raises MarketplaceDownError."""
    now = timezone.now()
    if not force and endpoint.balance_at and endpoint.balance_at > now - _BALANCE_EVERY:
        return None
    balance = panel_of(endpoint).check()
    on_hold = balance.on_hold.minor if balance.on_hold else None
    endpoint.balance_cents, endpoint.balance_held_cents, endpoint.balance_at = (
        balance.available.minor,
        on_hold,
        now,
    )
    endpoint.save(update_fields=["balance_cents", "balance_held_cents", "balance_at"])
    return balance


# Before a stage opens: what it pays, and what it costs by the panel's own calculator.


def minutes_of(stage: Stage) -> int:
    """How long one submission takes, as participants are told: whole minutes, at least one."""
    return max(1, -(-(stage.expected_seconds or 300) // 60))


def longest_minutes(stage: Stage) -> int:
    """The time allowed, not less than the panel's least for this estimate and under a day."""
    estimate = minutes_of(stage)
    least = int(2 + 2 * estimate + 2 * estimate**0.5) + 1
    return min(24 * 60 - 1, max(least, -(-stage.work_seconds // 60)))


def prepare_stage(stage: Stage) -> None:
    """Take the account's own fee into the books, and refuse what the panel would, before all is published.

    Raises CrowdError for a stage without an estimate, for pay below the panel's least, and for rules that are
    not filters; MarketplaceDownError's sentence as CrowdError where the panel does not answer.
    """
    if not stage.expected_seconds:
        raise CrowdError("Participants are told how long it takes: set the expected minutes of the stage.")
    for rule in stage.eligibility:
        if rule["kind"] not in ("passed", "group", "raw"):
            kind = rule["kind"].replace("_", " ")
            raise CrowdError(
                f"A panel knows its people by filters: write the rule {kind} as raw, with the filter's id "
                "first and its choices after it."
            )
    market = panel_of(stage.endpoint)
    try:
        least = market.least_reward_per_hour()
        take_fees(stage)
    except (MarketplaceDownError, MarketplaceRefusedError) as error:
        raise CrowdError(f"{stage.endpoint.label} does not say what this would cost: {error}") from error
    per_hour = stage.reward_cents * 60 // minutes_of(stage)
    if least is not None and per_hour < least[0]:
        reward, pay, least_pay, advised = (
            format_amount(each, stage.endpoint.currency) for each in (stage.reward_cents, per_hour, *least)
        )
        raise CrowdError(
            f"{reward} for {counted(minutes_of(stage), 'minute')} is {pay} an hour; "
            f"{stage.endpoint.label} asks for at least {least_pay} and recommends {advised}."
        )
    _refuse_screen_outs_over_budget(stage)


def take_fees(stage: Stage) -> None:
    """Take what the panel charges the account on a reward and on a screen-out of the stage into the books.

    Raises MarketplaceDownError or MarketplaceRefusedError.
    """
    market = panel_of(stage.endpoint)
    fee = market.quote_fee(reward=stage.reward_cents, places=100)
    if fee is not None:
        _take_share(stage, fee)
        _note_fee(stage, fee)
    panel_pay.take_screen_out_fee(stage, market)


def _take_share(stage: Stage, fee: int) -> None:
    share = (Decimal(fee) / Decimal(max(1, stage.reward_cents))).quantize(Decimal("0.000001"), ROUND_UP)
    profile = f"share-{share.normalize():f}"
    if stage.endpoint.fee_profile != profile:
        Endpoint.objects.filter(pk=stage.endpoint_id).update(fee_profile=profile)
        stage.endpoint.fee_profile = profile


def _note_fee(stage: Stage, fee: int) -> None:
    """Keep the fee for this reward: one of another reward's share may be a cent off, for each place."""
    if (stage.endpoint.told_fees or {}).get(str(stage.reward_cents)) == fee:
        return
    with transaction.atomic():  # what two stages are told at a time is both kept
        row = Endpoint.objects.select_for_update(no_key=True).get(pk=stage.endpoint_id)
        stage.endpoint.told_fees = {**(row.told_fees or {}), str(stage.reward_cents): fee}
        Endpoint.objects.filter(pk=row.pk).update(told_fees=stage.endpoint.told_fees)


def _refuse_screen_outs_over_budget(stage: Stage) -> None:
    """Slots of screen-outs have to fit beside what is set aside already."""
    studies = PanelStudy.objects.filter(stage=stage, endpoint=stage.endpoint_id)
    study = studies.filter(external_id="").first()
    cost = panel_pay.screen_out_cost(study)
    left = stage.budget_cents - stage.reserved_cents - stage.spent_cents
    if cost.total > left:
        costs, rest = (format_amount(each, stage.endpoint.currency) for each in (cost.total, left))
        raise BudgetError(
            f"Paid screen-outs may cost {costs}, and {rest} is left of the budget. "
            "Raise the budget, or have fewer slots."
        )


# The study and its places.


def study_of(stage: Stage) -> PanelStudy:
    """The stage's study, its row made where there is none yet."""
    study, _ = PanelStudy.objects.get_or_create(
        stage=stage,
        endpoint=stage.endpoint,
        defaults={
            "codes": {outcome: make_code() for outcome in OUTCOMES},
            "created_at": timezone.now(),
        },
    )
    return study


def entry_address(study: PanelStudy) -> str:
    """Where the panel sends participants."""
    return f"{settings.TASK_URL}{reverse('crowd:panel', args=[study.key])}"


def wanted_places(stage: Stage) -> int:
    """How many people a study has to let in, in all: places on offer, and those that were used.

    A rejected submission frees its place at the panel by itself, so it asks for none.
    """
    hits = Hit.objects.filter(hits_of(stage), compensates=None)
    hits = hits.exclude(state__in=[Hit.State.PLANNED, Hit.State.REFUSED])
    work = Assignment.objects.filter(stage=stage)
    on_offer = hits.filter(state=Hit.State.OPEN).aggregate(places=Sum("places"))["places"] or 0
    used = work.filter(has_place(), hit__in=hits.exclude(state=Hit.State.OPEN).values("pk")).count()
    freed = work.filter(state=State.REJECTED, hit__in=hits.values("pk")).count()
    return panel_pay.count_unfinished_parts(stage) + on_offer + used - freed


def ask_for_people(stage: Stage) -> int:
    """Plan what makes the study what the stage needs: made, larger, paused, started, stopped; how much."""
    under_way = MarketOperation.objects.filter(
        stage=stage, endpoint=stage.endpoint_id, kind__in=[Kind.STUDY, Kind.PLACES, Kind.MOVE]
    ).exclude(Q(state__in=MarketOperation.FINAL) | Q(target__startswith=panel_pay.SLOTS, kind=Kind.PLACES))
    if under_way.exists():
        return 0
    places = wanted_places(stage)
    study = PanelStudy.objects.filter(stage=stage, endpoint=stage.endpoint_id).first()
    if study is None or not study.external_id:
        if stage.status != Stage.Status.OPEN or places < 1:
            return 0
        _plan_study(stage, study or study_of(stage), places)
        return 1
    if action := _action(stage, study) or _action_for_moved_work(stage, study):
        _plan(stage, Kind.MOVE, {"ref": study.external_id, "action": action})
        return 1
    if stage.status == Stage.Status.OPEN and places > study.places:
        _plan(stage, Kind.PLACES, {"ref": study.external_id, "places": places})
        return 1
    return 0


def _action(stage: Stage, study: PanelStudy) -> str:
    """What makes the study follow its stage; empty where it does."""
    match stage.status, study.state:
        case Stage.Status.CLOSED, PanelStudy.State.OPEN | PanelStudy.State.PAUSED:
            return "STOP"
        case Stage.Status.PAUSED, PanelStudy.State.OPEN:
            return "PAUSE"
        case Stage.Status.OPEN, PanelStudy.State.PAUSED if not _is_emptied(stage):
            return "START"
    return ""


def _action_for_moved_work(stage: Stage, study: PanelStudy) -> str:
    """A panel's places are never lowered, so while others have its work the study sends nobody."""
    is_open = stage.status == Stage.Status.OPEN and study.state == PanelStudy.State.OPEN
    return "PAUSE" if is_open and _is_emptied(stage) else ""


def _is_emptied(stage: Stage) -> bool:
    """Whether work was taken from this source, and nothing is left there to do."""
    if stage.source is None:
        return False
    closed = MarketOperation.objects.filter(stage=stage, endpoint=stage.endpoint_id, kind=Kind.CLOSE)
    if not closed.filter(purpose__startswith=MOVE).exists():
        return False
    living = Hit.objects.filter(hits_of(stage), compensates=None)
    offered = Q(state=Hit.State.OPEN, expires_at__gt=timezone.now(), taken__lt=F("places"))
    return not living.annotate(taken=TAKEN).filter(offered | Q(state=Hit.State.PLANNED)).exists()


def _plan(stage: Stage, kind: MarketOperation.Kind, payload: dict[str, Any], cost: Cost = NOTHING) -> None:
    """Each its own operation: the same words may be true again later, such as a second pause."""
    later = stage.source is not None and stage.source.position
    target = f"stage:{stage.pk}" + (f"@{stage.endpoint_id}" if later else "")
    before = MarketOperation.objects.filter(stage=stage, kind=kind, target=target).count()
    plan(
        kind=kind,
        endpoint=stage.endpoint,
        stage=stage,
        target=target,
        purpose=f"{kind} {before + 1}",
        payload=payload,
        cost=cost,
    )


def _plan_study(stage: Stage, study: PanelStudy, places: int) -> None:
    """The money of places is set aside by the HITs, whose places these are; that of screen-outs here."""
    screen_outs: dict[str, Any] = {}
    if study.screen_out_cents:
        screen_outs = {
            "screen_out_cents": study.screen_out_cents,
            "screen_out_slots": study.screen_out_slots,
        }
    _plan(
        stage,
        Kind.STUDY,
        {
            "key": f"distillery/{study.key.hex}",
            "title": stage.task_title,
            "description": stage.task_description,
            "entry_url": entry_address(study),
            "reward_cents": stage.reward_cents,
            "currency": stage.endpoint.currency,
            "places": places,
            "minutes": minutes_of(stage),
            "longest_minutes": longest_minutes(stage),
            "codes": study.codes,
            "eligibility": [*with_groups(stage), *rules_apart(stage)],
            "pays_in_part": study.pays_in_part,
            **screen_outs,
        },
        panel_pay.screen_out_cost(study),
    )


# What the panel says of submissions.


def sync(stage: Stage, contact: Contact | None = None, *, force: bool = False) -> int:
    """Read the study's submissions where it is time; how many changed. Raises MarketplaceDownError."""
    studies = PanelStudy.objects.filter(stage=stage, endpoint=stage.endpoint_id)
    study = studies.exclude(external_id="").first()
    if study is None or not (force or _is_due(study)):
        return 0
    begun = timezone.now()
    rows = list(panel_of(stage.endpoint).iter_rows(study.external_id))
    if contact is not None:
        contact.note_answer()
    changed = store_rows(study, rows)
    _read_charges(study)
    PanelStudy.objects.filter(pk=study.pk).update(synced_at=begun)
    return changed


def _read_charges(study: PanelStudy) -> None:
    """Have the books follow what the panel charged; where it does not say, the estimate stays."""
    if not panel_pay.booked_charges(study).cents:
        return
    try:
        charged = panel_of(study.endpoint).read_charges(study.external_id)
    except (MarketplaceDownError, MarketplaceRefusedError):
        return
    if charged is not None:
        panel_pay.book_charges(study, charged, at=timezone.now())


def _is_due(study: PanelStudy) -> bool:
    if study.synced_at is None or (study.hinted_at and study.hinted_at >= study.synced_at):
        return True
    wait = max(_SUBMISSIONS_EVERY_S, _SECONDS_PER_ROW * study.places)
    return study.synced_at <= timezone.now() - timedelta(seconds=wait)


def store_rows(study: PanelStudy, rows: Sequence[PanelRow]) -> int:
    """Keep what the panel lists, and draw the consequences of what changed; how many changed.

    In one transaction for a batch: killed in between, the rest is read again.
    """
    changed = 0
    for start in range(0, len(rows), _BATCH):
        changed += _store_batch(study, rows[start : start + _BATCH])
    return changed


_FIELDS = (
    "participant",
    "status",
    "entered_code",
    "started_at",
    "completed_at",
    "return_requested",
    "reward_cents",
)


@transaction.atomic
def _store_batch(study: PanelStudy, rows: Sequence[PanelRow]) -> int:
    now = timezone.now()
    stored = {
        row[0]: row[1:]
        for row in PanelSubmission.objects.filter(
            study=study, external_id__in=[row.ref for row in rows]
        ).values_list("external_id", *_FIELDS)
    }
    news = [
        PanelSubmission(study=study, external_id=row.ref, seen_at=now, **_columns(row))
        for row in rows
        if stored.get(row.ref) != tuple(_columns(row).values())
    ]
    PanelSubmission.objects.bulk_create(
        news,
        update_conflicts=True,
        unique_fields=["study", "external_id"],
        update_fields=[*_FIELDS, "seen_at"],
    )
    moved = [row for row in news if row.external_id not in stored or stored[row.external_id][1] != row.status]
    _follow(study, moved)
    # The budget may have room by now for what was screened out before.
    panel_pay.book_screen_outs(study, panel_pay.unbooked_screen_outs(study), at=now)
    return len(news)


def _columns(row: PanelRow) -> dict[str, Any]:
    return {
        "participant": row.participant,
        "status": row.status,
        "entered_code": row.entered_code[:80],
        "started_at": row.started_at,
        "completed_at": row.completed_at,
        "return_requested": row.return_requested,
        "reward_cents": row.reward,
    }


def _follow(study: PanelStudy, moved: Iterable[PanelSubmission]) -> None:
    """What a status means for the answer that we have, if there is one."""
    said_of = {row.external_id: row for row in moved}
    if not said_of:
        return
    at = timezone.now()
    status = {ref: row.status for ref, row in said_of.items()}
    screened_out = [row for row in said_of.values() if row.status == panel_pay.SCREENED_OUT]
    panel_pay.book_screen_outs(study, screened_out, at=at)
    mine = Assignment.objects.filter(stage=study.stage_id, worker__endpoint=study.endpoint_id)
    rows = mine.filter(external_id__in=status).order_by("pk")
    # Assignments before the stage's money: the order in which everybody takes them.
    locked = rows.select_for_update(no_key=True, of=("self",))
    paid, in_part = [], []
    for work in list(locked.select_related("worker", "stage", "hit")):
        panel_status = status[work.external_id]
        if panel_status in _GONE:
            _leave(work, panel_status, at)
        elif panel_status == panel_pay.IN_PART:
            in_part.append(work)
        elif panel_status in _PAID and work.submitted_at is not None and work.state != State.REJECTED:
            paid.append(work.pk)
        elif panel_status in _PAID and work.submitted_at is not None:
            _decide_elsewhere(work, approved=True, at=at)
        elif panel_status == "REJECTED" and work.submitted_at is not None:
            _decide_elsewhere(work, approved=False, at=at)
    if paid:
        decisions.book_approvals(study.stage, paid, at=at)
    panel_pay.book_parts(in_part, said_of, at=at)


def _leave(work: Assignment, panel_status: str, at: datetime) -> None:
    """A person who returned, or whose time was over: unfinished work ends, an answer is looked at."""
    if work.state == State.WORKING:
        decisions.end_assignment(work)
    elif work.state == State.STORED:
        decisions.quarantine(
            work, note=f"Answered here, but {panel_status.lower()} at the panel, which pays nothing for it."
        )
    elif work.state == State.SUBMITTED:
        decisions.book_rejection(work, at=at)
        Assignment.objects.filter(pk=work.pk).update(
            note=f"{panel_status.capitalize()} at the panel after answering."
        )


def _decide_elsewhere(work: Assignment, *, approved: bool, at: datetime) -> None:
    """Decided on the panel's own pages."""
    if not approved:
        decisions.book_rejection(work, at=at)
        return
    try:
        with transaction.atomic():
            decisions.book_approval(work, at=at)
    except BudgetError as error:
        note = f"Approved at the panel after its rejection, but not booked here: {error}"
        Assignment.objects.filter(pk=work.pk).update(held=True, note=note[:300])


# Who comes.


class ArrivalError(CrowdError):
    """Somebody who cannot be let in as a participant; says what to do."""


def confirm_arrival(
    study: PanelStudy, *, participant: str, study_ref: str, submission: str, token: str = ""
) -> PanelSubmission:
    """The submission with which a person comes, as the panel confirms it: the address alone proves nothing.

    With the `token` of a secure link the panel's signature is proof, and a wrong one is refused; otherwise
    the panel is asked. Raises ArrivalError with a sentence for the person, also where it does not answer.
    """
    if not (participant and submission and study_ref == study.external_id):
        raise ArrivalError("The address is not complete. Open the study again from the panel's page.")
    if token or study.endpoint.proves_arrivals:
        _check_link(study, token, participant=participant, submission=submission)
    stored = PanelSubmission.objects.filter(study=study, external_id=submission).first()
    if stored is not None and stored.participant == participant and stored.status in _PRESENT:
        return stored
    try:
        row = panel_of(study.endpoint).find_row(submission, study.external_id)
    except MarketplaceDownError as error:
        if token:  # its signature is proof enough
            return _keep_vouched(study, participant, submission)
        raise ArrivalError(
            "We cannot ask the panel about your submission at the moment. Wait a minute and reload this "
            "page; your place is kept."
        ) from error
    if row is None:
        row = panel_of(study.endpoint).vouch(submission, participant)
    if row is None or row.participant != participant:
        raise ArrivalError("The panel does not know this submission. Open the study again from its page.")
    if row.status not in _PRESENT:
        raise ArrivalError(f"This submission is {row.status.lower()} at the panel, so its work is over.")
    store_rows(study, [row])
    return PanelSubmission.objects.get(study=study, external_id=submission)


def _check_link(study: PanelStudy, token: str, *, participant: str, submission: str) -> None:
    try:
        vouched = panel_of(study.endpoint).read_link(token, entry_address(study))
    except (SignatureError, MarketplaceDownError, MarketplaceRefusedError) as error:
        logger.warning("A secure link of %s was refused: %s", study, error)
        raise ArrivalError("This link is too old. Open the study again from the panel's page.") from error
    same = vouched.get("PROLIFIC_PID") == participant and vouched.get("STUDY_ID") == study.external_id
    if not (same and vouched["sub"] == submission):
        raise ArrivalError("The address was changed. Open the study again from the panel's page.")


def _keep_vouched(study: PanelStudy, participant: str, submission: str) -> PanelSubmission:
    """A submission that only a signed link tells of; the next reading of the study tells the rest."""
    row = PanelRow(submission, participant, "ACTIVE", "", None, None, return_requested=False)
    store_rows(study, [row])
    return PanelSubmission.objects.get(study=study, external_id=submission)


def agree(submission: PanelSubmission, text: ConsentText) -> None:
    """Note that a participant agreed to this version; the first time counts."""
    PanelSubmission.objects.filter(pk=submission.pk, consented_at=None).update(
        consent_text=text, consented_at=timezone.now()
    )


# Hooks.


def take_hook(endpoint: Endpoint, *, event_id: str, event_type: str, resource: str) -> bool:
    """Note a hook's event, once; the studies that it may be about are read in the next round."""
    with transaction.atomic():
        _, new = PanelHook.objects.get_or_create(
            endpoint=endpoint,
            event_id=event_id[:80],
            defaults={
                "event_type": event_type[:60],
                "resource": resource[:80],
                "received_at": timezone.now(),
            },
        )
        if new:
            studies = PanelStudy.objects.filter(endpoint=endpoint).exclude(external_id="")
            about = studies.filter(Q(external_id=resource) | Q(submissions__external_id=resource))
            ids = list(about.values_list("pk", flat=True)) or list(studies.values_list("pk", flat=True))
            PanelStudy.objects.filter(pk__in=ids).update(hinted_at=timezone.now())
    return new


#: What a panel is asked to tell of. Truth is what it answers when it is asked; these only say when to ask.
EVENTS = ("submission.status.change", "study.status.change")


def subscribe_hooks(endpoint: Endpoint) -> str:
    """Have a panel send its hooks here; the address. CrowdError where it cannot reach us, or refuses."""
    address = f"{settings.TASK_URL}{reverse('crowd:panel_hook', args=[endpoint.name])}"
    if not address.startswith("https://"):
        raise CrowdError(
            "Hooks are sent to public https addresses only, and PUBLIC_URL is none. Without them the "
            "submissions are read every half minute."
        )
    try:
        secret = panel_of(endpoint).subscribe(EVENTS, address)
    except (MarketplaceDownError, MarketplaceRefusedError) as error:
        raise CrowdError(f"{endpoint.label}: {error}") from error
    endpoint.hook_secret_sealed = seal(secret, purpose=HOOK_SEALED_FOR)
    endpoint.save(update_fields=["hook_secret_sealed"])
    return address


# What a person asks for.


def read_now(stage: Stage) -> str:
    """Read the study's submissions; how it went, in words. Raises CrowdError."""
    try:
        changed = sync(stage, force=True)
    except (MarketplaceDownError, MarketplaceRefusedError) as error:
        raise CrowdError(f"{stage.endpoint.label}: {error}") from error
    return f"Read: {changed} submission{'' if changed == 1 else 's'} changed."


def ask_to_return(submission: PanelSubmission, *, why: str, actor: Any) -> MarketOperation:
    """Plan to ask a person to give their submission back; once for each submission."""
    if not why.strip():
        raise CrowdError("Say why: the participant reads it.")
    stage = submission.study.stage
    with transaction.atomic():
        operation = plan(
            kind=Kind.RETURN,
            endpoint=submission.study.endpoint,
            stage=stage,
            target=f"submission:{submission.pk}",
            purpose="ask to return",
            payload={"ref": submission.external_id, "why": why.strip()},
            actor=actor,
        )
        record(
            project=stage.project,
            action="submission.return_asked",
            subject=submission.external_id,
            actor=actor,
            details={"why": why.strip()[:300]},
        )
    return operation


def submissions_of(source_stage: Stage) -> QuerySet[Any]:
    """Submissions of the study at a panel; `answered` says whether an answer of theirs is here."""
    answer = Assignment.objects.filter(
        stage=source_stage.pk,
        worker__endpoint=source_stage.endpoint_id,
        external_id=OuterRef("external_id"),
        stored_at__isnull=False,
    )
    rows = PanelSubmission.objects.filter(
        study__stage=source_stage.pk, study__endpoint=source_stage.endpoint_id
    )
    return rows.annotate(answered=Exists(answer))


def unanswered(source_stage: Stage) -> QuerySet[Any]:
    """Submissions that came back with a code, and of which no answer is here: no data, or a stolen code."""
    return submissions_of(source_stage).filter(answered=False, status="AWAITING REVIEW")


# Messages to and from participants

#: Participants that one call writes to, and that one person's request may choose.
_AT_ONCE, MOST = 100, 1_000
#: What participants wrote is read again after so long.
_MESSAGES_EVERY = timedelta(minutes=5)
_LONGEST = 4096


@transaction.atomic
def write_to_participants(
    study: PanelStudy, participants: Sequence[str], *, text: str, actor: Any
) -> list[MarketOperation]:
    """Plan a message to participants who came to a study, a hundred in one call. Raises CrowdError."""
    _refuse_unready(study, text)
    submissions = PanelSubmission.objects.filter(study=study, participant__in=participants)
    readers = sorted(set(submissions.values_list("participant", flat=True)))
    if not readers:
        raise CrowdError("None of them came to this study.")
    if len(readers) > MOST:
        raise CrowdError(f"These are {len(readers)} participants; one message goes to at most {MOST}.")
    stamp = timezone.now().isoformat(timespec="microseconds")
    at_once = _AT_ONCE if study.endpoint.protocol == Endpoint.Protocol.PROLIFIC else 1
    operations = [
        _plan_message(
            study, f"message {stamp} {start}", text, actor, workers=readers[start : start + at_once]
        )
        for start in range(0, len(readers), at_once)
    ]
    _log(study, text, actor, participants=len(readers))
    return operations


@transaction.atomic
def write_to_group(study: PanelStudy, group: Group, *, text: str, actor: Any) -> MarketOperation:
    """Plan a message to all of a group that we keep at the panel. Raises CrowdError."""
    _refuse_unready(study, text)
    if group.endpoint_id != study.endpoint_id:
        raise CrowdError("This group is of another marketplace.")
    stamp = timezone.now().isoformat(timespec="microseconds")
    operation = _plan_message(study, f"message {stamp} group", text, actor, workers=[], group=f"@{group.pk}")
    _log(study, text, actor, group=group.name)
    return operation


def _refuse_unready(study: PanelStudy, text: str) -> None:
    if not study.external_id:
        raise CrowdError("The study is not at the panel yet.")
    if not text.strip():
        raise CrowdError("A message needs words.")
    if len(text) > _LONGEST:
        raise CrowdError(f"A message has at most {_LONGEST} characters.")


def _plan_message(study: PanelStudy, purpose: str, text: str, actor: Any, **to: Any) -> MarketOperation:
    stage = study.stage
    return plan(
        kind=MarketOperation.Kind.MESSAGE,
        endpoint=study.endpoint,
        stage=stage,
        target=f"stage:{stage.pk}",
        purpose=purpose,
        payload={"subject": "", "text": text.strip(), "study": study.external_id, **to},
        actor=actor,
    )


def _log(study: PanelStudy, text: str, actor: Any, **to: Any) -> None:
    stage = study.stage
    record(
        project=stage.project,
        action="participant.messaged",
        subject=stage.slug,
        actor=actor,
        details={**to, "text": text.strip()[:300]},
    )


def sync_messages(endpoint: Endpoint, *, force: bool = False) -> int:
    """Keep what participants wrote and the panel counts as unread; how many are new.

    Read every few minutes, one round for all studies of the endpoint. Raises MarketplaceDownError.
    """
    now = timezone.now()
    studies = PanelStudy.objects.filter(endpoint=endpoint).exclude(external_id="")
    due = studies if force else studies.exclude(messages_read_at__gt=now - _MESSAGES_EVERY)
    if not due.exists():
        return 0
    letters = panel_of(endpoint).unread_letters()
    by_ref = dict(studies.values_list("external_id", "pk"))
    stored_refs = set(
        PanelMessage.objects.filter(
            endpoint=endpoint, external_id__in=[letter.ref for letter in letters]
        ).values_list("external_id", flat=True)
    )
    new_messages = PanelMessage.objects.bulk_create(
        [
            PanelMessage(
                endpoint=endpoint,
                study_id=by_ref.get(letter.study),
                external_id=letter.ref[:64],
                participant=letter.participant[:64],
                category=letter.category[:40],
                body=letter.body[:20_000],
                sent_at=letter.sent_at,
                received_at=now,
            )
            for letter in letters
            if letter.ref not in stored_refs
        ],
        ignore_conflicts=True,
    )
    studies.update(messages_read_at=now)
    return len(new_messages)


def note_read(study: PanelStudy, *, keys: Sequence[int]) -> int:
    """Note messages of a study as read here; the panel keeps its own mark."""
    rows = received(study).filter(pk__in=keys, read_at=None)
    return rows.update(read_at=timezone.now())


def received(study: PanelStudy) -> QuerySet[PanelMessage]:
    """What was written about a study, or by somebody who came to it and named no other study."""
    came = PanelSubmission.objects.filter(study=study)
    rows = PanelMessage.objects.filter(endpoint=study.endpoint_id)
    mine = rows.filter(study=study) | rows.filter(study=None, participant__in=came.values("participant"))
    return mine.order_by("-sent_at", "-pk")


def sent(stage: Stage) -> QuerySet[MarketOperation]:
    """What was written to people of a stage, the newest first."""
    return MarketOperation.objects.filter(stage=stage, kind=MarketOperation.Kind.MESSAGE).order_by(
        "-planned_at", "pk"
    )
