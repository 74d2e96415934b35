import itertools
import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metrics import MetricError, metric
from metrics.answers import stems
from metrics.answers.meteor import matches_and_chunks, meteor_pair
from tests.metrics.answers.drawn import scored, split_on_spaces
from tests.scale import limit_cases

words = st.lists(st.integers(0, 11), max_size=6)
few_words = st.lists(st.integers(0, 2), max_size=7)
SYNSETS = {0: (1,), 3: (1, 2), 6: (2,), 1: (3,), 4: (3,), 9: (3, 2)}


def stem(word):
    return (word // 3,)


def synsets(word):
    return SYNSETS.get(word, ())


def stage(first, second, stages):
    if first == second:
        return 0
    return next((n for n, keys in enumerate(stages, 1) if set(keys(first)) & set(keys(second))), None)


def mappings(first, second, stages):
    """All one-to-one mappings, as lists of (place, place)."""
    if not first:
        yield []
        return
    for rest in mappings(first[:-1], second, stages):
        yield rest
        taken = {j for _, j in rest}
        for j, other in enumerate(second):
            if j not in taken and stage(first[-1], other, stages) is not None:
                yield [*rest, (len(first) - 1, j)]


def by_trying_all(first, second, variant, stages):
    """m and chunks of the best of all mappings: largest stage by stage, then what the variant asks for."""
    every = list(mappings(first, second, stages))

    def sizes(links):
        of = [stage(first[i], second[j], stages) for i, j in links]
        return [of.count(n) for n in range(len(stages) + 1)]

    def chunks(links):
        return sum((i - 1, j - 1) not in links for i, j in links)

    def crossings(links):
        return sum((a - x) * (b - y) < 0 for (a, b), (x, y) in itertools.combinations(links, 2))

    most = max(map(sizes, every))
    cost = (lambda links: (crossings(links), chunks(links))) if variant == "mincross" else chunks
    best = min((links for links in every if sizes(links) == most), key=cost)
    return len(best), chunks(best)


@pytest.mark.parametrize("variant", ["minchunk", "mincross"])
@settings(max_examples=limit_cases(150), deadline=None)
@given(first=few_words, second=few_words)
def test_no_mapping_of_equal_words_is_better(variant, first, second):
    assert matches_and_chunks(first, second, variant) == by_trying_all(first, second, variant, [])


@pytest.mark.parametrize("stages", [[stem], [synsets], [stem, synsets]], ids=["stem", "synonym", "both"])
@pytest.mark.parametrize("variant", ["minchunk", "mincross"])
@settings(max_examples=limit_cases(60), deadline=None)
@given(first=words, second=words)
def test_no_mapping_in_stages_is_better(variant, stages, first, second):
    found = matches_and_chunks(first, second, variant, stages)
    assert found == by_trying_all(first, second, variant, stages)


def test_fewest_chunks_and_fewest_crossings_can_disagree():
    first, second = ["a", "b", "c", "d", "b"], ["c", "b", "d", "a", "b", "c"]
    assert by_trying_all(first, second, "minchunk", []) == matches_and_chunks(first, second) == (5, 3)
    assert matches_and_chunks(first, second, "mincross") == by_trying_all(first, second, "mincross", [])


def test_the_formula_counts_recall_nine_times_and_takes_up_to_half_for_chunks():
    reference = ["the", "cat", "sat", "on", "the", "mat"]
    assert meteor_pair(reference, reference) == pytest.approx(1 - 0.5 / 6**3)
    assert meteor_pair(["cat"], reference) == pytest.approx(0.5 * 1 / (0.1 * 1 + 0.9 * 6))
    assert meteor_pair(["cat"], reference, gamma=0, alpha=1) == 1
    assert meteor_pair(["dog"], reference) == 0
    assert meteor_pair([], reference) == meteor_pair(reference, []) == meteor_pair([], []) == 0


def test_long_and_hopeless_texts_end_soon():
    first = ("the cat and the dog of the man in the house of the king " * 8).split()
    second = ("the dog of the king and the cat in the house of the man " * 8).split()
    matches, chunks = matches_and_chunks(first, second)
    assert matches == 112
    assert chunks == 48
    first, second = [place * place % 7 % 2 for place in range(300)], [place % 5 % 2 for place in range(300)]
    matches, chunks = matches_and_chunks(first, second)
    assert matches == sum(min(first.count(word), second.count(word)) for word in (0, 1))
    assert 1 <= chunks < matches


def test_stems_match_after_words_chinese_by_characters_and_the_best_reference_counts():
    drawn = [("running cats", ["run cat"]), ("running", ["dog"])]
    assert scored(metric("meteor", split_on_spaces()), drawn).tolist() == pytest.approx([1 - 0.5 / 8, 0])
    assert scored(metric("meteor", split_on_spaces(meteor={"language": ""})), drawn).tolist() == [0, 0]
    drawn = [("可以 坐火车去", ["可以坐火车去"])]
    profile = split_on_spaces(meteor={"tokeniser": "char", "language": ""})
    assert scored(metric("meteor", profile), drawn).tolist() == pytest.approx([1 - 0.5 / 6**3])
    drawn = [("a b", ["c", "a b", "a"]), ("a b", []), ("", [""])]
    found = scored(metric("meteor", split_on_spaces()), drawn)
    assert found[0] == meteor_pair(["a", "b"], ["a", "b"])
    assert np.isnan(found[1])
    assert found[2] == 0


def test_the_signature_says_what_was_compared_and_what_was_missing(monkeypatch):
    monkeypatch.setattr(stems, "wordnet_missing", lambda: "nltk's corpus wordnet is not installed")
    assert metric("meteor").signature == (
        "metric:meteor|v:1|tok:default.2|stages:exact+stem|stem:english|synonyms:none"
        "|alpha:0.1|gamma:0.5|theta:3.0|variant:minchunk|refs:max"
    )


def test_synonyms_are_a_stage_where_wordnet_is_installed(monkeypatch):
    monkeypatch.setattr(stems, "wordnet_missing", lambda: "")
    monkeypatch.setattr(stems, "synsets", lambda word: {"car": {"c1"}, "auto": {"c1"}}.get(word, set()))
    found = metric("meteor", split_on_spaces())
    assert "stages:exact+stem+synonym" in found.signature
    assert scored(found, [("auto", ["car"])]).tolist() == [0.5]


def test_what_it_cannot_do_it_says():
    for wrong, says in (
        ({"alpha": 2}, "alpha and gamma from 0 to 1"),
        ({"variant": "best"}, "the variants minchunk and mincross, not 'best'"),
        ({"delta": 1}, "no such setting"),
        ({"language": "klingon"}, "no stemmer 'klingon'"),
    ):
        with pytest.raises(MetricError, match=says):
            scored(metric("meteor", split_on_spaces(meteor=wrong)), [("a", ["a"])])


@pytest.mark.parametrize("file", ["wordnet.zip", "wordnet/data.noun"])
def test_wordnet_is_found_by_its_files_where_nltk_looks(file, tmp_path, monkeypatch):
    monkeypatch.setenv("NLTK_DATA", f"{tmp_path / 'none'}{os.pathsep}{tmp_path / 'here'}")
    monkeypatch.setattr(stems, "find_spec", lambda name: object())
    stems.wordnet_missing.cache_clear()
    before = stems.wordnet_missing()
    (tmp_path / "here" / "corpora" / file).parent.mkdir(parents=True)
    (tmp_path / "here" / "corpora" / file).touch()
    stems.wordnet_missing.cache_clear()
    assert (before, stems.wordnet_missing()) == ("nltk's corpus wordnet is not installed", "")
    stems.wordnet_missing.cache_clear()


def test_the_folders_of_wordnet_are_those_of_nltk(monkeypatch):
    data = pytest.importorskip("nltk.data")
    monkeypatch.delenv("NLTK_DATA", raising=False)
    assert [str(each) for each in stems.folders()] == data.path[-8:]
