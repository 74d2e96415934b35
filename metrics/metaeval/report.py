"""The whole meta-evaluation: from scores to the report that is written to report.json.

The work falls into parts that know nothing of each other: an entry for each metric and each floor, the tests,
the ceiling, each protocol. A spread does them here, in processes or on other machines; a part's result is
plain JSON and the same wherever it is worked out.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from metrics.errors import MetricError
from metrics.figure import Figure
from metrics.metaeval import breakdown
from metrics.metaeval.bootstrap import Interval, Key, Wanted, intervals
from metrics.metaeval.breakdown import HUMAN, by_type, length_bias
from metrics.metaeval.ceiling import ceiling, floors
from metrics.metaeval.correlation import NO_SCORES, STATISTICS, correlation
from metrics.metaeval.data import Floats, Rows, ScoredAnswers, canonical, rows_of
from metrics.metaeval.executor import PartRunner, in_process
from metrics.metaeval.pairwise import (
    PAIR_STATISTICS,
    PairStatistic,
    accuracy_with_ties,
    calibrated,
    matched,
    pair_accuracy,
    pairwise_accuracy,
    soft_accuracy,
)
from metrics.metaeval.plan import METRIC, TABLE8, Comparison, CorpusRule, Plan, ReportHeader
from metrics.metaeval.significance import Tests, parts_of_tests, tests

# The last step before a file: only numbers that JSON knows.


def plain(value: Any) -> Any:
    """The same without numpy's types; numbers that are not finite become null."""
    if isinstance(value, dict):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


# One metric's entry in the report: how well it agrees with people, in every way that the report has.

#: Groupings under which a floor may be excused from the figures that compare answers to the same question.
PAIRS = "pairs"
NO_REASON = "no reason was given"
_OF_SYSTEMS = ("pa", "spa")


def entry(
    answers: ScoredAnswers,
    name: str,
    plan: Plan,
    about: ReportHeader,
    without: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """The figures of the metric `name` of `answers`.

    `without` names groupings (and `pairs`) whose figures mean nothing for this metric, with the reason.
    """
    rows, scores = rows_of(answers, [name]).of(name)
    reach = _intervals(answers, name, plan)
    figures: dict[str, Any] = {
        "title": about.titles.get(name, name),
        "signature": answers.signatures.get(name, ""),
        "n": len(rows),
        "undefined": undefined(answers, name, about),
        "corpus": corpus(answers, name, about),
        "most_common": most_common(scores),
    }
    for statistic in plan.statistics:
        figures[statistic] = {
            grouping: replace(
                correlation(rows, scores, statistic, grouping), ci=reach.get((name, statistic, grouping))
            ).as_json()
            for grouping in plan.groupings
        }
    for statistic_of_pairs in PAIR_STATISTICS:
        reach_of_pairs = reach.get((name, statistic_of_pairs, "item"))
        figures[statistic_of_pairs] = _of_pairs(statistic_of_pairs, rows, scores, plan, reach_of_pairs)
    of_systems = pairwise_accuracy(rows, scores)
    figures["pa"] = replace(of_systems, ci=reach.get((name, "pa", "system"))).as_json()
    figures["spa"] = soft_accuracy(rows, scores, seed=plan.seed).as_json()
    figures["by_type"] = by_type(answers, name, replicates=plan.replicates, seed=plan.seed)
    return _excused(figures, without or {})


def _excused(figures: dict[str, Any], without: Mapping[str, str]) -> dict[str, Any]:
    """The entry without the figures that mean nothing."""
    for grouping, reason in without.items():
        none = Figure(None, reason).as_json()
        for statistic in STATISTICS:
            if grouping in figures.get(statistic, {}):
                figures[statistic][grouping] = none
        if grouping == PAIRS:
            figures.update(dict.fromkeys(PAIR_STATISTICS, none))
            for of_type in figures["by_type"].values():
                of_type["pair_acc"] = none
        if grouping == "system":
            figures.update(dict.fromkeys(_OF_SYSTEMS, none))
    return figures


def _of_pairs(
    statistic: PairStatistic, rows: Rows, scores: Floats, plan: Plan, ci: Interval | None
) -> dict[str, Any]:
    match statistic:
        case "pair_acc":
            return pair_accuracy(rows, scores).within(ci).as_json()
        case "acc_eq":
            return replace(accuracy_with_ties(rows, scores), ci=ci).as_json()
        case "acc_eq_cal":
            return calibrated(rows, scores, seed=plan.seed).within(ci).as_json()
        case "rank_match":
            return matched(rows, scores, plan.clear).within(ci).as_json()


def _intervals(answers: ScoredAnswers, name: str, plan: Plan) -> Mapping[Key, Interval]:
    """Of all figures of a metric, from the same samples as those of every other metric."""
    statistics: Wanted = (
        *((statistic, grouping) for statistic in plan.statistics for grouping in plan.groupings),
        *((statistic, "item") for statistic in PAIR_STATISTICS),
        ("pa", "system"),
    )
    return intervals(
        answers, [name], replicates=plan.replicates, seed=plan.seed, statistics=statistics, gap=plan.clear
    )


def undefined(answers: ScoredAnswers, name: str, about: ReportHeader) -> dict[str, int]:
    """How many answers have no score, by reason."""
    missing = int((~np.isfinite(answers.metrics[name])).sum())
    reasons = {reason: count for reason, count in sorted(about.undefined.get(name, {}).items()) if count}
    rest = missing - sum(reasons.values())
    return {**reasons, NO_REASON: rest} if rest > 0 else reasons


def most_common(scores: Floats) -> dict[str, Any]:
    """The score that most answers get (the lowest of several), and their share."""
    if not len(scores):
        return {"value": None, "share": None, "reason": NO_SCORES}
    values, counts = np.unique(scores, return_counts=True)
    place = int(counts.argmax())
    return {"value": float(values[place]), "share": float(counts[place] / len(scores))}


def corpus(answers: ScoredAnswers, name: str, about: ReportHeader) -> dict[str, float | None]:
    """The metric's score of each system as a whole; null where it has none but the mean."""
    by_system = about.corpus.get(name, {})
    return {system: by_system.get(system) for system in answers.system_names}


# What a reader must know before quoting the report, in sentences.

FEW_SYSTEMS = 4
FEW_FOR_SYSTEM_LEVEL = 10
FEW_QUESTIONS = 100
MANY_TIES = 0.1
MOST = 0.5
MANY_UNDEFINED = 0.05


def warnings_of(report: dict[str, Any]) -> list[str]:
    """Sentences, the gravest first; none where there is nothing to say."""
    n = report["n"]
    if not n["scored"]:
        return ["No answer has a human score: nothing can be said about any metric."]
    return [*_size(report), *_questions(report), *_metrics(report), *_floors(report)]


def _size(report: dict[str, Any]) -> list[str]:
    n, warnings = report["n"], []
    if n["scored"] < n["answers"]:
        left = n["answers"] - n["scored"]
        warnings.append(f"{left:,} of {n['answers']:,} answers have no human score and were left out.")
    if n["systems"] < FEW_SYSTEMS:
        warnings.append(
            f"There {_are(n['systems'], 'system')}. Figures of the system level mean little below "
            f"{FEW_SYSTEMS} systems."
        )
    elif n["systems"] < FEW_FOR_SYSTEM_LEVEL:
        warnings.append(
            f"There {_are(n['systems'], 'system')}. Figures of the system level rest on as many points: read "
            "their intervals, not their values."
        )
    if n["questions"] < FEW_QUESTIONS:
        warnings.append(
            f"There {_are(n['questions'], 'question')}: intervals are wide, and most differences are missed."
        )
    if any(system["inferred"] for system in report["systems"]):
        warnings.append(
            "Systems are not named in the data. They were inferred from the order of the rows: the t-th "
            "answer to a question is taken as system t's."
        )
    if report["human"]["sd"] == 0:
        warnings.append("All human scores are the same: no correlation with them exists.")
    return warnings


def _questions(report: dict[str, Any]) -> list[str]:
    """Whether answers to the same question can be compared at all."""
    n_questions = report["n"]["questions"]
    # A floor such as the length is there for each answer, also where no metric has a score.
    scored = [*report["metrics"].values(), *report["floors"].values()]
    compared = [entry["pair_acc"]["n"] for entry in scored if "n" in entry["pair_acc"]]
    if not compared:
        return []
    if not max(compared):
        return [
            "No two answers to one question got different human scores: nothing can be said about the order "
            "of answers within a question, which is what comparing systems needs."
        ]
    within = [
        entry["pearson"]["item"]["n"]
        for entry in report["metrics"].values()
        if "item" in entry.get("pearson", {})
    ]
    if within and 0 < max(within) < n_questions / 2:
        return [
            f"Figures within questions (item) rest on {max(within):,} of {n_questions:,} questions: in the "
            "others people or the metrics tell no answers apart."
        ]
    return []


def _turned_round(report: dict[str, Any]) -> list[str]:
    return [
        f"{name} agrees with people most closely of all, but the other way round (r = {_global(entry):.3f}). "
        f"If lower values are better, say so: --lower-better {name}."
        for name, entry in report["metrics"].items()
        if _is_turned(report, name)
    ]


def _is_turned(report: dict[str, Any], name: str) -> bool:
    """Whether scores of another tool agree best of all with people, where they are lowest."""
    entry = report["metrics"][name]
    r = _global(entry)
    closest = max(abs(_global(each) or 0) for each in report["metrics"].values())
    return r is not None and -r == closest > 0 and str(entry["signature"]).endswith("|external")


def _metrics(report: dict[str, Any]) -> list[str]:
    warnings = [*_turned_round(report), *_without_scores(report)]
    for name, entry in report["metrics"].items():
        common = entry["most_common"]
        if common["share"] is not None and MOST <= common["share"] < 1:
            warnings.append(
                f"{name} gives {common['share']:.0%} of the answers the same score, {common['value']:g}: "
                "correlations of such scores cannot be high."
            )
        pairs = entry["pair_acc"]
        if pairs["value"] is not None and pairs["metric_ties"] > MANY_TIES * pairs["n"]:
            tied = f"{pairs['metric_ties']:,} of {pairs['n']:,}"
            warnings.append(
                f"{name} gives the same score to both answers in {tied} pairs that people tell apart; each "
                "counts as a miss. Read acc_eq_cal beside it."
            )
    return warnings


def _without_scores(report: dict[str, Any]) -> list[str]:
    """Metrics without scores of many answers; those that lack as many for the same reasons together."""
    alike: dict[tuple[int, str], list[str]] = {}
    answers = report["n"]["answers"]
    for name, entry in report["metrics"].items():
        missing = sum(entry["undefined"].values())
        if missing > MANY_UNDEFINED * answers:
            why = "; ".join(f"{reason}: {count:,}" for reason, count in entry["undefined"].items())
            alike.setdefault((missing, why), []).append(name)
    warnings = []
    for (missing, why), names in alike.items():
        few = f"no score for {missing:,} of {answers:,} answers ({why})"
        if len(names) == len(report["metrics"]) > 1:
            warnings.append(f"No metric has a score for {missing:,} of {answers:,} answers ({why}).")
        elif len(names) == 1:
            warnings.append(
                f"{names[0]} has {few}. Its figures are about the others, so they do not compare with those "
                "of metrics that score all."
            )
        else:
            warnings.append(
                f"{', '.join(names)} have {few}. Their figures are about the others, so they do not compare "
                "with those of metrics that score all."
            )
    return warnings


def _floors(report: dict[str, Any]) -> list[str]:
    """Metrics that do not beat a floor, and floors that do well."""
    warnings = []
    for floor, entry in report["floors"].items():
        value = _global(entry)
        if value is None or value <= 0:
            continue
        beaten = [
            name
            for name, metric in report["metrics"].items()
            if _below(_global(metric), value) and not _is_turned(report, name)
        ]
        if beaten:
            rests = f"r = {value:.3f}, n = {entry['pearson']['global']['n']:,}"
            warnings.append(f"No better than the floor “{floor}” ({rests}): {', '.join(beaten)}.")
    return warnings


def _global(entry: dict[str, Any]) -> float | None:
    value: float | None = entry.get("pearson", {}).get("global", {}).get("value")
    return value


def _below(value: float | None, floor: float) -> bool:
    return value is not None and value <= floor


def _are(count: int, what: str) -> str:
    return f"is 1 {what}" if count == 1 else f"are {count:,} {what}s"


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
    answers: ScoredAnswers,
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
    answers, about = prepared(answers, about or ReportHeader())
    parts = parts_of(answers, plan)

    # Rules are functions of any kind, which may not travel: what needs them is done here, at the end.
    local = [part for part in parts if about.rules and part in NEED_RULES]
    away = [part for part in parts if part not in local]
    count = Count(len(parts) + parts_of_tests(answers, plan), progress)
    work = partial(worked, answers, plan, replace(about, rules={}))
    results = dict(
        zip(away, spread(work, away, lambda done: count.more(1, str(away[done - 1]))), strict=True)
    )
    for part in local:
        results[part] = worked(answers, plan, about, part)
        count.more(1, str(part))
    tested = tests(answers, plan, _values(results, plan), spread=spread, done=count.more)
    return assembled(answers, plan, about, results, tested)


class Count:
    """How many of the parts are done, told to whoever wants to know."""

    def __init__(self, total: int, progress: Progress | None) -> None:
        self._done, self._total, self._progress = 0, total, progress

    def more(self, parts: int, what: str) -> None:
        """So many more are done, the last of them this."""
        self._done += parts
        if self._progress is not None:
            self._progress(self._done, self._total, what)


def prepared(answers: ScoredAnswers, about: ReportHeader) -> tuple[ScoredAnswers, ReportHeader]:
    """Both in the order of their own: what `parts_of`, `worked` and `assembled` want."""
    moved, rows = canonical(_checked(answers))
    rules = {name: CorpusRule(rule.sums[rows], rule.rule) for name, rule in about.rules.items()}
    return moved, replace(about, rules=rules)


def _checked(answers: ScoredAnswers) -> ScoredAnswers:
    """Scores that are numbers: what is not finite is missing; MetricError for what no arithmetic bears."""
    columns = {"the human scores": answers.human, **answers.metrics}
    finite = {name: np.where(np.isfinite(column), column, np.nan) for name, column in columns.items()}
    for name, column in finite.items():
        if (np.abs(column) > LARGEST).any():
            raise MetricError(
                f"{name}: scores beyond {LARGEST:g} are no scores of a metric or a person. Check the column."
            )
    return replace(answers, human=finite.pop("the human scores"), metrics=finite)


def parts_of(answers: ScoredAnswers, plan: Plan) -> list[Part]:
    """Everything that there is to do, in the order of the report."""
    if plan.protocols:
        from metrics.metaeval.papers import refuse_unknown_protocols  # noqa: PLC0415 - only where a paper's protocol is asked for

        refuse_unknown_protocols(plan.protocols)
    return [
        *(Part("metric", name) for name in sorted(answers.metrics)),
        *(Part("floor", name) for name in floors(answers)),
        Part("systems"),
        Part("length bias"),
        Part("ceiling"),
        *(Part("protocol", name) for name in dict.fromkeys(plan.protocols) if name != TABLE8),
    ]


def worked(answers: ScoredAnswers, plan: Plan, about: ReportHeader, part: Part) -> Result:
    """The result of one part: plain JSON, and the same wherever it is worked out."""
    match part.kind:
        case "metric":
            section = entry(answers, part.name, plan, about)
        case "floor":
            floor = floors(answers)[part.name]
            alone = replace(answers, metrics={part.name: floor.scores}, signatures={})
            section = entry(
                alone, part.name, plan, ReportHeader(titles={part.name: floor.title}), floor.without
            )
        case "systems":
            section = {"systems": _systems(answers, plan, about), "human": _human(answers)}
        case "length bias":
            section = _length_bias(answers, plan)
        case "ceiling":
            section = ceiling(answers, seed=plan.seed)
        case "protocol":
            from metrics.metaeval.papers import protocol  # noqa: PLC0415 - as above

            section = protocol(part.name, answers, plan, about)
        case _:
            raise ValueError(f"no part {part}")
    result: Result = plain(section)
    return result


def _values(results: Mapping[Part, Result], plan: Plan) -> dict[tuple[str, str], dict[str, float | None]]:
    """The metrics' values by what they are compared in; without one where the plan leaves the figure out."""
    by_statistic: dict[tuple[str, str], dict[str, float | None]] = {}
    for comparison in plan.comparisons:
        values = by_statistic.setdefault((comparison.statistic, comparison.grouping), {})
        for part, result in results.items():
            if part.kind == "metric":
                figure = result.get(comparison.statistic, {})
                values[part.name] = figure.get(comparison.grouping, figure).get("value")
    return by_statistic


def assembled(
    answers: ScoredAnswers, plan: Plan, about: ReportHeader, results: Mapping[Part, Result], tested: Tests
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
        from metrics.metaeval.papers import table8  # noqa: PLC0415 - as above

        of["protocol"][TABLE8] = table8(bias, answers.metrics)
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
        "n": _n(answers),
        "human": {**alone["systems"]["human"], "length_bias": bias[HUMAN]},
        "metrics": of["metric"],
        "tests": tested.entries,
        "clusters": tested.clusters,
        "ceiling": alone["ceiling"],
        "floors": of["floor"],
        "systems": alone["systems"]["systems"],
        "types": breakdown.types(answers),
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


def _n(answers: ScoredAnswers) -> dict[str, int]:
    ratings = 0 if answers.raters is None else len(answers.raters.scores)
    return {
        "answers": len(answers),
        "questions": len(np.unique(answers.questions)),
        "systems": len(np.unique(answers.systems)),
        "scored": int(np.isfinite(answers.human).sum()),
        "ratings": ratings,
    }


def _systems(answers: ScoredAnswers, plan: Plan, about: ReportHeader) -> list[dict[str, Any]]:
    scores = {name: corpus(answers, name, about) for name in answers.metrics}
    return breakdown.systems(
        answers, scores, inferred=about.inferred, replicates=plan.replicates, seed=plan.seed
    )


def _length_bias(answers: ScoredAnswers, plan: Plan) -> dict[str, Any]:
    """Of people, metrics and floors; they share the draws, which is most of the work."""
    columns = {METRIC + name: answers.metrics[name] for name in sorted(answers.metrics)}
    columns |= {f"floor {name}": floor.scores for name, floor in floors(answers).items()}
    columns[HUMAN] = answers.human
    return length_bias(answers, columns, draws=plan.draws, seed=plan.seed)


def _human(answers: ScoredAnswers) -> dict[str, Any]:
    finite = answers.human[np.isfinite(answers.human)]
    return {
        "n": len(finite),
        "mean": float(finite.mean()) if len(finite) else None,
        "sd": float(finite.std(ddof=1)) if len(finite) > 1 else None,
    }


def _alpha(about: ReportHeader) -> dict[str, Any]:
    if about.alpha is None:
        return {"before": None, "after": None, "reason": about.no_alpha}
    before, after = about.alpha
    return {"before": before, "after": after}
