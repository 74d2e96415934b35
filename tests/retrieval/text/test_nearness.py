"""Passages that nearly repeat others."""

import random

import pytest
from datasketch import MinHash, MinHashLSH

from retrieval.near_repeats import Candidate, NearRepeat, NearRepeats, Shingler, bands_for, jaccard

WORDS = [f"w{number}" for number in range(400)]


@pytest.fixture
def seen(tmp_path):
    """Texts of earlier passages."""
    return {}


@pytest.fixture
def near(tmp_path, seen):
    repeats = NearRepeats(
        tmp_path / "near", "en", 0.8, lambda keys: {key: seen[key] for key in keys if key in seen}
    )
    yield repeats
    repeats.close()


def text(seed, count=60):
    return " ".join(random.Random(seed).choices(WORDS, k=count))


def changed(words, places):
    words = words.split()
    for place in places:
        words[place] = f"x{place}"
    return " ".join(words)


def test_one_changed_word_of_sixty_is_nearly_a_repetition_and_many_are_not(near):
    one = text(1)
    given = [("a", one), ("b", changed(one, [30])), ("c", changed(one, range(0, 60, 4))), ("d", text(2))]
    found = near.repeats([Candidate(*each) for each in given])
    assert found == [None, NearRepeat("a", "text", 55 / 61), None, None]


def test_passages_of_an_earlier_addition_count(near, seen):
    seen["old"] = text(1)
    near.register([Candidate("old", text(1))])
    assert near.repeats([Candidate("new", changed(text(1), [5]))])[0].key == "old"


def test_the_nearest_of_several_is_named(near, seen):
    one = text(1, 200)
    other = changed(one, range(1, 200, 20))
    seen |= {"a": one, "b": other}
    near.register([Candidate("a", one), Candidate("b", other)])
    assert near.repeats([Candidate("c", changed(other, [199]))])[0].key == "b"
    assert near.repeats([Candidate("d", changed(one, [199]))])[0].key == "a"


def test_a_repetition_is_not_registered_so_chains_do_not_grow(near):
    one = text(1)
    two = changed(one, [0, 59])
    three = changed(two, [20, 40])
    found = near.repeats([Candidate("a", one), Candidate("b", two), Candidate("c", three)])
    assert found[1] == NearRepeat("a", "text", 56 / 60)
    assert found[2] is None or found[2].key == "a"


def test_regions_of_one_page_are_compared_before_words(near):
    found = near.repeats(
        [
            Candidate("a", text(1), "page", 0, 100),
            Candidate("b", text(2), "page", 10, 100),
            Candidate("c", text(3), "page", 50, 150),
            Candidate("d", text(4), "other", 0, 100),
        ]
    )
    assert found == [None, NearRepeat("a", "region", 0.9), None, None]
    assert near.repeats([Candidate("e", text(5), "page", 52, 150)]) == [NearRepeat("c", "region", 0.98)]


def test_what_is_found_is_what_comparing_all_with_all_finds(near):
    texts = {}
    for number in range(300):
        base = text(number // 2)
        texts[f"k{number}"] = (
            changed(base, random.Random(number).sample(range(60), number % 7)) if number % 2 else base
        )
    found = near.repeats([Candidate(*each) for each in texts.items()])
    triples, begins = Shingler("en").triples(list(texts.values()))
    own = [triples[begins[at] : begins[at + 1]] for at in range(300)]
    expected = [at % 2 == 1 and jaccard(own[at], own[at - 1]) >= 0.8 for at in range(300)]
    assert sum(expected) == 65
    assert sum(each is not None for each in found) == 65
    assert [each is not None for each in found] == expected


def test_bands_overlook_no_more_than_those_of_the_library_do():
    bands, rows = bands_for(0.8)
    assert 1 - (1 - 0.8**rows) ** bands > 0.99
    library = MinHashLSH(threshold=0.8, num_perm=128)
    assert 1 - (1 - 0.8**library.r) ** library.b < 0.99
    library.insert("a", _of(text(1)))
    assert library.query(_of(changed(text(1), [30]))) in (["a"], [])


def _of(words):
    sketch = MinHash(num_perm=128)
    words = words.split()
    sketch.update_batch([" ".join(words[at : at + 3]).encode() for at in range(len(words) - 2)])
    return sketch
