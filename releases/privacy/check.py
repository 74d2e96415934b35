"""The privacy check: what the rules find in a project's texts, and what a person decides about it."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from django.db import DEFAULT_DB_ALIAS, transaction
from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from annotation.models import Answer
from annotation.selectors.answers import GIVEN
from core.projects.models import Project
from core.projects.services import record
from crowd.models import Assignment, Stage, Worker
from judgments.models import Candidate, Judgment
from judgments.selectors.candidates import OUT, imported
from releases.errors import ReleaseError
from releases.groups import OPTIONAL
from releases.models import PrivacyFinding
from releases.privacy.rules import GROUP, LEAST_PEOPLE, Finder
from releases.rows.acceptance import released

# A finding in a few words around it. Pure.

#: Characters before and after a finding that are shown, and of the finding itself at most.
_AROUND, _SPAN = 60, 160
_MORE = "…"


class Parts(NamedTuple):
    """An excerpt cut at its finding."""

    before: str
    found: str
    after: str


def excerpt(text: str, start: int, end: int) -> str:
    """The span with what stands around it, in one line."""
    low, high = max(0, start - _AROUND), min(len(text), min(end, start + _SPAN) + _AROUND)
    cut = "".join(each if each.isprintable() else " " for each in text[low:high])
    return f"{_MORE if low else ''}{cut}{_MORE if high < len(text) else ''}"


def parts(excerpt: str, start: int, end: int) -> Parts:
    """An excerpt of a span, cut where the span is; a finding about no text is all before."""
    if end <= start:
        return Parts(excerpt, "", "")
    first = min(start, _AROUND) + (len(_MORE) if start > _AROUND else 0)
    last = first + min(end - start, _SPAN)
    return Parts(excerpt[:first], excerpt[first:last], excerpt[last:])


# What a person decides about findings of the privacy check: they may stay, or they are blacked out.
#
# A decision changes rows only from the states that it is for, in one statement, so that two people who decide
# at once do not undo each other unseen. It can be changed until a release is built; texts never change.

State = PrivacyFinding.State
_LONGEST = 300
#: What stands as the reason of blacking out where nobody gave one.
BLACKED_OUT = "Nobody needs to know it."
HAS_TEXT = Q(end__gt=0)


def accept_findings(*, findings: QuerySet[PrivacyFinding], reason: str, actor: Any) -> int:
    """Let findings stay as they are, for a reason that is kept; how many there were."""
    reason = reason.strip()
    if not reason:
        raise ReleaseError("Say why these may stay: the reason is kept with them.")
    undecided = findings.filter(state__in=[State.OPEN, State.REDACTED])
    return _decide(undecided, State.ACCEPTED, "privacy.accepted", reason, actor)


def redact_findings(*, findings: QuerySet[PrivacyFinding], reason: str = "", actor: Any) -> int:
    """Black findings out in every release to come; how many there were. A small group has nothing to hide."""
    undecided = findings.filter(HAS_TEXT, state__in=[State.OPEN, State.ACCEPTED])
    return _decide(undecided, State.REDACTED, "privacy.redacted", reason.strip() or BLACKED_OUT, actor)


def reopen_findings(*, findings: QuerySet[PrivacyFinding], actor: Any) -> int:
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


#: Texts of one batch.
AT_ONCE = 5_000


class Text(NamedTuple):
    """One text with its name."""

    subject: str
    field: str
    text: str


def text_batches(project: Project) -> Iterator[list[Text]]:
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


def count_texts(project: Project) -> int:
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


def check_project(*, project: Project, actor: Any = None, progress: Progress | None = None) -> PrivacyCounts:
    """Read every text that a release would hold. What is no longer found is gone; decisions stay.

    A finding is open again where its text has changed, or where it comes back. Memory does not grow with the
    texts. What is found is stored as it is found, so that a check that was killed has done no harm.
    """
    now = timezone.now()
    finder = Finder(_ids(project))
    total, done = count_texts(project), 0
    for batch in text_batches(project):
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
        checked = PrivacyCounts(done, count_findings(project))
        record(
            project=project,
            action="privacy.checked",
            subject=project.slug,
            actor=actor,
            details={"texts": done, "open": checked.open},
        )
    return checked


def count_findings(project: Project) -> dict[str, dict[str, int]]:
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
