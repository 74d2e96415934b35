"""Which answers have enough judgments, by the stage's mode."""

from collections.abc import Iterator, Mapping, Sequence

from crowd.models import Stage
from judgments.kinds.judging_config import JudgingConfig
from judgments.selectors.judging import Sums


def missing_judgments(
    stage: Stage, config: JudgingConfig, candidates: Sequence[int], known: Mapping[int, Sums]
) -> Iterator[tuple[int, int]]:
    """Candidates that lack judgments, with how many to ask for now, in their order.

    With a fixed redundancy it is what is left of it. The other modes ask for the fewest judgments first, and
    then for one at a time until the interval of the mean is narrow enough, or clear of the threshold.
    """
    if config.redundancy_mode == "fixed":
        missing = [stage.redundancy - known.get(candidate, Sums()).n for candidate in candidates]
    else:
        missing = _adaptive(config, [known.get(candidate, Sums()) for candidate in candidates])
    return ((candidate, n) for candidate, n in zip(candidates, missing, strict=True) if n > 0)


def _adaptive(config: JudgingConfig, known: Sequence[Sums]) -> list[int]:
    """Judgments to ask for now. Before two of one answer say more, scores count as spread evenly."""
    import numpy as np  # noqa: PLC0415 - not on the way to a first page

    from quality import stopping, sums  # noqa: PLC0415 - the same

    table = np.array([(each.n, each.total, each.squares) for each in known], dtype=np.int64).reshape(-1, 3)
    found = sums.Sums(table[:, 0], table[:, 1], table[:, 2])
    pooled = sums.pooled_variance(found)
    rule = stopping.Rule(
        prior_variance=(config.points**2 - 1) / 12 if pooled is None else pooled,
        least=config.least_judgments,
        most=config.most_judgments,
    )
    if config.redundancy_mode == "precision":
        standing = stopping.precision(found, rule, half_width=config.half_width)
    else:
        standing = stopping.decision(found, rule, threshold=config.threshold)
    return [int(n) for n in standing.missing]
