"""What reviewers look at: queries with counts, and answers with their flags, telemetry and evidence."""

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations, pairwise
from statistics import fmean, median, quantiles
from typing import Any

from django.db.models import Count, Exists, Max, OuterRef, Prefetch, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from annotation.flags import ORDER, about, details, measured
from annotation.likeness import SHORTEST, Passages, mostly_spaceless, shingles, tokens
from annotation.models import Answer, AnswerFlag, AnswerNote, AnswerReview, HeldOutWorker, Query
from annotation.selectors.answers import COUNTED, dialogues, with_counts
from annotation.services.review_decisions import possible
from crowd.models import Stage, Worker
from web.cache import cached

# How alike and how long the answers of a query are: what agreement is for free text.
#
# The overlap of two answers is the Jaccard index of their words (pairs of neighbouring characters in scripts
# without spaces): shared ÷ all, 0 to 1. A query's overlap is the mean over pairs of answers, a stage's the
# mean over its queries with two answers or more.

#: A stage's figures are taken from so many of its queries at most, drawn by its seed.
SAMPLED = 200


def overlap(texts: Sequence[str]) -> float | None:
    """Mean Jaccard index over all pairs; None for fewer than two texts."""
    sets = [shingles(text) for text in texts]
    similarities = [_jaccard(a, b) for a, b in combinations(sets, 2)]
    return fmean(similarities) if similarities else None


def _jaccard(a: frozenset[str], b: frozenset[str]) -> float:
    shared = len(a & b)
    everything = len(a) + len(b) - shared
    return shared / everything if everything else 1.0


@dataclass(frozen=True, slots=True)
class Lengths:
    """Characters of answers: how many answers, and the spread."""

    count: int
    least: int
    lower: float
    middle: float
    upper: float
    most: int


def lengths(values: Sequence[int]) -> Lengths | None:
    """Least, quartiles and most; None for none."""
    if not values:
        return None
    lower, _, upper = quantiles(values, n=4, method="inclusive") if len(values) > 1 else (values[0],) * 3
    return Lengths(len(values), min(values), lower, median(values), upper, max(values))


def texts_of(stage: Stage, queries: Sequence[int]) -> Mapping[int, list[str]]:
    """Texts of the answers that count, by query.

    Read at once: PostgreSQL plans a cursor for its first rows, and would go through all answers by their key.
    """
    texts: dict[int, list[str]] = defaultdict(list)
    rows = Answer.objects.filter(COUNTED, stage=stage, query__in=queries).order_by("pk")
    for query, text in rows.values_list("query", "text"):
        texts[query].append(text)
    return texts


@dataclass(frozen=True, slots=True)
class QuerySpread:
    """One query's answers in figures."""

    query: int
    text: str
    answers: int
    middle: float
    overlap: float | None


@dataclass(frozen=True, slots=True)
class StageSpread:
    """A stage's answers in figures; `of` its queries with answers, `sampled` were looked at."""

    sampled: int
    of: int
    lengths: Lengths | None
    overlap: float | None
    least_alike: list[QuerySpread]
    most_alike: list[QuerySpread]


def stage_spread(stage: Stage, *, shown_count: int = 10) -> StageSpread:
    """Lengths and overlap over a stage, and the queries at both ends; where it takes long, of a while ago."""
    return cached(("answer-spread", stage.pk, shown_count), partial(_count_spread, stage, shown_count))


def _count_spread(stage: Stage, shown_count: int) -> StageSpread:
    everything = list(
        Answer.objects.filter(COUNTED, stage=stage)
        .order_by("query")
        .values_list("query", flat=True)
        .distinct()
    )
    queries = everything
    if len(everything) > SAMPLED:
        queries = random.Random(f"spread:{stage.seed}").sample(everything, SAMPLED)
    texts = texts_of(stage, queries)
    names = dict(Query.objects.filter(pk__in=queries).values_list("pk", "text"))
    rows = [
        QuerySpread(
            query, names[query], len(answer_texts), median(map(len, answer_texts)), overlap(answer_texts)
        )
        for query, answer_texts in texts.items()
    ]
    compared = sorted(
        (row for row in rows if row.overlap is not None), key=lambda row: (row.overlap or 0.0, row.query)
    )
    half = min(shown_count, len(compared) // 2)
    return StageSpread(
        sampled=len(queries),
        of=len(everything),
        lengths=lengths([len(text) for answer_texts in texts.values() for text in answer_texts]),
        overlap=fmean(row.overlap for row in compared if row.overlap is not None) if compared else None,
        least_alike=compared[:half],
        most_alike=compared[::-1][:half],
    )


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
    kept_answers = mine.exclude(state=State.REPLACED)

    def exist_for_query(answers: QuerySet[Answer]) -> Q:
        return Q(Exists(answers.filter(query=OuterRef("pk"))))

    filters: dict[str, Q] = {
        "undecided": exist_for_query(undecided),
        "flagged": exist_for_query(undecided.filter(_FLAGGED)),
        "decided": exist_for_query(kept_answers) & ~exist_for_query(undecided),
        "incomplete": waiting & Q(counted__lt=stage.redundancy),
        "all": waiting | exist_for_query(kept_answers),
    }
    matching: QuerySet[Any] = rows.filter(filters[state]).order_by("pk")
    return matching


@dataclass(frozen=True, slots=True)
class Piece:
    """Part of a text; `flags` are the labels of what is noticed about it.

    `shared` are the numbers of what has the same words: of passages for an answer, of answers for a passage.
    """

    text: str
    flags: tuple[str, ...]
    shared: tuple[int, ...] = ()

    @property
    def title(self) -> str:
        """The labels in one line."""
        return ", ".join(self.flags)

    @property
    def numbers(self) -> str:
        """The numbers of what has the same words, in one line."""
        return ", ".join(map(str, self.shared))


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
    notes: list[AnswerNote]
    possible: list[str]
    held_out: bool

    @property
    def telemetry(self) -> Iterator[tuple[str, str]]:
        """What the task page measured of the assignment, in words; nothing for a rewrite."""
        measures = self.answer.assignment.telemetry if self.answer.revises_id is None else {}
        for name, label in _MEASURES:
            if isinstance(measures.get(name), int):
                yield (
                    label,
                    f"{measures[name] / 1000:.1f} s" if name.endswith("_ms") else f"{measures[name]:,}",
                )


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
    rows_in_order = list(
        rows.select_related("assignment", "worker", "query", "revises").prefetch_related(
            "flags",
            Prefetch("reviews", AnswerReview.objects.select_related("actor").order_by("pk")),
            Prefetch("notes", AnswerNote.objects.select_related("author").order_by("pk")),
        )
    )
    keys = {(answer.query_id, answer.worker_id) for answer in rows_in_order}
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
            notes=list(answer.notes.all()),
            possible=possible(answer.state),
            held_out=(answer.query_id, answer.worker_id) in aside,
        )
        for number, answer in enumerate(rows_in_order, 1)
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


def writers(stage: Stage, text: str) -> QuerySet[Worker]:
    """Those of them whose id has these words."""
    return workers(stage).filter(external_id__icontains=text)


def mark_shared_runs(answers: Sequence[ShownAnswer], texts: Sequence[str]) -> list[list[Piece]]:
    """Passages in pieces by what answers have word for word from them; marks the same in the answers.

    Runs of `SHORTEST` words or more, whether or not they are flagged.
    """
    passages = Passages(texts)
    in_passages: list[list[Shared]] = [[] for _ in texts]
    for each in answers:
        text = each.answer.text
        answer_tokens = tokens(text)
        runs = passages.runs(answer_tokens, shortest=SHORTEST * (2 if mostly_spaceless(answer_tokens) else 1))
        for run in runs:
            words = passages.tokens[run.passage][run.at : run.at + run.length]
            in_passages[run.passage].append((words[0].start, words[-1].end, each.number))
        shared = [
            (answer_tokens[run.first].start, answer_tokens[run.last].end, run.passage + 1) for run in runs
        ]
        each.pieces[:] = pieces(text, each.answer.flags.all(), shared)
    return [pieces(text, (), shared) for text, shared in zip(texts, in_passages, strict=True)]


#: Where a run begins and ends, and the number of what shares it.
Shared = tuple[int, int, int]


def pieces(text: str, flags: Iterable[AnswerFlag], shared: Iterable[Shared] = ()) -> list[Piece]:
    """The text cut at the ends of all evidence; joined again it is the text."""
    spans = [
        (start, end, about(flag.name).label)
        for flag in flags
        for start, end in _spans(flag.evidence, len(text))
    ]
    cuts = sorted({0, len(text), *(at for start, end, _ in (*spans, *shared) for at in (start, end))})

    def across(marks: Iterable[tuple[int, int, Any]], a: int, b: int) -> tuple[Any, ...]:
        return tuple(sorted({mark for start, end, mark in marks if start <= a and b <= end}))

    return [Piece(text[a:b], across(spans, a, b), across(shared, a, b)) for a, b in pairwise(cuts)]


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
