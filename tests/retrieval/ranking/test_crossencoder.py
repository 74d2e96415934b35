"""Passages in the order of a cross-encoder: real ONNX models, though tiny ones."""

import pytest

from retrieval.errors import ModelError
from retrieval.ranking.crossencoder import open_model
from retrieval.ranking.systems import parse_system
from tests.retrieval.ranking.models import limit_length, make_cross_encoder

TEXTS = ("cats purr", "cats purr gold", "cats gold gold")


@pytest.fixture
def model(tmp_path):
    return make_cross_encoder(tmp_path / "tiny", {"gold": 2.0, "lead": -1.0})


def ranked(collection, folder, system="cross-encoder(bm25)", turns=("cats",), k=10):
    return parse_system(system, cross_encoder=folder).rank([collection], turns, k)


def test_passages_come_in_the_order_of_the_model_and_the_ranking_names_it(collection_of, model):
    ranking = ranked(collection_of(*TEXTS), model)
    assert [(each.pk, each.score) for each in ranking.results] == [(3, 4.0), (2, 2.0), (1, 0.0)]
    assert ranking.results[0].parts["cross-encoder"] == 4.0
    assert set(ranking.results[0].parts) == {"bm25", "cross-encoder"}
    parameters = ranked(collection_of(*TEXTS), model).parameters
    assert parameters["model"] == "tiny"
    assert len(parameters["digest"]) == 64
    assert parameters["inner"] == {"ranker": "bm25", "query_model": "cq2"}
    system = parse_system("cross-encoder(bm25)", cross_encoder=model)
    assert system.question(["one", "two", "three", "four"]) == "one three four"
    current = parse_system("cross-encoder(bm25):current", cross_encoder=model)
    assert current.question(["one", "two"]) == "two"
    assert ranked(collection_of(*TEXTS), model, turns=["zebra"]).results == []


def test_equal_scores_keep_the_order_of_the_other_ranker(collection_of, model):
    ranking = ranked(collection_of("a dog and a cat", "cat", "cat cat cat dog"), model, turns=["cat"])
    assert [each.pk for each in ranking.results] == [3, 2, 1]


def test_models_of_every_shape_give_their_scores(tmp_path):
    folder = make_cross_encoder(tmp_path / "tiny", {"gold": 1.0})
    counts = [(number * 7) % 50 for number in range(100)]
    scores = open_model(folder).scores("question", ["gold " * count for count in counts])
    assert scores.tolist() == counts, "more passages than one batch"
    short = make_cross_encoder(tmp_path / "short", {"gold": 1.0})
    limit_length(short, 10)
    assert open_model(short).scores("question", ["gold " * 100]).tolist() == [6.0]
    two = make_cross_encoder(tmp_path / "two", {"gold": 1.5}, classes=2)
    assert open_model(two).scores("question", ["gold", "other"]).tolist() == [1.5, 0.0]
    inner = make_cross_encoder(tmp_path / "inner", {"gold": 1.0}, types=False, inner_folder="onnx")
    assert open_model(inner).scores("question", ["gold"]).tolist() == [1.0]
    three = make_cross_encoder(tmp_path / "three", {"gold": 1.0}, classes=3)
    with pytest.raises(ModelError, match="a cross-encoder gives one"):
        open_model(three).scores("question", ["gold"])


def test_a_folder_without_a_model_or_with_a_damaged_one_is_refused_in_words(collection_of, tmp_path, model):
    with pytest.raises(ModelError, match=r"holds no cross-encoder: model\.onnx is missing"):
        ranked(collection_of(*TEXTS), tmp_path)
    (model / "model.onnx").write_bytes(b"no model")
    with pytest.raises(ModelError, match="cannot be opened"):
        ranked(collection_of(*TEXTS), model)
    with pytest.raises(ModelError, match="CROSS_ENCODER names the folder"):
        parse_system("cross-encoder(bm25)")


def test_without_its_packages_the_error_says_what_to_install(model, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "onnxruntime", None)
    with pytest.raises(ModelError, match="extra `cross-encoder`"):
        open_model(model)
