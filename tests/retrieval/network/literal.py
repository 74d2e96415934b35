"""The word proximity network as paper 001 tells it, with dictionaries, for tests to compare with."""

import math
from collections import Counter

from retrieval.tokens import tokens

WINDOW = 3


def counts(texts, language="en"):
    """Passages that hold a word, and passages that hold two words at most three content words apart."""
    words, pairs = Counter(), Counter()
    for text in texts:
        found = tokens(text, language)
        words.update(set(found))
        near = set()
        for at, word in enumerate(found):
            for other in found[at + 1 : at + 1 + WINDOW]:
                if other != word:
                    near.add(tuple(sorted((word, other))))
        pairs.update(near)
    return words, pairs


def npmi(pair, first, second, passages):
    """Of counts."""
    if pair == passages:
        return 1.0
    together = pair / passages
    return math.log2(together / (first / passages * second / passages)) / -math.log2(together)
