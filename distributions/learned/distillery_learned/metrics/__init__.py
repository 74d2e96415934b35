"""Metrics that need a trained model, KPQA, BERTScore and ADEM, and whether what they rest on is installed.

Nothing here imports PyTorch before a model is trained, loaded or asked to score, and nothing downloads.
"""

from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec

from metrics.errors import MetricError
from metrics.learned_metrics import INSTALL

_PACKAGES = ("torch", "transformers", "sentence_transformers", "bert_score", "ijson")


@cache
def missing() -> str:
    """Why learned metrics cannot be trained or scored here, in words; empty if they can."""
    return describe_missing(_PACKAGES)


def describe_missing(packages: Sequence[str]) -> str:
    """Which of these are not here, and what brings them; empty if all are."""
    gone = [name.replace("_", "-") for name in packages if find_spec(name) is None]
    if not gone:
        return ""
    return f"{', '.join(gone)} {'is' if len(gone) == 1 else 'are'} not installed: {INSTALL}"


def needed(what: str) -> None:
    """MetricError, naming `what` cannot go on, where they are not here."""
    if why := missing():
        raise MetricError(f"{what} needs packages that are not there: {why}.")
