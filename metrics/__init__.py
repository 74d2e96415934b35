"""Answer metrics, their agreement with people, and the agreement among people: texts in, numbers out.

    from metrics import metric
    metric("bleu-4", "kpqa-2021").score(["in 1923"], [["it was founded in 1923 ."]])

Knows nothing of Django. docs/metrics.md defines every metric, docs/meta-evaluation.md every statistic,
docs/quality.md every figure of agreement.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from metrics.catalogue import metric
    from metrics.errors import MetricError
    from metrics.profiles import profile
    from metrics.texts import Answers

__all__ = ["Answers", "MetricError", "metric", "profile"]

_MODULES = {
    "Answers": "metrics.texts",
    "MetricError": "metrics.errors",
    "metric": "metrics.catalogue",
    "profile": "metrics.profiles",
}


# On request, because every import below `metrics` passes here: the web process reads scales and intervals of
# `metrics.agreement`, and numpy stays out of its start.
def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'metrics' has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)
