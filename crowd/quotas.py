"""Dividing places over sources by their quotas: pure functions, the same result for the same input."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Quota:
    """A source's part: so many answers and no more, or a weight among those who share what is left.

    `given` is what it has already: answers that count, and places on offer. `taken` is what was taken from
    its part for the others.
    """

    share: int | None = None
    most: int | None = None
    given: int = 0
    taken: int = 0


def divide(demands: Sequence[int], quotas: Sequence[Quota]) -> list[list[int]]:
    """How many of each demand's places each quota gets; fewer in all only where no quota takes the rest.

    What the quotas had before counts, so a source that lags behind its share gets more. The parts are spread
    over the demands evenly, whatever their order: after any number of them each quota is within a place of
    its part.
    """
    targets = part_targets(sum(demands), quotas)
    total = sum(targets)
    parts = [[0] * len(quotas) for _ in demands]
    had = [0] * len(quotas)
    step = 0
    # Places that no quota takes are missing at the end of the list, in whole demands where possible.
    for number, demand in enumerate(demands):
        for _ in range(demand):
            if step == total:
                return parts
            step += 1
            open_to = [at for at in range(len(quotas)) if had[at] < targets[at]]
            chosen = max(open_to, key=lambda at: (targets[at] * step - had[at] * total, -at))
            had[chosen] += 1
            parts[number][chosen] += 1
    return parts


def part_targets(total: int, quotas: Sequence[Quota]) -> list[int]:
    """How many of `total` new places each quota gets: counts first, the rest by shares."""
    targets = [0] * len(quotas)
    free = [
        max(0, quota.most - quota.given - quota.taken) if quota.most is not None else 0 for quota in quotas
    ]
    counted = min(total, sum(free))
    _hand_out(counted, [Fraction(each) for each in free], targets)
    left = total - counted
    weights = [quota.share or 0 for quota in quotas]
    if left and any(weights):
        parts = _parts(left + sum(quota.given for quota in quotas if quota.share), weights, quotas)
        lacking = [
            max(Fraction(0), part - quota.given) if quota.share else Fraction(0)
            for part, quota in zip(parts, quotas, strict=True)
        ]
        _hand_out(left, lacking, targets)
    return targets


def _parts(whole: int, weights: Sequence[int], quotas: Sequence[Quota]) -> list[Fraction]:
    """Each one's part of the whole by its weight, less what was taken from it, which the others share."""
    total = sum(weights)
    parts = [Fraction(weight * whole, total) for weight in weights]
    for at, quota in enumerate(quotas):
        others = total - weights[at]
        if not weights[at] or not others or not quota.taken:
            continue
        taken = min(Fraction(quota.taken), parts[at])
        parts[at] -= taken
        for other, weight in enumerate(weights):
            if other != at:
                parts[other] += taken * weight / others
    return parts


def _hand_out(total: int, weights: Sequence[Fraction], targets: list[int]) -> None:
    """Add whole parts of `total` in proportion, by largest remainders; ties go to the first."""
    whole = sum(weights)
    if not total or not whole:
        return
    exact = [weight * total / whole for weight in weights]
    parts = [int(each) for each in exact]
    by_rest = sorted(range(len(exact)), key=lambda at: (parts[at] - exact[at], at))
    for at in by_rest[: total - sum(parts)]:
        parts[at] += 1
    for at, part in enumerate(parts):
        targets[at] += part
