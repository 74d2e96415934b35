"""Bundling units into HITs: pure functions, the same result for the same seed.

A bundle has up to `units_per_hit` units that need the same number of people, the overlap units, and checks at
seeded places. Units that belong together come in one bundle where it has room for all of them. HITs of ten or
more places are split where the endpoint's fees make that cheaper.
"""

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from core.money import reward_fee
from crowd.kinds import PendingUnit

#: The largest HIT below the higher fee tier.
SMALL_HIT = 9
_NOTHING: Mapping[str, str] = {}
_NONE_BARRED: Mapping[str, frozenset[int]] = {}


@dataclass(frozen=True, slots=True)
class Bundle:
    """Units in their unshuffled order with their roles, and how many different people should do them."""

    units: tuple[tuple[str, str], ...]
    people: int


def bundle(
    pending: Iterable[PendingUnit],
    *,
    units_per_hit: int,
    overlap: Sequence[str],
    checks: Sequence[str],
    checks_per_hit: int,
    seed: int,
    together: Mapping[str, str] = _NOTHING,
    known_people: int = 0,
    barred: Mapping[str, frozenset[int]] = _NONE_BARRED,
) -> list[Bundle]:
    """Bundles for what is pending.

    Units are shuffled by the seed and grouped by how many people they still miss, so that no bundle asks
    more people than its units need. Units with the same entry in `together` are not torn apart unless they
    are more than `units_per_hit`; bundles may stay smaller for it. Each bundle draws its checks without
    repetition. `barred` says which of the `known_people` may not do a unit: bundles are kept so small that
    those who may do a whole one are as many as it needs, or as its units leave.
    """
    shuffler = random.Random(f"bundle:{seed}")
    by_people: dict[int, list[str]] = {}
    outside = set(overlap)
    for item in pending:
        if item.missing > 0 and item.unit not in outside:
            by_people.setdefault(item.missing, []).append(item.unit)
    bundles: list[Bundle] = []
    for people in sorted(by_people, reverse=True):
        groups = _shuffled(sorted(by_people[people]), together, shuffler)
        for units in _packed(groups, units_per_hit, _TakenBy(people, known_people, barred)):
            own = [(unit, "unit") for unit in units]
            shared = [(unit, "overlap") for unit in overlap]
            drawn_checks = shuffler.sample(list(checks), min(checks_per_hit, len(checks)))
            bundles.append(Bundle(tuple(_mixed(own + shared, drawn_checks, shuffler)), people))
    return bundles


def _shuffled(units: Sequence[str], together: Mapping[str, str], shuffler: random.Random) -> list[list[str]]:
    """What belongs together, in a shuffled order and shuffled in itself; a unit without others is alone."""
    groups: dict[tuple[bool, str], list[str]] = defaultdict(list)
    for unit in units:
        groups[(unit in together, together.get(unit, unit))].append(unit)
    shuffled = list(groups.values())
    shuffler.shuffle(shuffled)
    for group in shuffled:
        shuffler.shuffle(group)
    return shuffled


@dataclass(frozen=True, slots=True)
class _TakenBy:
    """Whether enough of the people who are known may do all of some units."""

    needed: int
    known_people: int
    barred: Mapping[str, frozenset[int]]

    def fits(self, units: Sequence[str]) -> bool:
        """As many as are needed, or as the unit leaves that fewest may do."""
        barred_sets = [self.barred[unit] for unit in units if unit in self.barred]
        if not barred_sets:
            return True
        most = min(self.needed, self.known_people - max(map(len, barred_sets)))
        return self.known_people - len(frozenset().union(*barred_sets)) >= most


def _packed(groups: Iterable[Sequence[str]], room: int, taken_by: _TakenBy) -> list[list[str]]:
    """The groups in parts of at most `room`, each where the least room is left that is enough for it."""
    parts: list[list[str]] = []
    with_room: dict[int, list[int]] = defaultdict(list)
    for piece in _pieces(groups, room):
        places = ((left, number) for left in range(len(piece), room) for number in with_room[left])
        fitting = (place for place in places if taken_by.fits([*parts[place[1]], *piece]))
        free, number = next(fitting, (room, len(parts)))
        if number == len(parts):
            parts.append(list(piece))
        else:
            with_room[free].remove(number)
            parts[number].extend(piece)
        with_room[free - len(piece)].append(number)
    return parts


def _pieces(groups: Iterable[Sequence[str]], room: int) -> Iterator[Sequence[str]]:
    """Groups that are larger than `room` cut up, the others whole."""
    for group in groups:
        for start in range(0, len(group), room):
            yield group[start : start + room]


def _mixed(units: list[tuple[str, str]], checks: list[str], shuffler: random.Random) -> list[tuple[str, str]]:
    mixed = list(units)
    for check in checks:
        mixed.insert(shuffler.randint(0, len(mixed)), (check, "check"))
    return mixed


def places(people: int, *, reward_cents: int, fee_profile: str) -> list[int]:
    """Sizes of the HITs that together ask `people` people: one, or several of at most nine if cheaper."""
    unsplit = [people]
    split = [SMALL_HIT] * (people // SMALL_HIT) + ([people % SMALL_HIT] if people % SMALL_HIT else [])
    costs = {id(sizes): _cost(sizes, reward_cents, fee_profile) for sizes in (unsplit, split)}
    return split if costs[id(split)] < costs[id(unsplit)] else unsplit


def _cost(sizes: Sequence[int], reward_cents: int, fee_profile: str) -> int:
    return sum(
        size * (reward_cents + reward_fee(fee_profile, reward_cents=reward_cents, max_assignments=size))
        for size in sizes
    )


def order_for(
    units: Sequence[str], *, seed: int, worker: str, together: Mapping[str, str] = _NOTHING
) -> list[str]:
    """The order in which one worker sees the units of a HIT; what belongs together is not torn apart."""
    shuffler = random.Random(f"order:{seed}:{worker}")
    return [unit for group in _shuffled(units, together, shuffler) for unit in group]
