"""Rows of the database that are made from an imported record."""

from collections.abc import Sequence

from annotation.importing.design import SampledQuery
from annotation.importing.records import Record
from annotation.models import CandidatePassage, Query, QuerySource
from core.projects.models import Project

IMPORTED_AS_SCREENED = "imported as screened"


def query_of(source: QuerySource, each: Record, drawn: SampledQuery, digest: str, *, accepted: bool) -> Query:
    """A query of a source; accepted ones need no screening."""
    return Query(
        project=source.project,
        source=source,
        key=each.id or f"q-{digest[:16]}",
        text=each.text,
        digest=digest,
        context=context_of(each),
        conversation=each.conversation,
        turn=each.turn,
        type=each.type,
        yes_no=bool(each.yes_no),
        count=drawn.count,
        stratum=drawn.stratum,
        weight=drawn.weight,
        line=each.line,
        references=each.references,
        extra=each.extra,
        status=Query.Status.ACCEPTED if accepted else Query.Status.WAITING,
        status_reason=IMPORTED_AS_SCREENED if accepted else "",
    )


def context_of(each: Record) -> list[dict[str, str]]:
    """`Query.context`: the turns before it, with what was replied to those where the file says so."""
    replies = each.replies or [""] * len(each.context)
    return [
        {"text": text, "answer": reply} if reply else {"text": text}
        for text, reply in zip(each.context, replies, strict=True)
    ]


def candidates_of(each: Record, query: Query) -> list[CandidatePassage]:
    """The query's passages in their order; one with the key of an earlier one gets a key of its own."""
    rows, keys = [], set()
    for rank, passage in enumerate(each.passages, 1):
        key = passage.key or f"p{rank}"
        if key in keys:
            key = f"{key[:180]}#{rank}"
        keys.add(key)
        rows.append(
            CandidatePassage(
                query=query,
                rank=rank,
                key=key,
                text=passage.text,
                title=passage.title,
                url=passage.url,
                page=passage.page or passage.url,
                start=passage.start,
                end=passage.end,
                imported_selected=passage.selected,
            )
        )
    return rows


def texts_there(project: Project, digests: Sequence[str]) -> dict[str, set[str]]:
    """Queries with these digests that the project has: the texts of their passages and references."""
    queries = Query.objects.filter(project=project, digest__in=digests)
    there = {digest: set(references) for digest, references in queries.values_list("digest", "references")}
    if there:
        passages = CandidatePassage.objects.filter(query__project=project, query__digest__in=list(there))
        for digest, text in passages.values_list("query__digest", "text").iterator():
            there[digest].add(text)
    return there
