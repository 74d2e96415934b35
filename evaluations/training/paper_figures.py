"""What Lowe et al. 2017 print of their own data (4,104 answers to 1,026 contexts of Twitter).

To stand beside figures of other data; theirs were not published.
"""

from typing import Any

#: Table 3: Spearman and Pearson; the first part is all data, of trained metrics the validation set.
TABLE3: dict[str, dict[str, tuple[float, float]]] = {
    "bleu-1": {"full": (0.026, 0.055), "test": (0.036, 0.074)},
    "bleu-2": {"full": (0.039, 0.081), "test": (0.051, 0.120)},
    "bleu-3": {"full": (0.045, 0.043), "test": (0.051, 0.073)},
    "bleu-4": {"full": (0.051, 0.025), "test": (0.063, 0.073)},
    "rouge-l": {"full": (0.062, 0.114), "test": (0.096, 0.147)},
    "meteor": {"full": (0.021, 0.022), "test": (0.013, 0.021)},
    "embedding": {"full": (-0.035, -0.030), "test": (-0.091, -0.010)},
    "c-adem": {"validation": (0.272, 0.238), "test": (0.293, 0.303)},
    "r-adem": {"validation": (0.428, 0.383), "test": (0.409, 0.392)},
    "adem": {"validation": (0.436, 0.389), "test": (0.414, 0.395)},
}
#: Table 4: Pearson of four systems' means.
TABLE4 = {
    "bleu-1": -0.079,
    "bleu-2": 0.308,
    "bleu-3": -0.537,
    "bleu-4": -0.536,
    "rouge-l": 0.268,
    "adem": 0.981,
}
#: Table 5: Spearman and Pearson on the whole test set and on the removed system's answers.
TABLE5: dict[str, dict[str, tuple[float, float]]] = {
    "average": {"full": (0.4069, 0.3938), "removed": (0.4164, 0.3982)},
    "at_random": {"full": (0.4077, 0.3932)},
}
#: Table 6: the counts of its cascade.
TABLE6 = {
    "answers": 616, "good": 237, "overlap_fails": 146, "metric_finds": 60, "metric_fails": 42,
    "overlap_finds": 14,
}  # fmt: skip
#: Table 8: means near and far, and p.
TABLE8 = {
    "rouge-l": (0.042, 0.031, "< .01"), "bleu-2": (0.0022, 0.0007, ".23"), "adem": (2.072, 2.015, ".23"),
    "human": (2.671, 2.698, ".83"),
}  # fmt: skip
#: Table 14: Spearman and Pearson at shares of the training data.
TABLE14: dict[float, tuple[float, float]] = {
    1.0: (0.414, 0.395), 0.75: (0.408, 0.393), 0.5: (0.400, 0.391), 0.25: (0.330, 0.331),
    0.1: (0.245, 0.265), 0.05: (0.098, 0.161),
}  # fmt: skip


def as_json() -> dict[str, Any]:
    """As JSON has it."""

    def two(pair: tuple[float, float]) -> dict[str, float]:
        return {"spearman": pair[0], "pearson": pair[1]}

    def parts(of: dict[str, tuple[float, float]]) -> dict[str, Any]:
        return {name: two(pair) for name, pair in of.items()}

    return {
        "source": "Lowe et al. 2017, other data: not to be compared figure by figure",
        "table3": {name: parts(of) for name, of in TABLE3.items()},
        "table4": TABLE4,
        "table5": {name: parts(of) for name, of in TABLE5.items()},
        "table6": TABLE6,
        "table8": {name: {"near": a, "far": b, "p": p} for name, (a, b, p) in TABLE8.items()},
        "table14": [{"share": share, **two(pair)} for share, pair in TABLE14.items()],
    }
