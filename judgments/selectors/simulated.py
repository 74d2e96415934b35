"""Scores of simulated judges that know no truth: figures from them mean nothing."""

from annotation.truth import known_score
from crowd.models import Stage
from judgments.models import Judgment

#: Simulated judgments that are looked at; where the first ones have a truth, all have.
_LOOKED_AT = 100
NO_TRUTH = (
    "Simulated judges gave scores here, and the queries' file has no true scores (the column `truth`). "
    "Their scores are made up at random around the words that an answer shares with a reference: means, "
    "agreement and every figure from them mean nothing."
)


def random_scores_caution(stage: Stage) -> str:
    """A sentence where simulated judges had no truth to go by, else nothing."""
    rows = Judgment.objects.filter(stage=stage, worker__simulated=True).order_by("pk")
    columns = rows.values_list("candidate__query__extra", "candidate__system__name")[:_LOOKED_AT]
    without = any(known_score(extra, system) is None for extra, system in columns)
    return NO_TRUTH if without else ""
