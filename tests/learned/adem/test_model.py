import json
import shutil
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from distillery_learned.metrics.adem import load
from distillery_learned.metrics.adem_examples import RatedResponse, Settings, encode
from distillery_learned.metrics.text_encoders import text_encoder
from distillery_learned.training.adem import save, train
from metrics import metric
from metrics.catalogue import missing
from metrics.errors import MetricError
from metrics.model_folders import Choice, choice, with_models
from metrics.profiles import DEFAULT
from metrics.texts import NO_REFERENCE
from tests.learned import tiny

THINGS = ("ticket", "book", "apple", "house", "car", "train", "lamp", "dog")


def examples() -> list[RatedResponse]:
    found = []
    for number in range(64):
        thing, other = THINGS[number % 8], THINGS[(number // 8 + number) % 8]
        price = number % 10
        found.append(
            RatedResponse(
                f"q{number % 16}",
                (f"how much does the {thing} cost {number % 16}",),
                (f"the {thing} costs {price} euros",),
                f"the {other} costs {price} euros" if number % 3 else f"the {other} weighs much",
                f"s{number % 2}",
                float(1 + 2 * (thing == other) + 2 * bool(number % 3)),
            )
        )
    return found


@pytest.fixture(scope="module")
def encoded(sentence_encoder):
    return encode(examples(), text_encoder(sentence_encoder, device="cpu"))


@pytest.fixture(scope="module")
def trained(encoded):
    rows = np.arange(64) % 16
    return train(
        encoded.part(np.flatnonzero(rows < 12)),
        encoded.part(np.flatnonzero(rows >= 12)),
        Settings(n=5, epochs=5, seed=2),
    )


@pytest.fixture(scope="module")
def model(trained, tmp_path_factory):
    return save(tmp_path_factory.mktemp("models") / "mine", trained, {"title": "ADEM of a test"})


@pytest.fixture(scope="module")
def profile(model):
    return with_models(DEFAULT, [model.path])


def test_a_model_that_was_saved_scores_as_before(model, trained, encoded):
    scorer = load(Choice(str(model.path), model.digest))

    assert scorer.encoder.digest == trained.encoder.digest
    for form in ("adem", "c-adem", "r-adem"):
        assert np.array_equal(scorer.score(encoded, form), trained.score(encoded, form))


def test_the_card_says_how_it_was_trained_and_what_was_tried(model):
    card = json.loads((model.path / "card.json").read_text())
    form = card["training"]["forms"]["r-adem"]

    assert (card["kind"], card["title"], card["encoder"]["name"]) == ("adem", "ADEM of a test", "tiny")
    assert card["settings"]["forms"]["adem"] == {"n": 5, "penalty": 0.02}
    assert card["training"]["settings"]["seed"] == 2
    assert [epoch["epoch"] for epoch in form["history"]] == list(range(len(form["history"])))
    assert form["chosen"] in form["tried"]
    assert {"adem.safetensors", "encoder/model.safetensors"} <= set(card["files"])


def test_the_same_training_gives_the_same_digest(model, trained, tmp_path):
    assert save(tmp_path / "again", trained, {"title": "another title"}).digest == model.digest


@pytest.mark.long
def test_a_model_can_leave_its_encoder_where_it_is(sentence_encoder, trained, encoded, tmp_path):
    model = save(tmp_path / "mine", trained, {}, external=str(sentence_encoder))
    scorer = load(Choice(str(model.path), model.digest))

    assert not (model.path / "encoder").exists()
    assert np.array_equal(scorer.score(encoded), trained.score(encoded))
    card = json.loads((model.path / "card.json").read_text())
    card["encoder"]["external"] = str(tiny.sentence_encoder(tmp_path / "other", seed=5))
    shutil.copytree(model.path, tmp_path / "moved")
    (tmp_path / "moved" / "card.json").write_text(json.dumps(card))
    with pytest.raises(MetricError, match="is not the one that the model was trained with"):
        load(Choice(str(tmp_path / "moved"), model.digest))


def test_a_folder_that_was_changed_or_is_another_model_is_refused(model, tmp_path):
    shutil.copytree(model.path, tmp_path / "changed")
    with (tmp_path / "changed" / "adem.safetensors").open("ab") as file:
        file.write(b" ")
    with pytest.raises(MetricError, match=r"adem\.safetensors differs"):
        load(Choice(str(tmp_path / "changed"), model.digest))
    with pytest.raises(MetricError, match="is asked for"):
        load(Choice(str(model.path), "0" * 64))


def test_the_metrics_score_as_the_model_does(profile, trained, encoded):
    given = examples()
    texts = [one.response for one in given], [one.references for one in given]
    questions = [one.context[0] for one in given]
    for form in ("adem", "c-adem", "r-adem"):
        assert metric(form, profile).score(*texts, questions) == pytest.approx(
            trained.score(encoded, form), abs=1e-6
        )
    assert metric("r-adem", profile).score(*texts) == pytest.approx(
        trained.score(encoded, "r-adem"), abs=1e-6
    )


def test_neither_order_nor_company_changes_a_value(profile):
    given = examples()[:20]
    chosen = metric("adem", profile)
    values = chosen.score(
        [one.response for one in given], [one.references for one in given], [one.context[0] for one in given]
    )
    for row in (0, 7, 19):
        alone = chosen.score([given[row].response], [given[row].references], [given[row].context[0]])
        assert alone == pytest.approx(values[[row]], abs=1e-6)


def test_the_best_reference_counts_and_what_is_missing_has_a_reason(profile):
    from metrics.texts import Answers, Chunk

    chosen = metric("adem", profile)
    answer, question = "the car costs 5 euros", "how much does the car cost"
    one, other = "the car costs 5 euros", "the dog weighs much"
    each = chosen.score([answer] * 2, [[one], [other]], [question] * 2)
    found = chosen.of(Chunk(Answers([answer] * 3, [[one, other], [], [one]], [question, question, " \n"])))

    assert found.values[0] == pytest.approx(each.max(), abs=1e-6)
    assert np.isnan(found.values).tolist() == [False, True, True]
    assert found.why == {NO_REFERENCE: 1, "there is no question": 1}
    context = metric("c-adem", profile).of(Chunk(Answers([answer] * 2, [[], [one]], [question, ""])))
    assert np.isnan(context.values).tolist() == [False, True]
    assert context.why == {"there is no question": 1}


def test_lines_of_a_question_are_turns(profile, trained):
    asked = "the old car\nhow much does the car cost"
    found = metric("c-adem", profile).score(["the car costs 5 euros"], [[]], [asked])
    rated = RatedResponse("", tuple(asked.splitlines()), (), "the car costs 5 euros", "", 0.0)

    assert found == pytest.approx(trained.score(encode([rated], trained.encoder), "c-adem"), abs=1e-6)


def test_the_signature_names_the_model_its_encoder_and_n(model, profile, trained):
    assert metric("adem", profile).signature == (
        f"metric:adem|v:1|model:adem-{model.digest[:12]}|encoder:tiny-{trained.encoder.digest[:12]}"
        "|n:5|refs:max|scale:1-5"
    )
    assert "refs:none" in metric("c-adem", profile).signature


def test_a_metric_without_its_model_says_what_is_missing(model, tmp_path, trained):
    plain = metric("adem")
    assert missing(plain) == "no ADEM model is chosen (--model FOLDER)"
    with pytest.raises(MetricError, match="adem cannot be scored here: no ADEM model is chosen"):
        plain.score(["a"], [["a"]], ["a"])
    gone = replace(DEFAULT, settings={"adem": {"model": Choice(str(tmp_path / "gone"), "0" * 64)}})
    assert "is no model" in missing(metric("adem", gone))
    alone = replace(
        trained,
        forms={"r-adem": trained.forms["r-adem"]},
        best_trials={"r-adem": trained.best_trials["r-adem"]},
    )
    saved = save(tmp_path / "alone", alone, {})
    lacking = with_models(DEFAULT, [saved.path])
    assert missing(metric("adem", lacking)).endswith("was trained without adem")
    assert missing(metric("r-adem", lacking)) == ""


@pytest.mark.long
def test_no_framework_is_loaded_before_a_model_scores(model):
    asked = (
        "import sys; from pathlib import Path; from metrics import metric;"
        "from metrics.model_folders import with_models; from metrics.profiles import DEFAULT;"
        f"print(metric('adem', with_models(DEFAULT, [Path({str(model.path)!r})])).lacks);"
        "print({'torch', 'transformers', 'sentence_transformers'} & set(sys.modules))"
    )
    said = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)

    assert said.stdout.split("\n") == ["", "set()", ""]


def test_a_model_is_chosen_by_its_folder(model):
    assert choice(model.path) == ("adem", Choice(str(model.path), model.digest))
