"""What to write into a paper: figures of a report as sentences that do not mislead, with their intervals."""

from collections.abc import Mapping
from math import sqrt
from typing import Any

from metrics.figure import NONE, counted

#: How the overall score is called among aspects; no aspect may have this name.
OVERALL = "score"


def quotes(report: Mapping[str, Any]) -> list[str]:
    """Sentences, the figure to quote first."""
    return [*_reliability(report), *_alpha(report["alpha"], report), *_after_z(report["alpha"]["after_z"])]


def figure(value: float | None) -> str:
    """A statistic with three digits; a dash where there is none."""
    return NONE if value is None else f"{value:.3f}"


def interval(ci: list[float] | None) -> str:
    """Bounds in brackets, or nothing."""
    return "" if ci is None else f" [{ci[0]:.3f}, {ci[1]:.3f}]"


def _reliability(report: Mapping[str, Any]) -> list[str]:
    section = report["reliability"]
    kept_per_item = report["kept"]["mean_per_item"]
    per_item = (
        f"{kept_per_item:.1f} kept ratings per item on average"
        if kept_per_item is not None
        else "no kept ratings"
    )
    if section["spearman_brown"] is None:
        why = section["reason"]["spearman_brown"]
        return [f"Nothing can be quoted: the published means have no reliability, because {why}; {per_item}."]
    ci = section.get("ci")
    ends = f", 95 % interval {ci[0]:.3f} to {ci[1]:.3f}" if ci else ""
    quoted = (
        f"Quote this: the published means have a reliability of {figure(section['spearman_brown'])}{ends} "
        f"(split-half, Spearman-Brown, mean of {section['splits']} splits; workers judged on other items, "
        f"responses filtered inside each half), with {per_item}."
    )
    return [" ".join([quoted, *section.get("cautions", ())])]


def _alpha(alpha: Mapping[str, Any], report: Mapping[str, Any]) -> list[str]:
    before, after = alpha["before"], alpha["after_workers"]
    if before["interval"] is None:
        return [f"Krippendorff's alpha before filtering: {before['reason']['interval']}."]
    sentences = [
        f"Krippendorff's alpha (interval) before filtering: "
        f"{figure(before['interval'])}{interval(before['ci'])}."
    ]
    removed = int(after["removes"])
    if not removed:
        return sentences
    if after["cross_fitted"] is None:
        why = after["reason"]["cross_fitted"]
        return [
            *sentences,
            f"After removing {counted(removed, 'worker')} of {report['n_workers']:,}: cross-fitted "
            f"alpha {why}.",
        ]
    return [
        *sentences,
        f"After removing {counted(removed, 'worker')} of {report['n_workers']:,}: "
        f"{figure(after['cross_fitted'])} "
        f"cross-fitted ({figure(after['interval'])}{interval(after['ci'])} on the ratings that the "
        "workers were judged by).",
    ]


def _after_z(after: Mapping[str, Any]) -> list[str]:
    if after["interval"] is None or after["null"] is None:
        return []
    return [
        f"After removing single responses by z, alpha is {figure(after['interval'])}. That is no agreement "
        f"between people: the same filter makes {figure(after.get('expected'))} of crowds that agree as "
        f"much as yours did before it, and {figure(after['null'])} of ratings that were permuted within "
        "worker. Never quote the first of these figures without the other two."
    ]


#: Of the standard normal distribution: two-sided 95 %.
Z = 1.959963984540054


def wilson(successes: int, n: int) -> tuple[float, float] | None:
    """Wilson's 95 % score interval of a proportion (JASA 22, 1927); None without cases.

    It stays inside 0 to 1 and has a width also where all cases are alike.
    """
    if n == 0:
        return None
    share = successes / n
    middle = (share + Z * Z / (2 * n)) / (1 + Z * Z / n)
    half = Z / (1 + Z * Z / n) * sqrt(share * (1 - share) / n + Z * Z / (4 * n * n))
    return max(0.0, middle - half), min(1.0, middle + half)
