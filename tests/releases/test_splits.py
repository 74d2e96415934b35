"""Splits: what hangs together stays together, wherever the seed puts it."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from releases.scope import assigned, groups

KEYS = [f"q{number}" for number in range(200)]


def apart(count: int) -> dict[str, list[str]]:
    return groups([], KEYS[:count])


def test_queries_that_share_a_thing_are_one_group_also_through_others():
    shared = [("q1", "passage:a"), ("q2", "passage:a"), ("q2", "conversation:c"), ("q3", "conversation:c")]
    assert groups(shared, ["q1", "q2", "q3", "q4"]) == {"q1": ["q1", "q2", "q3"], "q4": ["q4"]}
    assert groups([("q1", "a"), ("gone", "a"), ("gone", "b"), ("q2", "b")], ["q1", "q2"]) == {
        "q1": ["q1"],
        "q2": ["q2"],
    }


def test_shares_are_about_what_was_asked_for_and_other_seeds_give_others():
    assert set(assigned(apart(20), seed=0, shares=(1, 0, 0)).values()) == {"train"}
    counts = Counter(assigned(apart(200), seed=1, shares=(0.6, 0.2, 0.2)).values())
    assert counts == {"train": 113, "validation": 40, "test": 47}
    one, other = (assigned(apart(50), seed=seed, shares=(0.5, 0.25, 0.25)) for seed in (1, 2))
    assert one != other
    for count in (3, 4, 5):
        splits = set(assigned(apart(count), seed=0, shares=(0.8, 0.1, 0.1)).values())
        assert splits == {"train", "validation", "test"}
    together = groups([("q1", "a"), ("q2", "a")], ["q1", "q2"])
    assert assigned(together, seed=0, shares=(0.8, 0.1, 0.1)) == {"q1": "train", "q2": "train"}
    shared = [(query, "one") for query in KEYS[:60]]
    together = groups(shared, KEYS[:100])
    for seed in range(20):
        assert assigned(together, seed=seed, shares=(0.8, 0.1, 0.1))["q0"] == "train"


def test_queries_that_come_later_move_none_that_are_there():
    before = assigned(apart(100), seed=5, shares=(0.8, 0.1, 0.1))
    after = assigned(apart(200), seed=5, shares=(0.8, 0.1, 0.1))
    assert {query: after[query] for query in before} == before


@given(
    st.lists(st.tuples(st.sampled_from(KEYS[:30]), st.integers(0, 12).map(str))),
    st.integers(0, 1000),
    st.sampled_from([(0.8, 0.1, 0.1), (0.5, 0.5, 0.0), (0.34, 0.33, 0.33)]),
)
def test_no_two_splits_share_anything(shared, seed, shares):
    splits = assigned(groups(shared, KEYS[:30]), seed=seed, shares=shares)
    assert set(splits) == set(KEYS[:30])
    for thing in {thing for _, thing in shared}:
        assert len({splits[query] for query, other in shared if other == thing}) == 1
