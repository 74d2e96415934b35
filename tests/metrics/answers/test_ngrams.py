from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings

from metrics import Answers, MetricError
from metrics.answers import bleu
from metrics.answers.bleu import Overlap, count_matches, overlap, overlap_of
from metrics.texts import Chunk, Tokens
from metrics.tokens import WHITESPACE
from tests.metrics.answers.drawn import cases, texts
from tests.scale import limit_cases


def counted(text, n):
    words = text.split()
    return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))


def chunk_of(drawn):
    return Chunk(Answers([candidate for candidate, _ in drawn], [references for _, references in drawn]))


@pytest.mark.parametrize("block", [1, 40, 1 << 15])
@settings(max_examples=limit_cases(80), deadline=None)
@given(drawn=cases(references=texts))
def test_matches_are_those_of_counters_whatever_the_blocks(drawn, block):
    kept, bleu.BLOCK = bleu.BLOCK, block
    try:
        found = overlap(chunk_of(drawn), WHITESPACE)
        for n in (1, 2, 3, 4, 5, 6):
            pairs = [
                sum((counted(candidate, n) & counted(reference, n)).values())
                for candidate, references in drawn
                for reference in references
            ]
            clipped = []
            for candidate, references in drawn:
                most = Counter()
                for reference in references:
                    most |= counted(reference, n)
                clipped.append(sum((counted(candidate, n) & most).values()))
            assert found.by_pair(n).tolist() == pairs
            assert found.clipped(n).tolist() == clipped
    finally:
        bleu.BLOCK = kept


@settings(max_examples=limit_cases(80), deadline=None)
@given(drawn=cases(references=texts))
@pytest.mark.parametrize(("longest", "cells"), [(0, 1 << 19), (3, 1), (48, 40), (48, 1 << 19)])
def test_lone_references_match_alike_by_sorting_and_token_by_token(drawn, longest, cells):
    alone = [(candidate, references[:1]) for candidate, references in drawn if references]
    chunk = chunk_of(alone)
    tokens = chunk.tokens(WHITESPACE)
    sorting = Overlap(tokens.ids, tokens.starts, chunk.candidates, chunk.references, chunk.starts, sorts=True)
    kept = bleu.LONGEST, bleu.CELLS
    bleu.LONGEST, bleu.CELLS = longest, cells
    try:
        comparing = overlap_of(chunk, tokens)
        for n in (1, 2, 5, 6):
            assert comparing.by_pair(n).tolist() == sorting.by_pair(n).tolist()
            assert comparing.clipped(n).tolist() == sorting.clipped(n).tolist()
    finally:
        bleu.LONGEST, bleu.CELLS = kept


def test_more_distinct_tokens_than_two_bytes_count_match_exactly():
    ids = np.array([70_000, 65_535, 65_534, 65_533, 65_535, 70_000, 65_534, 65_535, 65_535], np.int32)

    found = count_matches(ids, np.array([0, 5, 9]), np.array([0]), np.array([1]), 2)

    assert found.tolist() == [[4], [0]]


def test_candidates_without_references_match_nothing():
    found = overlap(chunk_of([("a b", []), ("a b", ["b a", "a b"]), ("a", [])]), WHITESPACE)

    assert found.by_pair(1).tolist() == [2, 2]
    assert found.clipped(2).tolist() == [0, 1, 0]


def test_texts_beyond_what_can_be_counted_exactly_are_refused_in_words():
    long = Tokens(np.zeros(3_000_000, np.int32), np.array([0, 3_000_000]), ["a"])

    with pytest.raises(MetricError, match="at most 1,000,000 can be compared"):
        overlap_of(chunk_of([("a", ["a"])]), long).by_pair(1)
