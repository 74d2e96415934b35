"""What kinds of people there are, and crowds mixed from them."""

import random
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Habit(StrEnum):
    """How somebody comes to an answer."""

    KNOWS = "knows"
    RANDOM = "random"
    CONSTANT = "constant"
    REVERSED = "reversed"
    PASTES = "pastes"


@dataclass(frozen=True, slots=True)
class Profile:
    """One kind of person.

    `pace` is the median time as a share of what a careful reader needs, `spread` the sigma of its log-normal
    distribution. `mistakes` is the share of answers that miss what they meant; the three after it are
    probabilities per HIT. `bias_spread` is by how many points of a scale people differ in how strict they
    are (a standard deviation), `bias` by how many points somebody lies above the truth.
    """

    name: str
    habit: Habit
    pace: float
    spread: float
    mistakes: float = 0.0
    leaves: float = 0.0
    returns: float = 0.0
    clicks_twice: float = 0.0
    bias_spread: float = 0.4
    bias: float = 0.0


PROFILES: Mapping[str, Profile] = {
    profile.name: profile
    for profile in (
        Profile("diligent", Habit.KNOWS, pace=1.0, spread=0.35, mistakes=0.05),
        Profile("sloppy", Habit.KNOWS, pace=0.5, spread=0.6, mistakes=0.30),
        Profile("random", Habit.RANDOM, pace=0.15, spread=0.4),
        Profile("constant", Habit.CONSTANT, pace=0.1, spread=0.3),
        Profile("reversed", Habit.REVERSED, pace=0.9, spread=0.4, mistakes=0.05),
        Profile("copy-paster", Habit.PASTES, pace=0.25, spread=0.5, mistakes=0.40),
        Profile("abandoner", Habit.KNOWS, pace=0.8, spread=0.6, mistakes=0.10, leaves=0.5),
        Profile("returner", Habit.KNOWS, pace=0.9, spread=0.5, mistakes=0.10, returns=0.5),
        Profile("duplicate-clicker", Habit.KNOWS, pace=0.8, spread=0.4, mistakes=0.10, clicks_twice=1.0),
    )
}

#: Shares per hundred people. Moderate has 15, heavy 35 who answer without reading or the wrong way round.
MIXES: Mapping[str, Mapping[str, int]] = {
    "clean": {"diligent": 88, "sloppy": 6, "abandoner": 2, "returner": 2, "duplicate-clicker": 2},
    "moderate": {
        "diligent": 62,
        "sloppy": 14,
        "random": 5,
        "constant": 4,
        "reversed": 3,
        "copy-paster": 3,
        "abandoner": 3,
        "returner": 3,
        "duplicate-clicker": 3,
    },
    "heavy": {
        "diligent": 40,
        "sloppy": 16,
        "random": 14,
        "constant": 9,
        "reversed": 6,
        "copy-paster": 6,
        "abandoner": 3,
        "returner": 3,
        "duplicate-clicker": 3,
    },
}


def crowd_of(mix: str, people: int, *, seed: int) -> list[Profile]:
    """Profiles of so many people, in the mix's shares as exactly as whole people allow, in a seeded order.

    The name of a profile is a mix too: everybody is like that. Raises KeyError, naming what there is.
    """
    if mix not in MIXES and mix not in PROFILES:
        raise KeyError(f"There is no mix {mix!r}; there are {', '.join([*MIXES, *PROFILES])}.")
    shares = MIXES.get(mix) or {mix: 100}
    exact = {name: people * share / sum(shares.values()) for name, share in shares.items()}
    counts = {name: int(share) for name, share in exact.items()}
    by_remainder = sorted(exact, key=lambda name: (counts[name] - exact[name], name))
    for name in by_remainder[: people - sum(counts.values())]:
        counts[name] += 1
    crowd = [PROFILES[name] for name in sorted(counts) for _ in range(counts[name])]
    random.Random(f"crowd:{mix}:{seed}").shuffle(crowd)
    return crowd
