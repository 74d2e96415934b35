"""BERTScore is what the package bert-score says, whatever stands beside a text."""

import shutil
import socket
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from distillery_learned.metrics import bertscore as metrics
from distillery_learned.metrics.encoders import find_encoder
from metrics.catalogue import metric, missing
from metrics.errors import MetricError
from metrics.model_folders import with_models
from metrics.profiles import profile
from metrics.scoring import score
from metrics.texts import Answers, Chunk, Metric
from tests.learned import tiny

CANDIDATES = (
    "The ticket costs 45 euros.",
    "the old red car is here",
    "it is not a dog",
    "a book",
    "  Yes, the river of the city in the city is new and big and old and green today.  ",
)
REFERENCES = (
    "the price of the ticket is 45 euros",
    "A new car is at the house today, and a train.",
    "it is not a dog",
    "the lamp",
    "no",
)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.bert(tmp_path_factory.mktemp("bert") / "encoder", layers=3)


def bertscore(encoder: Path | str, name: str = "bertscore", **how: Any) -> Metric:
    return metric(name, with_models(profile("default"), bertscore={"encoder": str(encoder), **how}))


def by_package(encoder: Path, layer: int, *, idf: bool = False, references: Any = REFERENCES) -> Any:
    from bert_score import score as package

    given = {"model_type": str(encoder), "num_layers": layer, "idf": idf, "device": "cpu", "nthreads": 0}
    return package(list(CANDIDATES), list(references), **given)[2].numpy()


def singly(references: Any = REFERENCES) -> list[list[str]]:
    return [[text] for text in references]


def test_it_is_what_the_package_says(encoder: Path, subtests: pytest.Subtests) -> None:
    for layer in (0, 1, 3):
        for idf in (False, True):
            with subtests.test(layer=layer, idf=idf):
                found = bertscore(encoder, layer=layer, idf=idf).score(CANDIDATES, singly())
                assert found == pytest.approx(by_package(encoder, layer, idf=idf), abs=1e-6)
                assert found[2] == pytest.approx(1, abs=1e-6)


def test_the_last_layer_counts_where_none_is_named(encoder: Path) -> None:
    plain, last = bertscore(encoder), bertscore(encoder, layer=3)
    assert plain.signature == last.signature
    assert "|layer:3|idf:no|refs:best|baseline:no|package:bert-score-" in plain.signature
    assert plain.score(CANDIDATES, singly()).tolist() == last.score(CANDIDATES, singly()).tolist()


@pytest.mark.long
def test_other_kinds_of_encoders_are_taken(tmp_path: Path) -> None:
    folder = tiny.roberta(tmp_path / "roberta")
    for layer in (1, 2):
        found = bertscore(folder, layer=layer).score(CANDIDATES, singly())
        assert found == pytest.approx(by_package(folder, layer), abs=1e-6)


def test_idf_is_counted_over_all_references_of_all_chunks(encoder: Path) -> None:
    answers = Answers(CANDIDATES, singly())
    how = bertscore(encoder, idf=True)
    chunks = [answers.part(slice(0, 2)), answers.part(slice(2, 5))]
    assert how.survey is not None
    seen = [how.survey.of(Chunk(part)) for part in chunks]
    for first, second in ((0, 1), (1, 0)):
        found = how.survey.merge(seen[first], seen[second])
        values = [how.of(Chunk(part), found).values for part in chunks]
        assert np.concatenate(values) == pytest.approx(by_package(encoder, 3, idf=True), abs=1e-6)


def test_inverse_document_frequencies_are_the_package_s(encoder: Path) -> None:
    from bert_score.utils import get_idf_dict
    from transformers import AutoTokenizer

    how = bertscore(encoder, idf=True)
    assert how.survey is not None
    found = how.survey.of(Chunk(Answers(["a", "b"], [[*REFERENCES[:3], ""], REFERENCES[3:]]))).idf()
    tokenizer = AutoTokenizer.from_pretrained(encoder)
    expected = get_idf_dict(REFERENCES, tokenizer, nthreads=0)
    without_empty = how.survey.of(Chunk(Answers(["a"], [REFERENCES]))).idf()
    assert without_empty == pytest.approx([expected[piece] for piece in range(len(tokenizer))])
    assert found[tokenizer.cls_token_id] == found[tokenizer.sep_token_id] == 0
    assert found[tokenizer.convert_tokens_to_ids("ticket")] == pytest.approx(np.log(7 / 2))


def test_the_best_reference_counts_and_none_is_no_score(encoder: Path) -> None:
    how = bertscore(encoder)
    single = how.score([CANDIDATES[0]] * 3, [[REFERENCES[0]], [REFERENCES[1]], [REFERENCES[4]]])
    measured = how.of(
        Chunk(Answers([CANDIDATES[0]] * 2, [[REFERENCES[1], REFERENCES[0], REFERENCES[4]], []]))
    )
    assert measured.values[0] == pytest.approx(single.max(), abs=1e-6)
    assert np.isnan(measured.values[1])
    assert measured.why == {"there is no reference": 1}


def test_empty_texts_and_pieces_that_weigh_nothing_have_zero_and_odd_texts_are_scored(
    encoder: Path,
) -> None:
    values = bertscore(encoder).score(
        ["", " \n", "a dog", "", "\x07", "a dog"], [["a"], ["a"], [""], [""], ["a"], ["", "a dog"]]
    )
    assert values[:5].tolist() == [0] * 5
    assert values[5] == pytest.approx(1, abs=1e-6)
    answers = Answers(["dog", "dog lamp"], [["dog"], ["dog lamp"]])
    assert score(answers, [bertscore(encoder, idf=True)]).values["bertscore"] == pytest.approx(
        [0, 1], abs=1e-6
    )
    assert bertscore(encoder).score(["[SEP]"], [["dog"]]).tolist() == [0]
    values = bertscore(encoder).score(["\ud800 dog", "\u2028a\u0300 dog", "🐢"], [["dog"], ["dog"], ["🐢"]])
    assert np.all((values > 0) & (values <= 1))
    assert values[2] == pytest.approx(1, abs=1e-6)


@pytest.mark.long
def test_order_company_and_blocks_change_nothing(encoder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    how = bertscore(encoder)
    references = [[first, second] for first in REFERENCES for second in REFERENCES[:2]]
    candidates = [text for text in CANDIDATES for _ in range(2)]
    whole = how.score(candidates, references)
    alone = [how.score([one], [of])[0] for one, of in zip(candidates, references, strict=True)]
    assert whole == pytest.approx(alone, abs=1e-6)
    assert how.score(candidates[::-1], references[::-1])[::-1] == pytest.approx(whole, abs=1e-6)
    monkeypatch.setattr(
        metrics.Vectors.__init__, "__defaults__", (1000, *metrics.Vectors.__init__.__defaults__[1:])
    )
    monkeypatch.setitem(metrics._PIECES_AT_ONCE, "cpu", 16)
    monkeypatch.setattr(metrics, "_PAIR_NUMBERS", 2000)
    assert how.score(candidates, references) == pytest.approx(whole, abs=1e-6)


@pytest.mark.long
def test_vectors_that_do_not_fit_are_let_go(encoder: Path) -> None:
    loaded = metrics.layers(find_encoder(str(encoder)), 3, "cpu")
    texts = [*CANDIDATES, *REFERENCES]
    held = metrics.Vectors(loaded, loaded.pieces(texts), capacity=32 * 30)
    for place in range(len(texts)):
        assert set(held.of([place])) >= {place}
        assert sum(map(held.size, held._by_text)) <= 32 * 30


def test_a_maximum_below_zero_counts_as_zero_whatever_stands_beside_it() -> None:
    import torch

    pieces = [metrics.Pieces((1, 2), ((0, 1), (1, 2)), False)] * 2
    given = metrics.Vectors(_Made(torch.device("cpu")), pieces)  # type: ignore[arg-type]
    given._by_text = {0: torch.tensor([[1.0, 0], [0, 1]]), 1: torch.tensor([[1.0, 0], [0, -1]])}
    one = np.array([0]), np.array([1])
    assert metrics.f1(given, *one, [[1, 1]], [[1, 1]]).tolist() == [0.5]
    assert metrics.f1(given, *one, [[1, 3]], [[1, 1]]) == pytest.approx([2 * 0.25 * 0.5 / 0.75])
    assert metrics.f1(given, *one, [[0, 1]], [[0, 1]]).tolist() == [0]
    assert metrics.f1(given, *one, [[0, 0]], [[1, 1]]).tolist() == [0]


class _Made:
    """Vectors that are given need no model but the width of one."""

    def __init__(self, device: Any) -> None:
        self.device, self.model, self.config = device, self, self
        self.hidden_size = 2


def test_longer_texts_than_the_encoder_takes_are_cut_as_the_package_cuts_them(
    encoder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    metrics._tell_cut.cache_clear()
    long = " ".join(["dog"] * 80)
    same = " ".join(["dog"] * (tiny.LONGEST - 2))
    assert bertscore(encoder).score([long + " car"], [[same]]) == pytest.approx([1], abs=1e-6)
    assert "no more than 64 word pieces" in caplog.text


@pytest.mark.long
def test_another_process_says_the_same(encoder: Path) -> None:
    found = score(Answers(CANDIDATES, singly()), [bertscore(encoder)], processes=2).values["bertscore"]
    assert found == pytest.approx(by_package(encoder, 3), abs=1e-6)


def test_nothing_reaches_for_the_network(encoder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    metrics.layers.cache_clear()
    assert len(bertscore(encoder).score(["a dog"], [["dog"]])) == 1
    assert missing(bertscore("nobody/no-such-encoder"))


def test_a_layer_that_the_encoder_has_not_and_other_choices_of_references_are_refused(encoder: Path) -> None:
    for layer in (4, -1, True, "1"):
        with pytest.raises(
            MetricError, match=r"encoder encoder has no layer .*; it has 0 \(embeddings\) to 3"
        ):
            bertscore(encoder, layer=layer)
    with pytest.raises(MetricError, match="best of several references, not 'mean'"):
        bertscore(encoder, refs="mean")
    assert missing(metric("bert-score")) == (
        "no encoder is chosen (--encoder NAME|FOLDER, or the setting BERTSCORE_ENCODER)"
    )


def test_an_encoder_that_is_not_here_is_said(tmp_path: Path) -> None:
    how = bertscore("nobody/no-such-encoder")
    assert missing(how) == (
        "the encoder nobody/no-such-encoder is not on this machine. Give the folder of an encoder, or fetch "
        "it once"
    )
    with pytest.raises(
        MetricError, match="bertscore cannot be scored here: the encoder nobody/no-such-encoder"
    ):
        how.score(["a"], [["a"]])
    assert "has no config.json" in missing(bertscore(tmp_path))
    (tmp_path / "config.json").write_text("{}")
    assert "does not say how many layers" in missing(bertscore(tmp_path))


@pytest.mark.long
def test_an_encoder_in_the_local_cache_is_taken_by_its_name(
    encoder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = tmp_path / "models--somebody--small"
    shutil.copytree(encoder, held / "snapshots" / ("0" * 40))
    (held / "refs").mkdir()
    (held / "refs" / "main").write_text("0" * 40)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    found = bertscore("somebody/small")
    assert "|encoder:somebody/small-" in found.signature
    assert found.score(CANDIDATES, singly()) == pytest.approx(by_package(encoder, 3), abs=1e-6)
    assert "is not on this machine" in missing(bertscore("somebody/else"))
    assert "is not on this machine" in missing(bertscore(tmp_path / "nowhere"))


@pytest.mark.long
def test_the_signature_follows_the_files_of_the_encoder(encoder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "encoder"
    shutil.copytree(encoder, copy)
    first = bertscore(copy).signature
    assert first == bertscore(encoder).signature
    (copy / "README.md").write_text("A page about it.")
    assert bertscore(copy).signature == first
    config = (copy / "config.json").read_text()
    (copy / "config.json").write_text(config.replace('"hidden_act": "gelu"', '"hidden_act": "relu"'))
    assert bertscore(copy).signature != first
    changed = bertscore(copy).score(CANDIDATES, singly())
    assert changed != pytest.approx(bertscore(encoder).score(CANDIDATES, singly()), abs=1e-6)
