"""What a judge sees of one answer."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from annotation.selectors.material import Material, materials
from crowd.models import Stage
from judgments import units
from judgments.kinds.judging_config import JudgingConfig
from judgments.models import AttentionCheck, Candidate, ShownReferences
from judgments.rules import most_central
from judgments.selectors.references import accepted_texts
from judgments.units import rank

_AT_ONCE = 10_000


@dataclass(frozen=True, slots=True)
class JudgedItem:
    """The query with its passages, the predicted answer, and the correct ones that stand below it.

    `others` has all correct answers where only one is in view and judges may look at them.
    """

    material: Material
    text: str
    correct: Sequence[str]
    others: Sequence[str] = ()


def queries_of(names: Sequence[str]) -> dict[str, int]:
    """The queries that units are about; a statement for each ten thousand of them."""
    found: dict[str, int] = {}
    for start in range(0, len(names), _AT_ONCE):
        some = names[start : start + _AT_ONCE]
        candidates = {units.candidate_of(unit): unit for unit in some if not units.is_check(unit)}
        checks = {units.check_of(unit): unit for unit in some if units.is_check(unit)}
        for model, keys in ((Candidate, candidates), (AttentionCheck, checks)):
            if keys:
                rows = model.objects.filter(pk__in=keys).values_list("pk", "query")
                found |= {keys[pk]: query for pk, query in rows}
    return found


def shown(stage: Stage, names: Sequence[str], config: JudgingConfig, seed: int) -> dict[str, JudgedItem]:
    """What is shown of units, the same for everybody; a check is shown like any other answer.

    A handful of statements, however many units. KeyError where a unit is not there.
    """
    rows = _rows(names)
    queries = {row.query_id for row in rows.values()}
    read = materials(queries) if config.passages else {}
    references = references_shown(stage, queries, config, seed) if config.reference != "none" else {}
    found = {}
    for unit, row in rows.items():
        correct, others = _correct(row.text, references.get(row.query_id, []), config)
        found[unit] = JudgedItem(read.get(row.query_id) or Material(row.query, ()), row.text, correct, others)
    return found


def references_shown(
    stage: Stage, queries: Collection[int], config: JudgingConfig, seed: int
) -> dict[int, list[str]]:
    """The correct answers of queries, the one in view first: as they were kept, or as they would be now."""
    kept = ShownReferences.objects.filter(stage=stage, query__in=queries)
    found: dict[int, list[str]] = dict(kept.values_list("query", "texts"))
    rest = accepted_texts([query for query in queries if query not in found])
    return found | {query: _first_in_view(query, texts, config, seed) for query, texts in rest.items()}


def _first_in_view(query: int, texts: list[str], config: JudgingConfig, seed: int) -> list[str]:
    """The texts with the one that is shown in front: the most central, or one drawn by the seed."""
    if config.reference == "one":
        return sorted(texts, key=lambda text: rank("reference", seed, query, text))
    if config.reference == "all" or not texts:
        return texts
    central = most_central(texts)
    return [central, *(text for text in texts if text != central)]


def _rows(names: Sequence[str]) -> dict[str, Candidate | AttentionCheck]:
    candidates = {unit: units.candidate_of(unit) for unit in names if not units.is_check(unit)}
    checks = {unit: units.check_of(unit) for unit in names if units.is_check(unit)}
    answers = Candidate.objects.select_related("query").in_bulk(list(candidates.values()))
    known = AttentionCheck.objects.select_related("query").in_bulk(list(checks.values())) if checks else {}
    return {unit: known[checks[unit]] if unit in checks else answers[candidates[unit]] for unit in names}


def _correct(
    text: str, references: Sequence[str], config: JudgingConfig
) -> tuple[Sequence[str], Sequence[str]]:
    """The correct answers beside a predicted one, and all of them where one is in view and more are known.

    A reference is not shown beside itself where there are others.
    """
    known = [reference for reference in references if reference != text.strip()] or references
    if config.reference == "all":
        return known, ()
    return known[:1], known if config.reference == "central" and len(known) > 1 else ()
