"""What a recipe would do to a stage's judgments, and what asking again would cost; nothing is stored."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.money.amounts import dollars
from crowd.kinds import PendingUnit
from crowd.models import Stage
from judgments.kinds.judging_config import judging_config
from judgments.models import FilterRun
from judgments.selectors.judging import Sums
from judgments.selectors.redundancy import MissingJudgments, missing_judgments, missing_of, pending_judgments
from judgments.services.filter_decisions import FilterDecision, decide, recipe_named, stored_parameters
from judgments.units import of_candidate


@dataclass(frozen=True, slots=True)
class Reason:
    """How much one rule removes."""

    rule: str
    workers: int
    ratings: int


@dataclass(frozen=True, slots=True)
class Preview:
    """What a recipe would do to a stage's judgments now. `seen` is the run in force, 0 for none.

    `missing` is what the stage would lack with the recipe in force, as its pages say it afterwards; on
    `fallen` answers because of this recipe: with all their judgments they have enough. `target` is how many
    are wanted, 0 where the stage decides that answer by answer.
    """

    title: str
    parameters: dict[str, Any]
    workers: int
    ratings: int
    items: int
    removed_workers: int
    removed_ratings: int
    undetermined: int
    capped: int
    reasons: tuple[Reason, ...]
    target: int
    fallen: int
    missing: MissingJudgments
    currency: str
    seen: int

    @property
    def sentence(self) -> str:
        """All of it in words."""
        wanted = f"below the target of {self.target}" if self.target else "below what is wanted"
        missing = self.missing
        return (
            f"Would remove {self.removed_workers:,} of {_some(self.workers, 'judge')}, "
            f"{self.removed_ratings:,} of {_some(self.ratings, 'judgment')}; "
            f"{_some(self.fallen, 'answer falls', 'answers fall')} {wanted}; "
            f"{_some(missing.judgments, 'judgment')} would be missing on {_some(missing.answers, 'answer')}; "
            f"asking for them costs {dollars(missing.offer.total_cents)} {self.currency}."
        )


def preview(stage: Stage, recipe: str, parameters: Mapping[str, Any], seed: int = 0) -> Preview:
    """What applying would do. Filters decide by rule, so the seed, which is the report's, changes nothing."""
    found = recipe_named(recipe, parameters)
    seen = FilterRun.objects.in_force().filter(stage=stage).values_list("pk", flat=True).first() or 0
    decided = decide(stage, found)
    ratings, run = decided.columns.ratings, decided.run
    config = judging_config(stage)
    keys = decided.columns.candidates.tolist()
    then = _sums(decided, kept_only=True)
    lacking = {key for key, _ in missing_judgments(stage, config, keys, then)}
    before = {key for key, _ in missing_judgments(stage, config, keys, _sums(decided, kept_only=False))}
    pending = [PendingUnit(of_candidate(key), n) for key, n in pending_judgments(stage, config, then)]
    return Preview(
        title=found.title,
        parameters=stored_parameters(found),
        workers=ratings.n_workers,
        ratings=len(ratings),
        items=ratings.n_items,
        removed_workers=int(run.removed_workers.sum()),
        removed_ratings=int((~run.kept).sum()),
        undetermined=int(run.undetermined.sum()),
        capped=int(run.capped_items.sum()),
        reasons=_reasons(decided),
        target=stage.redundancy if config.redundancy_mode == "fixed" else 0,
        fallen=len(lacking - before),
        missing=missing_of(stage, pending),
        currency=stage.endpoint.currency,
        seen=seen,
    )


def _reasons(decided: FilterDecision) -> tuple[Reason, ...]:
    run = decided.run
    because = run.removed_because(decided.columns.ratings)
    found = [
        Reason(
            reason, int((run.removed_by == place - 1).sum()) if place else 0, int((because == place).sum())
        )
        for place, reason in enumerate(run.reasons)
    ]
    return tuple(each for each in found if each.workers or each.ratings)


def _sums(decided: FilterDecision, *, kept_only: bool) -> dict[int, Sums]:
    """Judgments of each candidate with their sums, as the stage's rules about redundancy take them."""
    from metrics.agreement.data import sums_of  # noqa: PLC0415 - numpy

    ratings = decided.columns.ratings
    sums = sums_of(ratings.only(decided.run.kept) if kept_only else ratings)
    columns = (sums.n.tolist(), sums.s.tolist(), sums.q.tolist())
    keys = decided.columns.candidates.tolist()
    return {key: Sums(*row) for key, row in zip(keys, zip(*columns, strict=True), strict=True)}


def _some(count: int, one: str, many: str = "") -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"
