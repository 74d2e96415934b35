"""What a judge sees of one answer."""

from collections.abc import Sequence
from dataclasses import dataclass

from annotation.selectors.material import Material, materials
from judgments import units
from judgments.drawing import rank
from judgments.kinds.judging_config import JudgingConfig
from judgments.models import AttentionCheck, Candidate
from judgments.selectors.references import reference_texts

_AT_ONCE = 10_000


@dataclass(frozen=True, slots=True)
class Shown:
    """The query with its passages, the predicted answer, and the correct ones that stand below it."""

    material: Material
    text: str
    correct: Sequence[str]


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


def shown(names: Sequence[str], config: JudgingConfig, seed: int) -> dict[str, Shown]:
    """What is shown of units, the same for everybody; a check is shown like any other answer.

    A handful of statements, however many units. KeyError where a unit is not there.
    """
    rows = _rows(names)
    queries = {row.query_id for row in rows.values()}
    read = materials(queries) if config.passages else {}
    references = reference_texts(queries) if config.reference != "none" else {}
    return {
        unit: Shown(
            read.get(row.query_id) or Material(row.query, ()),
            row.text,
            _correct(row, references.get(row.query_id, []), config, seed),
        )
        for unit, row in rows.items()
    }


def _rows(names: Sequence[str]) -> dict[str, Candidate | AttentionCheck]:
    candidates = {unit: units.candidate_of(unit) for unit in names if not units.is_check(unit)}
    checks = {unit: units.check_of(unit) for unit in names if units.is_check(unit)}
    answers = Candidate.objects.select_related("query").in_bulk(list(candidates.values()))
    known = AttentionCheck.objects.select_related("query").in_bulk(list(checks.values())) if checks else {}
    return {unit: known[checks[unit]] if unit in checks else answers[candidates[unit]] for unit in names}


def _correct(
    row: Candidate | AttentionCheck, references: Sequence[str], config: JudgingConfig, seed: int
) -> list[str]:
    """The correct answers beside this one: a reference is not shown beside itself where there are others."""
    known = list(dict.fromkeys(reference.strip() for reference in references))
    others = [reference for reference in known if reference != row.text.strip()] or known
    if config.reference == "all":
        return others
    return sorted(others, key=lambda reference: rank("reference", seed, row.query_id, reference))[:1]
