"""A predictor learns, is always the same, goes on after it was killed, and says where it comes from."""

import json
import math
import subprocess
import sys

import pytest
import torch

from distillery_learned.metrics.encoders import encoder
from distillery_learned.metrics.networks import load_network
from distillery_learned.training.kpqa_epochs import StoppedError, Watch, rate
from distillery_learned.training.kpqa_examples import Example
from distillery_learned.training.kpqa_files import TrainingFiles
from distillery_learned.training.kpqa_runs import folder_of, precision_for
from metrics.errors import MetricError
from metrics.model_folders import opened
from tests.learned import tiny
from tests.learned.kpqa import training_world as world
from tests.repository import ROOT

KILLED = """
import os, signal, sys
from pathlib import Path
from distillery_learned.training.kpqa_epochs import Watch
from tests.learned.kpqa import training_world as world

def die(step):
    if step.done == 11:
        os.kill(os.getpid(), signal.SIGKILL)

world.train(Path(sys.argv[1]), Path(sys.argv[2]), watch=Watch(on_step=die, keep_steps=2))
"""


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    return tiny.bert(tmp_path_factory.mktemp("encoders") / "bert")


@pytest.fixture(scope="module")
def model(bert, tmp_path_factory):
    """A training of two epochs of eight steps without interruption."""
    return world.train(tmp_path_factory.mktemp("models") / "model", bert)


@pytest.mark.long
def test_a_pattern_is_learned(bert, tmp_path) -> None:
    epochs = []
    made = world.train(
        tmp_path / "model",
        bert,
        world.settings(epochs=5),
        world.data(480, 60),
        watch=Watch(on_epoch=epochs.append),
    )
    assert made.card["best"]["dev"]["f1"] > 0.9
    assert made.card["best"]["dev"]["span_recall"] > 0.9
    assert [epoch["epoch"] for epoch in epochs] == [1, 2, 3, 4, 5]
    assert epochs == made.card["epochs"]
    losses = [epoch["dev"]["loss"] for epoch in epochs]
    assert made.card["best"]["epoch"] == losses.index(min(losses)) + 1
    network, base = load_network(made.path, 16)
    with torch.inference_mode():
        loss = tiny.literal_loss(network, base.tokenizer, world.data(480, 60).dev, made.settings["longest"])
    assert float(loss) == pytest.approx(min(losses), abs=2e-6)  # the folder holds the best epoch


@pytest.mark.long
def test_the_same_training_makes_the_same_model(bert, model, tmp_path) -> None:
    elsewhere = tmp_path / "another" / "place"
    elsewhere.parent.mkdir()
    elsewhere.symlink_to(bert)
    again = world.train(tmp_path / "again", elsewhere)
    assert again.digest == model.digest
    assert again.card["data"] == model.card["data"]


@pytest.mark.long
@pytest.mark.parametrize(
    "other",
    [
        {"seed": 14},
        *(pytest.param(each, marks=pytest.mark.long) for each in ({"epochs": 1}, {"with_question": False})),
    ],
)
def test_another_training_makes_another_model(bert, model, tmp_path, other) -> None:
    assert world.train(tmp_path / "model", bert, world.settings(**other)).digest != model.digest


@pytest.mark.long
def test_a_training_that_was_killed_between_steps_makes_the_same_model(bert, model, tmp_path) -> None:
    out = tmp_path / "model"
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, str(out), str(bert)],
        check=False,
        cwd=ROOT,
        timeout=240,
        capture_output=True,
    )
    assert killed.returncode == -9, killed.stderr.decode()
    assert not out.exists()
    steps = []
    made = world.train(out, bert, resume=True, watch=Watch(on_step=lambda step: steps.append(step.done)))
    assert steps == [11, 12, 13, 14, 15, 16]  # step 11 was done, and not kept
    assert made.digest == model.digest
    assert not folder_of(out).exists()
    assert [epoch["dev"] for epoch in made.card["epochs"]] == [epoch["dev"] for epoch in model.card["epochs"]]


# Within an epoch, at the end of one, at the very end.
@pytest.mark.parametrize("after", [1, *(pytest.param(after, marks=pytest.mark.long) for after in (8, 16))])
def test_a_training_that_is_told_to_stop_keeps_its_state(bert, model, tmp_path, after) -> None:
    out = tmp_path / "model"
    done = []
    watch = Watch(on_step=lambda step: done.append(step.done), stop=lambda: len(done) >= after)
    with pytest.raises(StoppedError, match=r"Stopped in epoch \d of 2 .* with --resume goes on from there"):
        world.train(out, bert, watch=watch)
    assert len(done) == after
    with pytest.raises(MetricError, match="Go on with --resume"):
        world.train(out, bert)
    assert world.train(out, bert, resume=True, watch=Watch(on_step=done.append)).digest == model.digest
    assert len(done) == 16


def test_a_stopped_training_is_not_continued_with_other_data_or_settings(bert, tmp_path) -> None:
    out = tmp_path / "model"
    with pytest.raises(StoppedError):
        world.train(out, bert, watch=Watch(stop=lambda: True))
    with pytest.raises(MetricError, match="with batch 8, and 4 is asked for"):
        world.train(out, bert, world.settings(batch=4), resume=True)
    with pytest.raises(MetricError, match="on other data"):
        world.train(out, bert, prepared=world.data(seed=5), resume=True)
    with pytest.raises(MetricError, match="of another encoder"):
        world.train(out, tiny.bert(tmp_path / "bert", seed=3), resume=True)
    assert not out.exists()


@pytest.mark.long
def test_with_nothing_to_go_on_with_resume_begins(bert, model, tmp_path) -> None:
    assert world.train(tmp_path / "model", bert, resume=True).digest == model.digest


def test_a_card_says_where_a_model_comes_from(bert, model) -> None:
    card = json.loads((model.path / "card.json").read_text())
    assert card["kind"] == "kpqa"
    assert card["settings"] == {"units": 16, "longest": 64, "with_question": True}
    assert "NAACL 2021" in card["paper"]["reference"]
    assert card["paper"]["f1"] == {"SQuAD": 0.5581, "MS-MARCO Q&A": 0.5926}
    assert "licences of the data and of the encoder" in card["licence"]
    assert card["encoder"]["name"] == "bert"
    assert len(card["encoder"]["digest"]) == 64
    assert card["data"]["files"][0]["sha256"] == "0" * 64
    assert (card["data"]["counts"]["train"], card["data"]["counts"]["dev"]) == (64, 16)
    training = card["training"]
    assert (training["device"], training["precision"], training["seed"]) == ("cpu", "fp32", 13)
    assert training["threads"] >= 1
    assert set(card["best"]["dev"]) == {
        *("loss", "f1", "precision", "recall", "span_precision", "span_recall", "sources"),
    }
    assert set(card["versions"]) >= {"python", "torch", "transformers"}
    assert card["seconds"] > 0
    readme = (model.path / "README.md").read_text()
    assert "The paper prints 55.8 (SQuAD), 59.3 (MS-MARCO Q&A)" in readme
    assert card["encoder"]["digest"] in readme


def test_no_file_of_a_model_names_a_place(bert, model) -> None:
    for path in model.path.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            assert str(bert).encode() not in content
            assert str(model.path.parent).encode() not in content


def test_a_model_is_whole_and_its_encoder_can_be_loaded_by_itself(bert, model) -> None:
    assert opened(model.path, "kpqa", model.digest).settings == model.settings
    assert encoder(model.path / "encoder").width == 32


@pytest.mark.long
def test_a_predictor_without_question_learns_from_answers_alone(bert, tmp_path) -> None:
    asked = world.data(32, 8)
    other = TrainingFiles(
        [Example("Who?", each.answer, each.spans, each.source, each.group) for each in asked.train],
        [Example("Why?", each.answer, each.spans, each.source, each.group) for each in asked.dev],
        asked.files,
        asked.counts,
    )
    how = world.settings(with_question=False, epochs=1)
    one, two = (world.train(tmp_path / f"{n}", bert, how, data) for n, data in enumerate((asked, other)))
    assert one.digest == two.digest
    assert one.settings["with_question"] is False


@pytest.mark.long
def test_an_encoder_without_token_types_learns_too(tmp_path) -> None:
    made = world.train(
        tmp_path / "model", tiny.roberta(tmp_path / "roberta"), world.settings(epochs=1), world.data(16, 4)
    )
    assert made.card["best"]["dev"]["loss"] > 0


@pytest.mark.long
def test_an_encoder_in_half_precision_is_trained_in_full(bert, tmp_path) -> None:
    half = encoder(bert)
    half.model.half().save_pretrained(tmp_path / "half")
    half.tokenizer.save_pretrained(tmp_path / "half")
    made = world.train(tmp_path / "model", tmp_path / "half", world.settings(epochs=1), world.data(16, 4))
    network, _ = load_network(made.path, 16)
    assert {value.dtype for value in network.parameters()} == {torch.float32}


@pytest.mark.long
def test_mixed_precision_learns_nearly_the_same(bert, model, tmp_path) -> None:
    made = world.train(tmp_path / "model", bert, world.settings(precision="bf16"))
    assert made.card["training"]["precision"] == "bf16"
    assert made.card["best"]["dev"]["loss"] == pytest.approx(model.card["best"]["dev"]["loss"], abs=0.1)
    assert made.digest != model.digest


def test_half_precision_without_mixing_needs_a_gpu(bert, tmp_path) -> None:
    with pytest.raises(MetricError, match="--precision fp16 needs a GPU"):
        world.train(tmp_path / "model", bert, world.settings(precision="fp16"))
    assert list(tmp_path.iterdir()) == []
    assert precision_for("auto", torch.device("cpu")) == "fp32"


@pytest.mark.long
def test_without_development_data_the_last_epoch_is_kept(bert, tmp_path) -> None:
    made = world.train(tmp_path / "model", bert, prepared=world.data(16, 0))
    assert made.card["best"]["epoch"] == 2
    assert made.card["best"]["dev"] is None
    assert "nothing was measured" in (made.path / "README.md").read_text()


@pytest.mark.long
def test_a_loss_that_is_no_number_ends_the_training(bert, tmp_path) -> None:
    broken = encoder(bert)
    with torch.no_grad():
        broken.model.embeddings.word_embeddings.weight.fill_(math.inf)
    broken.model.save_pretrained(tmp_path / "broken")
    broken.tokenizer.save_pretrained(tmp_path / "broken")
    with pytest.raises(MetricError, match=r"no number any more in epoch 1, step 1\. Train with a lower"):
        world.train(tmp_path / "model", tmp_path / "broken")
    assert not (tmp_path / "model").exists()


def test_examples_without_a_word_are_refused(bert, tmp_path) -> None:
    empty = TrainingFiles([Example("a", " ", (), "made", "1")], [], [], {})
    with pytest.raises(MetricError, match="no word that the encoder's tokeniser knows"):
        world.train(tmp_path / "model", bert, prepared=empty)


def test_the_rate_rises_and_falls_as_asked() -> None:
    flat = world.settings()
    assert {rate(flat, done, 100) for done in range(100)} == {3e-3}
    both = world.settings(warm_up=0.1, decay=True)
    rates = [rate(both, done, 100) for done in range(100)]
    assert rates[:10] == sorted(rates[:10])
    assert rates[10] == max(rates) == 3e-3
    assert rates[10:] == sorted(rates[10:], reverse=True)
    assert rates[99] == pytest.approx(3e-3 / 90)
