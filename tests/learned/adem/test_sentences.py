import shutil

import numpy as np
import pytest

from distillery_learned.metrics import text_encoders
from distillery_learned.metrics.text_encoders import text_encoder
from metrics.errors import MetricError
from tests.learned import tiny

TEXTS = [
    "the old car",
    "a dog in the river costs 45 euros, not much!",
    "yes",
    "",
    "the price of the house " * 30,
]


@pytest.fixture(scope="module")
def encoder(sentence_encoder):
    return text_encoder(sentence_encoder, device="cpu")


@pytest.mark.long
def test_a_folder_of_sentence_transformers_gives_the_vectors_of_the_library(sentence_encoder, encoder):
    from sentence_transformers import SentenceTransformer

    theirs = SentenceTransformer(str(sentence_encoder), device="cpu", local_files_only=True).encode(TEXTS)

    assert (encoder.kind, encoder.name, encoder.width) == ("sentences", "tiny", 32)
    assert encoder.texts(TEXTS) == pytest.approx(theirs, abs=1e-6)


def test_a_plain_transformer_gives_the_mean_of_its_pieces(tmp_path):
    import torch

    from distillery_learned.metrics.encoders import encoder as plain

    base = plain(tiny.bert(tmp_path / "bert"))
    with torch.inference_mode():
        states = base.model(**base.tokenizer("the old car", return_tensors="pt")).last_hidden_state
    found = text_encoder(tmp_path / "bert", device="cpu")

    assert found.texts(["the old car"])[0] == pytest.approx(states[0].mean(0).numpy(), abs=1e-6)


@pytest.mark.long
def test_neither_company_nor_padding_changes_a_vector(encoder):
    together = encoder.texts(TEXTS)
    alone = np.concatenate([encoder.texts([text]) for text in TEXTS])

    assert together == pytest.approx(alone, abs=1e-6)
    assert encoder.texts(TEXTS[::-1])[::-1] == pytest.approx(together, abs=1e-6)


def test_a_context_is_the_mean_of_its_turns(encoder):
    found = encoder.contexts([("the old car", "yes"), ("yes",)])
    car, yes = encoder.texts(["the old car", "yes"])

    assert found[0] == pytest.approx((car + yes) / 2, abs=1e-6)
    assert found[1] == pytest.approx(yes, abs=1e-6)
    assert encoder.texts([]).shape == encoder.contexts([]).shape == (0, 32)


@pytest.mark.long
def test_the_digest_is_that_of_what_it_does_with_a_text(tmp_path, encoder):
    encoder.save(tmp_path / "copy")
    copy = text_encoder(tmp_path / "copy", device="cpu")

    assert copy.digest == encoder.digest
    assert np.array_equal(copy.texts(TEXTS), encoder.texts(TEXTS))
    other = text_encoder(tiny.sentence_encoder(tmp_path / "other", seed=1), device="cpu")
    without = text_encoder(tiny.bert(tmp_path / "bert"), device="cpu")
    words = text_encoder(tiny.sentence_encoder(tmp_path / "words", tiny.WORDS[::-1]), device="cpu")
    shutil.copytree(tmp_path / "copy", tmp_path / "first")
    pooling = next((tmp_path / "first").glob("*Pooling/config.json"))
    pooling.write_text(pooling.read_text().replace('"mean"', '"cls"'))
    first = text_encoder(tmp_path / "first", device="cpu")
    assert len({each.digest for each in (encoder, other, without, words, first)}) == 5


def test_what_is_no_encoder_is_refused_without_a_look_at_the_network(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(MetricError, match="is no encoder"):
        text_encoder(tmp_path / "empty")
    with pytest.raises(MetricError, match=r"nobody/nothing cannot be loaded: .*--download"):
        text_encoders.load("nobody/nothing", device="cpu")
