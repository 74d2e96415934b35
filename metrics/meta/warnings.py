"""What a reader must know before quoting the report, in sentences."""

from typing import Any

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
    n, said = report["n"], []
    if n["scored"] < n["answers"]:
        left = n["answers"] - n["scored"]
        said.append(f"{left:,} of {n['answers']:,} answers have no human score and were left out.")
    if n["systems"] < FEW_SYSTEMS:
        said.append(
            f"There {_are(n['systems'], 'system')}. Figures of the system level mean little below "
            f"{FEW_SYSTEMS} systems."
        )
    elif n["systems"] < FEW_FOR_SYSTEM_LEVEL:
        said.append(
            f"There {_are(n['systems'], 'system')}. Figures of the system level rest on as many points: read "
            "their intervals, not their values."
        )
    if n["questions"] < FEW_QUESTIONS:
        said.append(
            f"There {_are(n['questions'], 'question')}: intervals are wide, and most differences are missed."
        )
    if any(system["inferred"] for system in report["systems"]):
        said.append(
            "Systems are not named in the data. They were inferred from the order of the rows: the t-th "
            "answer to a question is taken as system t's."
        )
    if report["human"]["sd"] == 0:
        said.append("All human scores are the same: no correlation with them exists.")
    return said


def _questions(report: dict[str, Any]) -> list[str]:
    """Whether answers to the same question can be compared at all."""
    asked = report["n"]["questions"]
    compared = [entry["pair_acc"]["n"] for entry in report["metrics"].values() if "n" in entry["pair_acc"]]
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
    if within and 0 < max(within) < asked / 2:
        return [
            f"Figures within questions (item) rest on {max(within):,} of {asked:,} questions: in the others "
            "people or the metrics tell no answers apart."
        ]
    return []


def _metrics(report: dict[str, Any]) -> list[str]:
    said = _without_scores(report)
    for name, entry in report["metrics"].items():
        common = entry["most_common"]
        if common["share"] is not None and MOST <= common["share"] < 1:
            said.append(
                f"{name} gives {common['share']:.0%} of the answers the same score, {common['value']:g}: "
                "correlations of such scores cannot be high."
            )
        pairs = entry["pair_acc"]
        if pairs["value"] is not None and pairs["metric_ties"] > MANY_TIES * pairs["n"]:
            tied = f"{pairs['metric_ties']:,} of {pairs['n']:,}"
            said.append(
                f"{name} gives the same score to both answers in {tied} pairs that people tell apart; each "
                "counts as a miss. Read acc_eq_cal beside it."
            )
    return said


def _without_scores(report: dict[str, Any]) -> list[str]:
    """Metrics without scores of many answers; those that lack as many for the same reasons together."""
    alike: dict[tuple[int, str], list[str]] = {}
    answers = report["n"]["answers"]
    for name, entry in report["metrics"].items():
        missing = sum(entry["undefined"].values())
        if missing > MANY_UNDEFINED * answers:
            why = "; ".join(f"{reason}: {count:,}" for reason, count in entry["undefined"].items())
            alike.setdefault((missing, why), []).append(name)
    said = []
    for (missing, why), names in alike.items():
        few = f"no score for {missing:,} of {answers:,} answers ({why})"
        if len(names) == len(report["metrics"]) > 1:
            said.append(f"No metric has a score for {missing:,} of {answers:,} answers ({why}).")
        elif len(names) == 1:
            said.append(
                f"{names[0]} has {few}. Its figures are about the others, so they do not compare with those "
                "of metrics that score all."
            )
        else:
            said.append(
                f"{', '.join(names)} have {few}. Their figures are about the others, so they do not compare "
                "with those of metrics that score all."
            )
    return said


def _floors(report: dict[str, Any]) -> list[str]:
    """Metrics that do not beat a floor, and floors that do well."""
    said = []
    for floor, entry in report["floors"].items():
        value = _global(entry)
        if value is None or value <= 0:
            continue
        beaten = [name for name, metric in report["metrics"].items() if _below(_global(metric), value)]
        if beaten:
            said.append(f"No better than the floor “{floor}” (r = {value:.3f}): {', '.join(beaten)}.")
    return said


def _global(entry: dict[str, Any]) -> float | None:
    value: float | None = entry.get("pearson", {}).get("global", {}).get("value")
    return value


def _below(value: float | None, floor: float) -> bool:
    return value is not None and value <= floor


def _are(count: int, what: str) -> str:
    return f"is 1 {what}" if count == 1 else f"are {count:,} {what}s"
