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
from tests.retrieval.network.worlds import passages, tree
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


def test_npmi_and_idf_are_as_the_paper_defines_them(toy, tmp_path):
    # red and cars: 2 of 4 passages; red in 2, cars in 3. log(.5 / (.5 * .75)) / -log(.5)
    assert toy.associations(["red"], ["cars"]) == pytest.approx([0.41503749927884376])
    # blue and drive: 1 of 4; blue in 1, drive in 2: log(.25 / (.25 * .5)) / -log(.25)
    assert toy.associations(["blue"], ["drive"]) == pytest.approx([0.5])
    assert toy.associations(["cars"], ["red"]) == toy.associations(["red"], ["cars"])
    assert np.isnan(
        toy.associations(["red", "red", "red", "unknown"], ["trees", "unknown", "red", "words"])
    ).all()
    # log(1 + (4 - 3 + .5) / (3 + .5)), log(1 + (4 - 0 + .5) / .5)
    assert toy.idf(["cars", "nowhere"]) == pytest.approx([math.log(1 + 1.5 / 3.5), math.log(10)])
    assert toy.similarities(["cars", "unknown"], ["unknown", "cars"]).tolist() == [[-1.0, 1.0], [1.0, -1.0]]
    assert toy.columns([1, 99], numbers=False) is None
    assert toy.columns([], numbers=False).count == 0
    build([(1, "other words")], tmp_path / "n", "en")
    assert toy.associations(["red"], ["cars"]) == pytest.approx([0.41503749927884376])


def test_pairs_are_words_up_to_three_apart_once_in_a_passage(tmp_path):
    def counts(texts, *pairs):
        network = build(enumerate(texts, 1), tmp_path / "n", "en")
        one, two = zip(*pairs, strict=True)
        return network.pair_counts(codes_of(one), codes_of(two)).tolist()

    assert counts(["salt water salt water salt", "fire"], ("salt", "water")) == [1]
    # Function words between do not count as distance; the end of a sentence is none.
    assert counts(["alpha of the beta and the gamma with a delta"], ("alpha", "delta")) == [1]
    assert counts(["alpha beta gamma delta epsilon"], ("alpha", "delta"), ("alpha", "epsilon")) == [1, 0]
    assert counts(["It rains. Snow falls."], ("rains", "snow")) == [1]
    network = build([(1, "snow words"), (2, "snow words fall")], tmp_path / "n", "en")
    assert network.associations(["snow"], ["words"]).tolist() == [1.0]
    # Numbers count as words and stand in no pair.
    network = build([(1, "founded 1955 Chicago"), (2, "Chicago 1955")], tmp_path / "n", "en")
    assert network.word_counts(codes_of(["1955"])).tolist() == [2]
    assert np.isnan(network.associations(["1955"], ["chicago"]))
    assert network.pair_counts(codes_of(["founded"]), codes_of(["chicago"])).tolist() == [1]


def test_rare_pairs_can_be_left_out(tmp_path):
    network = build(enumerate(TOY, 1), tmp_path / "n", "en", min_count=2)

    assert network.edge_count == 2
    assert np.isnan(network.associations(["blue"], ["cars"]))
    assert network.associations(["red"], ["cars"]) == pytest.approx([0.41503749927884376])


def test_words_used_alike_are_similar(tmp_path):
    network = build(enumerate(passages(800, seed=2), 1), tmp_path / "n", "en")
    close = network.similarities(["doctor"], ["nurse", "engine"])[0]

    assert close[0] > 0.3 > close[1]


def test_stored_tokens_are_those_of_the_text_without_holes(tmp_path):
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
    network = build([(1, "Snow fell. 1969. Rain came."), (2, "2001! Sun.")], tmp_path / "n", "en")
    columns = network.columns([1, 2], numbers=False)
    assert [columns.words[token] for token in columns.tokens] == ["snow", "fell", "rain", "came", "sun"]
    assert columns.sentence.tolist() == [1, 1, 2, 2, 1]


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


def test_networks_of_nothing_and_of_other_scripts_answer(tmp_path):
    network = build([], tmp_path / "n", "en")
    assert (network.passages, network.word_count, network.edge_count) == (0, 0, 0)
    assert np.isnan(network.associations(["some"], ["words"]))
    assert network.idf(["word"]) == pytest.approx([math.log(2)])
    network = build([(1, "القاهرة عاصمة مصر"), (2, "مصر بلد")], tmp_path / "n", "ar")
    assert network.word_counts(codes_of(["مصر"])).tolist() == [2]
    assert list(network.columns([2], numbers=False).words) != []
    assert set(network.columns([2], numbers=False).words) == {"مصر", "بلد"}


def test_the_order_the_shards_and_the_processes_of_passages_change_no_byte(tmp_path, monkeypatch):
    texts = list(enumerate(passages(200, seed=3), 1))
    build(texts, tmp_path / "one", "en")
    expected = tree(tmp_path / "one")
    random.Random(5).shuffle(texts)
    monkeypatch.setattr("retrieval.network.builder.SHARD_PASSAGES", 17)
    build(texts, tmp_path / "two", "en")
    assert tree(tmp_path / "two") == expected
    monkeypatch.setattr("retrieval.network.builder._AT_ONCE", 100)
    monkeypatch.setattr("retrieval.network.counts._TOKENS", 50)
    monkeypatch.setattr("retrieval.network.counts._PAIRS", 70)
    build(texts, tmp_path / "three", "en")
    assert tree(tmp_path / "three") == expected, "merged range by range"
    monkeypatch.undo()
    monkeypatch.setattr("retrieval.network.builder.SHARD_PASSAGES", 60)
    build(texts, tmp_path / "four", "en", processes=2)
    assert tree(tmp_path / "four") == expected, "in several processes"


def test_every_build_is_a_new_generation_and_the_old_files_go(tmp_path, toy):
    with pytest.raises(ValueError, match="The passage 1 was given twice"):
        build([(1, "a text"), (1, "another")], tmp_path / "n", "en")
    assert Network.open(tmp_path / "n").passages == 4
    again = build([(1, "other words")], tmp_path / "n", "en")
    assert (toy.generation, again.generation) == (1, 2)
    assert sorted(path.name for path in (tmp_path / "n").iterdir()) == [
        "current",
        "lock",
        again.pointer.segments[0],
        again.pointer.vectors,
    ]


def test_where_nothing_was_built_words_say_what_to_run(tmp_path):
    with pytest.raises(NoNetworkError, match=r"Run manage.py wpn build"):
        Network.open(tmp_path)


def test_damage_is_told_with_what_helps_and_a_build_mends_it(tmp_path, toy):
    folder, remedy = toy.segments[0].folder, "Run manage.py wpn build with --anew"
    for name in ("keys", "counts", "tokens", "codes", "df", "spelling"):
        content = (folder / name).read_bytes()
        (folder / name).write_bytes(content[:-1])
        with pytest.raises(NetworkBrokenError, match=rf"damaged: {name} has .* {remedy}"):
            Network.open(tmp_path / "n")
        (folder / name).unlink()
        with pytest.raises(NetworkBrokenError, match="missing"):
            Network.open(tmp_path / "n")
        (folder / name).write_bytes(content)
    for name in ("tokens", "spelling", "ends"):  # numbers that cannot be
        content = (folder / name).read_bytes()
        (folder / name).write_bytes(b"\xfe" * len(content))
        with pytest.raises(NetworkBrokenError, match="damaged"):
            list(Network.open(tmp_path / "n").columns([1, 2], numbers=False).words)
        (folder / name).write_bytes(content)
    Network.open(tmp_path / "n").check()
    (folder / "counts").write_bytes(b"\x07" + (folder / "counts").read_bytes()[1:])
    with pytest.raises(NetworkBrokenError, match="damaged: counts has changed"):
        Network.open(tmp_path / "n").check()
    pointer = tmp_path / "n" / "current"
    facts = json.loads(pointer.read_text())
    pointer.write_text(json.dumps({**facts, "rules": "words-0"}))
    with pytest.raises(NetworkBrokenError, match=r"other rules \(words-0\)"):
        Network.open(tmp_path / "n")
    for content in (b"{", b'{"generation": 1}', b"[]", b"\xff\xfe", b""):
        pointer.write_bytes(content)
        with pytest.raises(NetworkBrokenError, match=remedy):
            Network.open(tmp_path / "n")
    build(enumerate(TOY, 1), tmp_path / "n", "en")
    assert Network.open(tmp_path / "n").passages == 4


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
