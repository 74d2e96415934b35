"""The whole meta-evaluation: from scores to the report that is written to report.json.

The work falls into parts that know nothing of each other: an entry for each metric and each floor, the tests,
the ceiling, each protocol. A spread does them here, in processes or on other machines; a part's result is
plain JSON and the same wherever it is worked out.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from metrics.errors import MetricError
from metrics.meta import breakdown
from metrics.meta.canonical import canonical
from metrics.meta.ceiling import ceiling
from metrics.meta.entries import corpus, entry
from metrics.meta.floors import floors
from metrics.meta.lengthbias import HUMAN, length_bias
from metrics.meta.numbers import plain
from metrics.meta.part_runner import PartRunner, in_process
from metrics.meta.plan import Comparison, CorpusRule, Plan, ReportHeader
from metrics.meta.protocols import METRIC, TABLE8, known, protocol, table8
from metrics.meta.scored_answers import ScoredAnswers
from metrics.meta.significance import Tests, parts_of_tests, tests
from metrics.meta.warnings import warnings_of

__all__ = ["Comparison", "CorpusRule", "Plan", "ReportHeader", "evaluate"]

REPORT = 1
#: Squares of larger scores would not be numbers any more.
LARGEST = 1e50
Progress = Callable[[int, int, str], None]
Result = dict[str, Any]


@dataclass(frozen=True, slots=True, order=True)
class Part:
    """A piece of the evaluation: `kind` and which one of its kind."""

    kind: str
    name: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.name}".strip()


NEED_RULES = (Part("protocol", "resample_overall"),)


def evaluate(
    judged: ScoredAnswers,
    plan: Plan,
    about: ReportHeader | None = None,
    *,
    spread: PartRunner = in_process,
    progress: Progress | None = None,
) -> Result:
    """The report, as docs/meta-evaluation.md describes it: plain JSON without NaN.

    The same scores in another row order give the same report. `progress` hears (done, total, what was done).
    MetricError for a protocol that there is not, and for scores beyond all bounds.
    """
    judged, about = prepared(judged, about or ReportHeader())
    parts = parts_of(judged, plan)

    # Rules are functions of any kind, which may not travel: what needs them is done here, at the end.
    here = [part for part in parts if about.rules and part in NEED_RULES]
    away = [part for part in parts if part not in here]
    count = Count(len(parts) + parts_of_tests(judged, plan), progress)
    work = partial(worked, judged, plan, replace(about, rules={}))
    results = dict(
        zip(away, spread(work, away, lambda done: count.more(1, str(away[done - 1]))), strict=True)
    )
    for part in here:
        results[part] = worked(judged, plan, about, part)
        count.more(1, str(part))
    found = tests(judged, plan, _values(results, plan), spread=spread, done=count.more)
    return assembled(judged, plan, about, results, found)


class Count:
    """How many of the parts are done, told to whoever wants to know."""

    def __init__(self, total: int, progress: Progress | None) -> None:
        self._done, self._total, self._progress = 0, total, progress

    def more(self, parts: int, what: str) -> None:
        """So many more are done, the last of them this."""
        self._done += parts
        if self._progress is not None:
            self._progress(self._done, self._total, what)


def prepared(judged: ScoredAnswers, about: ReportHeader) -> tuple[ScoredAnswers, ReportHeader]:
    """Both in the order of their own: what `parts_of`, `worked` and `assembled` want."""
    moved, rows = canonical(_checked(judged))
    rules = {name: CorpusRule(rule.sums[rows], rule.rule) for name, rule in about.rules.items()}
    return moved, replace(about, rules=rules)


def _checked(judged: ScoredAnswers) -> ScoredAnswers:
    """Scores that are numbers: what is not finite is missing; MetricError for what no arithmetic bears."""
    columns = {"the human scores": judged.human, **judged.metrics}
    finite = {name: np.where(np.isfinite(column), column, np.nan) for name, column in columns.items()}
    for name, column in finite.items():
        if (np.abs(column) > LARGEST).any():
            raise MetricError(
                f"{name}: scores beyond {LARGEST:g} are no scores of a metric or a person. Check the column."
            )
    return replace(judged, human=finite.pop("the human scores"), metrics=finite)


def parts_of(judged: ScoredAnswers, plan: Plan) -> list[Part]:
    """Everything that there is to do, in the order of the report."""
    known(plan.protocols)
    return [
        *(Part("metric", name) for name in sorted(judged.metrics)),
        *(Part("floor", name) for name in floors(judged)),
        Part("systems"),
        Part("length bias"),
        Part("ceiling"),
        *(Part("protocol", name) for name in dict.fromkeys(plan.protocols) if name != TABLE8),
    ]


def worked(judged: ScoredAnswers, plan: Plan, about: ReportHeader, part: Part) -> Result:
    """The result of one part: plain JSON, and the same wherever it is worked out."""
    match part.kind:
        case "metric":
            found = entry(judged, part.name, plan, about)
        case "floor":
            floor = floors(judged)[part.name]
            alone = replace(judged, metrics={part.name: floor.scores}, signatures={})
            found = entry(
                alone, part.name, plan, ReportHeader(titles={part.name: floor.title}), floor.without
            )
        case "systems":
            found = {"systems": _systems(judged, plan, about), "human": _human(judged)}
        case "length bias":
            found = _length_bias(judged, plan)
        case "ceiling":
            found = ceiling(judged, seed=plan.seed)
        case "protocol":
            found = protocol(part.name, judged, plan, about)
        case _:
            raise ValueError(f"no part {part}")
    result: Result = plain(found)
    return result


def _values(results: Mapping[Part, Result], plan: Plan) -> dict[tuple[str, str], dict[str, float | None]]:
    """The metrics' values by what they are compared in; without one where the plan leaves the figure out."""
    found: dict[tuple[str, str], dict[str, float | None]] = {}
    for comparison in plan.comparisons:
        values = found.setdefault((comparison.statistic, comparison.grouping), {})
        for part, result in results.items():
            if part.kind == "metric":
                figure = result.get(comparison.statistic, {})
                values[part.name] = figure.get(comparison.grouping, figure).get("value")
    return found


def assembled(
    judged: ScoredAnswers, plan: Plan, about: ReportHeader, results: Mapping[Part, Result], tested: Tests
) -> Result:
    """The report of all parts' results."""
    of: dict[str, dict[str, Result]] = {"metric": {}, "floor": {}, "protocol": {}}
    alone: dict[str, Result] = {}
    for part, result in sorted(results.items()):
        if part.kind in of:
            of[part.kind][part.name] = result
        else:
            alone[part.kind] = result
    bias = alone["length bias"]
    if TABLE8 in plan.protocols:
        of["protocol"][TABLE8] = table8(bias, judged.metrics)
    for kind in ("metric", "floor"):
        of[kind] = {
            name: {**entry, "length_bias": bias[f"{kind} {name}"]} for name, entry in of[kind].items()
        }
    report: Result = {
        "report": REPORT,
        "title": about.title,
        "source": about.source,
        "simulated": about.simulated,
        "distillery": about.distillery,
        "versions": {"numpy": np.__version__, **about.versions},
        "profile": about.profile,
        "models": [dict(each) for each in about.models],
        "seed": plan.seed,
        "replicates": plan.replicates,
        "draws": plan.draws,
        "scale": list(plan.scale),
        "gap": plan.clear,
        "signature": signature(plan),
        "n": _n(judged),
        "human": {**alone["systems"]["human"], "length_bias": bias[HUMAN]},
        "metrics": of["metric"],
        "tests": tested.said,
        "clusters": tested.clusters,
        "ceiling": alone["ceiling"],
        "floors": of["floor"],
        "systems": alone["systems"]["systems"],
        "types": breakdown.types(judged),
        "alpha": _alpha(about),
        "protocols": of["protocol"],
    }
    report["warnings"] = [*about.warnings, *warnings_of(report)]
    cleaned: Result = plain(report)
    return cleaned


def signature(plan: Plan) -> str:
    """All that decides on the figures but the scores, in one line to be cited."""
    low, high = plan.scale
    return (
        f"meta-evaluation|v:{plan.version}|boot:{plan.replicates}|perm:{plan.draws}|seed:{plan.seed}"
        f"|gap:{plan.clear:g}|scale:{low:g}-{high:g}"
    )


def _n(judged: ScoredAnswers) -> dict[str, int]:
    ratings = 0 if judged.raters is None else len(judged.raters.scores)
    return {
        "answers": len(judged),
        "questions": len(np.unique(judged.questions)),
        "systems": len(np.unique(judged.systems)),
        "scored": int(np.isfinite(judged.human).sum()),
        "ratings": ratings,
    }


def _systems(judged: ScoredAnswers, plan: Plan, about: ReportHeader) -> list[dict[str, Any]]:
    scores = {name: corpus(judged, name, about) for name in judged.metrics}
    return breakdown.systems(
        judged, scores, inferred=about.inferred, replicates=plan.replicates, seed=plan.seed
    )


def _length_bias(judged: ScoredAnswers, plan: Plan) -> dict[str, Any]:
    """Of people, metrics and floors; they share the draws, which is most of the work."""
    columns = {METRIC + name: judged.metrics[name] for name in sorted(judged.metrics)}
    columns |= {f"floor {name}": floor.scores for name, floor in floors(judged).items()}
    columns[HUMAN] = judged.human
    return length_bias(judged, columns, draws=plan.draws, seed=plan.seed)


def _human(judged: ScoredAnswers) -> dict[str, Any]:
    there = judged.human[np.isfinite(judged.human)]
    return {
        "n": len(there),
        "mean": float(there.mean()) if len(there) else None,
        "sd": float(there.std(ddof=1)) if len(there) > 1 else None,
    }


def _alpha(about: ReportHeader) -> dict[str, Any]:
    if about.alpha is None:
        return {"before": None, "after": None, "reason": about.no_alpha}
    before, after = about.alpha
    return {"before": before, "after": after}
