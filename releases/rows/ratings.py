"""The ratings of the answers that are in a release, with what the filters in force decided about each."""

from collections.abc import Iterable, Sequence
from typing import Any

from judgments.models import FilterRun, Judgment, Verdict
from judgments.selectors.ratings import good, scale_of
from metrics.agreement.scale import Scale
from releases.rows.batches import some_of
from releases.rows.columns import as_text, decoded
from releases.rows.redactions import fit
from releases.rows.scope import ANSWER_LEFT_OUT, QUERY_LEFT_OUT, JudgedStage, Scope
from releases.tables import Batches

_AT_ONCE = 10_000
#: Rule and reason of ratings that came when the filters had run: they are in no score.
LATER = ("later", "came after the filters ran, which say nothing about it")
_KEPT = ("", "")


def rating_rows(scope: Scope) -> Batches:
    """Rows of the table `ratings`, stage by stage in the order of submission; two statements per batch."""
    for judged in scope.judged:
        yield from _of_stage(scope, judged)


def _of_stage(scope: Scope, judged: JudgedStage) -> Batches:
    stage, run = judged.stage, judged.run
    numbers = numbers_of(scale_of(stage))
    for why in (QUERY_LEFT_OUT, ANSWER_LEFT_OUT):
        scope.passed_over.pop((stage.slug, why), None)
    rows = scope.of_candidates(good(Judgment.objects.using(scope.using).filter(stage=stage), stage))
    rows = rows.order_by("pk")
    columns = rows.values_list("pk", "candidate_id", "worker_id", "score", as_text("aspects"))
    for some in some_of(columns.iterator(_AT_ONCE), _AT_ONCE):
        names = scope.people.names({row[2] for row in some if row[1] in scope.candidates})
        removed = verdicts_about(scope, run, [row[0] for row in some])
        last = run.last_judgment if run else some[-1][0]
        batch = []
        for pk, candidate, worker, score, aspects in some:
            if candidate not in scope.candidates:
                scope.passed_over[stage.slug, scope.without.get(candidate, QUERY_LEFT_OUT)] += 1
                continue
            name, key, system, split = scope.candidates[candidate]
            rule, reason = removed.get(pk, _KEPT) if pk <= last else LATER
            batch.append(
                (
                    f"r{pk}", stage.slug, name, key, system, names[worker], numbers[score],
                    aspects_of(decoded(aspects)), not rule, rule, reason,
                    worker in scope.people.simulated, split,
                )
            )  # fmt: skip
        if batch:
            yield batch


def numbers_of(scale: Scale) -> dict[int, float | int]:
    """What people gave, by the units in which it is stored."""
    return {step: scale.number(step) for step in scale.scores}


def verdicts_about(
    scope: Scope, run: FilterRun | None, judgments: Sequence[int]
) -> dict[int, tuple[str, str]]:
    """Rule and reason for those of the judgments that the run removed; they are in the order of keys."""
    if run is None:
        return {}
    rows = Verdict.objects.using(scope.using).filter(
        run=run, removes=True, judgment_id__gte=judgments[0], judgment_id__lte=judgments[-1]
    )
    return {pk: (rule, reason) for pk, rule, reason in rows.values_list("judgment_id", "rule", "reason")}


def aspects_of(given: Any) -> list[dict[str, Any]]:
    """Scores of further aspects by name, which databases give back in different orders."""
    pairs: Iterable[tuple[Any, Any]] = sorted(given.items()) if isinstance(given, dict) else ()
    return [{"name": fit(name), "score": score} for name, score in pairs if isinstance(score, int)]
