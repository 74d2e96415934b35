"""Why a metric gave an answer its score: what matched, where that stands, and the counts of the formula."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from metrics.answers.importance import importance
from metrics.answers.pa import pairwise
from metrics.base import Metric
from metrics.catalogue import metric
from metrics.errors import MetricError
from metrics.matches import MarkedText, Match, match_of
from metrics.names import NOT_PAIRS
from metrics.profiles import Profile
from metrics.profiles import profile as profile_named

PA = "pa-"


@dataclass(frozen=True, slots=True)
class ReferenceShare:
    """One reference: `place` among those given, the metric's value against it alone, its importance.

    `importance` is the sum of its likeness to all references, itself included, and `share` its share of all
    importance; None where the metric has no pairs. `part` is what it adds to a phrasing-aware score.
    """

    place: int
    text: str
    value: float | None
    importance: float | None
    share: float | None
    part: float | None = None


@dataclass(frozen=True, slots=True)
class Explanation:
    """A score with its reasons; `references` are sorted by importance, the weightiest first.

    `candidate` and `reference` are texts with their matched parts; `reference` is the one that matched best,
    which is `best` of those given (None without references). `match` has the counts of the formula;
    a metric whose steps are not shown has none in it. `says` are sentences for people.
    """

    name: str
    title: str
    signature: str
    score: float | None
    high: float
    says: tuple[str, ...]
    references: tuple[ReferenceShare, ...]
    best: int | None = None
    candidate: MarkedText | None = None
    reference: MarkedText | None = None
    match: Match | None = None


def explain(
    name: str, profile: str | Profile, candidate: str, references: Sequence[str], question: str = ""
) -> Explanation:
    """Why `candidate` has its score; MetricError for a metric that cannot score one answer by itself.

    A metric that needs the whole data set (CIDEr weighs by rarity there), or labels or entities, is refused.
    """
    profile = profile_named(profile) if isinstance(profile, str) else profile
    chosen, base = _fitting(name, profile)
    score = float(chosen.score([candidate], [references], [question])[0])
    weighed = weights(name, profile, references, candidate)
    if not references:
        return _build_explanation(chosen, math.nan, ("There is no reference to compare with.",), ())
    phrasing_aware = chosen.name.startswith(PA)
    by_place = sorted(weighed, key=lambda one: one.place)
    worth = [(one.part if phrasing_aware else one.value) or 0.0 for one in by_place]
    best = int(np.argmax(worth))
    compared = [references[best]] if phrasing_aware else list(references)
    match = match_of(base.name, profile, candidate, compared, references[best])
    says = (*_sentences(chosen, by_place, best), *match.says)
    return Explanation(
        chosen.name,
        chosen.title,
        chosen.signature,
        None if math.isnan(score) else score,
        chosen.high,
        says,
        weighed,
        best,
        match.candidate,
        match.reference,
        match,
    )


def weights(
    name: str, profile: str | Profile, references: Sequence[str], candidate: str | None = None
) -> tuple[ReferenceShare, ...]:
    """The references by their importance under a metric's likeness, and how a candidate does against each."""
    chosen, base = _fitting(name, profile)
    similarity = pairwise(base)
    every = importance(references, similarity) if references else np.zeros(0)
    total = float(every.sum())
    k = len(references)
    shares = every / total if total else np.full(k, 1 / k if k else 0.0)
    values = similarity([candidate] * k, references).tolist() if candidate is not None else [None] * k
    found = [
        ReferenceShare(
            place,
            text,
            value,
            float(weight),
            float(share),
            value * float(share) if value is not None and chosen.name.startswith(PA) else None,
        )
        for place, (text, value, weight, share) in enumerate(
            zip(references, values, every, shares, strict=True)
        )
    ]
    return tuple(sorted(found, key=lambda one: (-(one.importance or 0), one.place)))


def explainable(names: Sequence[str], profile: str | Profile) -> list[str]:
    """Those of the metrics that one answer can be explained under."""
    found = []
    for name in names:
        try:
            _fitting(name, profile)
        except MetricError:
            continue
        found.append(name)
    return found


def _fitting(name: str, profile: str | Profile) -> tuple[Metric, Metric]:
    """The metric and, for a phrasing-aware one, the metric of pairs below it."""
    chosen = metric(name, profile)
    base = metric(chosen.name.removeprefix(PA), profile) if chosen.name.startswith(PA) else chosen
    if base.survey is not None:
        raise MetricError(
            f"{base.title} weighs words by how rare they are in the references of a whole data set, so an "
            "answer alone has no score. Evaluate a release instead."
        )
    if base.needs or base.name.startswith(NOT_PAIRS):
        raise MetricError(
            f"{base.title} is not a comparison of two texts alone, so it is not explained here."
        )
    return chosen, base


def _build_explanation(
    chosen: Metric, score: float, says: tuple[str, ...], references: tuple[ReferenceShare, ...]
) -> Explanation:
    value = None if math.isnan(score) else score
    return Explanation(chosen.name, chosen.title, chosen.signature, value, chosen.high, says, references)


def _sentences(chosen: Metric, by_place: Sequence[ReferenceShare], best: int) -> tuple[str, ...]:
    if not chosen.name.startswith(PA):
        return ()
    one = by_place[best]
    if not any(against.importance for against in by_place):
        return ("No reference is like any other, or like itself, so all of them count alike.",)
    return (
        f"The score is the mean of the answer's likeness to each of {len(by_place)} references, weighted by "
        "importance.",
        f"Reference {one.place + 1} adds most to it: likeness {one.value:.3f} times {one.share:.1%} of all "
        f"importance is {one.part:.3f}. Below, the answer is compared with that reference alone.",
    )
