"""Agreement of the editors of a stage, from their good answers."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

from annotation.agreement import (
    mean_jaccard,
    nominal_alpha,
    percent_agreement,
    set_alpha,
)
from annotation.models import CandidatePassage, PassageSelection, ScreeningVote
from crowd.counted_work import counting
from crowd.models import Stage
from metrics.figure import Figure

#: Questions of the screening form, as they are stored, with what researchers read.
_QUESTIONS = {
    "intent": "Class: navigational, transactional, informational",
    "excluded_kind": "Which excluded kind, or none",
    "unambiguous": "Is the intent clear?",
    "answerable": "Could one short passage settle it?",
    "sensitive": "Sensitive information?",
    "adult": "Adult content?",
}


@dataclass(frozen=True, slots=True)
class QuestionAgreement:
    """Agreement on one question of the form: alpha (nominal) and the share of agreeing pairs, 0 to 1.

    `queries` have two answers or more and are what both are computed from; `answers` are theirs.
    """

    name: str
    label: str
    alpha: Figure
    percent: Figure
    queries: int
    answers: int

    @property
    def percent_words(self) -> str:
        """The share as people read it: 93.3 %."""
        return "" if self.percent.value is None else f"{100 * self.percent.value:.1f} %"


def screening_agreement(stage: Stage) -> list[QuestionAgreement]:
    """Agreement per question of a screening stage, in one question to the database."""
    rows = (
        ScreeningVote.objects.filter(counting("assignment"), stage=stage)
        .order_by("query_id")
        .values_list("query_id", *_QUESTIONS)
    )
    units: list[list[tuple[bool | str, ...]]] = []
    for _, group in groupby(rows.iterator(), key=itemgetter(0)):
        votes = [vote[1:] for vote in group]
        if len(votes) > 1:
            units.append(votes)
    answers = sum(map(len, units))
    return [
        _about(name, label, [[vote[at] for vote in unit] for unit in units], answers)
        for at, (name, label) in enumerate(_QUESTIONS.items())
    ]


def _about(name: str, label: str, units: Sequence[Sequence[bool | str]], answers: int) -> QuestionAgreement:
    return QuestionAgreement(name, label, nominal_alpha(units), percent_agreement(units), len(units), answers)


@dataclass(frozen=True, slots=True)
class CurationAgreement:
    """Agreement on the chosen passages: alpha with MASI distance, and mean Jaccard similarity, 0 to 1.

    `queries` have two selections or more and are what both are computed from; `selections` are theirs.
    """

    alpha: Figure
    jaccard: Figure
    queries: int
    selections: int


def curation_agreement(stage: Stage) -> CurationAgreement:
    """Agreement of a curation stage, in two questions to the database.

    Sets hold the ranks of passages, not their keys: what two editors agree on by chance is to take the first
    ones, and keys, which no two queries share, would make every chance agreement look impossible. The empty
    set says that the passages cannot answer the query.
    """
    rows = (
        PassageSelection.objects.filter(counting("assignment"), stage=stage)
        .order_by("query_id")
        .values_list("query_id", "answerable", "passages")
    )
    chosen = {
        query: [passages if answerable else [] for _, answerable, passages in group]
        for query, group in groupby(rows.iterator(), key=itemgetter(0))
    }
    several = {query: selections for query, selections in chosen.items() if len(selections) > 1}
    ranks = _ranks(stage, {key for sets in several.values() for keys in sets for key in keys})
    units = [
        [frozenset(ranks[query, key] for key in keys if (query, key) in ranks) for keys in selections]
        for query, selections in several.items()
    ]
    return CurationAgreement(set_alpha(units), mean_jaccard(units), len(units), sum(map(len, units)))


def _ranks(stage: Stage, keys: set[str]) -> dict[tuple[int, str], int]:
    """Ranks of the candidates of queries that were curated in this stage."""
    rows = CandidatePassage.objects.filter(
        query_id__in=PassageSelection.objects.filter(stage=stage).values("query_id")
    ).values_list("query_id", "key", "rank")
    return {(query, key): rank for query, key, rank in rows.iterator() if key in keys}
