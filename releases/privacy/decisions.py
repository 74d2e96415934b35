"""What a person decides about findings of the privacy check: they may stay, or they are blacked out.

A decision changes rows only from the states that it is for, in one statement, so that two people who decide
at once do not undo each other unseen. It can be changed until a release is built; texts never change.
"""

from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from core.projects.models import Project
from core.projects.services import record
from releases.errors import ReleaseError
from releases.models import PrivacyFinding

State = PrivacyFinding.State
_LONGEST = 300
#: What stands as the reason of blacking out where nobody gave one.
BLACKED_OUT = "Nobody needs to know it."
HAS_TEXT = Q(end__gt=0)


def accept(*, findings: QuerySet[PrivacyFinding], reason: str, actor: Any) -> int:
    """Let findings stay as they are, for a reason that is kept; how many there were."""
    reason = reason.strip()
    if not reason:
        raise ReleaseError("Say why these may stay: the reason is kept with them.")
    undecided = findings.filter(state__in=[State.OPEN, State.REDACTED])
    return _decide(undecided, State.ACCEPTED, "privacy.accepted", reason, actor)


def redact(*, findings: QuerySet[PrivacyFinding], reason: str = "", actor: Any) -> int:
    """Black findings out in every release to come; how many there were. A small group has nothing to hide."""
    undecided = findings.filter(HAS_TEXT, state__in=[State.OPEN, State.ACCEPTED])
    return _decide(undecided, State.REDACTED, "privacy.redacted", reason.strip() or BLACKED_OUT, actor)


def reopen(*, findings: QuerySet[PrivacyFinding], actor: Any) -> int:
    """Take decisions back; how many there were."""
    decided = findings.filter(state__in=[State.ACCEPTED, State.REDACTED])
    return _decide(decided, State.OPEN, "privacy.reopened", "", actor)


@transaction.atomic
def _decide(findings: QuerySet[PrivacyFinding], state: str, action: str, reason: str, actor: Any) -> int:
    if len(reason) > _LONGEST:
        raise ReleaseError(f"A reason has at most {_LONGEST} characters; this one has {len(reason)}.")
    open_again = state == State.OPEN
    counts: dict[tuple[int, str], int] = {}
    for project, rule in findings.order_by().values_list("project", "rule").distinct():
        counts[project, rule] = findings.filter(project=project, rule=rule).update(
            state=state,
            reason=reason,
            decided_by=None if open_again else actor,
            decided_at=None if open_again else timezone.now(),
        )
    for row in Project.objects.filter(pk__in={pk for pk, _ in counts}):
        rules = {rule: number for (pk, rule), number in counts.items() if pk == row.pk and number}
        if rules:
            details = {"rules": rules} | ({"why": reason} if reason else {})
            record(project=row, action=action, subject=row.slug, actor=actor, details=details)
    return sum(counts.values())
