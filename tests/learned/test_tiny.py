"""The tiny models that other tests stand on are what they say."""

from pathlib import Path

import pytest

from distillery_learned.metrics.encoders import encoder
from distillery_learned.metrics.networks import load_network
from distillery_learned.metrics.pieces import windows
from tests.learned import tiny


def test_a_tiny_bert_is_an_encoder_and_always_the_same(tmp_path: Path) -> None:
    found = encoder(tiny.bert(tmp_path / "a"))
    assert (found.width, found.longest) == (32, tiny.LONGEST)
    assert found.tokenizer.tokenize("The ticket costs 45 euros.") == [
        *("the", "ticket", "costs", "4", "##5", "euros", "."),
    ]
    again = tiny.bert(tmp_path / "b")
    for name in ("model.safetensors", "config.json", "tokenizer.json"):
        assert (again / name).read_bytes() == (tmp_path / "a" / name).read_bytes()


def test_a_tiny_roberta_has_pieces_of_bytes_and_no_types(tmp_path: Path) -> None:
    found = encoder(tiny.roberta(tmp_path / "a"))
    given = found.tokenizer("the price", "of a 🐢", return_offsets_mapping=True)
    assert "token_type_ids" not in given
    assert found.tokenizer.decode(given["input_ids"], skip_special_tokens=True) == "the priceof a 🐢"


@pytest.mark.long
def test_a_tiny_sentence_encoder_gives_vectors_of_length_one(tmp_path: Path) -> None:
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(
        str(tiny.sentence_encoder(tmp_path / "a")), device="cpu", local_files_only=True
    )
    vectors = model.encode(["the price", "a dog"])
    assert vectors.shape == (2, 32)
    assert (vectors**2).sum(1) == pytest.approx([1, 1], abs=1e-5)


@pytest.mark.long
def test_a_tiny_trained_predictor_knows_its_pattern(tmp_path: Path) -> None:
    import torch

    made = tiny.kpqa_trained(tmp_path / "model")
    network, base = load_network(made.path, made.settings["units"])
    right = 0
    for example in tiny.costs(40, seed=9):
        (window,), _ = windows(base.tokenizer, [(example.question, example.answer)], made.settings["longest"])
        ids, types = torch.tensor([window.ids]), torch.tensor([window.types])
        with torch.inference_mode():
            said = network(ids, torch.ones_like(ids), types)[0, window.firsts].argmax(-1).tolist()
        labels = tiny.labels_of(example)
        right += said == [labels[word] for word in window.word_numbers]
    assert right >= 38


def test_a_tiny_untrained_predictor_can_be_loaded(tmp_path: Path) -> None:
    made = tiny.kpqa(tmp_path / "model", with_question=False)
    assert made.settings == {"units": 16, "longest": tiny.LONGEST, "with_question": False}
    network, _ = load_network(made.path, 16)
    assert not network.training
