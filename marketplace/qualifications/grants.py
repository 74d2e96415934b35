"""Custom qualifications: types, grants one by one or from a file, tests, and what workers ask for."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import translation
from django.utils.translation import gettext

from core.files.refusals import RowCounts
from core.revisions import ShownColumns
from marketplace import clock, ids
from marketplace.activity import note
from marketplace.errors import Refusal, invalid_value
from marketplace.forms.formanswers import OTHER, FormAnswers, answers_xml, parse_key, score
from marketplace.forms.questionform import parse_form
from marketplace.locks import lock_worker
from marketplace.models import (
    HIT,
    Message,
    QualificationGrant,
    QualificationRequest,
    QualificationType,
    Requester,
    Worker,
)
from marketplace.qualifications.eligibility import CLOSED, asking_for, hit_types_asking_for

# Many grants of a qualification at a time, from a file: all of them, or none.

RowStatus = QualificationGrant.Status
_AT_ONCE = 1000


@dataclass(frozen=True, slots=True)
class GrantLine:
    """What a line asks for: a value for a worker, or, where it is not `granted`, that they lose it."""

    line: int
    worker_id: str
    value: int
    granted: bool = True


@dataclass(slots=True)
class Outcome:
    """How many lines changed something, and how many were so already."""

    granted: int = 0
    revoked: int = 0
    same: int = 0

    def counts(self) -> RowCounts:
        """What became of every line; one that cannot be taken refuses the file."""
        used = self.granted + self.revoked
        return RowCounts(rows_read=used + self.same, used=used, repeats=self.same)


@transaction.atomic
def grant_many(
    *, qualification_type: QualificationType, grants: Iterable[GrantLine], now: datetime
) -> Outcome:
    """Give and take as the lines say, a thousand in memory at a time; nobody gets a message.

    Raises Refusal naming the line of a worker there is not; whatever reading `grants` raises undoes all, too.
    """
    if qualification_type.status != QualificationType.Status.ACTIVE:
        raise Refusal("InvalidQualificationTypeState", "The qualification is inactive. Make it active first.")
    outcome = Outcome()
    lines = iter(grants)
    while chunk := list(islice(lines, _AT_ONCE)):
        _grant(qualification_type, chunk, now, outcome)
    summary = f"{outcome.granted} granted, {outcome.revoked} taken back"
    note(qualification_type.requester_id, "qualification.file", qualification_type.name[:120], summary)
    return outcome


def _grant(kind: QualificationType, chunk: list[GrantLine], now: datetime, outcome: Outcome) -> None:
    ids = [each.worker_id for each in chunk]
    pks = dict(Worker.objects.filter(worker_id__in=ids).values_list("worker_id", "pk"))
    grants = QualificationGrant.objects.filter(qualification_type=kind, worker__in=pks.values())
    rows: Iterable[tuple[Any, ...]] = grants.values_list("worker", "value", "status")
    standing_grants = {worker: (value, status) for worker, value, status in rows}
    changed, lost = [], []
    for each in chunk:
        pk = pks.get(each.worker_id)
        if pk is None:
            raise Refusal(
                "InvalidParameterValue",
                f"Line {each.line}: there is no worker {each.worker_id!r}. Correct the id, or take the line "
                "out. Nothing was changed.",
            )
        value, status = standing_grants.get(pk, (None, ""))
        if each.granted and (value, status) != (each.value, RowStatus.GRANTED):
            changed.append(
                QualificationGrant(qualification_type=kind, worker_id=pk, value=each.value, granted_at=now)
            )
        elif not each.granted and status == RowStatus.GRANTED:
            lost.append(pk)
        else:
            outcome.same += 1
    QualificationGrant.objects.bulk_create(
        changed,
        update_conflicts=True,
        unique_fields=["qualification_type", "worker"],
        update_fields=["value", "status", "granted_at", "reason"],
    )
    QualificationGrant.objects.filter(qualification_type=kind, worker__in=lost).update(
        status=RowStatus.REVOKED, reason=""
    )
    outcome.granted += len(changed)
    outcome.revoked += len(lost)


# Tests of qualifications: a QuestionForm to answer within a time, scored by an AnswerKey if there is one.

MAX_DURATION_S = 31_536_000


@dataclass(frozen=True, slots=True)
class QualificationTest:
    """What a worker has to answer. XML as it came; without an answer key the requester decides."""

    questions: str
    answer_key: str
    duration_s: int

    def check(self) -> None:
        """Raises Refusal for what cannot be shown, scored or done in time."""
        form = parse_form(self.questions, parameter="Test")
        if self.answer_key:
            parse_key(self.answer_key, form)
        if not 1 <= self.duration_s <= MAX_DURATION_S:
            raise invalid_value(
                "TestDurationInSeconds", f"{self.duration_s} is not between 1 and {MAX_DURATION_S}."
            )

    def fields(self) -> dict[str, str | int]:
        """Values of the qualification type's fields."""
        return {"test": self.questions, "answer_key": self.answer_key, "test_duration_s": self.duration_s}


Status = QualificationType.Status
Granted = QualificationGrant.Status
State = QualificationRequest.State


def create_qualification_type(
    *,
    requester: Requester,
    name: str,
    description: str,
    keywords: str,
    status: str,
    auto_granted: bool,
    auto_granted_value: int,
    retry_delay_s: int | None,
    now: datetime,
    test: QualificationTest | None = None,
) -> QualificationType:
    """A new type; its name is unique among the requester's and cannot change."""
    _check_test(test, auto_granted=auto_granted)
    try:
        with transaction.atomic():
            return QualificationType.objects.create(
                requester=requester,
                qualification_type_id=ids.new_entity_id(),
                name=name,
                description=description,
                keywords=keywords,
                status=status,
                auto_granted=auto_granted,
                auto_granted_value=auto_granted_value,
                retry_delay_s=retry_delay_s,
                created_at=now,
                **(test.fields() if test else {}),
            )
    except IntegrityError as error:
        raise Refusal(
            "QualificationTypeAlreadyExists",
            "You have already created a QualificationType with this name.",
        ) from error


@transaction.atomic
def update_qualification_type(
    *,
    qualification_type: QualificationType,
    changes: dict[str, Any],
    test: QualificationTest | None = None,
    seen: ShownColumns | None = None,
) -> QualificationType:
    """Change what may change: description, status, automatic granting, retry delay; and the test as a whole.

    A test once there cannot be removed, only replaced, with or without an answer key. Workers who are taking
    it finish the one they began. With `seen`, ConflictError where the type is not as the form showed it.
    """
    row = QualificationType.objects.select_for_update(no_key=True).get(pk=qualification_type.pk)
    if row.disposing_at:
        raise disposing_error()
    _check_test(test or row.test, auto_granted=changes.get("auto_granted", row.auto_granted))
    if test:
        changes = {**changes, **test.fields()}
    if seen is not None and any(getattr(row, name) != value for name, value in changes.items()):
        seen.check(row)
    for name, value in changes.items():
        setattr(qualification_type, name, value)
    qualification_type.save(update_fields=list(changes))
    return qualification_type


def _check_test(test: QualificationTest | str | None, *, auto_granted: bool) -> None:
    if test and auto_granted:
        raise invalid_value("AutoGranted", "a qualification with a Test is not granted without it.")
    if isinstance(test, QualificationTest):
        test.check()


@transaction.atomic
def delete_qualification_type(*, qualification_type: QualificationType, now: datetime) -> None:
    """Delete a type, at once or, where HITs still ask for it, when they are gone.

    Until then it is Disposing: who holds it takes these HITs, and nothing else can be done with it. Requests
    that wait for a decision are rejected.
    """
    row = QualificationType.objects.select_for_update(no_key=True).get(pk=qualification_type.pk)
    if row.disposing_at or row.deleted_at:
        raise disposing_error()
    qualification_type.disposing_at = now
    qualification_type.status = Status.INACTIVE
    if not _is_asked_for(row):
        qualification_type.deleted_at = now
    qualification_type.save(update_fields=["disposing_at", "status", "deleted_at"])
    qualification_type.requests.filter(state__in=QualificationRequest.OPEN).update(
        state=State.REJECTED, decided_at=now, reason=gettext("This qualification is no longer given.")
    )


def disposing_error() -> Refusal:
    """Refusal of a change to a type that is Disposing or gone."""
    return Refusal(
        "InvalidQualificationTypeState", "This operation can be called with a status of: Active,Inactive"
    )


def _is_asked_for(row: QualificationType) -> bool:
    asking = asking_for(row.qualification_type_id, requester=row.requester)
    own = HIT.objects.filter(asking, disposed_at=None)
    others = hit_types_asking_for(row.qualification_type_id).exclude(requester=row.requester_id)
    return own.exists() or HIT.objects.filter(hit_type__in=others, disposed_at=None).exists()


def finish_disposals(now: datetime, *, requester: Requester | None = None) -> None:
    """Delete types that are Disposing and for which no HIT asks any more: one requester's, or all."""
    rows = QualificationType.objects.filter(disposing_at__isnull=False, deleted_at=None)
    if requester is not None:
        rows = rows.filter(requester=requester)
    for row in rows.select_related("requester"):
        if not _is_asked_for(row):
            QualificationType.objects.filter(pk=row.pk, deleted_at=None).update(deleted_at=now)


@transaction.atomic
def grant(
    *, qualification_type: QualificationType, worker: Worker, value: int, notify: bool
) -> QualificationGrant:
    """Give a worker the qualification with this value, or change the value."""
    check_active(qualification_type)
    note_grant(qualification_type, worker, value)
    return write_grant(qualification_type=qualification_type, worker=worker, value=value, notify=notify)


def check_active(qualification_type: QualificationType) -> None:
    """Raise Refusal for a type that is not given at present."""
    if qualification_type.status != Status.ACTIVE:
        raise Refusal(
            "InvalidQualificationTypeState", "This operation can be called with a status of: Active"
        )


def note_grant(qualification_type: QualificationType, worker: Worker, value: int) -> None:
    """Write down who granted it."""
    summary = f"{qualification_type.name}: {value}"
    note(qualification_type.requester_id, "qualification.granted", worker.worker_id, summary)


@transaction.atomic
def write_grant(
    *, qualification_type: QualificationType, worker: Worker, value: int, notify: bool
) -> QualificationGrant:
    """The same, whatever the status of the type: who asked while it was active is not to suffer."""
    now = clock.now()
    granted, _ = QualificationGrant.objects.update_or_create(
        qualification_type=qualification_type,
        worker=worker,
        defaults={"value": value, "status": Granted.GRANTED, "granted_at": now, "reason": ""},
    )
    if notify and not worker.closed_at:
        with translation.override(worker.language or settings.LANGUAGE_CODE):
            _write(
                qualification_type,
                worker,
                gettext("You now hold the qualification “%(name)s”"),
                gettext("%(requester)s gave you this qualification, value %(value)s.")
                % {"requester": qualification_type.requester.name, "value": value}
                + f"\n\n{qualification_type.description}",
            )
    return granted


@transaction.atomic
def revoke(*, qualification_type: QualificationType, worker: Worker, reason: str) -> None:
    """Take a qualification back; the worker reads the reason."""
    revoked = QualificationGrant.objects.filter(
        qualification_type=qualification_type, worker=worker, status=Granted.GRANTED
    ).update(status=Granted.REVOKED, reason=reason)
    if not revoked:
        raise grant_error(qualification_type, worker)
    note(qualification_type.requester_id, "qualification.revoked", worker.worker_id, qualification_type.name)
    if worker.closed_at:
        return
    with translation.override(worker.language or settings.LANGUAGE_CODE):
        subject = gettext("You no longer hold the qualification “%(name)s”")
        _write(qualification_type, worker, subject, reason or gettext("The requester gave no reason."))


def _write(kind: QualificationType, worker: Worker, subject: str, body: str) -> None:
    """A message in the worker's inbox; `%(name)s` in its subject is the qualification."""
    Message.objects.create(
        worker=worker,
        requester=kind.requester,
        subject=subject % {"name": kind.name[:150]},
        body=body,
        sent_at=clock.now(),
    )


def grant_error(qualification_type: QualificationType, worker: Worker) -> Refusal:
    """Why a worker's qualification cannot be read or taken back: never granted, or revoked."""
    if QualificationGrant.objects.filter(qualification_type=qualification_type, worker=worker).exists():
        return Refusal(
            "InvalidQualificationState",
            "This operation can be called with a status of: Granted",
        )
    return never_granted(qualification_type, worker.worker_id)


def never_granted(qualification_type: QualificationType, worker_id: str) -> Refusal:
    """Refusal for a qualification that nobody gave this worker."""
    return Refusal(
        "QualificationDoesNotExist",
        f"You requested a Qualification that does not exist: QualificationType "
        f"{qualification_type.qualification_type_id} for Worker {worker_id}.",
    )


# Workers who ask for a qualification: at once, by a test, or by the requester's decision.


@dataclass(frozen=True, slots=True)
class QualificationStatus:
    """What a qualification type is to a worker: what they hold, and what they asked last."""

    qualification_type: QualificationType
    grant: QualificationGrant | None
    latest: QualificationRequest | None

    @property
    def holds(self) -> bool:
        """Whether the worker has the qualification now."""
        return self.grant is not None and self.grant.status == Granted.GRANTED

    def state(self, now: datetime) -> str:
        """State of the latest request; a test whose time is over has expired, swept or not."""
        if self.latest is None:
            return ""
        if self.latest.state == State.STARTED and self.latest.deadline and self.latest.deadline <= now:
            return State.EXPIRED
        return self.latest.state

    def again_at(self) -> datetime | None:
        """When the worker may ask again; None where they may never."""
        if self.latest is None or self.qualification_type.retry_delay_s is None:
            return None
        return self.latest.started_at + timedelta(seconds=self.qualification_type.retry_delay_s)

    def refusal(self, now: datetime) -> Refusal | None:
        """Why the worker cannot ask now, if so. Somebody in the middle of a test can: they go on with it."""
        kind = self.qualification_type
        state = self.state(now)
        if state == State.STARTED:
            return None
        if kind.deleted_at or kind.status != QualificationType.Status.ACTIVE:
            return Refusal(
                "InvalidQualificationTypeState",
                gettext("The requester does not give this qualification at present."),
            )
        if state == State.PENDING:
            return Refusal(
                "InvalidQualificationRequestState",
                gettext("You have asked; the requester has not decided yet."),
            )
        if self.grant and self.grant.status == Granted.REVOKED:
            return Refusal(
                "PermissionDeniedException",
                gettext("The requester took this qualification back; only they can give it to you again."),
            )
        if self.holds and not kind.has_test:
            return Refusal("QualificationAlreadyExists", gettext("You hold this qualification already."))
        return self._too_early(now) if self.latest else None

    def _too_early(self, now: datetime) -> Refusal | None:
        again_at = self.again_at()
        if again_at is None:
            return Refusal(
                "QualificationTypeDoesNotAllowRetake",
                gettext("This qualification can be asked for only once."),
            )
        if now < again_at:
            return Refusal(
                "QualificationTypeRetryDelayNotElapsed",
                gettext("You can ask for this qualification again from %(again_at)s UTC.")
                % {"again_at": f"{again_at:%Y-%m-%d %H:%M}"},
            )
        return None


def standing(*, worker: Worker, qualification_type: QualificationType) -> QualificationStatus:
    """What this type is to the worker."""
    return QualificationStatus(
        qualification_type=qualification_type,
        grant=QualificationGrant.objects.filter(qualification_type=qualification_type, worker=worker).first(),
        latest=QualificationRequest.objects.filter(qualification_type=qualification_type, worker=worker)
        .order_by("-started_at", "-pk")
        .first(),
    )


@transaction.atomic
def ask(*, worker: Worker, qualification_type: QualificationType) -> QualificationRequest:
    """Ask for a qualification: the same as beginning its test, where there is one.

    Granted at once where it is given to everybody, `started` where there is a test, else `pending`. A worker
    in the middle of a test gets the request they have. Raises Refusal where they may not ask (again).
    """
    worker = lock_worker(worker.pk)
    if worker.closed_at:
        raise Refusal("AccountClosed", CLOSED)
    qualification_type.refresh_from_db()
    now = clock.now()
    expire_tests(now, worker=worker)
    status = standing(worker=worker, qualification_type=qualification_type)
    if refusal := status.refusal(now):
        raise refusal
    if status.latest and status.state(now) == State.STARTED:
        return status.latest
    request = QualificationRequest(
        qualification_type=qualification_type,
        worker=worker,
        request_id=ids.new_entity_id(),
        started_at=now,
    )
    if qualification_type.has_test:
        request.state = State.STARTED
        request.test = qualification_type.test
        request.answer_key = qualification_type.answer_key
        request.deadline = now + timedelta(seconds=qualification_type.test_duration_s or 0)
    elif qualification_type.auto_granted:
        request.state, request.submitted_at, request.decided_at = State.GRANTED, now, now
        write_grant(
            qualification_type=qualification_type,
            worker=worker,
            value=qualification_type.auto_granted_value,
            notify=False,
        )
    else:
        request.state, request.submitted_at = State.PENDING, now
    request.save(force_insert=True)
    return request


@transaction.atomic
def hand_in(*, request: QualificationRequest, answers: FormAnswers) -> QualificationRequest:
    """Take the answers of a test: scored at once where there is an answer key, else left to the requester.

    A new score replaces the value that the worker had. Raises Refusal for answers that the test does not
    allow, after the time is over, and for a test that was handed in before.
    """
    request = (
        QualificationRequest.objects.select_for_update(of=("self",), no_key=True)
        .select_related("qualification_type", "worker")
        .get(pk=request.pk)
    )
    now = clock.now()
    if request.state == State.STARTED and request.deadline and request.deadline <= now:
        raise Refusal("InvalidQualificationRequestState", gettext("The time for this test is over."))
    if request.state != State.STARTED:
        raise Refusal(
            "InvalidQualificationRequestState",
            gettext("This test was handed in already, or its time is over."),
        )
    if answers.problems:
        identifier, problem = next(iter(answers.problems.items()))
        raise Refusal("InvalidParameterValue", f"{identifier}: {problem}")
    form = parse_form(request.test, parameter="Test")
    request.answer = answers_xml(form, answers)
    request.submitted_at = now
    request.state = State.PENDING
    if request.answer_key:
        request.score = score(parse_key(request.answer_key, form), _selections(answers))
        request.state, request.decided_at = State.GRANTED, now
        write_grant(
            qualification_type=request.qualification_type,
            worker=request.worker,
            value=request.score,
            notify=False,
        )
    request.save(update_fields=["answer", "submitted_at", "state", "score", "decided_at"])
    return request


def _selections(answers: FormAnswers) -> dict[str, set[str]]:
    """What was selected by question; a text of one's own is a selection that no key knows."""
    by_question = {identifier: set(selections) for identifier, selections in answers.selections.items()}
    for identifier, text in answers.others.items():
        if text.strip():
            by_question.setdefault(identifier, set()).add(OTHER)
    return by_question


@transaction.atomic
def accept(*, request: QualificationRequest, value: int) -> QualificationGrant:
    """The requester grants a pending request; the worker gets a message."""
    _decide(request, State.GRANTED, reason="")
    note_grant(request.qualification_type, request.worker, value)
    return write_grant(
        qualification_type=request.qualification_type, worker=request.worker, value=value, notify=True
    )


@transaction.atomic
def reject(*, request: QualificationRequest, reason: str) -> None:
    """The requester rejects a pending request; the worker reads the reason."""
    _decide(request, State.REJECTED, reason=reason)
    if request.worker.closed_at:
        return
    with translation.override(request.worker.language or settings.LANGUAGE_CODE):
        subject = gettext("You were not given the qualification “%(name)s”")
        body = reason or gettext("The requester gave no reason.")
        _write(request.qualification_type, request.worker, subject, body)


def _decide(request: QualificationRequest, state: State, *, reason: str) -> None:
    decided = QualificationRequest.objects.filter(pk=request.pk, state=State.PENDING).update(
        state=state, decided_at=clock.now(), reason=reason
    )
    if not decided:
        raise Refusal(
            "InvalidQualificationRequestState", "This operation can be called with a status of: Submitted"
        )
    request.refresh_from_db(fields=["state", "decided_at", "reason"])


def expire_tests(now: datetime, *, worker: Worker | None = None) -> None:
    """Tests whose time is over were not handed in: of one worker, or of all."""
    overdue = QualificationRequest.objects.filter(state=State.STARTED, deadline__lte=now)
    if worker is not None:
        overdue = overdue.filter(worker=worker)
    overdue.update(state=State.EXPIRED)
