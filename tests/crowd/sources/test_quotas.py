"""Places divided over sources: whole, within quotas, spread evenly, and what was had before counts."""

from hypothesis import given, settings
from hypothesis import strategies as st

from crowd.sources import Quota, divide, part_targets
from tests.scale import limit_cases

FEW = settings(max_examples=limit_cases(100, least=30))
QUOTAS = st.one_of(
    st.builds(Quota, share=st.integers(1, 100), filled=st.integers(0, 50)),
    st.builds(Quota, most=st.integers(0, 40), filled=st.integers(0, 50)),
)
DEMANDS = st.lists(st.integers(0, 9), max_size=30)


@FEW
@given(DEMANDS, st.lists(QUOTAS, min_size=1, max_size=5))
def test_never_more_than_asked_and_never_beyond_a_count(demands, quotas):
    parts = divide(demands, quotas)
    totals = [sum(column) for column in zip(*parts, strict=True)] if parts else [0] * len(quotas)
    for demand, row in zip(demands, parts, strict=True):
        assert sum(row) <= demand
    for quota, total in zip(quotas, totals, strict=True):
        if quota.most is not None:
            assert total <= max(0, quota.most - quota.filled)
    if any(quota.share for quota in quotas):
        assert sum(totals) == sum(demands)


@FEW
@given(DEMANDS, st.lists(st.integers(1, 100), min_size=1, max_size=5))
def test_shares_are_met_within_one_place_after_every_unit(demands, shares):
    quotas = [Quota(share=share) for share in shares]
    had, done = [0] * len(shares), 0
    for demand, row in zip(demands, divide(demands, quotas), strict=True):
        done += demand
        had = [before + more for before, more in zip(had, row, strict=True)]
        for share, count in zip(shares, had, strict=True):
            assert abs(count - done * share / sum(shares)) < 2.01


def test_who_lags_behind_gets_more():
    assert part_targets(10, [Quota(share=1, filled=10), Quota(share=1)]) == [0, 10]
    assert part_targets(10, [Quota(share=1, filled=4), Quota(share=1)]) == [3, 7]


def test_counts_come_first_and_the_rest_is_shared():
    assert part_targets(100, [Quota(most=10), Quota(share=70), Quota(share=30)]) == [10, 63, 27]
    assert part_targets(100, [Quota(most=10, filled=10), Quota(most=5)]) == [0, 5]


def test_three_people_from_three_sources_for_each_unit():
    quotas = [Quota(share=1), Quota(share=1), Quota(share=1)]
    assert divide([3, 3, 3], quotas) == [[1, 1, 1]] * 3


def test_what_is_taken_from_one_goes_to_the_others_for_good():
    assert part_targets(1, [Quota(share=1, taken_away=1), Quota(share=1, filled=1)]) == [0, 1]
    quotas = [Quota(share=2, taken_away=5), Quota(share=1), Quota(share=1)]
    assert part_targets(20, quotas) == [5, 8, 7]
    assert part_targets(4, [Quota(most=5, taken_away=2, filled=1), Quota(share=1)]) == [2, 2]
    assert part_targets(3, [Quota(share=1, taken_away=9)]) == [3]
