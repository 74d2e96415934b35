"""Word vectors of files, in every form they come in."""

import gzip
import struct

import numpy as np
import pytest

from retrieval.errors import FileRefusedError
from retrieval.network import build
from retrieval.network.vectors import load, read

ROWS = {"cat": (1.0, 0.0, 0.5), "run": (0.0, 2.0, -0.25), "New_York": (0.5, 0.5, 0.5)}


def binary(line_feeds=True):
    body = b"".join(
        word.encode() + b" " + struct.pack("<3f", *row) + (b"\n" if line_feeds else b"")
        for word, row in ROWS.items()
    )
    return b"3 3\n" + body


def text(header=True):
    lines = [f"{word} {' '.join(map(str, row))}" for word, row in ROWS.items()]
    return ("\n".join(["3 3", *lines] if header else lines) + "\n").encode()


FORMS = {
    "word2vec.bin": binary(),
    "bare.bin": binary(line_feeds=False),
    "word2vec.txt": text(),
    "glove.txt": text(header=False),
    "packed.bin.gz": gzip.compress(binary(), mtime=0),
    "packed.vec.gz": gzip.compress(text(), mtime=0),
    "fasttext.vec": text().replace(b"\n", b" \n").replace(b"3 3 \n", b"3 3\n"),
}


def test_every_form_gives_the_same_words_and_rows(tmp_path):
    for name, content in FORMS.items():
        path = tmp_path / name
        path.write_bytes(content)
        assert {word.decode(): tuple(row.tolist()) for word, row in read(path)} == ROWS, name
    path = tmp_path / "glove.txt"
    path.write_text("cat 1 0\n. . . 0.5 0.25\n")
    with_spaces = [(b"cat", [1.0, 0.0]), (b". . .", [0.5, 0.25])]
    assert [(word, row.tolist()) for word, row in read(path)] == with_spaces


def test_only_words_asked_for_are_kept_or_those_of_their_porter_stem(tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_bytes(text())
    found = load(path, ["dog", "cat"])
    assert found.places.tolist() == [1]
    assert found.rows.tolist() == [[1.0, 0.0, 0.5]]
    assert found.by_stem == 0
    found = load(path, ["running", "cats", "run"])
    assert dict(zip(found.places.tolist(), found.rows[:, 1].tolist(), strict=True)) == {
        0: 2.0,
        1: 0.0,
        2: 2.0,
    }
    assert found.by_stem == 2


def test_a_network_takes_them_as_they_are(tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_text("3 2\ncat 3 4\ndog 4 3\nsun 0 0\n")
    network = build([(1, "The cat and dog in the sun")], tmp_path / "n", "en", vectors=path)

    assert network.similarities(["cat"], ["dog"]) == pytest.approx(np.array([[24 / 25]]), abs=1e-3)
    assert network.similarities(["cat", "sun"], ["sun"]).tolist() == [[-1.0], [1.0]]
    assert (network.vectors.facts.source, network.vectors.facts.words) == ("vectors.txt", 2)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (binary()[:-8], "word 3: it ends in the vector of b'New_York'"),
        (b"9 3\n" + binary()[4:], "word 4: there is no word where one has to be"),
        (b"2 3\ncat 1 2 3\nrun 1 2\n", "line 3: not a word and 3 numbers"),
        (b"cat 1 2 3\nrun 1 2 x\n", "line 2: not 3 numbers"),
        (b"cat 1 2 3\nrun 1 2 nan\n", "line 2: values that are no numbers"),
        (b"2 0\n", "line 1: 0 dimensions"),
        (b"", "line 1: it has no numbers after the first word"),
        (b"word\n", "line 1: it has no numbers after the first word"),
        (gzip.compress(text(), mtime=0)[:-12], "it cannot be read"),
        (gzip.compress(text(), mtime=0)[:10] + b"\xff" * 30, "it cannot be read"),
        (b"9" * 5000 + b" 3\n", "no word of the corpus is in it"),
        (b"oven 1 2\n", "no word of the corpus is in it"),
    ],
)
def test_a_damaged_file_is_told_with_its_place(tmp_path, content, words):
    path = tmp_path / "vectors"
    path.write_bytes(content)

    with pytest.raises(FileRefusedError) as refused:
        load(path, ["cat"])
    assert words in str(refused.value)


def test_a_file_that_is_not_there_is_told_before_anything_is_counted(tmp_path):
    def texts():
        raise AssertionError("nothing is read")
        yield

    with pytest.raises(FileRefusedError, match="it cannot be read"):
        build(texts(), tmp_path / "n", "en", vectors=tmp_path / "nowhere")
