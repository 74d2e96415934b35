"""What reviewers look at: queries with counts, and answers with their flags, telemetry and evidence."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from django.db.models import Count, Exists, Max, OuterRef, Prefetch, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from annotation.flags.registry import ORDER, about, details, measured
from annotation.models import Answer, AnswerFlag, AnswerReview, HeldOutWorker, Query
from annotation.selectors.answers import dialogues, with_counts
from annotation.services.review_decisions import possible
from crowd.models import Stage, Worker
from crowd.selectors.stage_sizes import is_large
from web.cache import cached, moment

State = Answer.State
FILTERS = {
    "undecided": "To review",
    "flagged": "Flagged",
    "decided": "Reviewed",
    "incomplete": "Lacking answers",
    "all": "All",
}
_FLAGGED = Exists(AnswerFlag.objects.filter(answer=OuterRef("pk")))


def _count(answers: QuerySet[Answer]) -> Coalesce:
    grouped = answers.filter(query=OuterRef("pk")).order_by().values("query")
    return Coalesce(Subquery(grouped.annotate(n=Count("pk")).values("n")), 0)


def queries(stage: Stage, state: str) -> QuerySet[Any]:
    """Queries of the stage with `counted`, `undecided`, `flagged` (undecided too), `excluded`, `newest`."""
    mine = Answer.objects.filter(stage=stage)
    undecided = mine.filter(state=State.UNDECIDED)
    rows = with_counts(Query.objects.filter(project=stage.project_id), stage).annotate(
        given=_count(mine.exclude(state=State.REPLACED)),
        undecided=_count(undecided),
        flagged=_count(undecided.filter(_FLAGGED)),
        excluded=_count(mine.filter(state=State.EXCLUDED)),
        newest=Subquery(
            mine.filter(query=OuterRef("pk"))
            .order_by()
            .values("query")
            .annotate(last=Max("created_at"))
            .values("last")
        ),
    )
    waiting = Q(status=Query.Status.CURATED, curated_set__isnull=False)
    if stage.kind == "continuation":
        waiting = Q(pk__in=dialogues(stage).values("pk"))
    given = mine.exclude(state=State.REPLACED)

    def some(answers: QuerySet[Answer]) -> Q:
        return Q(Exists(answers.filter(query=OuterRef("pk"))))

    filters: dict[str, Q] = {
        "undecided": some(undecided),
        "flagged": some(undecided.filter(_FLAGGED)),
        "decided": some(given) & ~some(undecided),
        "incomplete": waiting & Q(counted__lt=stage.redundancy),
        "all": waiting | some(given),
    }
    found: QuerySet[Any] = rows.filter(filters[state]).order_by("pk")
    return found


@dataclass(frozen=True, slots=True)
class Piece:
    """Part of an answer's text; `flags` are the labels of what is noticed about it."""

    text: str
    flags: tuple[str, ...]

    @property
    def title(self) -> str:
        """The labels in one line."""
        return ", ".join(self.flags)


@dataclass(frozen=True, slots=True)
class ShownFlag:
    """A flag in words; `others` are answers that it names, with how alike they are in percent."""

    name: str
    label: str
    meaning: str
    value: str
    details: str
    others: tuple[tuple[int, int], ...]
    passages: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ShownAnswer:
    """An answer with all that a reviewer needs to decide about it."""

    answer: Answer
    number: int
    pieces: list[Piece]
    flags: list[ShownFlag]
    reviews: list[AnswerReview]
    possible: list[str]
    held_out: bool

    @property
    def telemetry(self) -> Iterator[tuple[str, str]]:
        """What the task page measured of the assignment, in words; nothing for a rewrite."""
        told = self.answer.assignment.telemetry if self.answer.revises_id is None else {}
        for name, label in _MEASURES:
            if isinstance(told.get(name), int):
                yield label, f"{told[name] / 1000:.1f} s" if name.endswith("_ms") else f"{told[name]:,}"


_MEASURES = (
    ("active_ms", "active"),
    ("first_key_ms", "first key after"),
    ("keystrokes", "keys"),
    ("pastes", "pastes"),
    ("pasted_characters", "pasted characters"),
    ("focus_losses", "left the page"),
    ("edits", "edits"),
)


def answers(rows: QuerySet[Answer]) -> list[ShownAnswer]:
    """Answers with flags, reviews and telemetry, numbered in their order, in a fixed number of statements."""
    found = list(
        rows.select_related("assignment", "worker", "query", "revises").prefetch_related(
            "flags", Prefetch("reviews", AnswerReview.objects.select_related("actor").order_by("pk"))
        )
    )
    keys = {(answer.query_id, answer.worker_id) for answer in found}
    aside = set(
        HeldOutWorker.objects.filter(query__in={query for query, _ in keys}).values_list("query", "worker")
    )
    return [
        ShownAnswer(
            answer=answer,
            number=number,
            pieces=pieces(answer.text, answer.flags.all()),
            flags=shown_flags(answer.flags.all()),
            reviews=list(answer.reviews.all()),
            possible=possible(answer.state),
            held_out=(answer.query_id, answer.worker_id) in aside,
        )
        for number, answer in enumerate(found, 1)
    ]


def of_query(stage: Stage, query: Query) -> list[ShownAnswer]:
    """All answers to a query, oldest first; replaced ones are in the history of what replaced them."""
    rows = Answer.objects.filter(stage=stage, query=query).exclude(state=State.REPLACED)
    return answers(rows.order_by("pk"))


def of_worker(stage: Stage, worker: Worker) -> QuerySet[Answer]:
    """All answers of one person, newest first."""
    return Answer.objects.filter(stage=stage, worker=worker).order_by("-pk")


def workers(stage: Stage) -> QuerySet[Worker]:
    """Who wrote answers in this stage, with how many of them were excluded or have flags."""
    mine = Answer.objects.filter(stage=stage, worker=OuterRef("pk")).exclude(state=State.REPLACED)

    def count(rows: QuerySet[Answer]) -> Coalesce:
        grouped = rows.order_by().values("worker").annotate(n=Count("pk"))
        return Coalesce(Subquery(grouped.values("n")), 0)

    writers = Answer.objects.filter(stage=stage).exclude(state=State.REPLACED)
    return (
        Worker.objects.filter(pk__in=writers.order_by().values("worker"))
        .annotate(
            given=count(mine),
            flagged=count(mine.filter(_FLAGGED)),
            excluded=count(mine.filter(state=State.EXCLUDED)),
        )
        .order_by("-flagged", "-given", "pk")
    )


def writers(stage: Stage, words: str) -> QuerySet[Worker] | list[Worker]:
    """Those of them whose id has these words; of a large stage as they were some seconds ago."""
    if not is_large(stage):
        return workers(stage).filter(external_id__icontains=words)
    found: list[Worker] = cached(f"writers:{stage.pk}", moment(), lambda: list(workers(stage)), large=True)
    return [row for row in found if words.lower() in row.external_id.lower()]


def pieces(text: str, flags: Iterable[AnswerFlag]) -> list[Piece]:
    """The text cut at the ends of all evidence; joined again it is the text."""
    spans = [
        (start, end, about(flag.name).label)
        for flag in flags
        for start, end in _spans(flag.evidence, len(text))
    ]
    cuts = sorted({0, len(text), *(at for start, end, _ in spans for at in (start, end))})
    return [
        Piece(text[a:b], tuple(sorted({label for start, end, label in spans if start <= a and b <= end})))
        for a, b in pairwise(cuts)
    ]


def _spans(evidence: Mapping[str, Any], length: int) -> Iterator[tuple[int, int]]:
    for span in evidence.get("spans", []):
        start, end = max(0, int(span["start"])), min(length, int(span["end"]))
        if start < end:
            yield start, end


def shown_flags(flags: Iterable[AnswerFlag]) -> list[ShownFlag]:
    """Flags in words, in their usual order."""
    ordered = sorted(flags, key=lambda flag: (ORDER.get(flag.name, len(ORDER)), flag.name))
    return [
        ShownFlag(
            name=flag.name,
            label=about(flag.name).label,
            meaning=about(flag.name).meaning,
            value=measured(flag.name, flag.value, flag.limit),
            details=details(flag.name, flag.evidence),
            others=tuple(
                (other["answer"], round(100 * other["ratio"])) for other in flag.evidence.get("answers", [])
            ),
            passages=tuple(
                sorted({span["passage"] + 1 for span in flag.evidence.get("spans", []) if "passage" in span})
            ),
        )
        for flag in ordered
    ]


def neighbours(stage: Stage, query: Query) -> tuple[int | None, int | None]:
    """The undecided queries before and after this one, for going on."""
    rows = Answer.objects.filter(stage=stage, state=State.UNDECIDED).order_by("query")
    before = rows.filter(query__lt=query.pk).order_by("-query").values_list("query", flat=True).first()
    after = rows.filter(query__gt=query.pk).values_list("query", flat=True).first()
    return before, after
