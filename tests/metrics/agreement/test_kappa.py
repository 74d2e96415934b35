import numpy as np
import pytest

from metrics.agreement import kappa
from metrics.agreement.data import Ratings, ratings_of, value_counts
from metrics.agreement.kappa import consensus, fleiss, from_table, pairwise_median, pooled
from tests.metrics.agreement.goldens import golden, ratings_from
from tests.metrics.agreement.made import by_coder, crowd

TABLES = golden("kappa")
REFERENCES = {"pooled": pooled, "consensus": consensus, "pairwise median": pairwise_median}


@pytest.mark.parametrize("case", TABLES["cases"], ids=lambda case: case["id"])
@pytest.mark.parametrize("weights", ["unweighted", "linear", "quadratic"])
def test_published_tables_have_their_kappa(case, weights):
    found = from_table(case["table_rows_a_cols_b"], weights).value
    expected = case["expected"][weights]

    assert found == (None if expected is None else pytest.approx(expected, abs=1e-12))


def test_cohens_own_weights_give_his_weighted_kappa():
    case = TABLES["cases"][0]

    found = from_table(case["table_rows_a_cols_b"], case["custom_disagreement_weights"])

    assert found.value == pytest.approx(case["expected"]["custom"], abs=1e-12)


def test_two_raters_who_never_vary_have_no_kappa():
    assert from_table([[0, 0], [0, 7]]).reason == "not defined: all ratings are the same"
    assert from_table([[0, 0], [0, 0]]).reason == "not defined: there are no ratings"


def test_weights_that_are_none_are_refused():
    with pytest.raises(ValueError, match="no weights of kappa: cubic"):
        from_table([[1, 0], [0, 1]], "cubic")
    with pytest.raises(ValueError, match="0 on the diagonal"):
        from_table([[1, 0], [0, 1]], [[1, 0], [0, 1]])


def test_fleiss_kappa_of_the_published_table():
    case = TABLES["fleiss"][0]

    assert fleiss(np.array(case["counts"])).value == pytest.approx(case["expected"], abs=1e-12)


def test_fleiss_kappa_with_missing_ratings_is_that_of_irrcac():
    table = golden("irrcac_4coder")

    found = fleiss(value_counts(by_coder(table["ratings_by_coder"])))

    assert found.value == pytest.approx(table["expected_rounded"]["fleiss"], abs=table["tol"])


def test_a_fleiss_kappa_that_does_not_exist_says_why():
    assert fleiss(np.array([[3, 0], [2, 0]])).reason == "not defined: all ratings are the same"
    assert fleiss(np.array([[1, 0], [0, 1]])).reason == "not defined: no item has two ratings"
    assert fleiss(np.array([[0, 0]])).reason == "not defined: there are no ratings"


@pytest.mark.parametrize(
    ("reference", "key"),
    [
        ("pooled", "worker_kappa_pooled_quadratic"),
        ("consensus", "worker_kappa_loo_consensus_quadratic"),
        ("pairwise median", "worker_kappa_pairwise_median_quadratic_min5"),
    ],
)
def test_the_workers_of_a_crowd_have_the_kappas_of_the_reference(reference, key):
    data = golden("pipeline")

    found = REFERENCES[reference](ratings_from(data["ratings"]))

    assert found.kappa == pytest.approx(data["expected"][key], abs=1e-9)
    assert found.n.sum() == len(data["ratings"])


def test_the_workers_below_a_fifth_are_those_of_the_reference():
    data = golden("pipeline")
    found = pooled(ratings_from(data["ratings"]))

    removed = np.flatnonzero((found.kappa < 0.2) & (found.n >= 10))

    assert removed.tolist() == data["expected"]["workers_removed_pooled_lt_0p2_min10"]


@pytest.mark.parametrize(
    "weights", ["unweighted", "linear", "quadratic", np.abs(np.subtract.outer(range(5), range(5)))]
)
def test_pooled_kappa_is_that_of_the_table_against_all_others(weights):
    ratings = crowd(items=30, workers=8, per_item=5, seed=3)
    table = np.zeros((5, 5))
    for item, score in zip(
        ratings.items[ratings.workers == 2], ratings.scores[ratings.workers == 2], strict=True
    ):
        others = ratings.scores[(ratings.items == item) & (ratings.workers != 2)]
        np.add.at(table, (score - 1, others - 1), 1 / len(others))

    assert pooled(ratings, weights).kappa[2] == pytest.approx(from_table(table, weights).value, abs=1e-12)


@pytest.mark.parametrize("weights", ["unweighted", "linear", "quadratic"])
@pytest.mark.parametrize("per_pair", [0, 1_000_000], ids=["listed", "multiplied"])
def test_the_pairwise_median_is_that_of_the_tables_of_all_pairs(weights, per_pair, monkeypatch):
    monkeypatch.setattr(kappa, "PER_PAIR", per_pair)
    monkeypatch.setattr(kappa, "PAIRS", 50)
    ratings = crowd(items=40, workers=9, per_item=5, seed=4)
    given = [
        dict(zip(ratings.items[ratings.workers == w], ratings.scores[ratings.workers == w], strict=True))
        for w in range(9)
    ]
    found = []
    for other in range(9):
        shared = given[0].keys() & given[other].keys()
        table = np.zeros((5, 5))
        for item in shared:
            table[given[0][item] - 1, given[other][item] - 1] += 1
        if other and len(shared) >= 8:
            found.append(from_table(table, weights).value)

    assert pairwise_median(ratings, weights, least=8).kappa[0] == pytest.approx(np.median(found), abs=1e-12)


def test_a_consensus_between_two_scores_counts_half_as_each():
    # The others of item b are 2 and 3; of item a 1 and 1; of item c 5 and 5.
    rows = [("a", "w", 1), ("b", "w", 3), ("c", "w", 5)]
    rows += [
        (item, other, score)
        for item, pair in (("a", (1, 1)), ("b", (2, 3)), ("c", (5, 5)))
        for other, score in zip("xy", pair, strict=True)
    ]
    table = np.zeros((5, 5))
    table[0, 0], table[2, 1], table[2, 2], table[4, 4] = 1, 0.5, 0.5, 1

    assert consensus(ratings_of(rows)).kappa[0] == pytest.approx(from_table(table, "quadratic").value)


@pytest.mark.parametrize("reference", REFERENCES)
def test_a_kappa_that_does_not_exist_is_nan_and_counts_what_there_was(reference):
    everybody_says_three = ratings_of(
        [(f"i{item}", f"w{worker}", 3) for item in range(6) for worker in range(3)]
    )

    found = REFERENCES[reference](everybody_says_three)

    assert np.isnan(found.kappa).all()
    assert found.n.tolist() == [6, 6, 6]


@pytest.mark.parametrize("reference", REFERENCES)
def test_ratings_that_nobody_shares_count_for_nothing(reference):
    alone = ratings_of([("a", "w", 1), ("b", "w", 5), ("c", "v", 2)])

    found = REFERENCES[reference](alone)

    assert np.isnan(found.kappa).all()
    assert found.n.tolist() == [0, 0]


@pytest.mark.parametrize("reference", REFERENCES)
def test_a_worker_who_always_gives_the_same_score_has_a_kappa_of_zero(reference):
    ratings = crowd(items=40, workers=9, per_item=5, seed=5)
    scores = np.where(ratings.workers == 1, 4, ratings.scores).astype(np.int16)
    constant = Ratings(ratings.items, ratings.workers, scores, ratings.item_names, ratings.worker_names)

    assert REFERENCES[reference](constant).kappa[1] == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("reference", REFERENCES)
def test_workers_with_one_rating_each_have_no_kappas(reference):
    n = 100_000
    ratings = Ratings(
        np.zeros(n, dtype=np.int32),
        np.arange(n, dtype=np.int32),
        np.full(n, 3, dtype=np.int16),
        ["item"],
        range(n),
    )

    found = REFERENCES[reference](ratings)

    assert np.isnan(found.kappa).all()
    assert (found.n == 1).all()
