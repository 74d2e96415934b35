"""A network that follows its corpus counts what one that is built again would."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.network import Network, build
from retrieval.network.builder import add, remove
from retrieval.network.segment import codes_of
from tests.retrieval.network import literal
from tests.retrieval.network.worlds import passages, tree

WORDS = ["alpha", "beta", "gamma", "delta", "12", "7"]
TEXTS = st.lists(st.sampled_from([*WORDS, "the", "."]), max_size=9).map(" ".join)
CHANGES = st.lists(st.one_of(st.lists(TEXTS, min_size=1, max_size=4), st.integers(0, 7)), max_size=6)


def same_counts(network, texts):
    """Whether it counts what a literal dictionary counts in these texts."""
    words, pairs = literal.counts(texts)
    assert network.passages == len(texts)
    for one in WORDS[:4]:
        assert network.word_counts(codes_of([one])).tolist() == [words[one]]
        for two in WORDS[:4]:
            expected = pairs[tuple(sorted((one, two)))] if one != two else 0
            assert network.pair_counts(codes_of([one]), codes_of([two])).tolist() == [expected]
    return True


def tokens_of(network, pk):
    columns = network.columns([pk], numbers=True)
    return None if columns is None else [columns.words[token] for token in columns.tokens]


@pytest.mark.long
@settings(max_examples=15, deadline=None)
@given(first=st.lists(TEXTS, max_size=6), changes=CHANGES)
def test_any_additions_and_removals_count_as_what_is_left(tmp_path_factory, first, changes):
    folder = tmp_path_factory.mktemp("n")
    there = dict(enumerate(first, 1))
    network = build(there.items(), folder, "en")
    last = len(first)
    for change in changes:
        if isinstance(change, list):
            new = {last + place: text for place, text in enumerate(change, 1)}
            network = add(new.items(), folder)
            there |= new
            last += len(new)
        else:
            gone = [pk for pk in there if pk % 8 == change]
            network = remove(gone, folder)
            there = {pk: text for pk, text in there.items() if pk not in gone}
        assert same_counts(network, list(there.values()))
        assert network.counted().tolist() == sorted(there)
    for pk in range(1, last + 1):
        expected = literal.tokens(there[pk], "en", numbers=True) if pk in there else None
        assert tokens_of(network, pk) == expected


def test_when_everything_is_one_segment_again_its_bytes_are_those_of_a_build(tmp_path):
    texts = dict(enumerate(passages(40, seed=1), 1))
    build(list(texts.items())[:10], tmp_path / "grown", "en")
    add(list(texts.items())[10:], tmp_path / "grown")
    gone = [3, 17, 18, 30]
    network = remove(gone, tmp_path / "grown")
    left = {pk: text for pk, text in texts.items() if pk not in gone}
    while len(network.segments) > 1:
        new = {max(left) + place: text for place, text in enumerate(passages(60, seed=2), 1)}
        left |= new
        network = add(new.items(), tmp_path / "grown")
    build(left.items(), tmp_path / "anew", "en")

    grown, anew = tree(tmp_path / "grown"), tree(tmp_path / "anew")
    assert {name: grown[name] for name in grown if name[0] == "s"} == {
        name: anew[name] for name in anew if name[0] == "s"
    }


@pytest.mark.long
def test_small_additions_stay_small_segments_and_are_merged_by_and_by(tmp_path):
    network = build(enumerate(passages(400, seed=1), 1), tmp_path / "n", "en")
    sizes = []
    for number, text in enumerate(passages(20, seed=2), 1000):
        network = add([(number, text)], tmp_path / "n")
        sizes.append(len(network.segments))

    assert network.passages == 420
    assert max(sizes) <= 7
    tokens = [segment.facts.tokens for segment in network.segments]
    assert tokens[0] > 10 * sum(tokens[1:])


def test_every_change_is_a_generation_and_leaves_no_files_of_the_last(tmp_path):
    build([(1, "alpha beta gamma delta alpha beta")], tmp_path / "n", "en")
    add([(2, "alpha beta")], tmp_path / "n")
    network = remove([2], tmp_path / "n")

    assert network.generation == 3
    names = {path.name for path in (tmp_path / "n").iterdir()}
    assert names == {"current", "lock", network.pointer.vectors, *network.pointer.segments}


def test_what_changes_nothing_makes_no_generation_and_no_passage_is_added_twice(tmp_path):
    build([(1, "alpha beta"), (2, "gamma")], tmp_path / "n", "en")
    assert remove([7, 8], tmp_path / "n").generation == 1
    assert add([], tmp_path / "n").generation == 1
    with pytest.raises(ValueError, match="has the passage 1 already"):
        add([(1, "other words")], tmp_path / "n")
    assert Network.open(tmp_path / "n").word_counts(codes_of(["other"])).tolist() == [0]
    remove([1], tmp_path / "n")
    network = add([(1, "delta epsilon")], tmp_path / "n")
    assert tokens_of(network, 1) == ["delta", "epsilon"]
    assert same_counts(network, ["delta epsilon", "gamma"])


def test_vectors_stay_those_of_the_build(tmp_path):
    network = build(enumerate(passages(100, seed=1), 1), tmp_path / "n", "en")
    later = add([(500, "doctor engine doctor engine")], tmp_path / "n")

    words, terms = ["doctor", "nurse"], ["engine", "oven"]
    assert np.array_equal(network.similarities(words, terms), later.similarities(words, terms))


def test_columns_of_old_and_new_passages_come_together(tmp_path):
    build([(1, "alpha beta"), (2, "gamma 12")], tmp_path / "n", "en")
    network = add([(3, "beta delta. Alpha!")], tmp_path / "n")
    columns = network.columns([3, 1, 2], numbers=False)

    words = list(columns.words)
    assert [words[token] for token in columns.tokens] == ["beta", "delta", "alpha", "alpha", "beta", "gamma"]
    assert columns.passage.tolist() == [0, 0, 0, 1, 1, 2]
    assert columns.sentence.tolist() == [1, 1, 2, 1, 1, 1]
    assert len(set(words)) == len(words)
