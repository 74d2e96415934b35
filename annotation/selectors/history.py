"""Everything that is known about one query, from the line of its file to the answers, in a fixed number of
questions to the database.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Prefetch

from annotation.candidates import drawn_below
from annotation.models import (
    Answer,
    AnswerFlag,
    AnswerReview,
    CandidatePassage,
    CuratedPassage,
    CuratedSet,
    HeldOutWorker,
    PassageSelection,
    Query,
    QueryStep,
    ScreeningVote,
)
from crowd.counted_work import counts

_DIGITS = 4


@dataclass(frozen=True, slots=True)
class Provenance:
    """Who ranked it and where it stood; parts of the score, options and states as pairs of name and words.

    `found_at` is where the index had it by BM25, `raw` are the parts before they were made comparable;
    `below` says that it was drawn from below the cut, and of how many.
    """

    ranker: str
    rank: int | None
    found_at: int | None
    parts: tuple[tuple[str, str], ...]
    raw: tuple[tuple[str, str], ...]
    parameters: tuple[tuple[str, str], ...]
    generation: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    below: str


def provenance_of(kept: Any) -> Provenance | None:
    """Of `CandidatePassage.retrieval`; None where nothing is known, as for imported ones."""
    if not isinstance(kept, dict) or not kept.get("ranker"):
        return None
    below = drawn_below(kept)
    notes = kept.get("notes")
    return Provenance(
        ranker=str(kept["ranker"]),
        rank=kept["rank"] if isinstance(kept.get("rank"), int) else None,
        found_at=kept["found_at"] if isinstance(kept.get("found_at"), int) else None,
        parts=tuple(_pairs(kept.get("parts"))),
        raw=tuple(_pairs(kept.get("raw"))),
        parameters=tuple(_pairs(kept.get("parameters"))),
        generation=tuple(_pairs(kept.get("generation"))),
        notes=tuple(str(note) for note in notes) if isinstance(notes, list) else (),
        below=f"one of {below[0]} drawn at random from {below[1]:,} below the cut" if below else "",
    )


def _pairs(found: Any, before: str = "") -> Iterator[tuple[str, str]]:
    """Names and values in the order of the names, those in an inner object with its name before them."""
    if not isinstance(found, Mapping):
        return
    for name, value in sorted(found.items()):
        words = f"{before}{name}".replace("_", " ")
        if isinstance(value, Mapping):
            yield from _pairs(value, f"{words}: ")
        elif isinstance(value, float):
            yield words, f"{value:.{_DIGITS}g}"
        else:
            yield words, str(value)


#: Members of `Query.extra` that say a turn so that it stands alone, with words for who wrote them.
_REWRITES = {
    "manual_rewritten_utterance": "Rewritten by a person",
    "resolved_utterance": "Rewritten by a person",
    "rewrite": "Rewritten",
    "automatic_rewritten_utterance": "Rewritten by a program",
    "automatic": "Rewritten by a program",
}


@dataclass(frozen=True, slots=True)
class Candidate:
    """A candidate passage; `overlaps` are the ranks of others on the same stretch of the same page."""

    passage: CandidatePassage
    overlaps: tuple[int, ...]
    curated: int | None
    found: Provenance | None

    @property
    def folded(self) -> bool:
        """It repeats a better ranked one, so nobody is shown it."""
        return self.passage.folded_into_id is not None


@dataclass(frozen=True, slots=True)
class Selection:
    """An editor's choice, with passages by their rank instead of their key; `counts` as for a vote."""

    row: PassageSelection
    chosen: tuple[str, ...]
    conflicts: tuple[str, ...]
    counts: bool


@dataclass(frozen=True, slots=True)
class Vote:
    """An editor's form about the query; `counts` unless its work was rejected, or waits for a person."""

    row: ScreeningVote
    counts: bool


@dataclass(frozen=True, slots=True)
class HistoryAnswer:
    """An answer, and whether it is held out of the references as a candidate of the system `human`."""

    answer: Answer
    held_out: bool


@dataclass(frozen=True, slots=True)
class History:
    """A query's way, in the order of the pipeline."""

    steps: list[QueryStep]
    votes: list[Vote]
    candidates: list[Candidate]
    selections: list[Selection]
    curated: CuratedSet | None
    answers: list[HistoryAnswer]
    turns: list[dict[str, str]]
    rewrites: list[tuple[str, str]]


def history(query: Query) -> History:
    """All of a query's rows. Nine questions, however many rows there are."""
    passages = list(
        CandidatePassage.objects.filter(query=query).select_related("folded_into").order_by("rank")
    )
    curated = CuratedSet.objects.filter(query=query).select_related("stage", "decided_by").first()
    members = CuratedPassage.objects.filter(curated_set__query=query).values_list("candidate_id", "position")
    position = {candidate: place + 1 for place, (candidate, _) in enumerate(members.order_by("position"))}
    ranks = {passage.key: f"#{passage.rank}" for passage in passages}
    work = ("stage", "assignment__worker", "assignment__stage")
    votes = ScreeningVote.objects.filter(query=query).select_related(*work).order_by("pk")
    selections = PassageSelection.objects.filter(query=query).select_related(*work).order_by("pk")
    return History(
        steps=list(QueryStep.objects.filter(query=query).select_related("stage", "actor").order_by("pk")),
        votes=[Vote(row, counts(row.assignment)) for row in votes],
        candidates=[
            Candidate(
                passage,
                _overlaps(passage, passages),
                position.get(passage.pk),
                provenance_of(passage.retrieval),
            )
            for passage in passages
        ],
        selections=[
            Selection(
                row,
                tuple(ranks.get(str(key), str(key)) for key in row.passages),
                tuple(_conflict(pair, ranks) for pair in row.conflicts if isinstance(pair, dict)),
                counts(row.assignment),
            )
            for row in selections
        ],
        curated=curated,
        answers=_answers(query),
        turns=list(_turns(query.context)),
        rewrites=list(_rewrites(query.extra)),
    )


def _overlaps(passage: CandidatePassage, others: Sequence[CandidatePassage]) -> tuple[int, ...]:
    if passage.start is None or passage.end is None or not passage.page:
        return ()
    return tuple(
        other.rank
        for other in others
        if other.pk != passage.pk
        and other.page == passage.page
        and other.start is not None
        and other.end is not None
        and other.start < passage.end
        and passage.start < other.end
    )


def _conflict(pair: Mapping[str, Any], ranks: Mapping[str, str]) -> str:
    one, other, trusted = (str(pair.get(name) or "") for name in ("a", "b", "trusted"))
    words = f"{ranks.get(one, one)} against {ranks.get(other, other)}"
    trusted = {"a": one, "b": other}.get(trusted, trusted)
    return f"{words}, {ranks.get(trusted, trusted)} is trusted" if trusted else f"{words}, neither is trusted"


def _answers(query: Query) -> list[HistoryAnswer]:
    held_out = set(HeldOutWorker.objects.filter(query=query).values_list("worker_id", flat=True))
    answers = (
        Answer.objects.filter(query=query)
        .select_related("stage", "worker")
        .prefetch_related(
            Prefetch("flags", AnswerFlag.objects.order_by("name")),
            Prefetch("reviews", AnswerReview.objects.select_related("actor").order_by("pk")),
        )
        .order_by("pk")
    )
    return [HistoryAnswer(answer, answer.worker_id in held_out) for answer in answers]


def _rewrites(extra: object) -> Iterable[tuple[str, str]]:
    for name, words in _REWRITES.items():
        if isinstance(extra, dict) and isinstance(extra.get(name), str):
            yield words, extra[name]


def _turns(context: object) -> Iterable[dict[str, str]]:
    for turn in context if isinstance(context, list) else []:
        if isinstance(turn, dict):
            yield {"text": str(turn.get("text") or ""), "answer": str(turn.get("answer") or "")}
        else:
            yield {"text": str(turn), "answer": ""}
