"""An answer as bytes, for a cache that processes share: JSON, compressed, without the passages' texts.

Passages are named by their numbers and read when the answer is: one that has been deleted is never shown, and
texts of a corpus are in its database only.
"""

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from pydantic import TypeAdapter, ValidationError

from retrieval.models import Passage
from retrieval.ranking.explanation import Explanation
from retrieval.search import FoundAnswer, FoundPassage

_QUICK = 1


@dataclass(frozen=True, slots=True)
class _Result:
    rank: int
    score: float
    parts: dict[str, float]
    corpus: str
    passage: int
    explanation: Explanation | None
    raw: dict[str, float]
    found_at: int | None


@dataclass(frozen=True, slots=True)
class _Answer:
    ranker: str
    parameters: dict[str, Any]
    generations: dict[str, dict[str, Any]]
    terms: dict[str, float]
    results: list[_Result]
    notes: list[str]


def dump_answer(found_answer: FoundAnswer) -> bytes:
    """The answer without the texts of its passages."""
    answer = _Answer(
        ranker=found_answer.ranker,
        parameters=dict(found_answer.parameters),
        generations={corpus: dict(state) for corpus, state in found_answer.generations.items()},
        terms=dict(found_answer.terms),
        results=[_result(each) for each in found_answer.results],
        notes=list(found_answer.notes),
    )
    return zlib.compress(_answers().dump_json(answer), _QUICK)


def load_answer(data: bytes) -> FoundAnswer | None:
    """The answer with its passages; None where one of them is gone, or the bytes are no answer."""
    try:
        answer = _answers().validate_json(zlib.decompress(data))
    except (zlib.error, ValidationError):
        return None
    passages = Passage.objects.in_bulk([each.passage for each in answer.results])
    if any(each.passage not in passages for each in answer.results):
        return None
    return FoundAnswer(
        ranker=answer.ranker,
        parameters=answer.parameters,
        generations=answer.generations,
        terms=answer.terms,
        results=[_read_passage(each, passages) for each in answer.results],
        notes=answer.notes,
    )


@cache
def _answers() -> TypeAdapter[_Answer]:
    return TypeAdapter(_Answer)


def _result(passage: FoundPassage) -> _Result:
    return _Result(
        rank=passage.rank,
        score=passage.score,
        parts=dict(passage.parts),
        corpus=passage.corpus,
        passage=passage.passage.pk,
        explanation=passage.explanation,
        raw=dict(passage.raw),
        found_at=passage.found_at,
    )


def _read_passage(result: _Result, passages: Mapping[int, Passage]) -> FoundPassage:
    return FoundPassage(
        rank=result.rank,
        score=result.score,
        parts=result.parts,
        corpus=result.corpus,
        passage=passages[result.passage],
        explanation=result.explanation,
        raw=result.raw,
        found_at=result.found_at,
    )
