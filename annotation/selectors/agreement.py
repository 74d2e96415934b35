"""Agreement of the editors of a stage, from their good answers: the coefficients, and their values."""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any

from annotation.models import CandidatePassage, PassageSelection, ScreeningVote
from crowd.counted_work import counting
from crowd.models import Stage
from crowd.sources import source_rows
from metrics.figure import Figure

# How far editors agree, over plain values; nothing here knows the database.
#
# Krippendorff's alpha compares the disagreement within queries with the one to be expected by chance: 1 is
# perfect, 0 is chance (Krippendorff 2011, Computing Krippendorff's Alpha-Reliability). Missing answers are
# allowed. Where a coefficient is not defined it is None with a reason in words, never NaN and never 1.

NO_PAIRS = "not defined: no query has two answers yet"
NO_VARIATION = "not defined: all answers are the same"
ONE_RATER = "not defined: all answers are by one person"


def nominal_alpha(units: Iterable[Sequence[Hashable]]) -> Figure:
    """Krippendorff's alpha with nominal distance; each unit is the answers that it got."""
    import krippendorff
    import numpy as np  # start-up does without numpy

    counts = [Counter(unit) for unit in units if len(unit) > 1]
    values = sorted({value for unit in counts for value in unit}, key=repr)
    if not counts:
        return Figure(None, NO_PAIRS)
    if len(values) == 1:
        return Figure(None, NO_VARIATION)
    table = np.array([[unit[value] for value in values] for unit in counts])
    return Figure(float(krippendorff.alpha(value_counts=table, level_of_measurement="nominal")))


def percent_agreement(units: Iterable[Sequence[Hashable]]) -> Figure:
    """Share of equal pairs of answers to the same query, averaged over queries with two or more; 0 to 1."""
    shares = []
    for unit in units:
        pairs = len(unit) * (len(unit) - 1)
        if pairs:
            shares.append(sum(n * (n - 1) for n in Counter(unit).values()) / pairs)
    return Figure(sum(shares) / len(shares)) if shares else Figure(None, NO_PAIRS)


def jaccard(one: frozenset[int], other: frozenset[int]) -> float:
    """Shared members by all members, 0 to 1; two empty sets are the same."""
    return len(one & other) / len(one | other) if one or other else 1.0


def masi_distance(one: frozenset[int], other: frozenset[int]) -> float:
    """MASI as a distance, 0 to 1: one minus Jaccard times monotonicity (Passonneau 2006, section 4).

    Monotonicity is 1 for equal sets, 2/3 where one contains the other, 1/3 where they only overlap, and 0
    where they share nothing; an empty set shares nothing with any other.
    """
    if one == other:
        return 0.0
    shared = one & other
    if not shared:
        return 1.0
    thirds = 2 if shared in (one, other) else 1
    return 1 - len(shared) * thirds / (3 * len(one | other))


def set_alpha(units: Iterable[Sequence[frozenset[int]]]) -> Figure:
    """Krippendorff's alpha over sets with MASI distance; each unit is the sets that its editors chose."""
    pairable = [Counter(unit) for unit in units if len(unit) > 1]
    if not pairable:
        return Figure(None, NO_PAIRS)
    total: Counter[frozenset[int]] = Counter()
    observed = 0.0
    for unit in pairable:
        total.update(unit)
        observed += _distances(unit) / (unit.total() - 1)
    answers = total.total()
    expected = _distances(total) / (answers - 1)
    if not expected:
        return Figure(None, NO_VARIATION)
    return Figure(1 - observed / expected)


def _distances(counts: Counter[frozenset[int]]) -> float:
    """Sum of the distances of all ordered pairs of these sets."""
    pairs = list(counts.items())
    return 2 * sum(
        times * more * masi_distance(one, other)
        for at, (one, times) in enumerate(pairs)
        for other, more in pairs[at + 1 :]
    )


def mean_jaccard(units: Iterable[Sequence[frozenset[int]]]) -> Figure:
    """Mean Jaccard similarity of pairs of sets of the same query, averaged over queries; 0 to 1."""
    means = []
    for unit in units:
        pairs = [jaccard(one, other) for at, one in enumerate(unit) for other in unit[at + 1 :]]
        if pairs:
            means.append(sum(pairs) / len(pairs))
    return Figure(sum(means) / len(means)) if means else Figure(None, NO_PAIRS)


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
    selections_by_query = {
        query: [passages if answerable else [] for _, answerable, passages in group]
        for query, group in groupby(rows.iterator(), key=itemgetter(0))
    }
    several = {query: selections for query, selections in selections_by_query.items() if len(selections) > 1}
    ranks = _ranks(stage, {key for sets in several.values() for keys in sets for key in keys})
    units = [
        [frozenset(ranks[query, key] for key in keys if (query, key) in ranks) for keys in selections]
        for query, selections in several.items()
    ]
    return CurationAgreement(set_alpha(units), mean_jaccard(units), len(units), sum(map(len, units)))


@dataclass(frozen=True, slots=True)
class SourceAgreement:
    """Agreement among the people of one of several sources: on the class of queries, or on chosen passages.

    `shared` are the queries with two answers from here, on which alpha rests.
    """

    source: str
    people: int
    answers: int
    shared: int
    alpha: Figure


def agreement_by_source(stage: Stage) -> list[SourceAgreement]:
    """A row for each source of a screening or curation stage that has several; answers add up to all."""
    names = [row.endpoint.name for row in source_rows(stage)]
    if not names:
        return []
    model = ScreeningVote if stage.kind == "screening" else PassageSelection
    rows_by_source: dict[str, list[tuple[int, int, Hashable]]] = {name: [] for name in names}
    rows = model.objects.filter(counting("assignment"), stage=stage).order_by("query_id", "pk")
    what = ("intent",) if model is ScreeningVote else ("answerable", "passages")
    for query, worker, source, *values in rows.values_list(
        "query_id", "assignment__worker", "assignment__worker__endpoint__name", *what
    ).iterator():
        rows_by_source.setdefault(source, []).append((query, worker, _value(values)))
    ranks: dict[tuple[int, str], int] = {}
    if model is PassageSelection:
        every = (selection for rows in rows_by_source.values() for _, _, selection in rows)
        ranks = _ranks(
            stage, {key for selection in every if isinstance(selection, frozenset) for key in selection}
        )
    return [_source_agreement(name, rows, ranks) for name, rows in rows_by_source.items()]


def _value(values: Sequence[Any]) -> Hashable:
    """A class of queries, or the chosen passages: none where they cannot answer."""
    return values[0] if len(values) == 1 else frozenset(values[1] if values[0] else ())


def _source_agreement(
    name: str, rows: Sequence[tuple[int, int, Hashable]], ranks: Mapping[tuple[int, str], int]
) -> SourceAgreement:
    from metrics.agreement.breakdown import LEAST_IN_GROUPS, explain_few  # start-up does without numpy

    units = [list(group) for _, group in groupby(rows, key=itemgetter(0))]
    several = [unit for unit in units if len(unit) > 1]
    people = len({worker for _, worker, _ in rows})
    alpha = Figure(None, explain_few(len(several)))
    if people < 2:
        alpha = Figure(None, ONE_RATER)
    elif len(several) >= LEAST_IN_GROUPS:
        alpha = set_alpha(_sets(unit, ranks) for unit in several) if ranks else _nominal(several)
    return SourceAgreement(name, people, len(rows), len(several), alpha)


def _sets(
    unit: Sequence[tuple[int, int, Hashable]], ranks: Mapping[tuple[int, str], int]
) -> list[frozenset[int]]:
    return [
        frozenset(ranks[query, key] for key in selection if (query, key) in ranks)
        for query, _, selection in unit
        if isinstance(selection, frozenset)
    ]


def _nominal(units: Sequence[Sequence[tuple[int, int, Hashable]]]) -> Figure:
    return nominal_alpha([[label for _, _, label in unit] for unit in units])


def _ranks(stage: Stage, keys: set[str]) -> dict[tuple[int, str], int]:
    """Ranks of the candidates of queries that were curated in this stage."""
    rows = CandidatePassage.objects.filter(
        query_id__in=PassageSelection.objects.filter(stage=stage).values("query_id")
    ).values_list("query_id", "key", "rank")
    return {(query, key): rank for query, key, rank in rows.iterator() if key in keys}
