"""The honest report: what a filter removed, and how good the result is, said so that nobody is misled.

One dictionary as it goes to JSON. Every alpha after a response filter is beside its null
(`metrics.agreement.intervals`), alpha after worker removal beside its cross-fitted twin, and the figure to
quote is the split-half reliability (both in `metrics.agreement.reliability`). What is not defined is null,
with words under `reason` in the same object. docs/quality.md says field by field what is in it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from metrics.agreement import report_tables
from metrics.agreement.alpha import (
    Level,
    alpha_of,
    coincidences,
    from_coincidences,
    pearson_two,
    percent_agreement,
)
from metrics.agreement.breakdown import (
    LEAST_IN_GROUPS,
    LEAST_SHARED,
    aspect_rows,
    group_rows,
    removed_by_kappa,
)
from metrics.agreement.cross_fitting import FOLDS, cross_fitted
from metrics.agreement.data import Floats, RatingGroups, Ratings, count_different, sums_of, value_counts
from metrics.agreement.filters import Checks, Run, run
from metrics.agreement.intervals import ExpectedAlpha, Null, expected_alpha, interval_or_reason, null_alpha
from metrics.agreement.recipes import CHECKS, KAPPA, TECHNICAL, Recipe, Z
from metrics.agreement.reliability import ONE_ITEM, SplitHalf, one_way, replicates_of, split_half
from metrics.agreement.scores import adjusted, item_scores
from metrics.figure import Figure, add_reasons, figures_as_json

# What a reader of the report must know before quoting it, in sentences.

_MUCH = 0.2
_SKEWED = 0.9
_TEN = 10


def warnings_of(ratings: Ratings, done: Run, checks: Checks | None, seconds: Floats | None) -> list[str]:
    """Sentences, the gravest first; none where there is nothing to say."""
    if not len(ratings):
        return ["There are no ratings."]
    return [*_data(ratings, done), *_rules(ratings, done, checks, seconds), *_outcome(ratings, done)]


def _data(ratings: Ratings, done: Run) -> list[str]:
    warnings = []
    repeated = int((~done.distinct).sum())
    if repeated:
        warnings.append(
            "Ratings that repeat an earlier one of the same worker on the same item: "
            f"{repeated:,}. The first counts."
        )
    n = np.bincount(ratings.items[done.distinct], minlength=ratings.n_items)
    n = n[n > 0]
    single = int((n == 1).sum())
    if len(n) == 1:
        warnings.append(
            "There is only one item: its raters cannot agree on differences, alpha is 0 by construction."
        )
    elif int((n > 1).sum()) == 1:
        warnings.append(
            "Only one item has two ratings: its raters cannot agree on differences, alpha is 0 by "
            "construction."
        )
    if single:
        warnings.append(f"{single:,} of {len(n):,} items have one rating: they say nothing about agreement.")
    counts = np.bincount(ratings.scores.astype(np.int64) - ratings.scale.low)
    if counts.max() > _SKEWED * counts.sum():
        warnings.append(
            f"{counts.max() / counts.sum():.0%} of all ratings are "
            f"{ratings.scale.text(ratings.scale.low + int(counts.argmax()))}: on such skewed ratings alpha "
            "and kappa are low even where nearly everybody agrees; read percent agreement beside them."
        )
    return warnings


def _rules(ratings: Ratings, done: Run, checks: Checks | None, seconds: Floats | None) -> list[str]:
    recipe, warnings = done.recipe, []
    if recipe.has(CHECKS) and checks is None:
        warnings.append("There are no attention checks in the data: that rule had nothing to decide on.")
    if recipe.has(TECHNICAL) and recipe.seconds_below and seconds is None:
        warnings.append("There are no times in the data: nobody was judged as too fast.")
    rated = np.bincount(ratings.workers, minlength=ratings.n_workers) > 0
    unsure, all_workers = int((done.undetermined & rated).sum()), int(rated.sum())
    if unsure > _MUCH * all_workers:
        warnings.append(
            f"{unsure:,} of {all_workers:,} workers could not be decided on: too little is known of them. "
            "They were kept."
        )
    if recipe.has(Z):
        warnings.append(
            "Removing single responses by z manufactures agreement, also in noise: never quote the alpha "
            "after it without its null, and expect the opinion of minorities to be gone from contested items."
        )
        n = np.bincount(ratings.items[done.standing], minlength=ratings.n_items)
        if recipe.name == "kpqa-2021" and np.median(n[n > 0] if n.any() else [0]) < _TEN / 2:
            warnings.append(
                "kpqa-2021 was made for ten ratings an item; half of these items have fewer than five."
            )
    if not recipe.has(KAPPA):
        warnings.append(
            "score_adjusted was calculated without a kappa filter: a busy worker who always gives one score "
            "can distort it."
        )
    return warnings


def _outcome(ratings: Ratings, done: Run) -> list[str]:
    warnings = []
    rated = np.bincount(ratings.workers, minlength=ratings.n_workers) > 0
    gone, all_workers = int((done.removed_workers & rated).sum()), int(rated.sum())
    if gone > all_workers / 2:
        warnings.append(
            f"{gone:,} of {all_workers:,} workers were removed: that is more than half; look at the "
            "task before blaming the workers."
        )
    n_kept = np.bincount(ratings.items[done.kept], minlength=ratings.n_items)
    raw = np.bincount(ratings.items, minlength=ratings.n_items)
    without = int(((n_kept == 0) & (raw > 0)).sum())
    if without:
        warnings.append(f"{without:,} items keep no rating and have no score.")
    one = int(((n_kept == 1) & (raw > 1)).sum())
    if one:
        warnings.append(f"{one:,} items keep a single rating.")
    capped = int(done.capped_items.sum())
    if capped:
        how = "the order of submission decided" if done.recipe.z_ties == "submission" else "the cap decided"
        warnings.append(
            f"On {capped:,} items more responses lay outside than may be removed; {how} which ones went."
        )
    return warnings


# Whether the reliability of the published means can be quoted, and what must be said beside it.

FEW_WORKERS_LEFT = "the filter leaves ratings of fewer than two workers"
NO_PAIRS_LEFT = "the filter leaves no item with two ratings"
#: A tenth of the items that several people rated: below it nearly nothing is left of the study.
_NEARLY_NOTHING = 0.1
#: From fewer a reliability is hardly known.
_FEW_ITEMS, _FEW_WORKERS = 20, 5
#: What of the workers whom the whole study removes must be removed where they are judged on other items.
_MOST_REMOVED = 0.8


def refusal(ratings: Ratings, done: Run) -> str:
    """Why nothing can be quoted after this filter; empty where something can. It says nothing about studies
    that had no two ratings of an item to begin with."""
    before = np.bincount(ratings.items[done.distinct], minlength=ratings.n_items) > 1
    if not before.any():
        return ""
    if count_different(ratings.workers[done.kept]) < 2:
        return FEW_WORKERS_LEFT
    after = np.bincount(ratings.items[done.kept], minlength=ratings.n_items) > 1
    if not after.any():
        return NO_PAIRS_LEFT
    if after.sum() < _NEARLY_NOTHING * before.sum():
        left, rated_twice = int(after.sum()), int(before.sum())
        return f"the filter leaves {left:,} of {rated_twice:,} items with two ratings or more"
    return ""


def cautions_about(ratings: Ratings, done: Run, halves: SplitHalf) -> list[str]:
    """Sentences that belong beside the reliability wherever it is shown."""
    cautions = []
    items = count_different(ratings.items[done.kept])
    workers = count_different(ratings.workers[done.kept])
    if halves.full_length.value is not None and (items < _FEW_ITEMS or workers < _FEW_WORKERS):
        cautions.append(
            f"The reliability rests on {_counted(items, 'item')} and {_counted(workers, 'worker')}: from so "
            "few it can come out as anything."
        )
    removed = int(done.removed_workers.sum())
    if removed and halves.removed_workers < _MOST_REMOVED * removed:
        cautions.append(
            f"Judged on nine tenths of their items, {halves.removed_workers:.1f} workers are removed on "
            f"average, of {_counted(removed, 'worker')} whom the whole study removes: the reliability and "
            "the cross-fitted alpha are those of a filter that removes less."
        )
    return cautions


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


ASPECTS_AFTER_KAPPA = (
    "Workers were removed by their kappa on the overall score: agreement about an aspect after that is "
    "raised as far as the aspect goes with the overall score (its Pearson's r). Quote that from before."
)
METHODS = 2
SPLITS = 20
_LEVELS: tuple[Level, ...] = ("interval", "ordinal", "nominal")
_MANY = 100_000
_ENOUGH = 250_000
_LEAST_SPLITS = 5
_ROUNDS = 3
_CROWDS = 10
_NO_Z = "the recipe removes no single responses"


@dataclass(frozen=True, slots=True)
class _Task:
    """What every part of the report works on."""

    ratings: Ratings
    run: Run
    checks: Checks | None
    seconds: Floats | None
    replicates: int
    splits: int
    seed: int
    version: str

    @property
    def recipe(self) -> Recipe:
        return self.run.recipe

    def repeats(self, most: int) -> int:
        """How often a random figure is calculated: fewer times where many ratings make each one steady."""
        return max(2, min(most, most * _MANY // max(len(self.ratings), 1)))

    @property
    def halvings(self) -> int:
        """Splits behind the reliability: all that were asked for up to 250,000 ratings, then fewer, never
        below 5.

        The more ratings, the less one split differs from the next; the report says how much (`sd`).
        """
        return min(self.splits, max(_LEAST_SPLITS, self.splits * _ENOUGH // max(len(self.ratings), 1)))

    def signature(self, method: str, **parameters: Any) -> str:
        """Method, parameters, seed and version in one line, for a caption or a footnote."""
        parts = [
            f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}"
            for name, value in parameters.items()
        ]
        return "|".join(
            [
                method,
                *parts,
                f"seed={self.seed}",
                f"methods={METHODS}",
                *([self.version] if self.version else []),
            ]
        )


def report(
    ratings: Ratings,
    recipe: Recipe | Run,
    *,
    checks: Checks | None = None,
    seconds: Floats | None = None,
    groups: Mapping[str, RatingGroups] | None = None,
    aspects: Mapping[str, Floats] | None = None,
    sources: RatingGroups | None = None,
    replicates: int = 1000,
    splits: int = SPLITS,
    seed: int = 0,
    version: str = "",
    rows: bool = True,
    as_lists: bool = True,
) -> dict[str, Any]:
    """The honest report on ratings under a recipe, or under a run of it that was made from the same ratings.

    `groups` has, under names such as `system` and `type`, the group of each rating, `aspects` under theirs
    what each rating says of them (nan: nothing); without any the report has no `aspects`. `sources` says from
    where each rating came; without it the report has no `sources`. `replicates` 0 leaves out intervals;
    `rows` false leaves out the lists of items, workers and removed ratings, which grow with the data. With
    `as_lists` false items and removed ratings are no lists, but made each time they are read.
    """
    done = recipe if isinstance(recipe, Run) else run(ratings, recipe, checks=checks, seconds=seconds)
    task = _Task(ratings, done, checks, seconds, replicates, splits, seed, version)
    grouped = {**(groups or {}), **({} if sources is None else {"source": sources})}
    standing = ratings.only(done.standing)
    stages = {
        "before": ratings.only(done.distinct),
        "after_workers": standing,
        "after_z": ratings.only(done.kept) if done.recipe.has(Z) else standing,
    }
    del standing
    scores = item_scores(ratings, done.kept)
    adjusted_scores = adjusted(stages["after_workers"])
    alpha, agreement = _alpha(task, stages), _agreement(stages)
    annotators = _annotators(stages["before"], grouped, done)
    del stages  # two copies of most ratings; halving them needs the room
    sections: dict[str, Any] = {
        "recipe": task.recipe.name,
        "recipe_details": {
            "version": task.recipe.version,
            "rules": list(task.recipe.rules),
            "parameters": task.recipe.parameters,
            "changed": list(task.recipe.changed),
        },
        "seed": seed,
        "scale": list(ratings.scale.ends),
        "step": ratings.scale.step,
        "n_ratings": len(ratings),
        "n_items": int((np.bincount(ratings.items, minlength=ratings.n_items) > 0).sum()),
        "n_workers": int((np.bincount(ratings.workers, minlength=ratings.n_workers) > 0).sum()),
        "n_kept": int(done.kept.sum()),
        "alpha": alpha,
        "reliability": _reliability(task),
        "agreement": agreement,
        "annotators": annotators,
        "removed": report_tables.removed(ratings, done, grouped),
        "kept": report_tables.describe_kept(ratings, done, scores),
        "scores": report_tables.histogram(ratings, done),
        "signatures": {},
        "warnings": warnings_of(ratings, done, checks, seconds),
    }
    sections["signatures"] = _signatures(task)
    sections["warnings"] += sections["reliability"]["cautions"]
    if aspects:
        sections["aspects"] = aspect_rows(
            ratings, done, aspects, replicates=replicates, splits=task.halvings, seed=seed
        )
        sections["signatures"]["aspects"] = task.signature(
            "aspects", alpha="interval", kappa="median-of-pairwise-medians", weights="quadratic",
            least=LEAST_SHARED, halves="unfiltered", splits=task.halvings, replicates=replicates,
        )  # fmt: skip
        if removed_by_kappa(done):
            sections["warnings"].append(ASPECTS_AFTER_KAPPA)
    if sources is not None:
        sections["sources"] = group_rows(
            ratings, done, sources, name="source", checks=checks, replicates=replicates, seed=seed
        )
        sections["signatures"]["sources"] = task.signature(
            "krippendorff-alpha-by-source", level="interval", least=LEAST_IN_GROUPS,
            interval="two-way-percentile-bootstrap", replicates=replicates,
        )  # fmt: skip
    if rows:
        sections["removed_workers"] = report_tables.removed_workers(ratings, done)
        sections["undetermined_workers"] = report_tables.undetermined_workers(ratings, done)
        removed = report_tables.Rows(lambda: report_tables.removed_ratings(ratings, done))
        sections["removed_ratings"] = list(removed) if as_lists else removed
        sections["workers"] = report_tables.workers(ratings, done, checks, adjusted_scores)
        items = report_tables.Rows(lambda: report_tables.items(ratings, scores, adjusted_scores))
        sections["items"] = list(items) if as_lists else items
    return sections


def _alpha(task: _Task, stages: Mapping[str, Ratings]) -> dict[str, Any]:
    before = _stage(task, stages["before"])
    same = bool((task.run.standing == task.run.distinct).all())
    after = dict(before) if same else _stage(task, stages["after_workers"])
    crossed = (
        cross_fitted(
            task.ratings.only(task.run.distinct),
            task.recipe,
            checks=task.checks,
            seconds=None if task.seconds is None else task.seconds[task.run.distinct],
            rounds=task.repeats(_ROUNDS),
            seed=task.seed,
        )
        if task.recipe.judges_workers
        else None
    )
    if crossed is None:
        after = _joined(after, {"cross_fitted": Figure(before["interval"], _reason(before, "interval"))})
    else:
        after = _joined(after, {"cross_fitted": crossed.alpha})
        after["cross_fitted_removed_workers"] = crossed.removed_workers
    after["removes"] = int(task.run.removed_workers.sum())
    return {"before": before, "after_workers": after, "after_z": _after_z(task, stages)}


def _after_z(task: _Task, stages: Mapping[str, Ratings]) -> dict[str, Any]:
    if not task.recipe.has(Z):
        names = ("interval", "ordinal", "nominal", "null", "expected")
        section = figures_as_json({name: Figure(None, _NO_Z) for name in names})
        return add_reasons({**section, "ci": None}, {"ci": _NO_Z})
    section = _stage(task, stages["after_z"])
    null = null_alpha(stages["after_workers"], task.recipe, permutations=task.repeats(20), seed=task.seed)
    like = expected_alpha(stages["after_workers"], task.recipe, crowds=task.repeats(_CROWDS), seed=task.seed)
    section = _joined(section, {"null": null.after, "expected": like.after})
    return {**section, **_about(null, like)}


def _about(null: Null, like: ExpectedAlpha) -> dict[str, Any]:
    return {
        "null_sd": null.sd,
        "null_before": null.before.value,
        "permutations": null.permutations,
        "expected_sd": like.sd,
        "expected_before": like.before.value,
        "crowds": like.crowds,
    }


def _stage(task: _Task, ratings: Ratings) -> dict[str, Any]:
    figures = alphas(ratings)
    one = figures["interval"]
    section = figures_as_json(figures)
    if one.value is not None and (ratings.items == ratings.items[0]).all():
        ci, why = None, ONE_ITEM
    else:
        ci, why = interval_or_reason(ratings, one, replicates=task.replicates, seed=task.seed)
    section["ci"] = None if ci is None else list(ci)
    return section if ci is not None else add_reasons(section, {"ci": why})


def alphas(ratings: Ratings) -> dict[str, Figure]:
    """Alpha at the three levels, from one table of coincidences."""
    one = alpha_of(ratings)
    if one.value is None:
        return dict.fromkeys(_LEVELS, one)
    together = coincidences(value_counts(ratings))
    values = ratings.scale.values.astype(np.float64)
    return {level: Figure(from_coincidences(together, values, level)) for level in _LEVELS}


def _joined(section: dict[str, Any], figures: Mapping[str, Figure]) -> dict[str, Any]:
    more = figures_as_json(figures)
    reasons = more.pop("reason", {})
    joined = {**section, **more}
    if "reason" in joined:
        joined["reason"] = dict(joined["reason"])
    return add_reasons(joined, reasons)


def _reason(section: Mapping[str, Any], name: str) -> str:
    return str(section.get("reason", {}).get(name, ""))


def _reliability(task: _Task) -> dict[str, Any]:
    halves: SplitHalf = split_half(
        task.ratings,
        task.recipe,
        checks=task.checks,
        seconds=task.seconds,
        splits=task.halvings,
        replicates=replicates_of(task.replicates, len(task.ratings)),
        seed=task.seed,
    )
    if none := refusal(task.ratings, task.run):
        halves = replace(
            halves, half=Figure(None, none), full_length=Figure(None, none), sd=None, no_interval=none
        )
    section = figures_as_json({"split_half": halves.half, "spearman_brown": halves.full_length})
    ci = halves.full_length.ci
    section |= {
        "ci": None if ci is None else list(ci),
        "sd": halves.sd,
        "splits": halves.splits,
        "items": halves.items,
        "removed_workers": halves.removed_workers,
        "cautions": cautions_about(task.ratings, task.run, halves),
    }
    if ci is None:
        add_reasons(section, {"ci": halves.no_interval})
    if halves.sd is None:
        add_reasons(section, {"sd": halves.full_length.reason or "needs two splits"})
    return section


def _agreement(stages: Mapping[str, Ratings]) -> dict[str, Any]:
    sections = {}
    for name in ("before", "after_workers"):
        ratings = stages[name]
        single = one_way(sums_of(ratings))
        sections[name] = figures_as_json(
            {
                "percent": percent_agreement(value_counts(ratings)),
                "icc_single": single.single,
                "icc_mean": single.mean,
            }
        )
    return sections


def _annotators(ratings: Ratings, groups: Mapping[str, RatingGroups], done: Run) -> dict[str, Any] | None:
    """Pearson's r between two annotators, by type, for designs in which every item has exactly two; else
    None."""
    n = np.bincount(ratings.items, minlength=ratings.n_items)
    if not len(ratings) or not (n[n > 0] == 2).all():
        return None
    section = figures_as_json({"pearson": pearson_two(ratings)})
    section["n_items"] = int((n > 0).sum())
    if "type" in groups:
        codes = groups["type"].codes[done.distinct]
        section["by_type"] = [
            {
                "type": name,
                "n_items": count_different(ratings.items[codes == code]),
                **figures_as_json({"pearson": pearson_two(ratings.only(codes == code))}),
            }
            for code, name in enumerate(groups["type"].names)
        ]
    return section


def _signatures(task: _Task) -> dict[str, str]:
    recipe = task.recipe
    return {
        "filter": task.signature(
            recipe.name, version=recipe.version, rules="+".join(recipe.rules) or "none", **recipe.parameters
        ),
        "alpha": task.signature("krippendorff-alpha", levels="interval,ordinal,nominal"),
        "ci": task.signature("two-way-percentile-bootstrap", level="interval", replicates=task.replicates),
        "cross_fitted": task.signature("cross-fitted-alpha", folds=FOLDS, rounds=task.repeats(_ROUNDS)),
        "expected": task.signature("alpha-of-crowds-as-agreed-before", crowds=task.repeats(_CROWDS)),
        "null": task.signature("alpha-permuted-within-worker", permutations=task.repeats(20)),
        "reliability": task.signature(
            "split-half",
            workers="judged-on-other-items",
            folds=FOLDS,
            responses="filtered-inside-each-half",
            splits=task.halvings,
            interval="items+workers-ratings",
            replicates=replicates_of(task.replicates, len(task.ratings)),
        ),
        "icc": task.signature("icc1-one-way"),
        "kappa": task.signature(
            "cohen-kappa",
            weights=recipe.kappa_weights,
            reference=recipe.kappa_reference if recipe.has(KAPPA) else "pooled",
        ),
        "scores": task.signature("mean", sd="sample", trimmed="0.2"),
        "score_adjusted": task.signature("p913-12.6", shrink=5, ratings="after-workers"),
    }
