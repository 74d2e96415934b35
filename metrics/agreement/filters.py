"""Filters of ratings and of workers, and the run of a recipe of them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

from metrics.agreement import data, kappa
from metrics.agreement.kappa import WorkerKappas
from metrics.agreement.recipes import CHECKS, KAPPA, TECHNICAL, Recipe, Z


@dataclass(frozen=True, slots=True, eq=False)
class Verdicts:
    """One rule's verdict on every worker; arrays of length n_workers, in the order of their codes.

    `removed` and `undetermined` never both hold: an undetermined worker stays and is flagged. `value` is what
    the rule looked at (nan: there is none), `n` how much evidence it had. `reason_format` is the reason in
    words, a format with `value` and `n`.
    """

    rule: str
    removed: data.Mask
    undetermined: data.Mask
    value: npt.NDArray[np.float64]
    n: npt.NDArray[np.int64]
    reason_format: str
    words_undetermined: str = ""

    def reason(self, worker: int) -> str:
        """Why this worker is removed or undetermined; empty for the others."""
        if self.removed[worker]:
            return self._filled(self.reason_format, worker)
        return self._filled(self.words_undetermined, worker) if self.undetermined[worker] else ""

    def _filled(self, reason_format: str, worker: int) -> str:
        return reason_format.format(value=float(self.value[worker]), n=int(self.n[worker]))


# Technical filters: ratings given twice, workers too fast to have read, straight-liners, test accounts.


def duplicates(ratings: data.Ratings) -> data.Mask:
    """The ratings of a worker who had rated the item before: all but the first of each, by submission."""
    again = np.zeros(len(ratings), dtype=np.bool_)
    for _, rows in data.rows_by_items(ratings):
        pairs = ratings.items[rows].astype(np.int64)
        pairs *= max(1, ratings.n_workers)
        pairs += ratings.workers[rows]
        ordered = np.sort(pairs)
        twice = ordered[1:][ordered[1:] == ordered[:-1]]
        if len(twice):
            repeated = np.flatnonzero(np.isin(pairs, twice))
            by_pair = repeated[np.argsort(pairs[repeated], kind="stable")]
            again[rows[by_pair[1:][pairs[by_pair[1:]] == pairs[by_pair[:-1]]]]] = True
    return again


def too_fast(ratings: data.Ratings, seconds: npt.ArrayLike, *, limit: float, least: int = 1) -> Verdicts:
    """Removes a worker whose median seconds per rating lie below `limit`.

    `seconds` has one number per rating, nan where the time is not known. With fewer than `least` known times
    a worker is undetermined. The median, because one long pause must not hide a hundred hasty answers.
    """
    times = np.asarray(seconds, dtype=np.float64)
    if times.shape != (len(ratings),):
        raise ValueError("there must be as many times as ratings")
    timed = np.flatnonzero(~np.isnan(times))
    workers, times = ratings.workers[timed], times[timed]
    n = np.bincount(workers, minlength=ratings.n_workers)
    median = data.medians(workers, times, ratings.n_workers)
    enough = n >= max(1, least)
    return Verdicts(
        rule="too fast",
        removed=enough & (median < limit),
        undetermined=~enough,
        value=median,
        n=n,
        reason_format=f"took a median of {{value:.1f}} s for a rating over {{n}} ratings; "
        f"the limit is {limit:g} s",
        words_undetermined=f"{{n}} ratings have a known time; a decision needs {max(1, least)}",
    )


def straight_lining(ratings: data.Ratings, *, least: int = 10, share: float = 1.0) -> Verdicts:
    """Removes a worker whose longest run of the same score holds at least `share` of all their ratings.

    Runs are counted in the order of submission. With fewer than `least` ratings a worker is undetermined. A
    share of 1 removes those who gave one score only.
    """
    n = np.bincount(ratings.workers, minlength=ratings.n_workers)
    longest = np.zeros(ratings.n_workers, dtype=np.int64)
    if len(ratings):
        order = data.stable_order(ratings.workers)
        workers, scores = ratings.workers[order], ratings.scores[order]
        starts = np.flatnonzero(
            np.concatenate(([True], (workers[1:] != workers[:-1]) | (scores[1:] != scores[:-1])))
        )
        lengths = np.diff(starts, append=len(workers))
        np.maximum.at(longest, workers[starts], lengths)
    part = np.divide(longest, n, out=np.full(ratings.n_workers, np.nan), where=n > 0)
    enough = n >= max(1, least)
    return Verdicts(
        rule="straight-lining",
        removed=enough & (part >= share),
        undetermined=~enough,
        value=part,
        n=n,
        reason_format="gave the same score {value:.0%} of {n} ratings in a row",
        words_undetermined=f"gave {{n}} ratings; a decision needs {max(1, least)}",
    )


def test_accounts(
    worker_names: Sequence[str], names: Collection[str] = (), *, prefixes: Sequence[str] = ()
) -> Verdicts:
    """Removes the accounts of testers: those named, and those whose name begins with one of the prefixes.

    Upper and lower case are not told apart.
    """
    named = {name.casefold() for name in names}
    begins = tuple(prefix.casefold() for prefix in prefixes if prefix)
    lower = [name.casefold() for name in worker_names]
    removed = np.array([name in named or name.startswith(begins) for name in lower], dtype=np.bool_)
    return Verdicts(
        rule="test accounts",
        removed=removed,
        undetermined=np.zeros_like(removed),
        value=np.full(len(removed), np.nan),
        n=np.zeros(len(removed), dtype=np.int64),
        reason_format="is an account for testing",
    )


# Attention checks: who failed too many of the items whose answer is known.
#
# Whether a response to a check is accepted is decided where the check is defined; here only outcomes count.

RULE = "attention checks"


def check_verdicts(
    workers: data.Codes,
    presented: npt.ArrayLike,
    failed: npt.ArrayLike,
    *,
    n_workers: int | None = None,
    failures: int = 2,
    least: int = 4,
) -> Verdicts:
    """Removes a worker with at least `failures` failed checks when at least `least` were presented.

    The three columns have a row per worker, or several that are added up: also one per check that was
    presented, with presented 1 and failed 0 or 1. A check left unanswered was presented and is not failed.
    With fewer presented than `least` a worker is undetermined and stays, whatever they failed: a rule of any
    failure loses 11.5 % of honest workers at a lapse rate of 3 %. That rule is ADEM's (Lowe et al. 2017,
    "any failure"): `failures=1, least=1`.
    """
    size = n_workers if n_workers is not None else (int(workers.max()) + 1 if len(workers) else 0)
    n_presented, wrong = _added(workers, presented, size), _added(workers, failed, size)
    if (wrong > n_presented).any() or (wrong < 0).any():
        raise ValueError("a worker cannot have failed more attention checks than were presented")
    enough = n_presented >= least
    return Verdicts(
        rule=RULE,
        removed=enough & (wrong >= failures),
        undetermined=~enough,
        value=wrong.astype(np.float64),
        n=n_presented,
        reason_format="failed {value:.0f} of {n} attention checks",
        words_undetermined=f"was shown {{n}} attention checks; a decision needs {least}",
    )


def _added(workers: data.Codes, numbers: npt.ArrayLike, size: int) -> npt.NDArray[np.int64]:
    column = np.asarray(numbers, dtype=np.float64)
    if column.shape != workers.shape:
        raise ValueError("there must be as many numbers as workers")
    return np.rint(np.bincount(workers, weights=column, minlength=size)).astype(np.int64)


# The response z filter: ratings far from their item's mean (KPQA, Lee et al. 2021, section 4.2).
#
# It looks at responses. Jung and Lease (2011) z-score workers, which is another filter. The published rule
# is two-sided: one pass, population SD, strictly more than 1, at most five ratings of an item, the largest
# |z| first. On noise it manufactures agreement: see docs/quality.md before using it.

# Items decided and rows looked up at a time: what fits a cache.
ITEMS = 1 << 14
ROWS = 1 << 16
SMALL = 1 << 31

STAYS, GOES, IN_PART = 0, 1, 2

Ties = Literal["submission", "group"]


@dataclass(frozen=True, slots=True, eq=False)
class _Plan:
    """What happens to an item's ratings of a value: arrays of shape (values, items).

    A tie group is an item's ratings that lie equally far from its mean, on either side. `group` is the lower
    value of the tie group, `quota` how many of its ratings go, `before` how many go that lie farther out.
    `fate` is STAYS, GOES or IN_PART.
    """

    fate: npt.NDArray[np.int8]
    group: npt.NDArray[np.int8]
    quota: npt.NDArray[np.int32]
    before: npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class ZRemoved:
    """What the filter removes.

    `mask` (length n) is True for removed ratings; `capped_items` (length n_items) is True where the cap, or
    the number to keep, saved ratings that were far enough out. `z` and `rank` are made when asked for.
    """

    mask: data.Mask
    capped_items: data.Mask
    _ratings: data.Ratings
    _plan: _Plan
    _ddof: int

    @cached_property
    def z(self) -> data.Floats:
        """The signed z of each rating inside its item, length n; 0 where the item has no variation."""
        counts = data.value_counts(self._ratings)
        x = self._ratings.scale.steps
        n, s, q = counts.sum(axis=1), counts @ x, counts @ (x * x)
        several = n > self._ddof
        variance = (n * q - s * s) / np.maximum(1, n * (n - self._ddof))
        scale = np.divide(1.0, np.sqrt(variance), out=np.zeros(len(n)), where=several & (variance > 0))
        mean = s / np.maximum(1, n)
        z: data.Floats = (self._ratings.scores - mean[self._ratings.items]) * scale[self._ratings.items]
        return z

    @cached_property
    def rank(self) -> npt.NDArray[np.int32]:
        """1 for the first removed rating of an item, 2 for the second …, 0 for those kept; length n."""
        rank = np.zeros(len(self.mask), dtype=np.int32)
        rows = np.flatnonzero(self.mask)
        row_cells = _cells(self._ratings, rows)
        rank[rows] = self._plan.before.take(row_cells) + _place(self._ratings, rows, self._plan) + 1
        return rank


def z_removed(
    ratings: data.Ratings,
    *,
    limit: float = 1.0,
    cap: int | None = 5,
    ddof: int = 0,
    least: int = 0,
    keep: int = 0,
    ties: Ties = "submission",
) -> ZRemoved:
    """Which ratings lie more than `limit` standard deviations from the mean of their item.

    `cap` bounds how many of an item go, `keep` how many must stay; items with fewer than `least` ratings are
    left alone; `ddof` is 0 for the population SD and 1 for the sample SD. Among ratings equally far out the
    cap takes the first submitted, or with `ties="group"` all of them or none. The defaults are the paper's
    rule; outside that recipe use `limit=2, least=5, keep=3, ties="group"`.

    Decided in whole numbers: candidate iff (n x - s)^2 (n - ddof) > limit^2 n (n q - s^2), with s the sum and
    q the sum of squares of the item's n ratings. Floats decide 16 of the 715 sets of nine ratings wrongly.
    """
    counts = data.value_counts(ratings)
    shape = (ratings.scale.size, ratings.n_items)
    plan = _Plan(
        np.empty(shape, np.int8),
        np.empty(shape, np.int8),
        np.empty(shape, np.int32),
        np.empty(shape, np.int32),
    )
    capped = np.zeros(ratings.n_items, dtype=np.bool_)
    for start in range(0, ratings.n_items, ITEMS):
        block = _transposed(counts[start : start + ITEMS])
        block_items = slice(start, start + block.shape[1])
        n = block.sum(axis=0, dtype=block.dtype)
        far = _far(block, n, limit, ddof) & (n >= least)
        room = np.maximum(0, n - keep if cap is None else np.minimum(cap, n - keep))
        group, before, size = _tie_groups(block, n, far)
        left = room - before
        quota = size * (size <= left) if ties == "group" else np.clip(left, 0, size)
        plan.group[:, block_items], plan.quota[:, block_items], plan.before[:, block_items] = (
            group,
            quota,
            before,
        )
        plan.fate[:, block_items] = (quota > 0).astype(np.int8) + ((quota > 0) & (quota < size))
        capped[block_items] = (before + size).max(axis=0) > room
    return ZRemoved(_mask(ratings, plan), capped, ratings, plan, ddof)


def _transposed(counts: data.Counts) -> data.Counts:
    """The block values x items, in 32 bits where its sums of squares leave room for the exact test."""
    largest = int(counts.sum(axis=1).max(initial=0))
    fits = (len(counts.T) * max(1, largest)) ** 2 * max(1, largest) < SMALL
    return np.ascontiguousarray(counts.T, dtype=np.int32 if fits else np.int64)


def _far(block: data.Counts, n: data.Counts, limit: float, ddof: int) -> data.Mask:
    """Which cells have ratings that lie too far from the mean; `block` is values x items."""
    x = np.arange(len(block), dtype=block.dtype)[:, None]  # the scale moved to 0: the test stays the same
    s, q = (block * x).sum(axis=0, dtype=block.dtype), (block * x * x).sum(axis=0, dtype=block.dtype)
    off, spread = n * x - s, n * q - s * s
    over, under = (Fraction(str(limit)) ** 2).as_integer_ratio()
    largest = max(1, int(n.max(initial=0)))
    bound = (len(block) * largest) ** 2 * largest * max(over, under)
    if bound > np.iinfo(block.dtype).max:
        wide: type = np.int64 if bound < 1 << 62 else object
        off, spread, n = off.astype(wide), spread.astype(wide), n.astype(wide)
    far: data.Mask = (off * off * ((np.maximum(n, ddof) - ddof) * under) > over * n * spread).astype(np.bool_)
    return far & (block > 0)


def _tie_groups(
    block: data.Counts, n: data.Counts, far: data.Mask
) -> tuple[data.Counts, data.Counts, data.Counts]:
    """Of each cell: its tie group, how many candidates lie farther out, and how many in its group.

    The last is 0 where the cell itself is no candidate.
    """
    x = np.arange(len(block), dtype=block.dtype)[:, None]
    distance = np.abs(n * x - (block * x).sum(axis=0, dtype=block.dtype))
    candidates = block * far
    group, before, size = np.empty_like(block), np.zeros_like(block), np.zeros_like(block)
    for value in reversed(range(len(block))):
        before += candidates[value] * (distance[value] > distance)
        level = distance[value] == distance
        size += candidates[value] * level
        np.copyto(group, value, where=level)
    size *= far
    return group, before, size


def _mask(ratings: data.Ratings, plan: _Plan) -> data.Mask:
    """The removed rows: whole tie groups by their cell, parts of a group in the order of submission."""
    mask = np.zeros(len(ratings), dtype=np.bool_)
    parts = [np.zeros(0, dtype=np.int64)]
    for start in range(0, len(ratings), ROWS):
        rows = slice(start, start + ROWS)
        fate = plan.fate.take(_cells(ratings, rows))
        np.equal(fate, GOES, out=mask[rows])
        parts.append(np.flatnonzero(fate == IN_PART) + start)
    partly = np.concatenate(parts)
    mask[partly] = _place(ratings, partly, plan) < plan.quota.take(_cells(ratings, partly))
    return mask


def _cells(ratings: data.Ratings, rows: slice | npt.NDArray[np.intp]) -> npt.NDArray[np.int64]:
    """Where in a flattened array of shape (values, items) the rows belong."""
    keys = ratings.scores[rows].astype(np.int64)
    keys -= ratings.scale.low
    keys *= ratings.n_items
    keys += ratings.items[rows]
    return keys


def _place(ratings: data.Ratings, rows: npt.NDArray[np.intp], plan: _Plan) -> npt.NDArray[np.int64]:
    """How many of the given rows, which are in order, come before each in its item's tie group."""
    items = ratings.items[rows].astype(np.int64)
    groups = plan.group.take(_cells(ratings, rows)) + items * ratings.scale.size
    order = data.stable_order(groups)
    ordered = groups[order]
    starts = np.flatnonzero(np.diff(ordered, prepend=-1))
    place = np.empty(len(rows), dtype=np.int64)
    place[order] = np.arange(len(rows)) - np.repeat(starts, np.diff(starts, append=len(rows)))
    return place


# Running a recipe: which ratings and which workers stay, what removed the others, and of whom too little is
# known.

DUPLICATE = "duplicate"
RESPONSE_Z = "z"
WORKER_KAPPA = "kappa"


@dataclass(frozen=True, slots=True, eq=False)
class Checks:
    """Attention checks that each worker was shown and failed, arrays of length n_workers."""

    presented: data.Whole
    failed: data.Whole


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """What a recipe decided. Masks over ratings have length n, those over workers n_workers.

    `distinct` leaves out ratings that repeat an earlier one of the same worker; `standing` leaves out those
    of removed workers too; `kept` leaves out single responses as well: it is what scores are made of.
    `verdicts` are those of the rules about workers, in the order in which they ran; a worker whom one
    removed is not looked at by the next. `removed_by` has, for each worker, the place in `verdicts` of the
    rule that removed them, or -1. `z` (nan where it was not measured) and `rank` (of removal in the item,
    from 1; 0 for none) belong to the response filter, as do `capped_items`.
    """

    recipe: Recipe
    distinct: data.Mask
    standing: data.Mask
    kept: data.Mask
    verdicts: tuple[Verdicts, ...]
    removed_by: npt.NDArray[np.int8]
    z: npt.NDArray[np.float32]
    rank: npt.NDArray[np.int16]
    capped_items: data.Mask
    kappas: WorkerKappas | None

    @property
    def removed_workers(self) -> data.Mask:
        """Workers whom a rule removed."""
        return self.removed_by >= 0

    @property
    def undetermined(self) -> data.Mask:
        """Workers who stay although a rule could not decide on them."""
        unsure = np.zeros(len(self.removed_by), dtype=np.bool_)
        for verdict in self.verdicts:
            unsure |= verdict.undetermined
        return unsure & ~self.removed_workers

    @property
    def reasons(self) -> tuple[str, ...]:
        """Names of what can remove a rating: `duplicate`, the rules about workers that ran, `z`."""
        return (DUPLICATE, *(verdict.rule for verdict in self.verdicts), RESPONSE_Z)

    def removed_because(self, ratings: data.Ratings) -> npt.NDArray[np.int8]:
        """For each rating the place in `reasons` of what removed it, -1 for those kept."""
        because = np.full(len(ratings), -1, dtype=np.int8)
        because[self.standing & ~self.kept] = len(self.verdicts) + 1
        by_worker = self.removed_by[ratings.workers]
        because[by_worker >= 0] = by_worker[by_worker >= 0] + 1
        because[~self.distinct] = 0
        return because


def run(
    ratings: data.Ratings,
    recipe: Recipe,
    *,
    checks: Checks | None = None,
    seconds: data.Floats | None = None,
    repeated: bool = True,
) -> Run:
    """Runs the recipe's rules in their fixed order. `seconds` has the time of each rating, nan for unknown.

    `repeated` false says that no worker rated an item twice, which then is not looked for. A rule without
    anything to look at (no checks, no times) does not run; `verdicts` then lacks it.
    """
    distinct = ~duplicates(ratings) if repeated else np.ones(len(ratings), dtype=np.bool_)
    standing = distinct
    gone = np.full(ratings.n_workers, -1, dtype=np.int8)
    verdicts: list[Verdicts] = []
    kappas = None

    def judge(verdict: Verdicts) -> None:
        nonlocal standing
        gone[verdict.removed & (gone < 0)] = len(verdicts)
        verdicts.append(verdict)
        if verdict.removed.any():
            standing = distinct & (gone < 0)[ratings.workers]

    if recipe.has(TECHNICAL):
        for verdict in _technical(
            ratings.only(distinct), recipe, None if seconds is None else seconds[distinct]
        ):
            judge(verdict)
    if recipe.has(CHECKS) and checks is not None:
        judge(_checks(recipe, checks))
    if recipe.has(KAPPA):
        kappas = kappa_of(_rows(ratings, standing), recipe)
        judge(_kappa(recipe, kappas))
    kept_ratings = standing
    # One number for all ratings, until there is one for each.
    z: npt.NDArray[np.float32] = np.broadcast_to(np.float32(np.nan), len(ratings))
    rank: npt.NDArray[np.int16] = np.broadcast_to(np.int16(0), len(ratings))
    capped = np.zeros(ratings.n_items, dtype=np.bool_)
    if recipe.has(Z):
        out = respond(_rows(ratings, standing), recipe)
        kept_ratings = standing.copy()
        kept_ratings[standing] = ~out.mask
        z, rank, capped = z.copy(), rank.copy(), out.capped_items
        z[standing], rank[standing] = out.z, out.rank
    return Run(recipe, distinct, standing, kept_ratings, tuple(verdicts), gone, z, rank, capped, kappas)


def respond(ratings: data.Ratings, recipe: Recipe) -> ZRemoved:
    """The recipe's response filter alone."""
    return z_removed(
        ratings,
        limit=recipe.z_limit,
        cap=recipe.z_cap,
        ddof=recipe.z_ddof,
        least=recipe.z_least,
        keep=recipe.z_keep,
        ties="group" if recipe.z_ties == "group" else "submission",
    )


def without_response_filter(recipe: Recipe) -> Recipe:
    """The recipe with its rules about workers alone."""
    return replace(recipe, rules=tuple(rule for rule in recipe.rules if rule != Z))


def kappa_of(ratings: data.Ratings, recipe: Recipe) -> WorkerKappas:
    """Each worker's kappa against the recipe's reference."""
    weights = "linear" if recipe.kappa_weights == "linear" else "quadratic"
    if recipe.kappa_reference == "pairwise":
        return kappa.pairwise_median(ratings, weights)
    if recipe.kappa_reference == "consensus":
        return kappa.consensus(ratings, weights)
    return kappa.pooled(ratings, weights)


def reference_of(ratings: data.Ratings, recipe: Recipe) -> kappa.Reference | None:
    """What `kappa_of` holds each rating against, where that is known by item and own score."""
    weights = "linear" if recipe.kappa_weights == "linear" else "quadratic"
    if recipe.kappa_reference == "pairwise":
        return None
    if recipe.kappa_reference == "consensus":
        return kappa.consensus_of_others(ratings, weights)
    return kappa.distribution_of_others(ratings, weights)


def _rows(ratings: data.Ratings, mask: data.Mask) -> data.Ratings:
    return ratings if mask.all() else ratings.only(mask)


def _technical(ratings: data.Ratings, recipe: Recipe, seconds: data.Floats | None) -> list[Verdicts]:
    verdicts = []
    if recipe.test_accounts:
        exact = [name for name in recipe.test_accounts if not name.endswith("*")]
        prefixes = [name[:-1] for name in recipe.test_accounts if name.endswith("*")]
        verdicts.append(test_accounts(ratings.worker_names, exact, prefixes=prefixes))
    if recipe.seconds_below and seconds is not None:
        verdicts.append(too_fast(ratings, seconds, limit=recipe.seconds_below, least=recipe.technical_least))
    if recipe.straight_share:
        verdicts.append(straight_lining(ratings, least=recipe.technical_least, share=recipe.straight_share))
    return verdicts


def _checks(recipe: Recipe, checks: Checks) -> Verdicts:
    everybody = np.arange(len(checks.presented), dtype=np.int32)
    return check_verdicts(
        everybody,
        checks.presented,
        checks.failed,
        n_workers=len(everybody),
        failures=recipe.checks_failed,
        least=recipe.checks_least,
    )


def _kappa(recipe: Recipe, kappas: WorkerKappas) -> Verdicts:
    defined = ~np.isnan(kappas.kappa)
    enough = (kappas.n >= recipe.kappa_least) & defined
    with np.errstate(invalid="ignore"):
        below = kappas.kappa < recipe.kappa_below
    return Verdicts(
        rule=WORKER_KAPPA,
        removed=enough & below,
        undetermined=~enough,
        value=kappas.kappa,
        n=kappas.n,
        reason_format=f"has a {recipe.kappa_weights} kappa of {{value:z.2f}} with the others over {{n}} "
        f"ratings; the limit is {recipe.kappa_below:g}",
        words_undetermined="has {n} ratings on items that others rated too; a decision needs "
        f"{recipe.kappa_least}, and scores that differ",
    )
