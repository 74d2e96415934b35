"""The honest report as one page that needs nothing else: no script, no file beside it, no network."""

from collections.abc import Mapping
from typing import Any

from django.template.loader import render_to_string

from judgments.reporting.plots import Bars, Intervals, Series, bars, binned, intervals
from judgments.reporting.summary import aspect_gaps, aspect_rows, rows, title
from metrics.agreement.quotes import quotes

_MOST_WORKERS = 200
_MOST_BARS = 30
_BIN = 0.1


def page_of(report: Mapping[str, Any]) -> str:
    """The page as HTML; texts of the file are escaped by the template."""
    return render_to_string(
        "judgments/filter_report.html",
        {
            "report": report,
            "title": title(report),
            "quotes": quotes(report),
            "alphas": [
                {
                    "words": words,
                    "figures": figures,
                    "beside": beside,
                    "agreement": report["agreement"].get(key),
                }
                for words, figures, beside, key in _alphas(report)
            ],
            "aspects": [
                {"name": name, "step": step, "figures": figures}
                for name, step, figures in aspect_rows(report)
            ],
            "aspect_gaps": aspect_gaps(report),
            "alpha_plot": _alpha_plot(report["alpha"]),
            "score_plot": _score_plot(report["scores"]),
            "kappa_plot": _kappa_plot(report["workers"]),
            "kept_plot": _kept_plot(report["kept"]["items_by_n"]),
            "groups": _groups(report["removed"]),
            "workers": report["workers"][:_MOST_WORKERS],
            "more_workers": max(0, len(report["workers"]) - _MOST_WORKERS),
            "undetermined": len({each["worker"] for each in report["undetermined_workers"]}),
        },
    )


def _alphas(report: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any], str, str]]:
    keys = {"before": "before", "after worker removal": "after_workers", "after response z": "after_z"}
    return [(words, figures, beside, keys[words]) for words, figures, beside in rows(report["alpha"])]


def _alpha_plot(alpha: Mapping[str, Any]) -> Intervals:
    before, after, after_z = alpha["before"], alpha["after_workers"], alpha["after_z"]
    figures = [("before", before["interval"], before["ci"], "plain")]
    if after["removes"]:
        figures += [
            ("after worker removal", after["interval"], after["ci"], "plain"),
            ("the same, cross-fitted", after["cross_fitted"], None, "good"),
        ]
    if after_z["interval"] is not None:
        figures += [
            ("after response z", after_z["interval"], after_z["ci"], "faint"),
            ("null: the same filter on noise", after_z["null"], None, "bad"),
            ("the same filter on crowds of your alpha", after_z["expected"], None, "faint"),
        ]
    return intervals(figures)


def _score_plot(scores: Mapping[str, Mapping[str, int]]) -> Bars:
    names = list(scores["before"])
    width = -(-len(names) // _MOST_BARS)
    starts = range(0, len(names), width)
    labels = [
        names[at] if width == 1 else f"{names[at]} to {names[min(at + width, len(names)) - 1]}"
        for at in starts
    ]
    before, kept = (list(scores[which].values()) for which in ("before", "kept"))
    return bars(
        labels,
        [
            Series("ratings before", "faint", [sum(before[at : at + width]) for at in starts]),
            Series("ratings kept", "good", [sum(kept[at : at + width]) for at in starts]),
        ],
    )


def _kappa_plot(workers: list[dict[str, Any]]) -> Bars | None:
    known = [each for each in workers if each["kappa"] is not None]
    labels, places = binned([each["kappa"] for each in known], _BIN)
    if not labels:
        return None
    stays, goes = [0] * len(labels), [0] * len(labels)
    for each, place in zip(known, places, strict=True):
        (goes if each["verdict"].startswith("removed") else stays)[place] += 1
    return bars(
        labels, [Series("workers kept", "good", stays), Series("workers removed", "bad", goes)], stacked=True
    )


def _kept_plot(by_n: Mapping[str, int]) -> Bars:
    numbers = {int(n): count for n, count in by_n.items()}
    most = max(numbers, default=0)
    width = -(-(most + 1) // _MOST_BARS)
    labels, counts = [], []
    for low in range(0, most + 1, width):
        high = low + width - 1
        labels.append(str(low) if width == 1 else f"{low}-{high}")
        counts.append(sum(numbers.get(n, 0) for n in range(low, high + 1)))
    return bars(labels, [Series("items", "good", counts)])


def _groups(removed: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "rows": [{"label": each[name], **each} for each in removed[f"by_{name}"]],
        }
        for name in ("system", "type")
        if f"by_{name}" in removed
    ]
