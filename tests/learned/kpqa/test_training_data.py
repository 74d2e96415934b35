"""Examples as labelled pieces and as batches."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from distillery_learned.metrics.encoders import encoder
from distillery_learned.training.kpqa_epochs import (
    NO_WORD,
    batch_of,
    by_length,
    labelled,
    labels_of,
    shuffled,
)
from distillery_learned.training.kpqa_examples import Example
from metrics.word_spans import cut_words
from tests.learned import tiny


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory):
    return encoder(tiny.bert(tmp_path_factory.mktemp("bert"))).tokenizer


def example(answer, *phrases, question="How much is it?"):
    spans = tuple((answer.index(phrase), answer.index(phrase) + len(phrase)) for phrase in phrases)
    return Example(question, answer, spans, "made", "1")


def test_words_that_a_phrase_touches_are_labelled() -> None:
    given_ = example("The ticket costs 45 euros, not 50 grams.", "45 eur", "50")
    assert labels_of(cut_words(given_.answer), given_.spans) == [0, 0, 0, 1, 1, 0, 0, 1, 0, 0]


@given(
    bounds=st.lists(st.integers(0, 40), max_size=8, unique=True),
    answer=st.text("ab .,", min_size=40, max_size=40),
)
def test_labels_are_those_of_a_literal_reading(bounds, answer) -> None:
    edges = sorted(bounds)[: len(bounds) // 2 * 2]
    spans = tuple(zip(edges[::2], edges[1::2], strict=True))
    own = Example("", answer, spans, "made", "1")
    assert labels_of(cut_words(answer), spans) == tiny.labels_of(own)


def test_pieces_of_examples_lie_one_after_another(tokenizer) -> None:
    data = labelled(tokenizer, [example("It costs 45.", "45"), example("", ""), example("7 euros", "7")], 64)
    assert len(data) == 2
    assert data.answers.tolist() == [0, 2]
    first = data.ids[data.starts[0] : data.starts[1]].tolist()
    assert first == tokenizer("How much is it?", "It costs 45.")["input_ids"]
    assert data.lengths.tolist() == [len(first), len(data.ids) - len(first)]
    assert data.labels.tolist() == [0, 0, 1, 0, 1, 0]
    assert data.word_numbers.tolist() == [0, 1, 2, 3, 0, 1]
    assert [tokenizer.convert_ids_to_tokens(first[at]) for at in data.firsts[:4]] == ["it", "costs", "4", "."]


def test_each_word_of_a_long_answer_is_labelled_once(tokenizer) -> None:
    long = example(" ".join(["the"] * 50) + " 4 euros " + " ".join(["a"] * 30), "4")
    data = labelled(tokenizer, [long], 24)
    assert len(data) > 3
    assert data.word_numbers.tolist() == list(range(82))
    assert data.labels.sum() == data.labels[50] == 1


def test_no_example_is_no_data(tokenizer) -> None:
    assert len(labelled(tokenizer, [], 64)) == 0


@given(lengths=st.lists(st.integers(1, 50), max_size=300), size=st.integers(1, 9), seed=st.integers(0, 5))
def test_every_window_is_in_one_batch_of_an_epoch(lengths, size, seed) -> None:
    for batches in (shuffled(lengths, size, seed, 0), by_length(lengths, size)):
        assert sorted(at for batch in batches for at in batch) == list(range(len(lengths)))
        assert len(batches) == -(-len(lengths) // size)
        assert all(batches)


def test_the_order_depends_on_seed_and_epoch_alone_and_little_is_padded() -> None:
    lengths = np.random.default_rng(0).integers(5, 60, 2000)
    batches = shuffled(lengths, 16, 1, 0)
    assert batches == shuffled(lengths, 16, 1, 0)
    assert batches != shuffled(lengths, 16, 1, 1)
    assert batches != shuffled(lengths, 16, 2, 0)
    padded = sum(max(lengths[batch]) * len(batch) for batch in batches)
    assert padded / lengths.sum() < 1.05
    longest = [max(lengths[batch]) for batch in batches]
    assert longest != sorted(longest)


def test_development_batches_are_in_the_order_of_lengths() -> None:
    lengths = [5, 3, 9, 3]
    assert by_length(lengths, 2) == [[1, 3], [0, 2]]
    assert all(a <= b for a, b in pairwise(lengths[at] for batch in by_length(lengths, 2) for at in batch))


def test_a_batch_is_padded_to_its_longest_window(tokenizer) -> None:
    data = labelled(tokenizer, [example("It costs 45.", "45"), example("7 euros", "7")], 64)
    batch = batch_of(data, [1, 0], tokenizer.pad_token_id, "cpu")
    assert batch.size == 2
    assert batch.word_count == 6
    short = int(data.lengths[1])
    assert batch.ids[0, short:].tolist() == [tokenizer.pad_token_id] * 3
    assert batch.mask.sum(1).tolist() == [short, int(data.lengths[0])]
    assert batch.labels.tolist() == [[1, 0, NO_WORD, NO_WORD], [0, 0, 1, 0]]
