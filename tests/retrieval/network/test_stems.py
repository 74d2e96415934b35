"""Forms of a word, by their stems."""

import numpy as np

from retrieval.network import network
from retrieval.network.network import stem_codes
from retrieval.network.segment import WordSequence, codes_of


class Spelling:
    """Gives words back, and remembers which it was asked for."""

    def __init__(self, *words):
        self.of = dict(zip(codes_of(words).tolist(), words, strict=True))
        self.asked = []

    def spelled(self, codes):
        self.asked += [self.of[code] for code in codes.tolist()]
        return [self.of[code] for code in codes.tolist()]


def test_forms_of_a_word_share_a_code_by_the_stems_of_their_language():
    cats, cat, dogs, seven = stem_codes(["cats", "cat", "dogs", "7"], "en-GB").tolist()
    assert cats == cat
    assert len({cat, dogs, seven}) == 3
    assert len(set(stem_codes(["Häuser".lower(), "häusern"], "de").tolist())) == 1
    assert stem_codes(["cats", "cat"], "zh").tolist() == codes_of(["cats", "cat"]).tolist()
    assert stem_codes([], "en").tolist() == []


def test_words_of_a_network_are_spelled_once(monkeypatch):
    monkeypatch.setattr(network, "_remembered", {})
    spelling = Spelling("horses", "horse", "mules")
    codes = np.sort(codes_of(["horses", "horse", "mules"]))
    first = stem_codes(WordSequence(codes[:2], spelling), "en")
    again = stem_codes(WordSequence(codes, spelling), "en")
    assert sorted(spelling.asked) == ["horse", "horses", "mules"]
    assert again[:2].tolist() == first.tolist()
    assert again.tolist() == stem_codes([spelling.of[code] for code in codes.tolist()], "en").tolist()


def test_what_is_remembered_has_an_end(monkeypatch):
    monkeypatch.setattr(network, "_remembered", {})
    monkeypatch.setattr(network, "MOST_REMEMBERED", 2)
    for words in (["one", "two", "three"], ["four"], ["five"]):
        stem_codes(words, "en")
    assert len(network._remembered["english"][0]) == 2
    assert stem_codes(["ones"], "en").tolist() == stem_codes(["one"], "en").tolist()
