"""BERTScore-KPQA is equations 6-8 of Lee et al. (2021), with the weights of the KPQA model."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from distillery_learned.metrics.encoders import encoder as opened
from distillery_learned.metrics.word_weights import weigher
from metrics.catalogue import metric, missing
from metrics.errors import MetricError
from metrics.model_folders import choice, with_models
from metrics.profiles import profile
from metrics.scoring import score
from metrics.texts import Answers, Metric
from tests.learned import tiny

QUESTIONS = ("How much does the ticket cost?", "What is in the city?", "Who pays?")
CANDIDATES = ("The old ticket costs 45 euros.", "a red house, and grams of apples", "the dog")
REFERENCES = (
    ("It weighs 45 grams and costs 99 euros here.", "45 euros"),
    ("A house and a river.",),
    ("nobody pays for it", "not the dog"),
)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.bert(tmp_path_factory.mktemp("kpqa-bert") / "encoder", seed=1)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.kpqa(tmp_path_factory.mktemp("kpqa-model") / "model").path


def made(encoder: Path, model: Path, name: str = "bertscore-kpqa", **how: Any) -> Metric:
    return metric(name, with_models(profile("default"), [model], bertscore={"encoder": str(encoder), **how}))


def vectors(encoder: Path, text: str) -> tuple[Any, list[tuple[int, int]]]:
    """Vectors of length 1 of a text's pieces, and their places."""
    import torch

    found = opened(encoder)
    given = found.tokenizer(text, return_offsets_mapping=True)
    with torch.inference_mode():
        states = found.model(torch.tensor([given["input_ids"]])).last_hidden_state[0].numpy()
    return states / np.linalg.norm(states, axis=1, keepdims=True), given["offset_mapping"]


def literally(encoder: Path, weigh: Any, question: str, candidate: str, reference: str) -> float:
    (first, spans), (second, other_spans) = vectors(encoder, candidate), vectors(encoder, reference)
    cosines = np.maximum(first @ second.T, 0)
    own, other = (
        np.array(weigh(question, text, places))
        for text, places in ((candidate, spans), (reference, other_spans))
    )
    precision = (own * cosines.max(1)).sum() / own.sum()
    recall = (other * cosines.max(0)).sum() / other.sum()
    return float(2 * precision * recall / (precision + recall))


def of_words(model: Path) -> Any:
    by = weigher(choice(model)[1])

    def weigh(question: str, text: str, places: list[tuple[int, int]]) -> list[float]:
        (weighed,) = by.weigh([(question, text)])
        words = list(zip(weighed.spans, weighed.weights, strict=True))
        return [
            next((weight for (begin, end), weight in words if begin <= left < right <= end), 0.0)
            for left, right in places
        ]

    return weigh


def of_pieces(model: Path) -> Any:
    import torch

    from distillery_learned.metrics.networks import load_network

    network, base = load_network(model, 16)

    def weigh(question: str, text: str, places: list[tuple[int, int]]) -> list[float]:
        given = base.tokenizer(question, text, return_tensors="pt")
        with torch.inference_mode():
            logits = network(given["input_ids"], given["attention_mask"], given["token_type_ids"])[0]
        own = [at for at, side in enumerate(given.sequence_ids(0)) if side == 1]
        likely = torch.softmax(logits, -1)[own, 1].tolist()
        assert len(likely) == len(places) - 2
        return [0.0, *likely, 0.0]

    return weigh


@pytest.mark.parametrize(
    ("name", "weights"), [("bertscore-kpqa", of_words), ("bertscore-kpqa-repo", of_pieces)]
)
def test_it_is_the_equations(encoder: Path, model: Path, name: str, weights: Any) -> None:
    weigh = weights(model)
    expected = [
        max(literally(encoder, weigh, question, candidate, reference) for reference in references)
        for question, candidate, references in zip(QUESTIONS, CANDIDATES, REFERENCES, strict=True)
    ]
    found = made(encoder, model, name).score(CANDIDATES, REFERENCES, QUESTIONS)
    assert found == pytest.approx(expected, abs=1e-6)


def test_the_two_forms_and_the_plain_one_differ(encoder: Path, model: Path) -> None:
    names = ("bertscore", "bertscore-kpqa", "bertscore-kpqa-repo")
    answers = Answers(CANDIDATES, REFERENCES, QUESTIONS)
    values = score(answers, [made(encoder, model, name) for name in names]).values
    assert len({tuple(values[name].round(6)) for name in names}) == 3


def test_an_answer_is_weighed_by_its_own_question(encoder: Path, model: Path) -> None:
    how = made(encoder, model)
    text, references = "45 euros and a house", ["a new house costs 45 euros"]
    both = how.score([text, text], [references, references], QUESTIONS[:2])
    alone = [how.score([text], [references], [question])[0] for question in QUESTIONS[:2]]
    assert both == pytest.approx(alone, abs=1e-6)
    assert abs(both[0] - both[1]) > 1e-5


def test_what_has_no_weight_or_no_text_has_zero(encoder: Path, model: Path) -> None:
    found = made(encoder, model).score(
        ["", "a dog", "\x07", "a dog", "[SEP]"], [["a"], [""], ["a"], [], ["a"]], ["what?"] * 5
    )
    assert found[:3].tolist() == [0, 0, 0]
    assert np.isnan(found[3])
    assert np.isfinite(found[4])


def test_a_long_answer_is_weighed_as_far_as_the_encoder_reads(encoder: Path, model: Path) -> None:
    long = " ".join(["the dog costs 45 euros"] * 30)
    for name in ("bertscore-kpqa", "bertscore-kpqa-repo"):
        (value,) = made(encoder, model, name).score([long], [["45 euros"]], QUESTIONS[:1])
        assert 0 < value <= 1


@pytest.mark.long
def test_an_encoder_with_other_pieces_takes_the_weights_by_place(model: Path, tmp_path: Path) -> None:
    roberta = tiny.roberta(tmp_path / "roberta")
    expected = [
        max(literally(roberta, of_words(model), question, candidate, one) for one in references)
        for question, candidate, references in zip(QUESTIONS, CANDIDATES, REFERENCES, strict=True)
    ]
    found = made(roberta, model).score(CANDIDATES, REFERENCES, QUESTIONS)
    assert found == pytest.approx(expected, abs=1e-6)


@pytest.mark.long
def test_a_predictor_without_questions_shows_in_the_signature(encoder: Path, tmp_path: Path) -> None:
    without = tiny.kpqa(tmp_path / "model", with_question=False)
    for name in ("bertscore-kpqa", "bertscore-kpqa-repo"):
        how = made(encoder, without.path, name)
        assert f"|question:no|model:{without.signature}|" in how.signature
        values = how.score(CANDIDATES[:1] * 2, REFERENCES[:1] * 2, QUESTIONS[:2])
        assert values[0] == pytest.approx(values[1], abs=1e-6)


def test_it_needs_questions_a_model_and_an_encoder(encoder: Path, model: Path) -> None:
    with pytest.raises(MetricError, match="bertscore-kpqa needs questions"):
        made(encoder, model).score(CANDIDATES, REFERENCES)
    chosen = with_models(profile("default"), bertscore={"encoder": str(encoder)})
    assert missing(metric("bertscore-kpqa", chosen)) == "no KPQA model is chosen (--model FOLDER)"
    with_model = with_models(profile("default"), [model])
    assert "no encoder is chosen" in missing(metric("bertscore-kpqa-repo", with_model))


def test_the_signature_names_model_and_weights(encoder: Path, model: Path) -> None:
    for name, weights in (("bertscore-kpqa", "words"), ("bertscore-kpqa-repo", "pieces")):
        said = made(encoder, model, name, layer=1).signature
        assert f"|layer:1|question:yes|model:kpqa-{choice(model)[1].digest[:12]}|" in said
        assert f"|weights:{weights}|refs:best|baseline:no|" in said
        assert "idf" not in said
