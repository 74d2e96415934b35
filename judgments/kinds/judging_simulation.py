"""What simulated judges who read everything choose: the truth, with their own bias and some noise."""

import random
from collections.abc import Sequence

from annotation.truth import known_score
from crowd.models import Stage
from crowd.simulation.profiles import Profile
from judgments import units
from judgments.kinds.judging_config import JudgingConfig, judging_config
from judgments.models import AttentionCheck, Candidate
from judgments.rules.likeness import nearest
from judgments.selectors.references import reference_texts

#: Standard deviation of attentive people's scores around what they mean, in points.
_NOISE = 0.5


def simulated_judgment(stage: Stage, unit: str, profile: Profile, rng: random.Random) -> dict[str, str]:
    """Fields of the form. Who fails checks or chooses at random does so by their profile, not here."""
    config = judging_config(stage)
    if units.is_check(unit):
        return _fields(config, _meant(unit), rng)
    truth = true_score(units.candidate_of(unit), config)
    return _fields(config, truth + profile.bias + rng.gauss(0.0, _NOISE), rng)


def _meant(unit: str) -> float:
    """The most decided of the scores that a check accepts: 1 of 1 and 2, 5 of 4 and 5."""
    check = AttentionCheck.objects.get(pk=units.check_of(unit))
    chosen = max if check.source == AttentionCheck.Source.REFERENCE else min
    return float(chosen(check.accepted))


def true_score(candidate: int, config: JudgingConfig) -> float:
    """The truth of a candidate, from 1 to the points of the scale.

    The column `truth` of the query's file may have it, as `scores` by the system's name; otherwise it is
    how much the answer shares with the reference that is most like it.
    """
    row = Candidate.objects.select_related("query", "system").get(pk=candidate)
    known = known_score(row.query.extra, row.system.name)
    if known is not None:
        return _on_scale(known, config.points)
    references = reference_texts([row.query_id])[row.query_id]
    return 1 + (config.points - 1) * nearest(row.text, references)


def _fields(config: JudgingConfig, score: float, rng: random.Random) -> dict[str, str]:
    fields = {"score": str(round(_on_scale(score, config.points)))}
    for aspect in config.aspects:
        fields[aspect.name] = _aspect(aspect.labels, (score - 1) / (config.points - 1), rng)
    return fields | ({"comment": ""} if config.comment else {})


def _aspect(labels: Sequence[str], share: float, rng: random.Random) -> str:
    """A score that goes along with the overall one, with more noise."""
    points = len(labels)
    return str(round(_on_scale(1 + share * (points - 1) + rng.gauss(0.0, 2 * _NOISE), points)))


def _on_scale(score: float, points: int) -> float:
    return min(float(points), max(1.0, score))
