"""Reports of evaluations: by hand in the shape of `report.json`, or by the command, as small as can be."""

import io
import math
import random
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from django.core.management import call_command

from evaluations.table_evaluation import Points

NAMES = ("meteor", "bleu-1", "rouge-l", "cider", "bleu-4")
SYSTEMS = ("unified", "span", "retrieve")
TYPES = ("description", "numeric", "person")
WHY = "the scores are all the same"


def figure(value: float | None, half: float = 0.06, n: int = 900, **more: Any) -> dict[str, Any]:
    """A figure with an interval around it, or without a value for the reason that `WHY` says."""
    if value is None:
        return {"value": None, "ci": None, "n": n, "reason": WHY, **more}
    return {"value": value, "ci": [round(value - half, 4), round(value + half, 4)], "n": n, **more}


def entry(name: str, r: float | None, types: Sequence[str] = TYPES) -> dict[str, Any]:
    """What the report says of a metric whose global Pearson correlation is `r`."""

    def less(by: float, half: float = 0.06) -> dict[str, Any]:
        return figure(None if r is None else round(r - by, 4), half)

    correlations = {
        "global": less(0.0), "item": less(0.24, 0.1), "by_system": less(0.01), "system": less(-0.3),
    }  # fmt: skip
    return {
        "title": name.upper() if name in NAMES else name,
        "signature": f"metric:{name}|v:1|tok:ptb",
        "n": 900,
        "undefined": {"there is no reference": 3} if r is None else {},
        "corpus": {system: None if r is None else 0.2 + 0.1 * at for at, system in enumerate(SYSTEMS)},
        "pearson": correlations,
        "spearman": {key: figure(each["value"]) for key, each in correlations.items()},
        "kendall": {key: figure(each["value"], 0.05) for key, each in correlations.items()},
        "pair_acc": figure(None if r is None else round(0.5 + r / 6, 4), 0.03, 855, metric_ties=12),
        "acc_eq": figure(None if r is None else 0.51, 0.03),
        "acc_eq_cal": figure(None if r is None else 0.53, 0.03, epsilon=0.04, held_out=0.52),
        "rank_match": figure(None if r is None else 0.6, 0.05, gap=2, pairs=40, match=24, metric_ties=1),
        "pa": figure(None if r is None else 0.67, 0.1),
        "spa": figure(None if r is None else 0.71, 0.1),
        "by_type": {
            kind: {"n": 300, "pearson": less(0.03 * at), "spearman": less(0.05), "pair_acc": less(-0.1)}
            for at, kind in enumerate(types)
        },
        "length_bias": {
            "value": None if r is None else 0.08, "cut": 6, "near": {"n": 500, "mean": 0.31},
            "far": {"n": 400, "mean": 0.23}, "welch_p": 0.0004, "permutation_p": 0.0002,
            "length": less(0.5), "distance": less(0.7),
        },
    }  # fmt: skip


def make_report(
    metrics: dict[str, float | None] | None = None,
    systems: Sequence[str] = SYSTEMS,
    types: Sequence[str] = TYPES,
    **fields: Any,
) -> dict[str, Any]:
    """A whole report; `metrics` are names with their global Pearson correlation."""
    chosen = metrics or dict(zip(NAMES, (0.4225, 0.3493, 0.3091, 0.2751, 0.193), strict=True))
    tests = []
    for a, b in combinations(sorted(chosen), 2):
        one, other = chosen[a], chosen[b]
        delta = None if one is None or other is None else round(one - other, 4)
        p = None if delta is None else max(0.0001, round(math.exp(-40 * abs(delta)), 4))
        for method in ("perm_inputs", "williams"):
            tests.append(
                {"a": a, "b": b, "statistic": "pearson", "grouping": "global", "method": method,
                 "delta": delta, "p": p, "p_holm": None if p is None else min(1.0, 2 * p), "mdd": 0.052,
                 "n": 900}
            )  # fmt: skip
    human = {name: round(4.1 - 0.6 * at / max(1, len(systems) / 3), 3) for at, name in enumerate(systems)}
    return {
        "report": 1, "title": "Capitals 1.0.0", "source": "capitals/1.0.0", "distillery": "0.7.0",
        "versions": {"numpy": "2.4.0", "python": "3.11.9"}, "profile": "default", "seed": 7,
        "replicates": 1000, "draws": 9999, "scale": [1, 5],
        "n": {"answers": 900, "questions": 300, "systems": len(systems), "scored": 900, "ratings": 9000},
        "metrics": {name: entry(name, r, types) for name, r in chosen.items()},
        "tests": tests,
        "clusters": {"pearson|global": [sorted(chosen)[:1], sorted(chosen)[1:]]},
        "ceiling": {
            "leave_one_out": {"pearson": figure(0.71, 0.02), "spearman": figure(0.69, 0.02)},
            "split_half": {"pearson": figure(0.83, 0.02), "spearman": figure(0.82, 0.02)},
        },
        "floors": {
            "length": {**entry("length", 0.12, types), "title": "Length"},
            "length-difference": {**entry("length-difference", 0.18, types), "title": "-|length difference|"},
        },
        "systems": [
            {"name": name, "inferred": False, "n": 300,
             "human": {"value": human[name], "ci": [human[name] - 0.11, human[name] + 0.11]},
             "metrics": {metric: {"mean": None if r is None else 0.2 + human[name] / 10 + 0.01 * at,
                                  "corpus": None if r is None else 0.1 + human[name] / 10,
                                  "pearson": figure(r), "spearman": figure(r)}
                         for at, (metric, r) in enumerate(chosen.items())}}
            for name in systems
        ],
        "types": [{"name": name, "n": 300} for name in types],
        "alpha": {"before": 0.41, "after": 0.72},
        "protocols": {},
        "warnings": ["There are 3 systems; correlations of system means say little below 4."],
        **fields,
    }  # fmt: skip


def make_points(report: dict[str, Any], n: int = 600, seed: int = 3) -> Points:
    """Answers whose metrics go with people about as the report says."""
    chance = random.Random(seed)
    human = [round(chance.choice((1, 1.5, 2, 3, 4, 4.5, 5)) + chance.uniform(-0.2, 0.2), 2) for _ in range(n)]
    return Points(
        human=[min(5.0, max(1.0, each)) for each in human],
        metrics={
            name: [
                None if said["pearson"]["global"]["value"] is None
                else min(1.0, max(0.0, 0.1 + 0.08 * each + chance.gauss(0, 0.18)))
                for each in human
            ]
            for name, said in report["metrics"].items()
        },
        systems=[chance.choice(SYSTEMS) for _ in range(n)],
        types=[chance.choice(TYPES) for _ in range(n)],
        of=n,
    )  # fmt: skip


def evaluate(data: Path, *, metric: str = "rouge-1") -> tuple[Path, str]:
    """The folder of the report on a table or a release, beside it, and what the terminal shows."""
    terminal, folder = io.StringIO(), data.parent / "report"
    call_command(
        "evaluate", str(data), "--report", str(folder), "--metrics", metric, "--replicates", "0",
        "--draws", "9", "--processes", "1", stdout=terminal,
    )  # fmt: skip
    return folder, terminal.getvalue()
