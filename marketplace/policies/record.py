"""What a review policy does, done by the ordinary services, and what it leaves in the report."""

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction

from marketplace.errors import Refusal
from marketplace.models import HIT, Holding, PolicyAction, PolicyResult
from marketplace.policies.parameters import Extension
from marketplace.services.hit_extension import add_places_locked, lengthen_locked
from marketplace.services.review import approve_locked, reject_locked

State = Holding.State
#: What an action may have changed on the HIT before it was refused.
_CHANGED = (
    *("max_assignments", "open_places", "held_places", "reviewing", "expires_at", "expiry_watched"),
    *("submitted", "approved", "rejected"),
)


@dataclass(frozen=True, slots=True)
class Subject:
    """What a figure or an action is about: an assignment, or the HIT itself."""

    id: str
    type: str
    holding: Holding | None = None


def of_assignment(holding: Holding) -> Subject:
    """An assignment as a subject."""
    return Subject(holding.assignment_id, "Assignment", holding)


def of_hit(hit: HIT) -> Subject:
    """A HIT as a subject."""
    return Subject(hit.hit_id, "HIT")


class Scribe:
    """Acts for one run of a policy on a locked HIT and writes down what came of it.

    An action that a service refuses is undone and kept as Failed with its code; the others stand.
    """

    def __init__(self, hit: HIT, level: str, now: datetime) -> None:
        self._hit, self._level, self._now = hit, level, now
        self._actions: list[PolicyAction] = []
        self._results: list[PolicyResult] = []

    def did(self, name: str, subject: Subject, result: str, *, error_code: str = "") -> uuid.UUID:
        """Note an action; its id."""
        action = PolicyAction(
            hit=self._hit,
            level=self._level,
            action_id=uuid.uuid4(),
            name=name,
            target_id=subject.id,
            target_type=subject.type,
            status="Failed" if error_code else "Succeeded",
            at=self._now,
            result=result,
            error_code=error_code,
        )
        self._actions.append(action)
        return action.action_id

    def found(self, action: uuid.UUID, subject: Subject, key: str, value: str, question: str = "") -> None:
        """Note a figure that the action came to."""
        self._results.append(
            PolicyResult(
                hit=self._hit,
                holding=subject.holding,
                level=self._level,
                action_id=action,
                subject_id=subject.id,
                subject_type=subject.type,
                question_id=question,
                key=key,
                value=value,
                at=self._now,
            )
        )

    def approve(self, holding: Holding, reason: str) -> None:
        """Approve an assignment, and pay it from what is on hold."""

        def act() -> str:
            if holding.state == State.APPROVED:
                return "Already approved."
            approve_locked(holding=holding, hit=self._hit, at=self._now, feedback=reason)
            return "Approved."

        self._attempt("approve", of_assignment(holding), act)

    def reject(self, holding: Holding, reason: str) -> None:
        """Reject an assignment, and release what is on hold for it."""

        def act() -> str:
            if holding.state == State.REJECTED:
                return "Already rejected."
            reject_locked(holding=holding, hit=self._hit, feedback=reason, at=self._now)
            return "Rejected."

        self._attempt("reject", of_assignment(holding), act)

    def extend(self, extension: Extension) -> None:
        """One place more, unless the HIT has as many as the policy allows."""

        def act() -> str:
            if self._hit.max_assignments >= extension.most:
                return f"The HIT has {self._hit.max_assignments} assignments; nothing was added."
            lengthen_locked(self._hit, self._now + timedelta(seconds=extension.seconds), self._now)
            add_places_locked(self._hit, 1, self._now)
            return f"Extended to {self._hit.max_assignments} assignments."

        self._attempt("extend", of_hit(self._hit), act)

    def save(self) -> None:
        """Write everything noted, in the order in which it came about."""
        PolicyAction.objects.bulk_create(self._actions)
        PolicyResult.objects.bulk_create(self._results)

    def _attempt(self, name: str, subject: Subject, act: Callable[[], str]) -> None:
        try:
            with transaction.atomic():
                result = act()
        except Refusal as refusal:
            self._hit.refresh_from_db(fields=_CHANGED)
            self.did(name, subject, refusal.message, error_code=f"AWS.MechanicalTurk.{refusal.code}")
        else:
            self.did(name, subject, result)
