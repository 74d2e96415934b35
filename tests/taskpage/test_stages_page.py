"""docs/stages.md: a kind without a table works as the page says, and the page names all that kinds answer."""

import re
from pathlib import Path

import pytest
from django.template import engines

from crowd import kinds
from crowd.kinds import PendingUnit, StageKind
from crowd.models import Assignment, HitUnit
from tests.taskpage.translation import Translation
from tests.taskpage.world import Visitor, handed_over, make_hit, make_stage, text

pytestmark = pytest.mark.django_db
HERE = Path(__file__).resolve().parent
PAGE = (HERE.parents[1] / "docs/stages.md").read_text(encoding="utf-8")
TEMPLATE = (HERE / "translation_unit.html").read_text(encoding="utf-8")
CONFIG = {"into": "Welsh", "sentences": ["Good morning.", "It <b>rains</b>."], "longest": 60}


@pytest.fixture
def translation(monkeypatch, tmp_path):
    """The kind, as a part of an extension, with its template where Django finds it."""
    kind, known = Translation(), kinds._kinds()
    monkeypatch.setattr(kinds, "_kinds", lambda: {**known, kind.name: kind})
    (tmp_path / "translation").mkdir()
    (tmp_path / "translation/unit.html").write_text(TEMPLATE)
    monkeypatch.setattr(engines["django"].engine, "dirs", [*engines["django"].engine.dirs, tmp_path])
    for loader in engines["django"].engine.template_loaders:
        loader.reset()
    return kind


@pytest.fixture
def stage(translation):
    return make_stage("welsh", kind="translation", config=CONFIG, redundancy=2)


def test_it_is_a_kind_of_at_most_sixty_lines_with_options_that_explain_themselves(translation):
    files = [(HERE / "translation.py").read_text(encoding="utf-8"), TEMPLATE]
    lines = [line for file in files for line in file.splitlines() if line.strip()]
    assert len(lines) <= 60
    assert isinstance(translation, StageKind)
    assert kinds.kind_named("translation") is translation
    fields = translation.config.model_fields
    assert all(field.description for field in fields.values())


def test_a_worker_reads_the_sentence_and_its_translation_is_stored(stage, translation):
    assert list(translation.pending(stage)) == [PendingUnit("0", 2), PendingUnit("1", 2)]
    rosa = Visitor(make_hit(stage, "0", "1"))
    page = rosa.open()
    assert "It <b>rains</b>." in text(page)
    assert "In Welsh" in text(page)
    fields = {"0|text": "Bore da.", "1|text": " Mae'n bwrw glaw. "}
    handed_over(rosa.client.post(rosa.path, {"ticket": rosa.ticket(), **fields}))
    assert rosa.row.response == {"0": {"text": "Bore da."}, "1": {"text": "Mae'n bwrw glaw."}}
    assert list(translation.pending(stage)) == [PendingUnit("0", 1), PendingUnit("1", 1)]
    assert translation.settle(stage) == {"0": ["Bore da."], "1": ["Mae'n bwrw glaw."]}


def test_mistakes_are_said_and_nothing_written_is_lost(stage):
    rosa = Visitor(make_hit(stage, "0", "1"))
    for written, words in ((" ", "Write your translation."), ("x" * 61, "Use at most 60 characters")):
        fields = {"0|text": "Bore da.", "1|text": written}
        response = rosa.client.post(rosa.path, {"ticket": rosa.ticket(), **fields})
        assert response.status_code == 422
        assert words in text(response)
        target = response.content.decode().split('<li><a href="#')[1].split('"')[0]
        assert f'id="{target}"' in response.content.decode()
        assert "Bore da." in text(response)


def test_the_page_shows_the_text_field_of_the_template():
    field = TEMPLATE.partition("\n")[2]
    assert field.startswith('<div class="field">')
    assert field in PAGE


def test_rejected_translations_are_asked_for_again(stage, translation):
    rosa = Visitor(make_hit(stage, "0"))
    rosa.client.post(rosa.path, {"ticket": rosa.ticket(), "0|text": "Bore da."})
    Assignment.objects.update(state=Assignment.State.REJECTED)
    assert list(translation.pending(stage)) == [PendingUnit("0", 2), PendingUnit("1", 2)]
    assert translation.settle(stage) == {}
    assert HitUnit.objects.count() == 1


def test_every_method_and_part_of_the_style_is_named_on_the_page():
    methods = {name for name in vars(StageKind) if not name.startswith("_")} | {"name", "label"}
    table = PAGE.partition("## What a kind answers")[2].partition("## The template")[0]
    assert sorted(name for name in methods if f"`{name}" not in table) == []
    style = (Path(__file__).resolve().parents[2] / "static/task.css").read_text(encoding="utf-8")
    for part in ("item", "choices", "choice", "field", "help", "error", "read", "answer"):
        assert re.search(rf"\.{part}\b", style), part
