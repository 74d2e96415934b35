"""Words of stored passages know their places in a network of one segment: answers are those of any words."""

import numpy as np
import pytest

from retrieval.network import build
from retrieval.network.builder import add
from retrieval.network.network import _distinct
from retrieval.network.segment import codes_of
from tests.retrieval.network.worlds import passages

TERMS = ["doctor", "nurses", "engine", "unheard", "7"]


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    return build(enumerate(passages(300, seed=3), 1), tmp_path_factory.mktemp("places") / "n", "en")


@pytest.mark.parametrize("numbers", [True, False])
def test_words_with_places_are_judged_as_the_same_words_without(network, numbers):
    words = network.columns([5, 1, 200, 77], numbers=numbers).words
    plain = list(words)

    for _ in range(2):  # looked up, and remembered
        assert words.places is not None
        assert (network.similarities(words, TERMS) == network.similarities(plain, TERMS)).all()
        assert (network.same_stem(words, TERMS) == network.same_stem(plain, TERMS)).all()
        assert (network.idf(words) == network.idf(plain)).all()


def test_pairs_with_places_are_associated_as_the_same_pairs_without(network):
    words = network.columns(range(1, 40), numbers=True).words
    one, two = (places.ravel() for places in np.indices((len(words), len(words))))
    first, second = words.take(one), words.take(two)

    found = network.associations(first, second)
    assert np.isfinite(found).any()
    np.testing.assert_array_equal(found, network.associations(list(first), list(second)))


def test_a_network_of_several_segments_gives_no_places_and_the_same_columns(tmp_path):
    texts = passages(60, seed=4)
    whole = build(enumerate(texts, 1), tmp_path / "whole", "en").columns(range(1, 61), numbers=True)
    build(enumerate(texts[:50], 1), tmp_path / "parts", "en")
    grown = add(enumerate(texts[50:], 51), tmp_path / "parts")
    parts = grown.columns(range(1, 61), numbers=True)

    assert len(grown.segments) == 2
    assert parts.words.places is None
    assert list(parts.words) == list(whole.words)
    for name in ("tokens", "passage", "sentence"):
        assert getattr(parts, name).tolist() == getattr(whole, name).tolist()


def test_places_of_another_network_are_not_taken_for_its_own(network, tmp_path):
    other = build(enumerate(passages(40, seed=9), 1), tmp_path / "n", "en")
    theirs = other.columns([1, 2, 3], numbers=True).words

    assert (network.idf(theirs) == network.idf(list(theirs))).all()
    assert (network.similarities(theirs, TERMS) == network.similarities(list(theirs), TERMS)).all()


def test_different_words_are_those_of_numpy():
    words = np.random.default_rng(1).integers(0, 1 << 30, 500).repeat(3).astype(np.uint32)
    for given in (words, words[::-1], words[:0]):
        found, places = _distinct(given)
        theirs, where = np.unique(given, return_inverse=True)
        assert found.tolist() == theirs.tolist()
        assert places.tolist() == where.tolist()


def test_codes_of_few_words_are_those_of_many():
    words = [f"word{number}" for number in range(3_000)]
    many = codes_of(words)
    assert (
        np.concatenate([codes_of(words[at : at + 100]) for at in range(0, 3_000, 100)]).tolist()
        == many.tolist()
    )
