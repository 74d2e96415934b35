"""Whether the optional packages of learned metrics are here."""

from functools import cache
from importlib.util import find_spec

from metrics.errors import MetricError

_PACKAGES = ("torch", "transformers", "sentence_transformers", "bert_score", "ijson")


@cache
def missing() -> str:
    """Why learned metrics cannot be trained or scored here, in words; empty if they can."""
    gone = [name.replace("_", "-") for name in _PACKAGES if find_spec(name) is None]
    if not gone:
        return ""
    return f"{', '.join(gone)} {'is' if len(gone) == 1 else 'are'} not installed: pip install '.[models]'"


def needed(what: str) -> None:
    """MetricError, naming `what` cannot go on, where they are not here."""
    if why := missing():
        raise MetricError(f"{what} needs packages that are not there: {why}.")
