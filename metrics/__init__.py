"""Answer metrics, and how well they agree with people: texts and arrays in, numbers out.

    from metrics import metric
    metric("bleu-4", "kpqa-2021").score(["in 1923"], [["it was founded in 1923 ."]])

Knows nothing of Django. docs/metrics.md defines every metric, docs/meta-evaluation.md every statistic.
"""

from metrics.catalogue import metric
from metrics.errors import MetricError
from metrics.profiles import profile
from metrics.texts import Answers

__all__ = ["Answers", "MetricError", "metric", "profile"]
