import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from metrics.metaeval.correlation import over_subsets

values = st.lists(st.sampled_from([0.0, 1.0, 2.0, 2.5, 1e-9, 7.0]), min_size=9, max_size=9)
memberships = st.lists(st.integers(0, 1), min_size=9, max_size=9)


@pytest.mark.filterwarnings("ignore::scipy.stats.ConstantInputWarning")
@given(x=values, y=values, member=memberships)
@pytest.mark.parametrize("statistic", ["pearson", "spearman"])
def test_it_is_scipys_correlation_over_the_answers_of_the_subset(statistic, x, y, member):
    x, y, member = np.array(x), np.array(y), np.array(member) > 0
    found = over_subsets(x, y, member[None], statistic)[0]

    if member.sum() < 3 or np.ptp(x[member]) < 1e-5 or np.ptp(y[member]) < 1e-5:
        return
    expected = {"pearson": stats.pearsonr, "spearman": stats.spearmanr}[statistic](x[member], y[member])
    assert found == pytest.approx(expected.statistic, abs=1e-9)


def test_a_subset_with_one_value_or_fewer_than_three_answers_has_none():
    x, y = np.array([1.0, 2, 3, 3, 3]), np.array([1.0, 5, 2, 4, 6])
    subsets = np.array([[1, 1, 1, 0, 0], [0, 0, 1, 1, 1], [1, 1, 0, 0, 0], [0, 0, 0, 0, 0]]) > 0

    for statistic in ("pearson", "spearman"):
        found = over_subsets(x, y, subsets, statistic)

        assert np.isnan(found).tolist() == [False, True, True, True]


def test_answers_without_a_score_are_in_no_subset():
    x, y = np.array([1.0, 2, 3, 9, np.nan]), np.array([2.0, 4, 6, np.nan, 1])

    assert over_subsets(x, y, np.ones((1, 5), dtype=bool), "pearson").tolist() == [pytest.approx(1)]
