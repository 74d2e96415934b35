"""The network of some passages: counts, NPMI, stored tokens, files."""

import json
import math
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.errors import NetworkBrokenError, NoNetworkError
from retrieval.network import Network, build
from retrieval.network.segment import codes_of
from retrieval.ranking.base import columns
from tests.retrieval.network import literal
from tests.retrieval.network.worlds import TEXTS, passages, tree
from tests.scale import limit_cases

ROOT = Path(__file__).resolve().parents[3]
TOY = ["red cars drive", "red cars stop", "blue cars drive", "green trees"]


@pytest.fixture
def toy(tmp_path):
    return build(enumerate(TOY, 1), tmp_path / "n", "en")


def test_counts_are_those_of_a_literal_dictionary(tmp_path):
    texts = passages(300, seed=1)
    network = build(enumerate(texts, 1), tmp_path / "n", "en")
    words, pairs = literal.counts(texts)

    assert network.passages == 300
    assert network.edge_count == len(pairs)
    assert network.word_counts(codes_of(words)).tolist() == list(words.values())
    one, two = zip(*pairs, strict=True)
    assert network.pair_counts(codes_of(one), codes_of(two)).tolist() == list(pairs.values())
    expected = [literal.npmi(n, words[a], words[b], 300) for (a, b), n in pairs.items()]
    assert network.associations(one, two) == pytest.approx(expected, abs=1e-12)


@settings(max_examples=limit_cases(20), deadline=None)
@given(texts=st.lists(st.text(alphabet="abc .1", max_size=40), max_size=12))
def test_any_texts_give_the_counts_of_a_literal_dictionary(tmp_path_factory, texts):
    network = build(enumerate(texts, 1), tmp_path_factory.mktemp("n"), "en")
    words, pairs = literal.counts(texts)

    assert network.edge_count == len(pairs)
    for (one, two), count in pairs.items():
        assert network.pair_counts(codes_of([one]), codes_of([two])).tolist() == [count]
    assert network.word_counts(codes_of(words)).tolist() == list(words.values())


def test_npmi_is_as_the_paper_defines_it(toy):
    # red and cars: 2 of 4 passages; red in 2, cars in 3. log(.5 / (.5 * .75)) / -log(.5)
    assert toy.associations(["red"], ["cars"]) == pytest.approx([0.41503749927884376])
    # blue and drive: 1 of 4; blue in 1, drive in 2: log(.25 / (.25 * .5)) / -log(.25)
    assert toy.associations(["blue"], ["drive"]) == pytest.approx([0.5])


def test_a_pair_is_the_same_in_both_orders(toy):
    assert toy.associations(["cars"], ["red"]) == toy.associations(["red"], ["cars"])


def test_words_that_never_meet_have_no_association(toy):
    assert np.isnan(
        toy.associations(["red", "red", "red", "unknown"], ["trees", "unknown", "red", "words"])
    ).all()


def test_a_pair_in_every_passage_has_npmi_one(tmp_path):
    network = build([(1, "snow words"), (2, "snow words fall")], tmp_path / "n", "en")

    assert network.associations(["snow"], ["words"]).tolist() == [1.0]


def test_a_pair_counts_once_in_a_passage(tmp_path):
    network = build([(1, "salt water salt water salt"), (2, "fire")], tmp_path / "n", "en")

    assert network.pair_counts(codes_of(["salt"]), codes_of(["water"])).tolist() == [1]


def test_function_words_between_do_not_count_as_distance(tmp_path):
    network = build([(1, "alpha of the beta and the gamma with a delta")], tmp_path / "n", "en")

    assert network.pair_counts(codes_of(["alpha"]), codes_of(["delta"])).tolist() == [1]


def test_a_pair_four_words_apart_is_none(tmp_path):
    network = build([(1, "alpha beta gamma delta epsilon")], tmp_path / "n", "en")

    counts = network.pair_counts(codes_of(["alpha", "alpha"]), codes_of(["delta", "epsilon"]))
    assert counts.tolist() == [1, 0]


def test_pairs_go_over_the_end_of_a_sentence(tmp_path):
    network = build([(1, "It rains. Snow falls.")], tmp_path / "n", "en")

    assert network.pair_counts(codes_of(["rains"]), codes_of(["snow"])).tolist() == [1]


def test_numbers_count_as_words_and_stand_in_no_pair(tmp_path):
    network = build([(1, "founded 1955 Chicago"), (2, "Chicago 1955")], tmp_path / "n", "en")

    assert network.word_counts(codes_of(["1955"])).tolist() == [2]
    assert np.isnan(network.associations(["1955"], ["chicago"]))
    assert network.pair_counts(codes_of(["founded"]), codes_of(["chicago"])).tolist() == [1]


def test_idf_is_higher_for_rarer_words(toy):
    # log(1 + (4 - 3 + .5) / (3 + .5)), log(1 + (4 - 0 + .5) / .5)
    assert toy.idf(["cars", "nowhere"]) == pytest.approx([math.log(1 + 1.5 / 3.5), math.log(10)])


def test_rare_pairs_can_be_left_out(tmp_path):
    network = build(enumerate(TOY, 1), tmp_path / "n", "en", min_count=2)

    assert network.edge_count == 2
    assert np.isnan(network.associations(["blue"], ["cars"]))
    assert network.associations(["red"], ["cars"]) == pytest.approx([0.41503749927884376])


def test_a_word_is_as_similar_to_itself_as_can_be_even_without_a_vector(toy):
    assert toy.similarities(["cars", "unknown"], ["unknown", "cars"]).tolist() == [[-1.0, 1.0], [1.0, -1.0]]


def test_words_used_alike_are_similar(tmp_path):
    network = build(enumerate(passages(800, seed=2), 1), tmp_path / "n", "en")
    close = network.similarities(["doctor"], ["nurse", "engine"])[0]

    assert close[0] > 0.3 > close[1]


def test_stored_tokens_are_those_of_the_text(tmp_path):
    texts = {7: "The Moon orbits Earth. In 1969 people landed.", 3: "Nothing here of it!", 9: ""}
    network = build(texts.items(), tmp_path / "n", "en")
    columns = network.columns([9, 7, 3], numbers=True)

    words = list(columns.words)
    assert [words[token] for token in columns.tokens] == [
        "moon", "orbits", "earth", "1969", "people", "landed", "nothing",
    ]  # fmt: skip
    assert columns.passage.tolist() == [1, 1, 1, 1, 1, 1, 2]
    assert columns.sentence.tolist() == [1, 1, 1, 2, 2, 2, 1]
    assert columns.count == 3


@settings(max_examples=limit_cases(25), deadline=None)
@given(
    texts=st.lists(st.text(alphabet="aBé1 .!?\n中。the'-", max_size=40), min_size=1, max_size=8),
    language=st.sampled_from(["en", "zh"]),
    numbers=st.booleans(),
)
def test_stored_tokens_are_those_that_scoring_cuts_itself(tmp_path_factory, texts, language, numbers):
    network = build(enumerate(texts, 1), tmp_path_factory.mktemp("n"), language)
    stored = network.columns(range(1, len(texts) + 1), numbers=numbers)
    cut = columns(texts, language, numbers=numbers)

    assert [stored.words[token] for token in stored.tokens] == [cut.words[token] for token in cut.tokens]
    assert stored.passage.tolist() == cut.passage.tolist()
    assert stored.sentence.tolist() == cut.sentence.tolist()
    assert stored.count == cut.count


def test_stored_tokens_without_numbers_have_no_holes_in_their_sentences(tmp_path):
    network = build([(1, "Snow fell. 1969. Rain came."), (2, "2001! Sun.")], tmp_path / "n", "en")
    columns = network.columns([1, 2], numbers=False)

    assert [columns.words[token] for token in columns.tokens] == ["snow", "fell", "rain", "came", "sun"]
    assert columns.sentence.tolist() == [1, 1, 2, 2, 1]


def test_a_passage_that_is_not_stored_is_told(toy):
    assert toy.columns([1, 99], numbers=False) is None
    assert toy.columns([], numbers=False).count == 0


def test_a_network_of_nothing_answers(tmp_path):
    network = build([], tmp_path / "n", "en")

    assert (network.passages, network.word_count, network.edge_count) == (0, 0, 0)
    assert np.isnan(network.associations(["some"], ["words"]))
    assert network.idf(["word"]) == pytest.approx([math.log(2)])


def test_other_scripts_are_counted(tmp_path):
    network = build([(1, "القاهرة عاصمة مصر"), (2, "مصر بلد")], tmp_path / "n", "ar")

    assert network.word_counts(codes_of(["مصر"])).tolist() == [2]
    assert list(network.columns([2], numbers=False).words) != []
    assert set(network.columns([2], numbers=False).words) == {"مصر", "بلد"}


def test_the_order_and_the_shards_of_passages_change_no_byte(tmp_path, monkeypatch):
    texts = list(enumerate(passages(200, seed=3), 1))
    build(texts, tmp_path / "one", "en")
    random.Random(5).shuffle(texts)
    monkeypatch.setattr("retrieval.network.builder.SHARD_PASSAGES", 17)
    build(texts, tmp_path / "two", "en")

    assert tree(tmp_path / "one") == tree(tmp_path / "two")


def test_several_processes_make_the_same_bytes(tmp_path, monkeypatch):
    texts = list(enumerate(passages(60, seed=4), 1))
    build(texts, tmp_path / "one", "en")
    monkeypatch.setattr("retrieval.network.builder.SHARD_PASSAGES", 20)
    build(texts, tmp_path / "two", "en", processes=2)

    assert tree(tmp_path / "one") == tree(tmp_path / "two")


def test_pairs_are_merged_range_by_range(tmp_path, monkeypatch):
    texts = list(enumerate(passages(200, seed=3), 1))
    build(texts, tmp_path / "one", "en")
    monkeypatch.setattr("retrieval.network.builder.SHARD_PASSAGES", 17)
    monkeypatch.setattr("retrieval.network.builder._AT_ONCE", 100)
    monkeypatch.setattr("retrieval.network.counts._TOKENS", 50)
    monkeypatch.setattr("retrieval.network.counts._PAIRS", 70)
    build(texts, tmp_path / "two", "en")

    assert tree(tmp_path / "one") == tree(tmp_path / "two")


def test_a_passage_given_twice_is_refused_and_the_old_network_answers(tmp_path, toy):
    with pytest.raises(ValueError, match="The passage 1 was given twice"):
        build([(1, "a text"), (1, "another")], tmp_path / "n", "en")

    assert Network.open(tmp_path / "n").passages == 4


def test_every_build_is_a_new_generation_and_the_old_files_go(tmp_path, toy):
    again = build([(1, "other words")], tmp_path / "n", "en")

    assert (toy.generation, again.generation) == (1, 2)
    assert sorted(path.name for path in (tmp_path / "n").iterdir()) == [
        "current",
        "lock",
        again.pointer.segments[0],
        again.pointer.vectors,
    ]


def test_what_was_opened_before_a_build_still_answers(tmp_path, toy):
    build([(1, "other words")], tmp_path / "n", "en")

    assert toy.associations(["red"], ["cars"]) == pytest.approx([0.41503749927884376])


def test_where_nothing_was_built_words_say_what_to_run(tmp_path):
    with pytest.raises(NoNetworkError, match=r"Run manage.py wpn build"):
        Network.open(tmp_path)


@pytest.mark.parametrize("name", ["keys", "counts", "tokens", "codes", "df", "spelling"])
def test_a_file_cut_short_is_damage_and_says_what_helps(tmp_path, toy, name):
    path = toy.segments[0].folder / name
    path.write_bytes(path.read_bytes()[:-1])

    with pytest.raises(
        NetworkBrokenError, match=rf"damaged: {name} has .* Run manage.py wpn build with --anew"
    ):
        Network.open(tmp_path / "n")


def test_a_missing_file_is_damage(tmp_path, toy):
    (toy.segments[0].folder / "counts").unlink()

    with pytest.raises(NetworkBrokenError, match="missing"):
        Network.open(tmp_path / "n")


@pytest.mark.parametrize("bytes_", [b"", b"{", b'{"generation": 1}', b"[]", b"\xff\xfe"])
def test_a_pointer_that_cannot_be_read_is_damage(tmp_path, toy, bytes_):
    (tmp_path / "n" / "current").write_bytes(bytes_)

    with pytest.raises(NetworkBrokenError, match=r"Run manage.py wpn build with --anew"):
        Network.open(tmp_path / "n")


def test_a_byte_that_has_changed_is_found_by_a_check(tmp_path, toy):
    toy.check()
    path = toy.segments[0].folder / "counts"
    path.write_bytes(b"\x07" + path.read_bytes()[1:])

    with pytest.raises(NetworkBrokenError, match="damaged: counts has changed"):
        Network.open(tmp_path / "n").check()


@pytest.mark.parametrize("name", ["tokens", "spelling", "ends"])
def test_numbers_that_cannot_be_are_told_as_damage(tmp_path, toy, name):
    path = toy.segments[0].folder / name
    path.write_bytes(b"\xfe" * path.stat().st_size)

    with pytest.raises(NetworkBrokenError, match="damaged"):
        list(Network.open(tmp_path / "n").columns([1, 2], numbers=False).words)


FULL = """
import resource, sys
from pathlib import Path
from retrieval.errors import RetrievalError
from retrieval.network import build
resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))
try:
    build(enumerate(["many words " + str(n) for n in range(2000)], 1), Path(sys.argv[1]), "en")
except RetrievalError as error:
    print(error)
"""


@pytest.mark.only_on("linux")
def test_where_nothing_more_can_be_written_the_old_network_answers_and_nothing_is_left_behind(tmp_path, toy):
    before = sorted(path.name for path in (tmp_path / "n").iterdir())
    command = [sys.executable, "-c", FULL, str(tmp_path / "n")]
    told = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout

    assert "The network cannot be written: " in told
    assert "The one that was there still answers." in told
    assert Network.open(tmp_path / "n").passages == 4
    assert sorted(path.name for path in (tmp_path / "n").iterdir()) == before


def test_word_vectors_cut_short_are_damage(tmp_path):
    network = build(enumerate(passages(100, seed=6), 1), tmp_path / "n", "en")
    path = network.vectors.folder / "rows"
    path.write_bytes(path.read_bytes()[:-2])

    with pytest.raises(NetworkBrokenError, match=r"word vectors .* damaged"):
        Network.open(tmp_path / "n")


def test_a_network_by_other_rules_for_words_is_refused(tmp_path, toy):
    pointer = tmp_path / "n" / "current"
    facts = json.loads(pointer.read_text())
    pointer.write_text(json.dumps({**facts, "rules": "words-0"}))

    with pytest.raises(NetworkBrokenError, match=r"other rules \(words-0\)"):
        Network.open(tmp_path / "n")


def test_a_damaged_network_can_be_built_anew(tmp_path, toy):
    (tmp_path / "n" / "current").write_bytes(b"")
    build(enumerate(TOY, 1), tmp_path / "n", "en")

    assert Network.open(tmp_path / "n").passages == 4


def test_all_texts_of_the_little_world_have_words():
    assert all(TEXTS)
