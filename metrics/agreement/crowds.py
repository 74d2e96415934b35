"""Simulated crowds: items whose true score is known, and workers of whom it is known who is honest.

For studies of filters and for tests. Nobody knows the true score of a real answer, so what a filter does to
the score can only be seen here. Every figure is deterministic in the seed.

An honest worker looks at an item, sees its latent quality, shifts it by a personal bias, adds noise of a
personal size, and gives the nearest score. Some items are contested: a minority of the honest workers sees a
different quality, each for good reasons, and both views belong into the true score. The true score of an item
is the mean of endless honest workers. A spammer does not look: one kind draws scores evenly, one always gives
the same score, one draws from the middle or the top. Spammers are busier than honest workers.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from metrics.agreement.data import Codes, Floats, Mask, Ratings, Whole
from metrics.agreement.scale import Scale

_SCALE = Scale(1, 5)
_PEOPLE = 200
_GRID = np.linspace(-3.0, 9.0, 301)


@dataclass(frozen=True, slots=True)
class Crowd:
    """Who takes part and what they rate; shares from 0 to 1, the rest in points of the scale.

    Workers: a `spam` share of them does not look and is `busier` times as busy; how busy they are varies by
    `uneven` (standard deviation of the logarithm). `bias` and `noise` are standard deviations, `noise_varies`
    that of the logarithm of the noise; `lapses` is the share of honest ratings that are given blindly. Items:
    a share is plainly `wrong`, a share lies in `between`, the others are right; `clear` is the spread of the
    plain ones. A share is `contested`: a `minority` sees it `apart` points nearer to the other end. Each
    worker is shown so many attention `checks`; a spammer passes one by chance with `passes_by_chance`.

    The defaults were chosen so that the three crowds come near to published figures: raw alpha about 0.39
    with 15 % spam, 0.83 after the z filter of KPQA, 0.6 without spam.
    """

    spam: float = 0.0
    pure_noise: bool = False
    busier: float = 1.6
    uneven: float = 0.45
    bias: float = 0.37
    noise: float = 0.8
    noise_varies: float = 0.3
    lapses: float = 0.03
    wrong: float = 0.5
    between: float = 0.36
    clear: float = 0.5
    contested: float = 0.1
    minority: float = 0.3
    apart: float = 2.3
    checks: int = 6
    passes_by_chance: float = 0.4


CROWDS: Mapping[str, Crowd] = {
    "clean": Crowd(),
    "moderate": Crowd(spam=0.15),
    "heavy": Crowd(spam=0.35),
    "noise": Crowd(spam=1.0, pure_noise=True),
}


@dataclass(frozen=True, slots=True, eq=False)
class Study:
    """A simulated study: what was rated, and what only the simulation knows.

    `truth` per item (nan in pure noise); `contested` marks items with a minority view, `spammers` workers.
    `presented` and `failed` count each worker's attention checks.
    """

    ratings: Ratings
    truth: Floats
    contested: Mask
    spammers: Mask
    presented: Whole
    failed: Whole


def simulated(
    crowd: Crowd, *, items: int = 1000, per_item: int = 10, workers: int = 150, seed: int = 0
) -> Study:
    """A study: `per_item` ratings of each item, by different workers; rows in order of submission."""
    random = np.random.default_rng(seed)
    people = _People.drawn(crowd, workers, random)
    latent, contested, other = _items(crowd, items, random)
    rows, who = _handed_out(people.activity, items, per_item, random)
    seen = np.where(contested[rows] & (random.random(len(rows)) < crowd.minority), other[rows], latent[rows])
    felt = seen + people.bias[who] + people.noise[who] * random.standard_normal(len(rows))
    scores = np.clip(np.rint(felt), _SCALE.low, _SCALE.high)
    lapsed = random.random(len(rows)) < crowd.lapses
    scores = np.where(lapsed, random.integers(_SCALE.low, _SCALE.high + 1, len(rows)), scores)
    scores = np.where(people.spammer[who], people.careless(who, random), scores)
    ratings = Ratings(
        rows,
        who,
        scores.astype(np.int16),
        [f"item {n}" for n in range(items)],
        [f"worker {n}" for n in range(workers)],
        _SCALE,
    )
    truth = np.full(items, np.nan) if crowd.pure_noise else _truth(crowd, latent, contested, other)
    presented = np.full(workers, crowd.checks, dtype=np.int64)
    misses = np.where(people.spammer, 1 - crowd.passes_by_chance, crowd.lapses)
    return Study(ratings, truth, contested, people.spammer, presented, random.binomial(presented, misses))


@dataclass(frozen=True, slots=True, eq=False)
class _People:
    spammer: Mask
    kind: Whole
    habit: Whole
    activity: Floats
    bias: Floats
    noise: Floats

    @classmethod
    def drawn(cls, crowd: Crowd, workers: int, random: np.random.Generator) -> "_People":
        spammer = np.arange(workers) < round(crowd.spam * workers)
        random.shuffle(spammer)
        activity = crowd.uneven * random.standard_normal(workers) + np.log(crowd.busier) * spammer
        kind = np.zeros(workers, dtype=np.int64) if crowd.pure_noise else (np.cumsum(spammer) - 1) % 3
        return cls(
            spammer,
            kind,
            random.permutation(np.arange(workers) % _SCALE.size) + _SCALE.low,
            activity,
            crowd.bias * random.standard_normal(workers),
            crowd.noise * np.exp(crowd.noise_varies * random.standard_normal(workers)),
        )

    def careless(self, who: Codes, random: np.random.Generator) -> npt.NDArray[np.int64]:
        """Scores by spammers: evenly, always the same, from the middle or from the top."""
        evenly = random.integers(_SCALE.low, _SCALE.high + 1, len(who))
        middle = random.choice(_SCALE.values, len(who), p=[0.05, 0.2, 0.5, 0.2, 0.05])
        top = random.choice(_SCALE.values, len(who), p=[0.05, 0.05, 0.15, 0.35, 0.4])
        drawn = np.where(self.habit[who] <= 2, middle, top)
        return np.select([self.kind[who] == 0, self.kind[who] == 1], [evenly, self.habit[who]], drawn)


def _items(crowd: Crowd, items: int, random: np.random.Generator) -> tuple[Floats, Mask, Floats]:
    """Latent quality, whether contested, and what the minority sees."""
    kind = random.random(items)
    clear = crowd.clear * random.standard_normal(items)
    latent = np.where(kind < crowd.wrong, 1.2 + clear, 4.8 + clear)
    latent = np.where(kind > 1 - crowd.between, random.uniform(1.5, 4.5, items), latent)
    contested = random.random(items) < crowd.contested
    return latent, contested, latent + np.where(latent < 3, crowd.apart, -crowd.apart)


def _handed_out(
    activity: Floats, items: int, per_item: int, random: np.random.Generator
) -> tuple[Codes, Codes]:
    """Items and workers of all ratings in a shuffled order; nobody rates an item twice."""
    keys = activity + random.gumbel(size=(items, len(activity)))
    chosen = np.argpartition(-keys, per_item - 1, axis=1)[:, :per_item]
    order = random.permutation(items * per_item)
    rows = np.repeat(np.arange(items), per_item)[order].astype(np.int32)
    return rows, chosen.ravel()[order].astype(np.int32)


def _truth(crowd: Crowd, latent: Floats, contested: Mask, other: Floats) -> Floats:
    """Mean of endless honest workers."""
    main, minority = _mean_score(crowd, latent), _mean_score(crowd, other)
    seen = np.where(contested, (1 - crowd.minority) * main + crowd.minority * minority, main)
    return (1 - crowd.lapses) * seen + crowd.lapses * float(_SCALE.values.mean())


def _mean_score(crowd: Crowd, latent: Floats) -> Floats:
    """Mean score of a latent quality."""
    interpolated: Floats = np.interp(latent, _GRID, _mean_scores(crowd))
    return interpolated


@lru_cache(maxsize=64)
def _mean_scores(crowd: Crowd) -> Floats:
    """Mean score at each quality of the grid, over biases and noises: the sum of P(score >= step)."""
    from scipy.special import ndtr, ndtri

    even = (np.arange(_PEOPLE) + 0.5) / _PEOPLE
    noise = crowd.noise * np.exp(crowd.noise_varies * ndtri(even))
    spread = np.sqrt(noise**2 + crowd.bias**2)
    steps = _SCALE.values[1:] - 0.5
    means = [_SCALE.low + ndtr((quality - steps[:, None]) / spread).sum(axis=0).mean() for quality in _GRID]
    return np.array(means)
