"""What simulated judges who read everything choose: the truth, with their own bias and some noise."""

import random
from collections.abc import Sequence

from annotation.truth import known_scale, known_score
from crowd.models import Stage
from crowd.simulation.profiles import Profile
from judgments import units
from judgments.kinds.judging_config import JudgingConfig, judging_config
from judgments.models import AttentionCheck, Candidate
from judgments.rules.likeness import nearest
from judgments.selectors.references import reference_texts
from metrics.agreement.scale import Scale

#: Standard deviation of attentive people's scores around what they mean, in points of a scale of 1 to 5.
_NOISE = 0.5
_POINTS = 4


def simulated_judgment(stage: Stage, unit: str, profile: Profile, rng: random.Random) -> dict[str, str]:
    """Fields of the form. Who fails checks or chooses at random does so by their profile, not here."""
    config = judging_config(stage)
    if units.is_check(unit):
        return _fields(config, _meant(unit, config.rating_scale), rng)
    truth = true_score(units.candidate_of(unit), config)
    low, high = config.rating_scale.ends
    strayed = (profile.bias + rng.gauss(0.0, _NOISE)) * (high - low) / _POINTS
    return _fields(config, truth + strayed, rng)


def _meant(unit: str, scale: Scale) -> float:
    """The most decided of the scores that a check accepts: 1 of 1 and 2, 5 of 4 and 5."""
    check = AttentionCheck.objects.get(pk=units.check_of(unit))
    chosen = max if check.source == AttentionCheck.Source.REFERENCE else min
    return float(scale.number(chosen(check.accepted)))


def true_score(candidate: int, config: JudgingConfig) -> float:
    """The truth of a candidate, on the stage's scale.

    The column `truth` of the query's file may have it, as `scores` by the system's name, on the ends that its
    `scale` names, or else on those of the stage. Otherwise it is how much the answer shares with the
    reference that is most like it.
    """
    row = Candidate.objects.select_related("query", "system").get(pk=candidate)
    low, high = config.rating_scale.ends
    known = known_score(row.query.extra, row.system.name)
    if known is None:
        references = reference_texts([row.query_id])[row.query_id]
        return low + (high - low) * nearest(row.text, references)
    least, most = known_scale(row.query.extra) or (low, high)
    if (least, most) != (low, high):
        known = low + (high - low) * (known - least) / (most - least)
    return min(float(high), max(float(low), known))


def _fields(config: JudgingConfig, score: float, rng: random.Random) -> dict[str, str]:
    scale = config.rating_scale
    low, high = scale.ends
    fields = {"score": scale.text(scale.nearest(score))}
    for aspect in config.aspects:
        fields[aspect.name] = _aspect(aspect.labels, (score - low) / (high - low), rng)
    return fields | ({"comment": ""} if config.comment else {})


def _aspect(labels: Sequence[str], share: float, rng: random.Random) -> str:
    """A score that goes along with the overall one, with more noise."""
    points = len(labels)
    meant = 1 + share * (points - 1) + rng.gauss(0.0, 2 * _NOISE)
    return str(round(min(float(points), max(1.0, meant))))
