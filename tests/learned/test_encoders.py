"""Encoders by folder or name, what is refused, and threads."""

import socket

import pytest

from distillery_learned.metrics.devices import cores, device, threads
from distillery_learned.metrics.encoders import encoder
from metrics import MetricError
from tests.learned import tiny


@pytest.fixture
def no_network(monkeypatch):
    def refuse(*_args, **_options):
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


def test_an_encoder_is_loaded_from_its_folder_alone(tmp_path, no_network):
    found = encoder(tiny.bert(tmp_path / "bert", longest=40))
    assert (found.width, found.longest) == (32, 40)
    assert not found.model.training


def test_places_before_the_text_are_not_places_for_it(tmp_path):
    import torch
    from transformers import AutoTokenizer

    folder = tiny.roberta(tmp_path / "roberta", longest=40)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    tokenizer.model_max_length = 10**9
    tokenizer.save_pretrained(folder)
    found = encoder(folder)
    assert found.longest == 40
    given = found.tokenizer(" ".join(["a"] * 100), truncation=True, max_length=found.longest)
    assert found.model(input_ids=torch.tensor([given["input_ids"]])).last_hidden_state.shape[1] == 40


def test_a_name_that_is_not_here_is_not_fetched(no_network):
    with pytest.raises(MetricError, match="Give the folder of an encoder, or --download"):
        encoder("nobody/has-this-encoder")


def test_a_folder_that_is_no_encoder_is_said(tmp_path):
    with pytest.raises(MetricError, match=r"it has no config\.json"):
        encoder(tmp_path)
    folder = tiny.bert(tmp_path / "bert")
    (folder / "model.safetensors").unlink()
    with pytest.raises(MetricError, match=r"cannot be loaded: .* Is the folder whole"):
        encoder(folder)


def test_weights_that_are_pickled_are_not_read(tmp_path):
    import torch

    folder = tiny.bert(tmp_path / "bert")
    model = encoder(folder).model
    (folder / "model.safetensors").unlink()
    torch.save(model.state_dict(), folder / "pytorch_model.bin")
    with pytest.raises(MetricError, match="cannot be loaded"):
        encoder(folder)


def test_a_device_that_is_not_there_is_said():
    assert str(device("cpu")) == "cpu"
    with pytest.raises(MetricError, match="--device nothing cannot be used here"):
        device("nothing")


@pytest.mark.parametrize(("asked", "number"), [("1", 1), ("", None), ("many", None), ("0", None)])
def test_threads_are_all_cores_unless_the_environment_says(monkeypatch, asked, number):
    import torch

    before = torch.get_num_threads()
    monkeypatch.setenv("OMP_NUM_THREADS", asked)
    try:
        threads()
        assert torch.get_num_threads() == (number or cores())
    finally:
        torch.set_num_threads(before)
