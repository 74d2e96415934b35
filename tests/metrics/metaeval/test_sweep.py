"""Figures 1 and 2 and the paired bootstrap of Yang et al. (2018), against numpy and cases by hand."""

from itertools import product

import numpy as np
import pytest

from metrics.catalogue import metric
from metrics.errors import MetricError
from metrics.metaeval import papers
from metrics.metaeval.bootstrap import paired
from metrics.metaeval.breakdown import Sweep, curves, fixed_weights, is_monotonic, name_at, sweep_of
from metrics.metaeval.data import rows_of
from metrics.metaeval.executor import generator, samples
from tests.metrics.metaeval.studies import shuffled, study

HUMAN = (1.0, 2, 2, 4, 5, 3, 1, 5)
ADAPTED = (0.1, 0.3, 0.2, 0.6, 0.9, 0.4, 0.3, 0.8)
PLAIN = (0.3, 0.1, 0.5, 0.4, 0.9, 0.2, 0.6, 0.5)
TYPES = {f"q{k}": ("entity", "yes-no")[k % 2] for k in range(4)}


def eight(**metrics):
    """Two systems' answers to four questions."""
    rows = [(f"s{k % 2}", f"q{k // 2}", human) for k, human in enumerate(HUMAN)]
    return study(rows, metrics, types=TYPES)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("alpha=0:2:1", (0, 1, 2)),
        ("beta=0:0.3:0.1", (0, 0.1, 0.2, 0.3)),
        ("beta=0:1:0.4", (0, 0.4, 0.8)),
        ("alpha=0,0.5,4", (0, 0.5, 4)),
    ],
)
def test_ways_to_write_a_sweep(text, values):
    assert sweep_of(text) == Sweep(text.partition("=")[0], values)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("gamma=0:2:1", "no weight 'gamma'"),
        ("alpha=2", "2 to 101 values"),
        ("alpha=3:1:1", "2 to 101 values"),
        ("alpha=0:9:0", "the step must be above 0"),
        ("alpha=0:9:0.001", "at most 101 values"),
        ("alpha=1,1", "each is given once"),
        ("alpha", "write a sweep as alpha=0:10:1"),
        ("alpha=nan:1:1", "write a sweep as alpha=0:10:1"),
    ],
)
def test_what_is_no_sweep_says_so(text, said):
    with pytest.raises(MetricError, match=said):
        sweep_of(text)


def test_a_sweep_leaves_the_other_weights_as_the_paper_has_them():
    rouge = metric("adapted-rouge-l")
    assert fixed_weights(rouge, "alpha") == {"beta": 1.0, "gamma": 1.2}
    assert fixed_weights(rouge, "beta") == {"alpha": 2.0, "gamma": 1.2}
    assert name_at("adapted-rouge-l", "alpha", 0.5) == metric("adapted-rouge-l(alpha=0.5)").name


def test_points_of_a_curve_are_numpys_correlations_overall_and_by_type():
    columns = {"m": [np.array(PLAIN), np.array(ADAPTED)]}
    found = curves(eight(), columns, sweep_of("alpha=0,2"), fixed={"m": {"beta": 1}}, replicates=50, seed=1)
    assert list(found["curves"]["m"]) == ["overall", "entity", "yes-no"]
    human = np.array(HUMAN)
    yes_no = np.arange(8) // 2 % 2 == 1
    for kind, rows in (("overall", yes_no | True), ("yes-no", yes_no), ("entity", ~yes_no)):
        for point, x, scores in zip(found["curves"]["m"][kind], (0, 2), columns["m"], strict=True):
            assert point["x"] == x
            assert point["n"] == rows.sum()
            assert point["value"] == pytest.approx(np.corrcoef(human[rows], scores[rows])[0, 1], abs=1e-12)
    low, high = found["curves"]["m"]["overall"][0]["ci"]
    assert low < found["curves"]["m"]["overall"][0]["value"] < high


def test_a_curve_does_not_depend_on_the_order_of_rows_and_says_why_a_point_is_missing():
    judged = eight(m=ADAPTED, flat=(0.5,) * 8)
    other = shuffled(judged)

    def of(given):
        columns = {"m": [given.metrics["flat"], given.metrics["m"]]}
        return curves(given, columns, sweep_of("beta=0,1"), fixed={"m": {}}, replicates=20, seed=3)

    found = of(judged)
    assert found == of(other)
    assert found["curves"]["m"]["overall"][0]["value"] is None
    assert "the same" in found["curves"]["m"]["overall"][0]["reason"]


def test_monotonic_curves_are_known():
    assert is_monotonic([0.1, 0.1, None, 0.4])
    assert not is_monotonic([0.1, 0.3, 0.2])


def test_koehns_test_by_hand_the_truth_beats_its_opposite_in_every_sample():
    judged = eight(**{"adapted-rouge-l": HUMAN, "rouge-l": [-each for each in HUMAN]})
    found = papers.yang_bootstrap(judged, seed=0)["metrics"]["adapted-rouge-l"]
    assert found["against"] == "rouge-l"
    assert found["tests"]["overall"]["answers"] == {
        "better": 1.0,
        "p": pytest.approx(1 / 101),
        "significant": True,
    }


def test_koehns_test_of_a_metric_against_itself_finds_nothing():
    judged = eight(**{"adapted-bleu-4": ADAPTED, "bleu-4": ADAPTED})
    overall = papers.yang_bootstrap(judged, seed=0)["metrics"]["adapted-bleu-4"]["tests"]["overall"]
    for unit in ("answers", "questions"):
        assert overall[unit] == {"better": 0.0, "p": 1.0, "significant": False}


def test_koehns_test_is_what_numpy_finds_in_the_same_samples():
    judged = eight(**{"adapted-bleu-4": ADAPTED, "bleu-4": PLAIN})
    found = papers.yang_bootstrap(judged, seed=7)["metrics"]["adapted-bleu-4"]["tests"]["overall"]
    human, adapted, plain = map(np.array, (HUMAN, ADAPTED, PLAIN))
    for unit, size, each in (("answers", 8, 1), ("questions", 4, 2)):
        draws = generator(7, f"koehn {unit} overall").multinomial(size, np.full(size, 1 / size), size=100)
        wins = 0
        for times in draws:
            rows = np.repeat(np.arange(8), np.repeat(times, each))
            with np.errstate(invalid="ignore"):
                r = [np.corrcoef(human[rows], of[rows])[0, 1] for of in (adapted, plain)]
            wins += r[0] - r[1] > 1e-9
        assert found[unit]["better"] == wins / 100
        assert found[unit]["p"] == (101 - wins) / 101
        assert found[unit]["significant"] == (wins >= 95)


def test_koehns_share_comes_near_that_of_all_samples_that_there_are():
    human, adapted, plain = (np.array(column[:4]) for column in (HUMAN, ADAPTED, PLAIN))
    wins = 0
    for rows in map(list, product(range(4), repeat=4)):
        with np.errstate(invalid="ignore"):
            r = [np.corrcoef(human[rows], of[rows])[0, 1] for of in (adapted, plain)]
        wins += r[0] - r[1] > 1e-9
    judged = study(
        [("s", f"q{k}", each) for k, each in enumerate(human)], {"adapted-rouge-l": adapted, "rouge-l": plain}
    )
    found = papers.yang_bootstrap(judged, seed=2, times=20_000)["metrics"]["adapted-rouge-l"]["tests"][
        "overall"
    ]
    assert found["answers"]["better"] == pytest.approx(wins / 256, abs=0.015)
    assert found["answers"] == found["questions"] | {
        "better": found["answers"]["better"],
        "p": found["answers"]["p"],
    }


def test_koehns_test_needs_the_plain_metric_and_three_answers():
    assert (
        "beside the plain one"
        in papers.yang_bootstrap(eight(**{"adapted-bleu-4": ADAPTED}), seed=0)["reason"]
    )
    judged = eight(**{"adapted-bleu-4": ADAPTED, "bleu-4": (*PLAIN[:2], *[float("nan")] * 6)})
    found = papers.yang_bootstrap(judged, seed=0)["metrics"]["adapted-bleu-4"]["tests"]
    assert found["overall"]["value"] is None
    assert found["overall"]["n"] == 2


def test_the_general_paired_bootstrap_is_what_numpy_finds_in_the_same_samples():
    judged = eight(a=ADAPTED, b=PLAIN)
    found = paired(judged, [("a", "b")], draws=60, seed=4)[0]
    rows = rows_of(judged, ["a", "b"])
    apart = []
    for times in samples(4, "boot questions", 0, 4).T[:60]:
        drawn = np.repeat(np.arange(len(rows)), times[rows.questions].astype(int))
        with np.errstate(invalid="ignore"):
            r = [np.corrcoef(rows.human[drawn], rows.column(name)[drawn])[0, 1] for name in "ab"]
        apart.append(r[0] - r[1])
    turned = min(sum(not each > 1e-9 for each in apart), sum(not each < -1e-9 for each in apart))
    assert found.p == pytest.approx(min(1, 2 * (1 + turned) / 61))


def test_one_system_left_out_has_intervals_where_replicates_are_asked_for():
    judged = eight(m=ADAPTED)
    row = papers.adem_table5(judged, seed=0, replicates=100)["metrics"]["m"]["systems"][0]
    alone = np.arange(8) % 2 == 0
    human, scores = np.array(HUMAN), np.array(ADAPTED)
    for part, mask in (("rest", ~alone), ("removed", alone)):
        figure = row[part]["pearson"]
        assert figure["value"] == pytest.approx(np.corrcoef(human[mask], scores[mask])[0, 1])
        assert figure["ci"] is None or figure["ci"][0] <= figure["value"] <= figure["ci"][1]
    assert "ci" not in papers.adem_table5(judged, seed=0)["metrics"]["m"]["systems"][0]["rest"]["pearson"]
