"""Figures of labelled answers as JSON has them, and as sentences for a terminal."""

from collections.abc import Iterator, Mapping
from typing import Any

from metrics.agreement.labels import LabelAlpha
from metrics.figure import NONE


def agreement_json(agreement: Mapping[str, LabelAlpha]) -> dict[str, Any]:
    """Ordinal alpha of each kind of label, with its interval, or null with the reason."""
    return {
        name: {
            "alpha": alpha.alpha,
            "low": alpha.low,
            "high": alpha.high,
            "level": "ordinal",
            **({"reason": alpha.reason or alpha.interval_reason} if alpha.low is None else {}),
        }
        for name, alpha in agreement.items()
    }


def agreement_sentences(agreement: Mapping[str, Any]) -> Iterator[str]:
    """How far people agreed about each kind of label."""
    for name, alpha in agreement.items():
        if alpha["alpha"] is None:
            yield f"Agreement about {name}: {alpha['reason']}."
        else:
            between = "" if alpha["low"] is None else f" ({alpha['low']:.3f} to {alpha['high']:.3f})"
            yield f"Agreement about {name}: alpha {alpha['alpha']:.3f}{between}."


def mean_text(mean: Mapping[str, Any]) -> str:
    """A mean with its interval."""
    if mean["value"] is None:
        return NONE
    between = "" if mean["low"] is None else f" ({mean['low']:.3f} to {mean['high']:.3f})"
    return f"{mean['value']:.3f}{between}"
