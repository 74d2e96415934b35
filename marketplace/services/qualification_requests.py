"""Workers who ask for a qualification: at once, by a test, or by the requester's decision."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction

from marketplace import clock, ids
from marketplace.eligibility import CLOSED
from marketplace.errors import Refusal
from marketplace.models import Message, QualificationGrant, QualificationRequest, QualificationType, Worker
from marketplace.questionform.answerkey import parse_key, score
from marketplace.questionform.fields import OTHER, FormAnswers, answers_xml
from marketplace.questionform.parsing import parse_form
from marketplace.services.holds import lock_worker
from marketplace.services.qualifications import note_grant, write_grant

State = QualificationRequest.State
Granted = QualificationGrant.Status


@dataclass(frozen=True, slots=True)
class QualificationStatus:
    """Where a worker stands with a qualification type: what they hold, and what they asked last."""

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
                "InvalidQualificationTypeState", "The requester does not give this qualification at present."
            )
        if state == State.PENDING:
            return Refusal(
                "InvalidQualificationRequestState", "You have asked; the requester has not decided yet."
            )
        if self.grant and self.grant.status == Granted.REVOKED:
            return Refusal(
                "PermissionDeniedException",
                "The requester took this qualification back; only they can give it to you again.",
            )
        if self.holds and not kind.has_test:
            return Refusal("QualificationAlreadyExists", "You hold this qualification already.")
        return self._too_early(now) if self.latest else None

    def _too_early(self, now: datetime) -> Refusal | None:
        again_at = self.again_at()
        if again_at is None:
            return Refusal(
                "QualificationTypeDoesNotAllowRetake", "This qualification can be asked for only once."
            )
        if now < again_at:
            return Refusal(
                "QualificationTypeRetryDelayNotElapsed",
                f"You can ask for this qualification again from {again_at:%Y-%m-%d %H:%M} UTC.",
            )
        return None


def standing(*, worker: Worker, qualification_type: QualificationType) -> QualificationStatus:
    """Where the worker stands with this type."""
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
    found = standing(worker=worker, qualification_type=qualification_type)
    if refusal := found.refusal(now):
        raise refusal
    if found.latest and found.state(now) == State.STARTED:
        return found.latest
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
def hand_in(*, request: QualificationRequest, given: FormAnswers) -> QualificationRequest:
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
        raise Refusal("InvalidQualificationRequestState", "The time for this test is over.")
    if request.state != State.STARTED:
        raise Refusal(
            "InvalidQualificationRequestState", "This test was handed in already, or its time is over."
        )
    if given.problems:
        identifier, problem = next(iter(given.problems.items()))
        raise Refusal("InvalidParameterValue", f"{identifier}: {problem}")
    form = parse_form(request.test, parameter="Test")
    request.answer = answers_xml(form, given)
    request.submitted_at = now
    request.state = State.PENDING
    if request.answer_key:
        request.score = score(parse_key(request.answer_key, form), _selections(given))
        request.state, request.decided_at = State.GRANTED, now
        write_grant(
            qualification_type=request.qualification_type,
            worker=request.worker,
            value=request.score,
            notify=False,
        )
    request.save(update_fields=["answer", "submitted_at", "state", "score", "decided_at"])
    return request


def _selections(given: FormAnswers) -> dict[str, set[str]]:
    """What was selected by question; a text of one's own is a selection that no key knows."""
    chosen = {identifier: set(selections) for identifier, selections in given.chosen.items()}
    for identifier, text in given.others.items():
        if text.strip():
            chosen.setdefault(identifier, set()).add(OTHER)
    return chosen


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
    kind = request.qualification_type
    Message.objects.create(
        worker=request.worker,
        requester=kind.requester,
        subject=f"You were not given the qualification “{kind.name[:150]}”",
        body=reason or "The requester gave no reason.",
        sent_at=clock.now(),
    )


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
