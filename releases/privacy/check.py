"""The privacy check: what the rules find in a project's texts is kept until a person decided about it."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Count, Exists, OuterRef
from django.utils import timezone

from annotation.models import Answer
from core.projects.models import Project
from core.projects.services import record
from crowd.models import Assignment, Stage, Worker
from judgments.models import Judgment
from releases.models import PrivacyFinding
from releases.privacy.excerpts import excerpt
from releases.privacy.rules import GROUP, LEAST_PEOPLE, Finder
from releases.privacy.texts import AT_ONCE, batches, count

State = PrivacyFinding.State
Progress = Callable[[int, int, str], None]
#: What makes a finding the one that was found before.
_Key = tuple[str, str, str, int, int]
_NOT_DECIDED: dict[str, Any] = {"reason": "", "decided_by": None, "decided_at": None}
#: Findings that one statement asks for or changes.
_FEW = 500


@dataclass(frozen=True, slots=True)
class PrivacyCounts:
    """How many texts were read, and the project's findings by rule and state after it."""

    texts: int
    counts: dict[str, dict[str, int]] = field(default_factory=dict)

    def of(self, state: str) -> int:
        """Findings in a state, of all rules."""
        return sum(states.get(state, 0) for states in self.counts.values())

    @property
    def open(self) -> int:
        """Findings that wait for a person."""
        return self.of(State.OPEN)


def check(*, project: Project, actor: Any = None, progress: Progress | None = None) -> PrivacyCounts:
    """Read every text that a release would hold. What is no longer found is gone; decisions stay.

    A finding is open again where its text has changed, or where it comes back. Memory does not grow with the
    texts. What is found is stored as it is found, so that a check that was killed has done no harm.
    """
    now = timezone.now()
    finder = Finder(_ids(project))
    total, done = count(project), 0
    for batch in batches(project):
        found = [
            PrivacyFinding(
                project=project,
                rule=span.rule,
                subject=subject,
                field=name,
                start=span.start,
                end=span.end,
                excerpt=excerpt(text, span.start, span.end),
                found_at=now,
            )
            for subject, name, text in batch
            for span in finder.find(text)
        ]
        for start in range(0, len(found), _FEW):
            _keep(project, found[start : start + _FEW], now)
        done += len(batch)
        if progress:
            progress(min(done, total), total, "Looking at texts")
    _keep(project, list(_small_groups(project, now)), now)
    vanished = PrivacyFinding.objects.filter(project=project, found_at__lt=now).exclude(state=State.GONE)
    with transaction.atomic():
        vanished.update(state=State.GONE)
        checked = PrivacyCounts(done, counted(project))
        record(
            project=project,
            action="privacy.checked",
            subject=project.slug,
            actor=actor,
            details={"texts": done, "open": checked.open},
        )
    return checked


def counted(project: Project) -> dict[str, dict[str, int]]:
    """Findings of a project by rule and state."""
    rows = PrivacyFinding.objects.filter(project=project).order_by("rule", "state")
    counts: dict[str, dict[str, int]] = {}
    for rule, state, number in rows.values_list("rule", "state").annotate(Count("pk")):
        counts.setdefault(rule, {})[state] = number
    return counts


def _keep(project: Project, found: list[PrivacyFinding], now: datetime) -> None:
    """Store new findings, and say of known ones that they are still there."""
    if not found:
        return
    subjects = {each.subject for each in found}
    with transaction.atomic():
        known = {
            _key(each): each for each in PrivacyFinding.objects.filter(project=project, subject__in=subjects)
        }
        same, new = [], []
        for each in found:
            before = known.get(_key(each))
            if before is None:
                new.append(each)
            elif before.state == State.GONE or before.excerpt != each.excerpt:
                PrivacyFinding.objects.filter(pk=before.pk).update(
                    state=State.OPEN, excerpt=each.excerpt, found_at=now, **_NOT_DECIDED
                )
            else:
                same.append(before.pk)
        PrivacyFinding.objects.bulk_create(new, ignore_conflicts=True)
        PrivacyFinding.objects.filter(pk__in=same).update(found_at=now)


def _key(finding: PrivacyFinding) -> _Key:
    return finding.rule, finding.subject, finding.field, finding.start, finding.end


def _ids(project: Project) -> set[str]:
    """Ids of everybody who worked in the project."""
    workers = Worker.objects.filter(
        pk__in=Assignment.objects.filter(stage__project=project).order_by().values("worker").distinct()
    )
    return set(workers.values_list("external_id", flat=True).iterator(AT_ONCE))


def _small_groups(project: Project, now: datetime) -> Iterator[PrivacyFinding]:
    """Stages of which a release has answers or ratings of so few real people that they are easily told."""
    for stage, title, people in _people(project):
        if people < LEAST_PEOPLE:
            who = "one person" if people == 1 else f"{people} people"
            yield PrivacyFinding(
                project=project,
                rule=GROUP,
                subject=f"stage:{stage}",
                excerpt=f"All responses of “{title[:150]}” that are from real people are from {who}."
                " Who knows them can tell who is who.",
                found_at=now,
            )


def _people(project: Project) -> Iterable[tuple[int, str, int]]:
    """Stages with answers or ratings of real people, and how many gave them."""
    released = Stage.objects.filter(
        Exists(Answer.objects.filter(stage=OuterRef("pk")))
        | Exists(Judgment.objects.filter(stage=OuterRef("pk"))),
        project=project,
    )
    real = Assignment.objects.filter(
        stage__in=released, state__in=Assignment.GOOD, worker__simulated=False
    ).order_by("stage")
    return real.values_list("stage", "stage__title").annotate(Count("worker", distinct=True))
