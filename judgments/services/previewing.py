"""What a recipe would do to a stage's judgments, and what asking again would cost; nothing is stored."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from crowd.kinds import Pending
from crowd.models import Stage
from crowd.services.quoting import Quote, left_to_ask, quote
from judgments.kinds.judging_config import judging_config
from judgments.models import FilterRun
from judgments.selectors.enough import missing_judgments
from judgments.selectors.judging import Sums, candidates_to_judge, shared_queries
from judgments.services.deciding import Decided, decide, recipe_named, stored_parameters
from judgments.units import of_candidate
from money.amounts import dollars


@dataclass(frozen=True, slots=True)
class Reason:
    """How much one rule removes."""

    rule: str
    workers: int
    ratings: int


@dataclass(frozen=True, slots=True)
class Preview:
    """What a recipe would do to a stage's judgments now. `seen` is the run in force, 0 for none.

    `below` items would have fewer kept judgments than are wanted, `fallen` of them because of this recipe:
    with all their judgments they have enough. `target` is how many are wanted, 0 where the stage decides that
    item by item. Asking again for what the recipe removes costs `top_up`.
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
    below: int
    fallen: int
    top_up: Quote
    currency: str
    seen: int

    @property
    def sentence(self) -> str:
        """All of it in words."""
        wanted = f"below the target of {self.target}" if self.target else "below what is wanted"
        return (
            f"Would remove {self.removed_workers:,} of {_some(self.workers, 'worker')}, "
            f"{self.removed_ratings:,} of {_some(self.ratings, 'rating')}; "
            f"{_some(self.fallen, 'item falls', 'items fall')} {wanted}; "
            f"topping up costs {dollars(self.top_up.total_cents)} {self.currency}."
        )


def preview(stage: Stage, recipe: str, parameters: Mapping[str, Any], seed: int = 0) -> Preview:
    """What applying would do. Filters decide by rule, so the seed, which is the report's, changes nothing."""
    found = recipe_named(recipe, parameters)
    in_force = FilterRun.objects.filter(stage=stage, state=FilterRun.State.IN_FORCE).values_list(
        "pk", flat=True
    )
    seen = in_force.first() or 0
    decided = decide(stage, found)
    ratings, run = decided.columns.ratings, decided.run
    config = judging_config(stage)
    keys = decided.columns.candidates.tolist()
    then = _sums(decided, kept_only=True)
    lacking = dict(missing_judgments(stage, config, keys, then))
    before = dict(missing_judgments(stage, config, keys, _sums(decided, kept_only=False)))
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
        below=len(lacking),
        fallen=len(set(lacking) - set(before)),
        top_up=quote(stage, _asked_again(stage, lacking, _removed(decided))),
        currency=stage.endpoint.currency,
        seen=seen,
    )


def _reasons(decided: Decided) -> tuple[Reason, ...]:
    run = decided.run
    because = run.removed_because(decided.columns.ratings)
    found = [
        Reason(
            reason, int((run.removed_by == place - 1).sum()) if place else 0, int((because == place).sum())
        )
        for place, reason in enumerate(run.reasons)
    ]
    return tuple(each for each in found if each.workers or each.ratings)


def _sums(decided: Decided, *, kept_only: bool) -> dict[int, Sums]:
    """Judgments of each candidate with their sums, as the stage's rules about redundancy take them."""
    from quality.sums import sums_of  # noqa: PLC0415 - numpy

    ratings = decided.columns.ratings
    sums = sums_of(ratings.only(decided.run.kept) if kept_only else ratings)
    columns = (sums.n.tolist(), sums.s.tolist(), sums.q.tolist())
    keys = decided.columns.candidates.tolist()
    return {key: Sums(*row) for key, row in zip(keys, zip(*columns, strict=True), strict=True)}


def _removed(decided: Decided) -> dict[int, int]:
    """How many judgments of each candidate the recipe removes, where it removes any."""
    import numpy as np  # noqa: PLC0415

    ratings = decided.columns.ratings
    gone = np.bincount(ratings.items[~decided.run.kept], minlength=ratings.n_items)
    return {
        key: count
        for key, count in zip(decided.columns.candidates.tolist(), gone.tolist(), strict=True)
        if count
    }


def _asked_again(stage: Stage, lacking: Mapping[int, int], removed: Mapping[int, int]) -> list[Pending]:
    """Units with how many people have to be asked again because of what was removed.

    Answers that are no longer judged are not among them, nor are shared ones, which come with every HIT.
    """
    config = judging_config(stage)
    asked = candidates_to_judge(stage, config).exclude(query__in=shared_queries(stage, config))
    still = set(asked.values_list("pk", flat=True))
    short = {of_candidate(key): key for key in lacking if key in removed and key in still}
    left = left_to_ask(stage, [Pending(unit, lacking[key]) for unit, key in short.items()])
    return [Pending(item.unit, min(item.missing, removed[short[item.unit]])) for item in left]


def _some(count: int, one: str, many: str = "") -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"
