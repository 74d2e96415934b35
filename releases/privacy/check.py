"""The privacy check: what the rules find in a project's texts is kept until a person decided about it."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from django.db import DEFAULT_DB_ALIAS, transaction
from django.db.models import Count, Exists, OuterRef
from django.utils import timezone

from annotation.models import Answer
from annotation.selectors.answers import GIVEN
from core.projects.models import Project
from core.projects.services import record
from crowd.models import Assignment, Stage, Worker
from judgments.models import Candidate, Judgment
from judgments.selectors.candidates import OUT
from judgments.selectors.references import imported
from releases.groups import OPTIONAL
from releases.models import PrivacyFinding
from releases.privacy.excerpts import excerpt
from releases.privacy.rules import GROUP, LEAST_PEOPLE, Finder
from releases.rows.acceptance import released

#: Texts of one batch.
AT_ONCE = 5_000


class Text(NamedTuple):
    """One text with its name."""

    subject: str
    field: str
    text: str


def batches(project: Project) -> Iterator[list[Text]]:
    """All texts, some thousands at a time: queries, then answers of people, then those of systems."""
    for rows in (_queries(project), _answers(project), _candidates(project)):
        batch: list[Text] = []
        for each in rows:
            batch.append(each)
            if len(batch) >= AT_ONCE:
                yield batch
                batch = []
        if batch:
            yield batch


def count(project: Project) -> int:
    """About how many there are, for progress: a query counts once."""
    return (
        released(project, DEFAULT_DB_ALIAS, OPTIONAL).count()
        + Answer.objects.filter(GIVEN, query__project=project).count()
        + Candidate.objects.filter(system__project=project).count()
    )


def _queries(project: Project) -> Iterator[Text]:
    rows = (
        released(project, DEFAULT_DB_ALIAS, OPTIONAL)
        .order_by("pk")
        .values_list("pk", "text", "context", "references")
    )
    for pk, text, context, references in rows.iterator(AT_ONCE):
        subject = f"query:{pk}"
        yield Text(subject, "text", text)
        for place, turn in enumerate(_listed(context)):
            if isinstance(turn, dict):
                for name in ("text", "answer"):
                    if isinstance(turn.get(name), str):
                        yield Text(subject, f"context.{place}.{name}", turn[name])
        for place, each in enumerate(imported(references)):
            yield Text(subject, f"references.{place}", each)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _answers(project: Project) -> Iterator[Text]:
    rows = Answer.objects.filter(GIVEN, query__project=project).exclude(query__status__in=OUT)
    for pk, text in rows.order_by("pk").values_list("pk", "text").iterator(AT_ONCE):
        yield Text(f"answer:{pk}", "text", text)


def _candidates(project: Project) -> Iterator[Text]:
    rows = Candidate.objects.filter(system__project=project).exclude(query__status__in=OUT)
    for pk, text in rows.order_by("pk").values_list("pk", "text").iterator(AT_ONCE):
        yield Text(f"candidate:{pk}", "text", text)


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
