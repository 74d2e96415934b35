"""A question of the search page that becomes a query of the project, with the candidates that it found."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils import timezone

from annotation.importing.text import normal, query_digest
from annotation.models import CandidatePassage, Query, QuerySource, QueryStep
from annotation.retrieval_options import Recipe
from annotation.services.candidates import give_candidates
from core.projects.models import Project
from core.projects.services import record
from crowd.errors import CrowdError
from crowd.services.readonly import refuse_read_only
from retrieval.search import FoundAnswer

#: `QuerySource.format` of questions that were asked on the search page; a project has one source of them.
FORMAT = "search"
ACTION = "query.sent_to_curation"
_NAME = "Search page"
_REASON = "asked on the search page"
Status = Query.Status


@dataclass(frozen=True)
class SentQuery:
    """The query, how many candidates editors are shown of it, and whether it is new to the project."""

    query: Query
    shown: int
    new: bool


class AlreadySentError(CrowdError):
    """The query has candidates, or is not waiting for any; nothing was changed."""

    def __init__(self, why: str, query: Query) -> None:
        self.query = query
        super().__init__(why)


@transaction.atomic
def send_to_curation(
    *, project: Project, turns: Sequence[str], found: FoundAnswer, keep: int, actor: Any
) -> SentQuery:
    """Give the last of `turns` the `keep` best passages of `found`, and the project the query if it is new.

    A new query is accepted at once, as somebody of the project chose it. A query that the project has must be
    accepted and without candidates. Near-repetitions among the passages are folded, so `found` should hold
    more than `keep`. CrowdError where nothing was found or the project is read-only, AlreadySentError where
    the query has candidates already; then nothing is changed.
    """
    refuse_read_only(project)
    if not found.results:
        raise CrowdError("Nothing was found for this question, so there are no candidates to send.")
    query, new = _query(project, turns, actor)
    locked = Query.objects.select_for_update().get(pk=query.pk)
    if CandidatePassage.objects.filter(query=locked).exists():
        raise AlreadySentError("This question is a query of the project and has its candidates.", locked)
    if locked.status != Status.ACCEPTED:
        raise AlreadySentError(
            f"This question is a query of the project: {locked.get_status_display()}. Only accepted queries "
            "take candidates.",
            locked,
        )
    give_candidates(query=locked, answer=found, recipe=Recipe(shown=keep))
    shown = CandidatePassage.objects.filter(query=locked, folded_into=None).count()
    record(
        project=project,
        action=ACTION,
        subject=locked.key,
        actor=actor,
        details={"ranker": found.ranker, "candidates": shown, "new": new, "turns": len(turns)},
    )
    return SentQuery(locked, shown, new)


def _query(project: Project, turns: Sequence[str], actor: Any) -> tuple[Query, bool]:
    """The query of a question after these turns, made if the project has none."""
    *before, text = turns = [normal(turn) for turn in turns]
    digest = query_digest(text, before)
    fields: dict[str, Any] = {
        "source": lambda: _source(project, actor),
        "key": f"q-{digest[:16]}",
        "text": text,
        "context": [{"text": each} for each in before],
        "conversation": lambda: _conversation(project, turns),
        "turn": len(turns),
        "status": Status.ACCEPTED,
        "status_reason": _REASON,
    }
    made, new = Query.objects.get_or_create(project=project, digest=digest, defaults=fields)
    if new:
        QueryStep.objects.create(
            query=made, at=timezone.now(), actor=actor, after=Status.ACCEPTED, reason=_REASON
        )
        _count_one_more(made.source_id)
    return made, new


def _conversation(project: Project, turns: Sequence[str]) -> str:
    """The conversation of the latest earlier turn that is a query already; a new one if none is."""
    earlier = [query_digest(turns[at], turns[:at]) for at in range(len(turns) - 1)]
    known = dict(
        Query.objects.filter(project=project, digest__in=earlier)
        .exclude(conversation="")
        .values_list("digest", "conversation")
    )
    latest = next((known[digest] for digest in reversed(earlier) if digest in known), "")
    return latest or f"search-{query_digest(turns[0])[:12]}"


def _source(project: Project, actor: Any) -> QuerySource:
    Project.objects.select_for_update().get(pk=project.pk)  # one source, however many send at once
    now = timezone.now()
    made, _ = QuerySource.objects.get_or_create(
        project=project,
        format=FORMAT,
        defaults={
            "name": _NAME,
            "state": QuerySource.State.READY,
            "report": _report(0),
            "created_by": actor,
            "created_at": now,
            "finished_at": now,
        },
    )
    return made


def _count_one_more(source: int) -> None:
    """The source's report has the counts that one of an import has."""
    row = QuerySource.objects.select_for_update().get(pk=source)
    row.report = _report(int(row.report.get("stored", 0)) + 1)
    row.save(update_fields=["report"])


def _report(stored: int) -> dict[str, Any]:
    return {
        "format_words": "questions asked on the search page",
        "unit": "question",
        "records": stored,
        "distinct": stored,
        "duplicates": 0,
        "sampled": stored,
        "stored": stored,
        "already_there": 0,
        "refused": 0,
        "refusals": [],
        "rules": {},
        "design": {"words": "all that were sent", "seed": "none"},
    }
