"""The 140 golden cases of CROWN as published: each part and the final score within a millionth."""

import json
from pathlib import Path

import numpy as np
import pytest

from retrieval.ranking.parameters import Parameters, query_terms
from retrieval.ranking.scoring import score
from tests.retrieval.crown.literal import literal_final, literal_parts
from tests.retrieval.crown.world import columns, golden

CASES = range(140)
WEIGHTS = (0.4, 0.3, 0.2, 0.1)


def case(number):
    found = golden()["cases"][number]
    return found, [golden()["passages"][name] for name in found["candidates"]]


def parameters(expected):
    return Parameters.of({"profile": "crown-2020", "alpha": expected["alpha"], "beta": expected["beta"]})


def test_scores_are_the_golden_ones(subtests):
    for number in CASES:
        with subtests.test(number=number):
            expected, passages = case(number)
            terms = query_terms(expected["turns"], expected["model"])
            found = score(
                columns(passages), terms, golden()["evidence"], parameters(expected), np.zeros(len(passages))
            )
            for name in ("node", "edge", "pos"):
                assert found.raw[name].tolist() == pytest.approx(expected[name], abs=1e-6)
            assert found.final.tolist() == pytest.approx(expected["final"], abs=1e-6)


def test_words_of_the_query_have_the_golden_weights_in_the_golden_order(subtests):
    for number in CASES:
        with subtests.test(number=number):
            expected, _ = case(number)
            assert list(query_terms(expected["turns"], expected["model"]).items()) == [
                *expected["weights"].items()
            ]


def test_loops_give_the_golden_scores_too(subtests):
    for number in range(0, 140, 7):
        with subtests.test(number=number):
            expected, passages = case(number)
            evidence = golden()["evidence"]
            parts = [
                literal_parts(
                    *(passage, expected["weights"], evidence.similarity, evidence.npmi),
                    *(expected["alpha"], expected["beta"]),
                )
                for passage in passages
            ]
            columns_of = [list(column) for column in zip(*parts, strict=True)]
            for name, values in zip(("node", "edge", "pos"), columns_of, strict=True):
                assert values == pytest.approx(expected[name], abs=1e-6)
            assert literal_final(parts, WEIGHTS) == pytest.approx(expected["final"], abs=1e-6)


@pytest.mark.only_on("shared")
def test_the_cases_are_those_of_the_shared_file():
    shared = Path(__file__).resolve().parents[4] / "shared/golden/retrieval/crown_golden.json"
    given = json.loads(shared.read_text())
    assert given["cases"] == golden()["cases"]
    assert given["passages"] == golden()["passages"]
    assert all(given["npmi"]["_".join(pair.split())] == value for pair, value in golden()["npmi"].items())
    for pair, value in golden()["similarities"].items():
        one, other = (np.array(given["vectors"][word]) for word in pair.split())
        assert value == pytest.approx(one @ other, abs=1e-6)
