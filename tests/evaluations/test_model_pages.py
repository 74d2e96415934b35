"""Pages of models: a table of all, the card of one, and nothing outside of the folder."""

import re

import pytest

from metrics.figure import NONE
from tests.evaluations.model_folders import model
from tests.releases.shelf_world import as_, make_project

pytestmark = pytest.mark.django_db
LIST = "/desk/evaluations/models/"
EPOCHS = [
    {"epoch": 1, "dev": {"loss": 0.61, "f1": 0.4}},
    {"epoch": 2, "dev": {"loss": 0.52, "f1": 0.55}},
    {"epoch": 3, "dev": {"loss": 0.55, "f1": 0.56}},
]
HOSTILE = "<script>alert(1)</script>"


@pytest.fixture
def models(settings, tmp_path):
    settings.METRIC_MODELS, settings.BERTSCORE_ENCODER = tmp_path / "models", ""
    make_project()
    return settings.METRIC_MODELS


def text(answer):
    page = re.sub(r"<[^>]+>", " ", answer.content.decode())
    return " ".join(page.split())


def test_a_table_of_all_models(models, settings):
    settings.BERTSCORE_ENCODER = "/somewhere/private/minilm"
    made = model(models, made="2026-11-21T10:00:00+00:00")
    model(models, "rated", kind="adem", results={"pearson": 0.4142})
    page = text(as_("viewer").get(LIST))
    assert f"marco KPQA tiny {NONE} 0.558 {NONE} 2026-11-21 {made.digest[:12]}" in page
    assert f"rated ADEM tiny {NONE} {NONE} 0.414 2" in page
    assert "BERTScore reads with the encoder minilm ." in page
    assert "private" not in page


def test_without_models_the_page_says_what_to_do_until_one_is_there(models):
    (models / "marco.training").mkdir(parents=True)
    page = text(as_("viewer").get(LIST))
    for words in ("No model yet", "manage.py train-kpqa", "BERTSCORE_ENCODER"):
        assert words in page
    model(models)
    assert "marco" in text(as_("viewer").get(LIST))


def test_damaged_ones_are_marked_with_the_reason(models):
    made = model(models)
    (made.path / "head.safetensors").unlink()
    page = text(as_("viewer").get(LIST))
    assert "Cannot be used: head.safetensors is missing. Copy the folder again, whole." in page
    assert "It cannot be used: head.safetensors is missing." in text(as_("viewer").get(f"{LIST}marco/"))


def test_the_card_of_one_with_its_epochs(models):
    made = model(models, epochs=EPOCHS)
    answer = as_("viewer").get(f"{LIST}marco/")
    page = text(answer)
    assert "Encoder Name tiny Width 32" in page
    assert made.digest in page
    assert "1 0.61 0.4 2 0.52 0.55 3 0.55 0.56" in page
    html = answer.content.decode()
    assert html.count("<polyline") == 2
    assert 'aria-label="dev loss from 0.610 to 0.550. The figures are in the table below."' in html
    assert 'points="0.0,0.0 300.0,200.0 600.0,133.3"' in html


def test_files_are_compared_where_somebody_asks(models):
    made = model(models)
    viewer = as_("viewer")
    assert "Every file is the one that the card names." in text(viewer.get(f"{LIST}marco/?compare=1"))
    (made.path / "head.safetensors").write_text("x")
    assert "It is damaged:" in text(viewer.get(f"{LIST}marco/?compare=1"))


def test_what_a_card_says_is_text(models):
    model(models, title=HOSTILE, rows=[{HOSTILE: HOSTILE, "epoch": 1}])
    for address in (LIST, f"{LIST}marco/"):
        assert "<script>alert" not in as_("viewer").get(address).content.decode()


def test_a_card_of_a_stranger_breaks_no_page(models):
    made = model(models)
    (made.path / "card.json").write_text(
        '{"format": 1, "kind": "kpqa", "name": "x", "digest": "zz", "settings": {}, "files": {"../../x": 1},'
        ' "epochs": [{"loss": NaN}, {"loss": 1e999}], "results": {"f1": {"f1": [1, [2]]}}, "data": 7}'
    )
    for address in (LIST, f"{LIST}marco/"):
        assert as_("viewer").get(address).status_code == 200


def test_no_other_folder_is_reached(models, tmp_path):
    model(models)
    model(tmp_path, "other")
    model(models, ".hidden")
    for name in ("nobody", "..", "%2e%2e", "..%2fother", "%00", ".hidden", "a" * 300):
        assert as_("viewer").get(f"{LIST}{name}/").status_code == 404, name


def test_they_are_for_members(models):
    model(models)
    for address in (LIST, f"{LIST}marco/"):
        assert as_("stranger").get(address).status_code == 404
        assert as_("anonymous").get(address).status_code == 302
        assert as_("viewer").post(address).status_code == 405
