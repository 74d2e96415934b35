"""Which answers have enough judgments, by the stage's mode."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from crowd.kinds import PendingUnit
from crowd.models import Stage
from crowd.services.quotes import Quote, left_to_ask, quote
from judgments.kinds.judging_config import JudgingConfig
from judgments.selectors.judging import Sums, candidates_to_judge, shared_queries, waiting_by_candidate


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


def pending_judgments(
    stage: Stage, config: JudgingConfig, known: Mapping[int, Sums]
) -> Iterator[tuple[int, int]]:
    """Answers that are judged and lack judgments, with how many; `known` are the judgments that count.

    Judgments whose work waits for a person are there already. Shared answers come with all others.
    """
    shared = shared_queries(stage, config)
    rows = candidates_to_judge(stage, config).exclude(query__in=shared).order_by("pk")
    waiting = waiting_by_candidate(stage)
    for candidate, n in missing_judgments(stage, config, list(rows.values_list("pk", flat=True)), known):
        if n > waiting.get(candidate, 0):
            yield candidate, n - waiting.get(candidate, 0)


@dataclass(frozen=True, slots=True)
class MissingJudgments:
    """What a stage lacks, counted in judgments: one person's score of one answer.

    `judgments` are missing on `answers` answers. `asked` of them are to be asked for by publishing `offer`;
    the others may still come through HITs that are open.
    """

    judgments: int
    answers: int
    asked: int
    offer: Quote

    @property
    def under_way(self) -> int:
        """Judgments that open HITs are there for."""
        return self.judgments - self.asked


def missing_of(stage: Stage, pending: Sequence[PendingUnit]) -> MissingJudgments:
    """What is missing where this is pending, and what asking for it costs."""
    left = left_to_ask(stage, pending)
    return MissingJudgments(
        judgments=sum(each.missing for each in pending),
        answers=len(pending),
        asked=sum(each.missing for each in left),
        offer=quote(stage, left),
    )


def _adaptive(config: JudgingConfig, known: Sequence[Sums]) -> list[int]:
    """Judgments to ask for now. Before two of one answer say more, scores count as spread evenly.

    Sums, variances and widths are in units of the scale.
    """
    import numpy as np  # not on the way to a first page

    from metrics.agreement.data import Sums as ItemSums
    from metrics.agreement.data import pooled_variance
    from metrics.agreement.planning import Rule, decision, precision

    table = np.array([(each.n, each.total, each.squares) for each in known], dtype=np.int64).reshape(-1, 3)
    found = ItemSums(table[:, 0], table[:, 1], table[:, 2])
    pooled = pooled_variance(found)
    scale = config.rating_scale
    evenly, unit = scale.every**2 * (len(scale.scores) ** 2 - 1) / 12, float(scale.unit)
    rule = Rule(
        prior_variance=evenly if pooled is None else pooled,
        least=config.least_judgments,
        most=config.most_judgments,
    )
    if config.redundancy_mode == "precision":
        standing = precision(found, rule, half_width=config.half_width / unit)
    else:
        standing = decision(found, rule, threshold=config.threshold / unit)
    return [int(n) for n in standing.missing]
