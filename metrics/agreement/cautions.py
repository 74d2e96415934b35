"""What a reader of the report must know before quoting it, in sentences."""

import numpy as np

from metrics.agreement.ratings import Ratings
from metrics.agreement.recipes import CHECKS, KAPPA, TECHNICAL, Z
from metrics.agreement.run import Checks, Floats, Run

_MUCH = 0.2
_SKEWED = 0.9
_TEN = 10


def warnings_of(ratings: Ratings, done: Run, checks: Checks | None, seconds: Floats | None) -> list[str]:
    """Sentences, the gravest first; none where there is nothing to say."""
    if not len(ratings):
        return ["There are no ratings."]
    return [*_data(ratings, done), *_rules(ratings, done, checks, seconds), *_outcome(ratings, done)]


def _data(ratings: Ratings, done: Run) -> list[str]:
    said = []
    repeated = int((~done.distinct).sum())
    if repeated:
        said.append(
            "Ratings that repeat an earlier one of the same worker on the same item: "
            f"{repeated:,}. The first counts."
        )
    n = np.bincount(ratings.items[done.distinct], minlength=ratings.n_items)
    n = n[n > 0]
    single = int((n == 1).sum())
    if len(n) == 1:
        said.append(
            "There is only one item: its raters cannot agree on differences, alpha is 0 by construction."
        )
    elif int((n > 1).sum()) == 1:
        said.append(
            "Only one item has two ratings: its raters cannot agree on differences, alpha is 0 by "
            "construction."
        )
    if single:
        said.append(f"{single:,} of {len(n):,} items have one rating: they say nothing about agreement.")
    counts = np.bincount(ratings.scores.astype(np.int64) - ratings.scale.low)
    if counts.max() > _SKEWED * counts.sum():
        said.append(
            f"{counts.max() / counts.sum():.0%} of all ratings are "
            f"{ratings.scale.text(ratings.scale.low + int(counts.argmax()))}: on such skewed ratings alpha "
            "and kappa are low even where nearly everybody agrees; read percent agreement beside them."
        )
    return said


def _rules(ratings: Ratings, done: Run, checks: Checks | None, seconds: Floats | None) -> list[str]:
    recipe, said = done.recipe, []
    if recipe.has(CHECKS) and checks is None:
        said.append("There are no attention checks in the data: that rule had nothing to decide on.")
    if recipe.has(TECHNICAL) and recipe.seconds_below and seconds is None:
        said.append("There are no times in the data: nobody was judged as too fast.")
    rated = np.bincount(ratings.workers, minlength=ratings.n_workers) > 0
    unsure, all_workers = int((done.undetermined & rated).sum()), int(rated.sum())
    if unsure > _MUCH * all_workers:
        said.append(
            f"{unsure:,} of {all_workers:,} workers could not be decided on: too little is known of them. "
            "They were kept."
        )
    if recipe.has(Z):
        said.append(
            "Removing single responses by z manufactures agreement, also in noise: never quote the alpha "
            "after it without its null, and expect the opinion of minorities to be gone from contested items."
        )
        n = np.bincount(ratings.items[done.standing], minlength=ratings.n_items)
        if recipe.name == "kpqa-2021" and np.median(n[n > 0] if n.any() else [0]) < _TEN / 2:
            said.append(
                "kpqa-2021 was made for ten ratings an item; half of these items have fewer than five."
            )
    if not recipe.has(KAPPA):
        said.append(
            "score_adjusted was calculated without a kappa filter: a busy worker who always gives one score "
            "can distort it."
        )
    return said


def _outcome(ratings: Ratings, done: Run) -> list[str]:
    said = []
    rated = np.bincount(ratings.workers, minlength=ratings.n_workers) > 0
    gone, all_workers = int((done.removed_workers & rated).sum()), int(rated.sum())
    if gone > all_workers / 2:
        said.append(
            f"{gone:,} of {all_workers:,} workers were removed: that is more than half; look at the "
            "task before blaming the workers."
        )
    kept = np.bincount(ratings.items[done.kept], minlength=ratings.n_items)
    raw = np.bincount(ratings.items, minlength=ratings.n_items)
    without = int(((kept == 0) & (raw > 0)).sum())
    if without:
        said.append(f"{without:,} items keep no rating and have no score.")
    one = int(((kept == 1) & (raw > 1)).sum())
    if one:
        said.append(f"{one:,} items keep a single rating.")
    capped = int(done.capped_items.sum())
    if capped:
        how = "the order of submission decided" if done.recipe.z_ties == "submission" else "the cap decided"
        said.append(
            f"On {capped:,} items more responses lay outside than may be removed; {how} which ones went."
        )
    return said
