"""What a judge sees of one answer."""

from collections.abc import Sequence
from dataclasses import dataclass

from annotation.selectors.material import Material, material
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


def query_of(unit: str) -> int:
    """The query that a unit is about; Candidate.DoesNotExist or AttentionCheck.DoesNotExist without it."""
    if units.is_check(unit):
        return AttentionCheck.objects.values_list("query", flat=True).get(pk=units.check_of(unit))
    return Candidate.objects.values_list("query", flat=True).get(pk=units.candidate_of(unit))


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


def shown(unit: str, config: JudgingConfig, seed: int) -> Shown:
    """What is shown of a unit, the same for everybody; a check is shown like any other answer."""
    row: Candidate | AttentionCheck
    if units.is_check(unit):
        row = AttentionCheck.objects.select_related("query").get(pk=units.check_of(unit))
    else:
        row = Candidate.objects.select_related("query").get(pk=units.candidate_of(unit))
    about = material(row.query_id) if config.passages else Material(row.query, ())
    return Shown(about, row.text, _correct(row.query_id, row.text, config, seed))


def _correct(query: int, text: str, config: JudgingConfig, seed: int) -> list[str]:
    """The correct answers beside this one: a reference is not shown beside itself where there are others."""
    if config.reference == "none":
        return []
    known = list(dict.fromkeys(reference.strip() for reference in reference_texts([query])[query]))
    others = [reference for reference in known if reference != text.strip()] or known
    if config.reference == "all":
        return others
    return sorted(others, key=lambda reference: rank("reference", seed, query, reference))[:1]
