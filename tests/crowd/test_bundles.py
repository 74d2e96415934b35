"""Bundling, by properties: nobody is asked too much, and the same seed makes the same HITs."""

from hypothesis import given, settings
from hypothesis import strategies as st

from core.money import reward_fee
from crowd.bundles import SMALL_HIT, bundle, order_for, places
from crowd.kinds import PendingUnit
from tests.scale import limit_cases

FEW = settings(max_examples=limit_cases(100, least=30))
pendings = st.dictionaries(st.text("abcdefgh", min_size=1, max_size=4), st.integers(-1, 30), max_size=40).map(
    lambda missing: [PendingUnit(unit, people) for unit, people in missing.items()]
)
shapes = st.fixed_dictionaries(
    {
        "units_per_hit": st.integers(1, 7),
        "checks_per_hit": st.integers(0, 4),
        "overlap": st.lists(st.sampled_from(["over:1", "over:2", "over:3"]), unique=True),
        "checks": st.lists(st.sampled_from(["check:1", "check:2", "check:3"]), unique=True),
        "seed": st.integers(0, 2**32),
    }
)


@FEW
@given(pendings, shapes)
def test_every_pending_unit_is_in_one_bundle_for_as_many_people_as_it_misses(pending, shape):
    asked = {}
    for made in bundle(pending, **shape):
        for unit, role in made.units:
            if role == "unit":
                assert unit not in asked
                asked[unit] = made.people
    assert asked == {item.unit: item.missing for item in pending if item.missing > 0}


@FEW
@given(pendings, shapes)
def test_a_bundle_has_its_own_units_all_overlap_and_its_checks_each_once(pending, shape):
    for made in bundle(pending, **shape):
        by_role = {
            role: [unit for unit, its in made.units if its == role] for role in ("unit", "overlap", "check")
        }
        assert 1 <= len(by_role["unit"]) <= shape["units_per_hit"]
        assert by_role["overlap"] == shape["overlap"]
        assert len(by_role["check"]) == min(shape["checks_per_hit"], len(shape["checks"]))
        assert len({unit for unit, _ in made.units}) == len(made.units)


@FEW
@given(pendings, shapes)
def test_the_same_seed_makes_the_same_bundles_whatever_the_order_of_arrival(pending, shape):
    assert bundle(pending, **shape) == bundle(list(reversed(pending)), **shape)


@FEW
@given(shapes)
def test_an_overlap_unit_that_is_pending_is_asked_as_overlap_only(shape):
    for made in bundle([PendingUnit("over:1", 3), PendingUnit("own", 3)], **{**shape, "overlap": ["over:1"]}):
        assert [role for unit, role in made.units if unit == "over:1"] == ["overlap"]


@FEW
@given(st.integers(1, 200), st.integers(0, 500), st.sampled_from(["none-1", "mturk-2026"]))
def test_hits_are_split_exactly_where_that_is_cheaper(people, reward, profile):
    sizes = places(people, reward_cents=reward, fee_profile=profile)
    assert sum(sizes) == people
    assert min(sizes) >= 1

    def cost(parts):
        return sum(size * reward_fee(profile, reward_cents=reward, max_assignments=size) for size in parts)

    if len(sizes) > 1:
        assert max(sizes) <= SMALL_HIT
        assert cost(sizes) < cost([people])
    elif people > SMALL_HIT:
        assert cost([people]) <= people * reward_fee(profile, reward_cents=reward, max_assignments=1)


def test_a_hundred_people_at_ten_cents_save_two_dollars_by_hits_of_nine():
    """The figures of the design: 2.00 of fees when split, 4.00 in one HIT."""
    assert places(100, reward_cents=10, fee_profile="mturk-2026") == [9] * 11 + [1]
    assert 100 * reward_fee("mturk-2026", reward_cents=10, max_assignments=9) == 200
    assert 100 * reward_fee("mturk-2026", reward_cents=10, max_assignments=100) == 400


def test_one_cent_hits_stay_whole_because_the_least_fee_is_the_same():
    assert places(30, reward_cents=1, fee_profile="mturk-2026") == [30]


@FEW
@given(st.lists(st.text(max_size=5), unique=True), st.integers(), st.text(max_size=10))
def test_each_worker_has_their_own_order_and_keeps_it(units, seed, worker):
    ordered = order_for(units, seed=seed, worker=worker)
    assert sorted(ordered) == sorted(units)
    assert ordered == order_for(units, seed=seed, worker=worker)


def test_two_workers_see_twenty_units_in_different_orders():
    units = [f"unit:{number}" for number in range(20)]
    assert order_for(units, seed=1, worker="A1") != order_for(units, seed=1, worker="A2")


@FEW
@given(pendings, shapes, st.integers(1, 5))
def test_what_belongs_together_comes_in_one_bundle_unless_it_is_too_much(pending, shape, groups):
    together = {item.unit: str(number % groups) for number, item in enumerate(pending) if number % 3}
    where = {}
    for number, made in enumerate(bundle(pending, **shape, together=together)):
        own = [unit for unit, role in made.units if role == "unit"]
        assert len(own) <= shape["units_per_hit"]
        where |= dict.fromkeys(own, (number, made.people))
    assert set(where) == {item.unit for item in pending if item.missing > 0} - set(shape["overlap"])
    for group in set(together.values()):
        for people in {made for _, made in where.values()}:
            mine = [
                place
                for unit, (place, asks) in where.items()
                if together.get(unit) == group and asks == people
            ]
            if len(mine) <= shape["units_per_hit"]:
                assert len(set(mine)) <= 1


def test_groups_fill_the_room_that_others_leave():
    pending = [PendingUnit(f"{group}{number}", 1) for group in "abcd" for number in range(3)]
    together = {item.unit: item.unit[0] for item in pending}
    single = [PendingUnit(f"single{number}", 1) for number in range(4)]
    shape = {"units_per_hit": 4, "overlap": [], "checks": [], "checks_per_hit": 0, "seed": 1}
    assert [len(made.units) for made in bundle(pending + single, **shape, together=together)] == [4, 4, 4, 4]


@FEW
@given(st.integers(), st.text(max_size=10))
def test_what_belongs_together_stands_one_after_the_other_in_every_order(seed, worker):
    units = [f"{group}{number}" for group in "abcde" for number in range(4)]
    ordered = order_for(units, seed=seed, worker=worker, together={unit: unit[0] for unit in units})
    assert sorted(ordered) == units
    assert [len({unit[0] for unit in ordered[start : start + 4]}) for start in range(0, 20, 4)] == [1] * 5
