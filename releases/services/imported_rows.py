"""Imported human scores as rows of the database: project, queries, systems, candidates, scores."""

from typing import Any

from django.db import transaction
from django.utils import timezone

from annotation.models import CandidatePassage, CuratedPassage, CuratedSet, Query, QuerySource
from annotation.services.importing import Progress
from core.files.text_source import encoding_of
from core.projects.models import Project
from core.projects.services import ProjectError, create_project, record
from judgments.models import Candidate, CandidateSource, ImportedScore, System
from releases.importing.options import Options
from releases.importing.spool import Spool, SpooledAnswer, SpooledQuery
from releases.importing.tables import ScoreTable

FORMAT = "scores"
_REASON = "imported with its human scores"


class Store:
    """Writes the project and everything in it, in one transaction; `report` says what."""

    def __init__(  # noqa: PLR0917  # made in one place
        self,
        options: Options,
        table: ScoreTable,
        spool: Spool,
        digest: str,
        owner: Any,
        actor: Any,
        progress: Progress,
    ) -> None:
        self.options, self.table, self.spool, self.digest = options, table, spool, digest
        self.owner, self.actor, self.progress = owner, actor, progress
        self.now = timezone.now()
        self.report = self._report()
        self.done = 0

    @transaction.atomic
    def run(self) -> Project:
        """Store everything; ProjectError where the project's name is taken."""
        options, name, report = self.options, self.table.source.name, self.report
        try:
            project = create_project(
                slug=options.slug,
                title=(options.title or f"Human scores of {name}")[:200],
                owner=self.owner,
                language=options.language,
                licence=options.licence,
                read_only=True,
                actor=self.actor,
            )
        except ProjectError as error:
            raise ProjectError(
                f"There is already a project {options.slug!r}. Name another one: --project NAME."
            ) from error
        kept: dict[str, Any] = {
            "project": project,
            "name": name,
            "format": FORMAT,
            "sha256": self.digest,
            "options": options.reading(),
            "report": report,
            "created_by": self.actor,
            "created_at": self.now,
        }
        queries = QuerySource.objects.create(**kept, state=QuerySource.State.READY, finished_at=self.now)
        answers = CandidateSource.objects.create(**kept)
        systems = self._systems(project)
        for some, theirs in self.spool.batches():
            keys = self._queries(project, queries, some)
            self._answers(answers, systems, keys, theirs)
            self.done += len(theirs)
            self.progress("Storing", self.done, self.spool.answers)
        record(
            project=project,
            action="scores.imported",
            subject=name,
            actor=self.actor,
            details={name: report[name] for name in ("queries", "answers", "systems")},
        )
        return project

    def _report(self) -> dict[str, Any]:
        return {
            "file": self.table.source.name,
            "sha256": self.digest,
            "format": self.table.format,
            "format_words": self.table.description,
            "mapping": self.table.mapping,
            "scale": [self.options.scale.low, self.options.scale.high],
            "queries": self.spool.queries,
            "answers": self.spool.answers,
            "further": self.spool.further,
            "simulated": self.spool.simulated,
            **encoding_of(self.table.source),
            "counts": self.spool.counts().as_json(),
            "systems": self.spool.per_system(),
        }

    def _systems(self, project: Project) -> list[int]:
        """Keys of the systems by their numbers."""
        made = System.objects.bulk_create(
            System(
                project=project,
                name=name,
                kind=System.Kind.HUMAN if name == System.PEOPLE else System.Kind.PROGRAM,
                created_at=self.now,
            )
            for name in self.spool.systems
        )
        return [each.pk for each in made]

    def _queries(self, project: Project, source: QuerySource, some: list[SpooledQuery]) -> dict[int, int]:
        """Store queries with their passages; their keys by their numbers."""
        made = Query.objects.bulk_create(
            Query(
                project=project,
                source=source,
                key=each.key,
                text=each.text,
                digest=each.digest,
                context=[{"text": turn} for turn in each.context],
                type=each.type,
                line=each.line,
                references=each.references,
                status=Query.Status.ANSWERED,
                status_reason=_REASON,
            )
            for each in some
        )
        with_passages = [
            (query, each.passages) for query, each in zip(made, some, strict=True) if each.passages
        ]
        if with_passages:
            self._passages(with_passages)
        return {each.number: query.pk for each, query in zip(some, made, strict=True)}

    def _passages(self, found: list[tuple[Query, list[dict[str, Any]]]]) -> None:
        """The passages that came with queries are their curated sets: people judged with them in view."""
        candidates = CandidatePassage.objects.bulk_create(
            CandidatePassage(
                query=query,
                rank=rank,
                key=f"p{rank}",
                text=each["text"],
                title=each["title"],
                url=each["url"],
                page=each["page"] or each["url"],
                start=each["start"],
                end=each["end"],
                imported_selected=True,
            )
            for query, passages in found
            for rank, each in enumerate(passages, 1)
        )
        sets = CuratedSet.objects.bulk_create(
            CuratedSet(query=query, rule="imported", created_at=self.now) for query, _ in found
        )
        by_query = {each.query_id: each for each in sets}
        CuratedPassage.objects.bulk_create(
            CuratedPassage(curated_set=by_query[each.query_id], candidate=each, position=each.rank)
            for each in candidates
        )

    def _answers(
        self, source: CandidateSource, systems: list[int], keys: dict[int, int], some: list[SpooledAnswer]
    ) -> None:
        scale = self.options.scale
        made = Candidate.objects.bulk_create(
            Candidate(
                query_id=keys[each.query],
                system_id=systems[each.system],
                source=source,
                text=each.text,
                line=each.line,
                created_at=self.now,
            )
            for each in some
        )
        ImportedScore.objects.bulk_create(
            ImportedScore(
                candidate=candidate,
                mean=each.mean,
                n=each.n,
                ratings=each.ratings,
                scale_low=scale.low,
                scale_high=scale.high,
                simulated=each.simulated,
            )
            for candidate, each in zip(made, some, strict=True)
        )
