"""Which model a metric scores with: the one asked for, the only one there is, or an error in words."""

import json

import pytest

from evaluations import model_shelf
from evaluations.choices import ModelOptions, kinds_of
from evaluations.errors import EvaluationError
from evaluations.model_shelf import encoder_settings, models_for
from metrics.errors import MetricError
from metrics.profiles import profile
from tests.evaluations.model_folders import model


@pytest.fixture
def models(settings, tmp_path):
    settings.METRIC_MODELS = tmp_path / "models"
    settings.BERTSCORE_ENCODER = ""
    return settings.METRIC_MODELS


def refused(*names, named=True, **asked):
    with pytest.raises((EvaluationError, MetricError)) as refusal:
        models_for(names, ModelOptions(**asked), named=named)
    return str(refusal.value)


def test_what_a_metric_needs():
    wanted = {
        "bleu-1-kpqa": {"kpqa"}, "rouge-l-kpqa-paper": {"kpqa"}, "BERTScore_KPQA": {"kpqa", "bertscore"},
        "bertscore-kpqa-repo": {"kpqa", "bertscore"}, "bertscore": {"bertscore"}, "adem": {"adem"},
        "c-adem": {"adem"}, "bleu-1": set(),
    }  # fmt: skip
    assert {name: kinds_of(name) for name in wanted} == wanted


def test_a_model_by_its_folder_or_its_name(models, tmp_path):
    made = model(tmp_path, "mine")
    found = models_for(["bleu-1-kpqa"], ModelOptions([str(tmp_path / "mine")]), named=True)
    assert [each.digest for each in found.folders] == [made.digest]
    assert found.notes == ()
    made = model(models, "marco")
    model(models, "squad", text="others")
    found = models_for(["rouge-l-kpqa"], ModelOptions(["marco"]), named=True)
    assert [each.digest for each in found.folders] == [made.digest]


def test_the_only_model_of_its_kind_is_used_and_said(models):
    made = model(models)
    model(models, "rated", kind="adem")
    found = models_for(["rouge-l-kpqa"], ModelOptions(), named=True)
    assert [each.signature for each in found.folders] == [made.signature]
    assert found.notes == (f"KPQA metrics use the model marco ({made.signature}), the only one in {models}.",)


def test_models_of_two_kinds(models):
    model(models)
    model(models, "rated", kind="adem")
    found = models_for(["adem", "bleu-1-kpqa"], ModelOptions(["rated"]), named=True)
    assert [each.kind for each in found.folders] == ["adem", "kpqa"]


def test_of_several_models_one_must_be_named_and_of_a_profiles_metrics_it_is_a_note(models):
    model(models, "marco")
    model(models, "squad", text="others")
    assert refused("bleu-1", "bleu-1-kpqa") == (
        "bleu-1-kpqa needs a KPQA model, and there are several: marco, squad. Name one: --model marco."
    )
    found = models_for(["bleu-1-kpqa"], ModelOptions(), named=False)
    assert found.folders == ()
    assert "there are several: marco, squad" in found.notes[0]


def test_without_any_model_the_metric_says_what_it_lacks(models):
    assert models_for(["bleu-1-kpqa"], ModelOptions(), named=True).folders == ()


def test_a_name_that_is_not_there(models):
    model(models, "marco")
    assert refused("bleu-1-kpqa", models=["nobody"]) == (
        f"--model nobody: there is no such folder, and no such model in {models} (it holds marco)."
    )


@pytest.mark.parametrize("name", ["../mine", "marco/../../mine", "/etc", ".", ".."])
def test_a_name_is_no_way_out_of_the_folder(models, tmp_path, name, monkeypatch):
    (tmp_path / "mine").mkdir()
    models.mkdir()
    monkeypatch.chdir(models)
    assert model_shelf.model_named(name) is None
    assert "no model" in refused("bleu-1-kpqa", models=[name]) or "no such" in refused(
        "bleu-1-kpqa", models=[name]
    )


def test_a_folder_that_is_no_model_or_not_the_one_that_is_needed_is_refused(models, tmp_path):
    (tmp_path / "empty").mkdir()
    none, damaged = model(tmp_path, "none"), model(tmp_path, "damaged")
    (none.path / "card.json").write_text('{"kind": 7}')
    (damaged.path / "head.safetensors").write_text("other weights")
    rated, odd = model(tmp_path, "rated", kind="adem").path, model(tmp_path, "odd", kind="dream").path
    two = [str(model(tmp_path, name, text=name).path) for name in ("a", "b")]
    for given, words in (
        ([str(tmp_path / "empty")], "empty is no model: it has no card.json that can be read."),
        ([str(none.path)], "card.json is no card of a model."),
        (
            [str(damaged.path)],
            f"{damaged.path} is not the model that its card describes: head.safetensors differs. "
            "Copy the folder again, whole.",
        ),
        (
            [str(rated)],
            f"--model {rated} is of kind adem, and no metric that is scored uses it. Metrics named here need "
            "one of kind kpqa. Name the metrics with --metrics.",
        ),
        ([str(odd)], f"{odd} is a model of kind dream; there are kpqa, adem."),
        (two, "Two models of kind kpqa are given with --model; name one."),
    ):
        assert refused("bleu-1-kpqa", models=given).endswith(words)
    assert "no metric that is scored uses it" in refused("bleu-1", models=two[:1])


def test_options_of_bertscore_or_an_encoder_without_it(models):
    for asked in ({"encoder": "x"}, {"layer": 2}, {"idf": True}, {"download": True}):
        assert "Name it: --metrics bertscore." in refused("bleu-1", **asked)
        if "encoder" not in asked:
            assert "need an encoder: --encoder NAME or FOLDER." in refused("bertscore", **asked)


def test_an_encoder_by_option_or_setting(models, settings, tmp_path, monkeypatch):
    settings.BERTSCORE_ENCODER = "roberta-large"
    assert models_for(["bertscore"], ModelOptions(), named=True).bertscore == {"encoder": "roberta-large"}
    (tmp_path / "own").mkdir()
    monkeypatch.chdir(tmp_path)
    found = models_for(["bertscore"], ModelOptions(encoder="own", layer=2, idf=True), named=True)
    assert found.bertscore == {"encoder": str(tmp_path / "own"), "layer": 2, "idf": True}
    assert models_for(["bleu-1"], ModelOptions(), named=True).bertscore == {}
    assert encoder_settings("") == {}


@pytest.mark.long
def test_an_encoder_that_is_no_encoder_is_not_fetched(models, tmp_path):
    (tmp_path / "own").mkdir()
    assert "own is no encoder: it has no config.json." in refused(
        "bertscore", encoder=str(tmp_path / "own"), download=True
    )


def test_they_go_into_the_profile_with_a_cache(models, settings):
    made = model(models)
    found = models_for(["bleu-1-kpqa"], ModelOptions(), named=True).within(profile("default"))
    chosen = found.settings["kpqa"]["model"]
    assert (chosen.folder, chosen.digest) == (str(made.path), made.digest)
    assert found.settings["kpqa"]["cache"] == f"{settings.DATA_DIR}/cache/keyphrases"


def test_what_a_report_says_of_them(models):
    made = model(models, epochs=[{"loss": 0.5}], seed=7)
    found = models_for(["bleu-1-kpqa"], ModelOptions(), named=True)
    assert found.used(["bleu-1-kpqa"]) == [
        {
            "kind": "kpqa",
            "name": "marco",
            "digest": made.digest,
            "signature": made.signature,
            "card": {
                "settings": {"units": 8, "longest": 64, "with_question": True},
                "encoder": {"name": "tiny", "width": 32},
                "results": {"f1": 0.558},
                "seed": 7,
            },
        }
    ]
    assert found.used(["bleu-1"]) == []


def test_the_shelf_says_what_is_wrong_with_a_folder(models):
    model(models, "good")
    model(models, "odd", kind="dream")
    gone = model(models, "gone")
    (gone.path / "head.safetensors").unlink()
    (models / "empty").mkdir()
    (models / ".half").mkdir()
    (models / "file").write_text("")
    said = {each.name: each.wrong for each in model_shelf.shelf()}
    assert said == {
        "good": "",
        "odd": "It is a model of kind dream; there are kpqa, adem.",
        "gone": "head.safetensors is missing. Copy the folder again, whole.",
        "empty": f"{models}/empty is no model: it has no card.json that can be read.",
    }
    assert [each.name for each in model_shelf.of_kind("kpqa")] == ["good"]


def test_what_cannot_be_read_is_said(models):
    made = model(models)
    card = json.loads((made.path / "card.json").read_text())
    (made.path / "card.json").write_text(json.dumps({**card, "files": {"x" * 300: "0"}}))
    assert model_shelf.model_named("marco").wrong == "It cannot be read: File name too long."
    assert refused("bleu-1-kpqa", models=["x" * 300]).endswith("cannot be read: File name too long.")


def test_damage_is_found_in_the_files(models):
    assert model_shelf.shelf() == []  # without the folder
    made = model(models)
    assert model_shelf.damage(model_shelf.model_named("marco")) == ""
    (made.path / "head.safetensors").write_text("x")
    assert "head.safetensors differs" in model_shelf.damage(model_shelf.model_named("marco"))


def test_a_card_of_a_stranger_is_bounded():
    deep = {"a": {"b": {"c": {"d": {"e": 1}}}}}
    card = {"long": "x" * 1000, "nan": json.loads("NaN"), "list": [1, 2], "rows": [{"a": 1}], **deep}
    assert model_shelf.nested(card) == {"long": "x" * 300, "list": "1, 2"}
    assert len(model_shelf.facts({str(n): n for n in range(1000)})) == 120
