"""What the people of a stage or project agreed to, and when: by study links and at panels."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet

from core.projects.models import Project
from crowd.models import Assignment, PanelSubmission
from people.models import ConsentText, Visit


@dataclass(frozen=True, slots=True)
class Consent:
    """The text that a person agreed to before a piece of work, and when."""

    language: str
    version: int
    protocol_number: str
    at: datetime

    @property
    def words(self) -> str:
        """Language and version, such as `en 2`."""
        return f"{self.language} {self.version}"


def say_consents(rows: Iterable[Assignment]) -> None:
    """Give each row, read with its worker, `consent`: a `Consent` or None. Two questions for all rows."""
    found = list(rows)
    by_submission = {
        (submission.study.stage_id, submission.external_id): _consent(submission)
        for submission in PanelSubmission.objects.filter(
            study__stage__in={row.stage_id for row in found},
            external_id__in=[row.external_id for row in found],
            consented_at__isnull=False,
        ).select_related("study", "consent_text")
    }
    by_guest: dict[tuple[int, str], list[Consent]] = {}
    visits = Visit.objects.filter(
        guest__worker_id__in={row.worker.external_id for row in found},
        consented_at__isnull=False,
        consent_text__isnull=False,
    )
    for visit in visits.select_related("guest", "consent_text").order_by("consented_at"):
        assert visit.guest is not None
        key = (visit.guest.project_id or 0, visit.guest.worker_id)
        by_guest.setdefault(key, []).append(_consent(visit))
    projects = dict(
        Assignment.objects.filter(pk__in=[row.pk for row in found]).values_list("pk", "stage__project")
    )
    for row in found:
        mine = by_guest.get((projects.get(row.pk, 0), row.worker.external_id), [])
        before = [each for each in mine if each.at <= row.arrived_at]
        row.consent = (  # type: ignore[attr-defined]
            by_submission.get((row.stage_id, row.external_id))
            or (before[-1] if before else mine[0] if mine else None)
        )


def _consent(row: Visit | PanelSubmission) -> Consent:
    text = row.consent_text
    assert text is not None and row.consented_at is not None
    return Consent(text.language, text.version, text.protocol_number, row.consented_at)


def has_consents(project: Project, using: str) -> bool:
    """Whether anybody in the project agreed to a text, by a study link or at a panel."""
    visits = _visits(project, using)
    return visits.exists() or _submissions(project, using).exists()


def _visits(project: Project, using: str) -> "QuerySet[Visit]":
    return Visit.objects.using(using).filter(
        guest__project=project, consented_at__isnull=False, consent_text__isnull=False
    )


def _submissions(project: Project, using: str) -> "QuerySet[PanelSubmission]":
    return PanelSubmission.objects.using(using).filter(
        study__stage__project=project, consented_at__isnull=False, consent_text__isnull=False
    )


class AgreedTexts:
    """Everything that people of a project agreed to, read with two questions."""

    def __init__(self, project: Project, using: str) -> None:
        text = ("consent_text__language", "consent_text__version")
        submissions = _submissions(project, using).values_list("study__stage", "external_id", *text)
        self._by_submission = {
            (stage, name): f"{language}-{version}"
            for stage, name, language, version in submissions.iterator()
        }
        self._by_guest: dict[str, list[tuple[datetime, str]]] = {}
        visits = _visits(project, using).order_by("consented_at", "pk")
        for name, at, language, version in visits.values_list(
            "guest__worker_id", "consented_at", *text
        ).iterator():
            self._by_guest.setdefault(name, []).append((at, f"{language}-{version}"))

    def version(self, *, stage: int, submission: str, worker: str, at: datetime) -> str | None:
        """Language and version, such as `en-2`, agreed to when a piece of work began; None: no text was."""
        if found := self._by_submission.get((stage, submission)):
            return found
        mine = self._by_guest.get(worker, [])
        before = [version for agreed_at, version in mine if agreed_at <= at]
        return before[-1] if before else mine[0][1] if mine else None


@dataclass(frozen=True, slots=True)
class ConsentCount:
    """How many people who answered had agreed to a version of the text."""

    language: str
    version: int
    protocol_number: str
    people: int


def count_consents(project: Project) -> list[ConsentCount]:
    """People with answers in the project by the version that they agreed to last, and none of their names."""
    answered = Assignment.objects.filter(
        stage__project=project, stored_at__isnull=False, state__in=Assignment.GOOD
    )
    text_of: dict[tuple[str, str], int] = {}
    visits = Visit.objects.filter(
        guest__project=project,
        guest__worker_id__in=answered.values("worker__external_id"),
        consented_at__isnull=False,
        consent_text__isnull=False,
    )
    for name, text in visits.order_by("consented_at").values_list("guest__worker_id", "consent_text"):
        text_of["link", name] = text
    submissions = PanelSubmission.objects.filter(
        study__stage__project=project,
        external_id__in=answered.values("external_id"),
        consented_at__isnull=False,
        consent_text__isnull=False,
    )
    for name, text in submissions.order_by("consented_at").values_list("participant", "consent_text"):
        text_of["panel", name] = text
    counts = Counter(text_of.values())
    texts = ConsentText.objects.filter(pk__in=counts).order_by("language", "version")
    return [
        ConsentCount(text.language, text.version, text.protocol_number, counts[text.pk]) for text in texts
    ]
