"""Scores of simulated judges that know no truth: figures from them mean nothing."""

import time

from django.db.models import Exists, OuterRef

from annotation.truth import known_score
from crowd.models import Stage
from crowd.selectors.stage_sizes import cached_of_stage
from judgments.models import Candidate, Judgment

#: Answers that are in memory at a time.
_CHUNK = 2_000
NO_TRUTH = (
    "Simulated judges gave scores here, and the queries' file has no true scores (the column `truth`). "
    "Their scores are made up at random around the words that an answer shares with a reference: means, "
    "agreement and every figure from them mean nothing."
)


def random_scores_caution(stage: Stage) -> str:
    """A sentence where simulated judges had no truth to go by, else nothing."""
    found = cached_of_stage(
        stage, f"random-scores:{stage.pk}", time.time(), lambda: _has_random_scores(stage)
    )
    return NO_TRUTH if found else ""


def _has_random_scores(stage: Stage) -> bool:
    """Whether one of the answers that simulated judges scored has no truth; all of them are looked at."""
    if not Judgment.objects.filter(stage=stage, worker__simulated=True).exists():
        return False
    simulated = Judgment.objects.filter(stage=stage, worker__simulated=True, candidate=OuterRef("pk"))
    rows = Candidate.objects.filter(Exists(simulated), query__project=stage.project_id)
    columns = rows.order_by().values_list("query__extra", "system__name").iterator(_CHUNK)
    return any(known_score(extra, system) is None for extra, system in columns)
