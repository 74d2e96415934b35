"""Options of a search: one check for form, endpoint and commands."""

import json
import math

import pytest

from retrieval.errors import ParametersError
from retrieval.ranking.parameters import WEIGHTS, Parameters, defaults, describe


def faults_of(raw, read=Parameters.of):
    with pytest.raises(ParametersError) as refused:
        read(raw)
    return refused.value.faults


def test_the_defaults_are_balanced_and_those_of_the_paper():
    assert defaults("crown-2020").as_dict() == {
        "profile": "crown-2020",
        "query_model": "cq2",
        "results": 3,
        "candidates": 100,
        "alpha": 0.75,
        "beta": 0.01,
        "weights": {"prior": 0.4, "node": 0.3, "edge": 0.2, "pos": 0.1},
    }
    assert defaults() == Parameters.of({}) == defaults("balanced")
    stored = json.loads(json.dumps(defaults("crown-2020").as_dict()))
    assert Parameters.of(stored) == defaults("crown-2020")


def test_default_weights_add_up_to_one_and_every_option_is_described():
    for profile, weights in WEIGHTS.items():
        assert not weights or math.isclose(sum(weights.values()), 1, abs_tol=1e-9), profile
        for option in describe(profile):
            assert option.label
            assert option.help.endswith(".")
            raw = all_weights(profile) | {option.name: str(option.default), "profile": profile}
            assert Parameters.of(raw)


def test_published_weights_are_those_of_the_profile_with_so_many():
    sent = {
        "retNbr": "5",
        "indriRetNbr": "200",
        "nodeThreshold": "0.8",
        "edgeThreshold": ".02",
        "convquery": "conv_w2",
        **{"h1": "0.7", "h2": "0.1", "h3": "0.1", "h4": "0.1"},
    }
    assert Parameters.published(sent) == Parameters(
        "crown-2020", "cq3", 5, 200, 0.8, 0.02, {"prior": 0.7, "node": 0.1, "edge": 0.1, "pos": 0.1}
    )
    sent = {"profile": "balanced", **{f"h{number}": "0" for number in range(2, 8)}, "h1": 1}
    found = Parameters.published(sent)
    assert found.profile == "balanced"
    assert found.weights == {**dict.fromkeys(defaults().weights, 0), "bm25": 1}
    sent = {"profile": "balanced", **{f"h{number}": "0" for number in range(2, 7)}, "h1": 1}
    assert Parameters.published(sent).weights == {
        **{"bm25": 1, "node": 0, "edge": 0},
        **{"pos": 0, "coverage": 0, "early": 0},
    }
    assert Parameters.published({"retNbr": 3}) == defaults()
    raw = {"h1": "x", "h2": 0, "h3": 0, "retNbr": 50, "indri": 1}
    assert set(faults_of(raw, Parameters.published)) == {"h1", "h4", "retNbr", "indri"}


def test_what_was_kept_of_the_first_version_is_read_as_that():
    """As a candidate of that time keeps it: six weights, and no version."""
    six = {"bm25": 0.4878, "node": 0.0244, "edge": 0.0244, "pos": 0.0244, "coverage": 0.2927, "early": 0.1463}
    kept = {"profile": "balanced", "query_model": "cq1", "results": 3, "candidates": 100, "weights": six}
    found = Parameters.of(kept)
    assert (found.profile, found.weights) == ("balanced-1", six)
    assert defaults("balanced-1").weights == six
    by_name = {"profile": "balanced", **{f"weight_{name}": value for name, value in six.items()}}
    assert Parameters.of(by_name).profile == "balanced-1"


def test_what_is_no_number_is_a_fault_of_its_field():
    for value in ("abc", math.nan, "NaN", math.inf, "1_0", None, True, [0.8]):
        assert "no number. Enter one from 0.5 to 1." in faults_of({"alpha": value})["alpha"], value
    assert faults_of({"alpha": 10**5000})["alpha"].startswith("A number of so many digits is no number.")
    assert len(faults_of({"alpha": "9" * 5000})["alpha"]) < 120
    for value in ("0.5", 0.5, 1, "1", "1.0", 0.75):
        assert Parameters.of({"alpha": value}).alpha == float(value)
    assert set(faults_of({"alpha": 2, "beta": "x", "results": -1})) == {"alpha", "beta", "results"}


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("results", 0, "range from 1 to 20"),
        ("results", "21", "range from 1 to 20"),
        ("candidates", 9, "range from 10 to 1000"),
        ("candidates", 1001, "range from 10 to 1000"),
        ("candidates", "10.5", "no whole number"),
        ("alpha", 0.49, "range from 0.5 to 1"),
        ("alpha", 1.01, "range from 0.5 to 1"),
        ("beta", -0.01, "range from 0 to 0.1"),
        ("beta", 0.11, "range from 0 to 0.1"),
        ("beta", " ", "Enter a number from 0 to 0.1"),
        ("alpha", "0,8", "Write it with a point"),
        ("query_model", "only current+first turns used", "none of cq1"),
        ("profile", "neural", "none of balanced, bm25, crown-2020, balanced-1"),
        ("colour", "red", "no such option"),
    ],
)
def test_options_that_cannot_be_are_refused_in_words(name, value, words):
    assert words in faults_of({name: value})[name]


def weights(**given):
    return {"profile": "crown-2020", "weights": {"prior": 0, "node": 0, "edge": 0, "pos": 0, **given}}


def test_weights_that_do_not_add_up_or_are_missing_are_refused():
    assert faults_of(weights(prior=0.5)) == {"": "The weights must add up to 1; these add up to 0.5."}
    assert Parameters.of(weights(prior=0.9999)).weights["prior"] == 0.9999
    assert "" in faults_of(weights(prior=0.9998))
    assert list(faults_of(weights(prior=1.5, node=-0.5))) == ["weight_prior", "weight_node"]
    raw = {"profile": "crown-2020", "weight_prior": "1", "weight_node": "0", "weight_edge": "0"}
    assert faults_of(raw) == {
        "weight_pos": "This weight is missing: give all weights of crown-2020, or none."
    }
    assert "weight_prior" in faults_of({"weight_prior": 1})
    assert "“prior” is no weight of balanced" in faults_of({"weights": {"prior": 1}})["weights"]
    assert Parameters.of({"profile": "bm25", "query_model": "cq1"}).weights == {}
    with pytest.raises(ParametersError):
        Parameters.of({"profile": "bm25", "weight_bm25": 1})


def all_weights(profile):
    return {f"weight_{name}": value for name, value in WEIGHTS[profile].items()}
