"""What a researcher wrote in several languages: who reads which, and what of it is kept."""

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client
from lxml import html

from core.projects.services import set_role
from crowd.desk.stageform import StageForm
from crowd.errors import StageStateError
from crowd.kinds import config_of, kind_named, kinds
from crowd.models import Assignment, Instructions
from crowd.services.copies import copy_stage
from crowd.services.instructions import in_language, list_missing_texts
from crowd.services.stages import change_stage
from crowd.study.documents import study_toml
from crowd.study.explain import StudyError
from crowd.study.reader import parse
from examples.poll.models import Vote
from judgments.judging_config import JudgingConfig
from tests.people.conftest import new_link, path_of, stage  # noqa: F401 - fixtures
from tests.people.test_joining import agree, answer_task, come

pytestmark = pytest.mark.django_db
GERMAN = {
    "question": "Tee?",
    "options": ["ja", "nein"],
    "description": "Wählen Sie eines.",
    "title": "Umfrage",
}


@pytest.fixture
def bilingual(stage):  # noqa: F811
    """The poll with German texts, which came after it was opened."""
    change_stage(stage=stage, changes={"config": {**stage.config, "languages": {"de": GERMAN}}})
    return stage


def test_people_read_their_language_and_their_work_keeps_which(bilingual, new_link, path_of):  # noqa: F811
    path = path_of(new_link())
    pages = {}
    for wanted in ("de", "fr", "en"):
        client = Client(headers={"accept-language": f"{wanted},en;q=0.1"})
        address = agree(client, path, come(client, path))["Location"]
        pages[wanted] = client.get(address).content.decode()
        if wanted == "de":
            answer_task(client, address)
    assert all(words in pages["de"] for words in ("Tee?", "Wählen Sie eines.", "Umfrage", ">ja<"))
    assert re.search(r'<header class="head" lang="de">', pages["de"])
    assert "Tee?" not in pages["fr"] and re.search(r'<header class="head" lang="en">', pages["fr"])
    seen = (
        Assignment.objects.exclude(language="").order_by("pk").values_list("language", "instructions_version")
    )
    assert list(seen) == [("de", 2), ("en", 2), ("en", 2)]  # the next task of the first is not opened yet
    assert Vote.objects.get().choice == "yes"


def test_who_changes_the_language_of_the_page_changes_what_is_kept(bilingual, new_link, path_of, client):  # noqa: F811
    path = path_of(new_link())
    address = agree(client, path, come(client, path))["Location"]
    assert Client().get(f"{address}&lang=de").content.decode().count("Tee?") == 1
    assert Assignment.objects.get().language == "de"
    assert "Tee?" not in client.get(f"{address}&lang=sw").content.decode()
    assert Assignment.objects.get().language == "en"


def test_who_began_before_a_language_came_goes_on_without_it(stage, new_link, path_of, client):  # noqa: F811
    path = path_of(new_link())
    address = agree(client, path, come(client, path))["Location"]
    client.get(address)
    change_stage(stage=stage, changes={"config": {**stage.config, "languages": {"de": GERMAN}}})
    assert "Tee?" not in client.get(f"{address}&lang=de").content.decode()
    assert Assignment.objects.get().language == ""
    assert list(Instructions.objects.order_by("version").values_list("languages", flat=True)) == [
        None, {"de": {**GERMAN, "options": ["ja", "nein"]}},
    ]  # fmt: skip


def test_while_people_work_languages_come_and_what_was_read_of_scales_stays(bilingual):
    def change(**languages):
        config = {**bilingual.config, "languages": languages}
        change_stage(stage=bilingual, changes={"config": config})

    change(de=GERMAN | {"description": "Bitte wählen."}, fr={"question": "Du thé ?"})
    change(de=GERMAN, fr={"question": "Du thé ?", "options": ["oui", "non"]})
    assert bilingual.instructions_version == 4
    for languages in ({"de": GERMAN | {"question": "Kaffee?"}}, {"fr": {"question": "Du thé ?"}}):
        with pytest.raises(StageStateError, match="config cannot change"):
            change(**languages)
        bilingual.refresh_from_db()


def test_what_is_missing_in_which_language_is_told(bilingual):
    bilingual.config["languages"]["fr"] = {"question": "Du thé ?"}
    assert list(list_missing_texts(bilingual)) == [
        "français: title, description, options missing; people read them in English."
    ]


def test_judges_read_labels_and_further_questions_in_their_language():
    words = {"question": "Wie richtig?", "labels": ["a", "b", "c", "d", "e"]}
    aspects = {"fluency": {"question": "Flüssig?"}}
    config = JudgingConfig(
        aspects=[{"name": "fluency", "question": "Fluent?"}], languages={"de": {**words, "aspects": aspects}}
    )
    german = config.in_language("de")
    assert (german.question, german.labels[0], german.aspects[0].question) == (
        "Wie richtig?",
        "a",
        "Flüssig?",
    )
    assert german.aspects[0].labels == config.aspects[0].labels
    assert config.texts["de"].lacking(config) == ["title", "description", "instructions", "labels of fluency"]
    assert config.in_language("fr") is config
    assert "languages" not in JudgingConfig().model_dump(mode="json")
    assert config.model_dump(mode="json")["languages"]["de"]["aspects"] == aspects


STUDY = """
[project]
slug = "tea"
title = "Tea"
budget = "0.00"
[[stages]]
slug = "judge"
title = "Judge"
kind = "judging"
endpoint = "links"
reward = "0.00"
redundancy = 1
budget = "0.00"
[stages.config]
comment = true
[stages.config.languages.de]
{line}
"""


@pytest.mark.parametrize(
    ("line", "field", "words"),
    [
        ('labels = ["gut", "schlecht"]', "labels", "here are 2, and the stage has 5: give one for each"),
        ('instruction = "Lies."', "instruction", "Did you mean 'instructions'?"),
        ('aspects.flow.question = "Flüssig?"', "aspects.flow", "the stage has no aspect 'flow': it has none"),
        ("question = 3", "question", "3 is not"),
    ],
)
def test_wrong_texts_are_named_by_file_line_and_field(line, field, words):
    with pytest.raises(StudyError) as caught:
        parse("tea.toml", STUDY.format(line=line).encode())
    [problem] = caught.value.problems
    assert (problem.file, problem.line) == ("tea.toml", 17)
    assert problem.field.startswith("stages[0].config.languages.de")
    assert problem.field.endswith(field)
    assert words in f"{problem.what} {problem.remedy}"


def test_a_tag_that_is_no_language_is_refused():
    with pytest.raises(StudyError, match="languages"):
        parse("tea.toml", STUDY.replace("languages.de", 'languages."in German"').format(line="").encode())


def fields_of(page: str) -> dict[str, str]:
    """What the form of a stage would send."""
    [form] = html.document_fromstring(page).xpath("//form[@data-stage-form]")
    # A browser leaves out the line break that begins a text area.
    return {name: value.removeprefix("\n") for name, value in form.form_values()}


@pytest.fixture
def desk(stage):  # noqa: F811
    """The form of a draft of a poll, and a client whose person manages it."""
    mara = User.objects.create_user("mara", password="plum tree harbour")
    set_role(project=stage.project, user=mara, role="owner")
    client = Client()
    client.force_login(mara)
    draft = copy_stage(stage=stage, slug="draft")
    return client, f"/desk/projects/{draft.project.slug}/stages/draft/edit/", draft


def test_the_form_takes_a_language_and_says_what_it_lacks(desk):
    client, address, draft = desk
    page = client.get(address).content.decode()
    assert "In other languages" in page
    assert "config.languages." not in page
    form = fields_of(page)
    page = client.post(address, form | {"step": "language", "further_language": "de"}).content.decode()
    assert re.search(r'<textarea name="config.languages.de.options"[^>]*placeholder="yes\nno"', page)
    words = {"config.languages.de.question": "Tee?", "config.languages.de.options": "ja\nnein"}
    wrong = client.post(address, form | words | {"config.languages.de.options": "ja"})
    assert wrong.status_code == 422
    assert "Here are 1, and the stage has 2" in wrong.content.decode()
    look = {"step": "preview", "preview_language": "de"}
    looked = client.post(address, form | words | look).content.decode()
    assert "Tee?" in looked and "Vorschau" in looked
    assert client.post(address, form | words).status_code == 302
    draft.refresh_from_db()
    assert draft.config["languages"] == {"de": {"question": "Tee?", "options": ["ja", "nein"]}}
    page = client.get(address).content.decode()
    assert "Title, description missing; people read them in English." in page
    assert client.post(address, fields_of(page) | dict.fromkeys(words, "")).status_code == 302
    draft.refresh_from_db()
    assert "languages" not in draft.config


def test_the_form_of_an_opened_stage_takes_further_languages_and_keeps_what_was_read(desk, bilingual):
    client, address, _ = desk
    address = address.replace("/draft/", f"/{bilingual.slug}/")
    page = client.get(address).content.decode()
    assert re.search(r'name="config.languages.de.question"[^>]* disabled', page)
    form = fields_of(page)
    form |= {"config.languages.de.description": "Bitte wählen.", "config.languages.fr.question": "Du thé ?"}
    assert client.post(address, form).status_code == 302
    bilingual.refresh_from_db()
    languages = bilingual.config["languages"]
    assert languages == {"de": GERMAN | {"description": "Bitte wählen."}, "fr": {"question": "Du thé ?"}}
    assert bilingual.instructions_version == 3
    assert "Bitte wählen." in client.get(address).content.decode()


def test_further_questions_have_fields_of_their_own_in_each_language():
    rows = {"config.aspects-0-name": "fluency", "config.aspects-0-question": "Is it fluent?"}
    german = {"config.languages.de.aspects.fluency.question": "Ist es flüssig?"}
    form = StageForm(rows | german, kind=kind_named("judging"))
    form.is_valid()
    assert form.languages.entered() == {"de": {"aspects": {"fluency": {"question": "Ist es flüssig?"}}}}
    [part] = form.languages.parts(None, "en")
    words = {
        field.name.rpartition("de.")[2]: field.field.widget.attrs["placeholder"] for field in part.fields
    }
    assert words["aspects.fluency.question"] == "Is it fluent?"
    for name in ("a.b", "", "[{"):
        strange = StageForm(rows | german | {"config.aspects-0-name": name}, kind=kind_named("judging"))
        assert not strange.is_valid()
        assert strange.languages.parts(None, "en")
    assert not StageForm(german | {"config.aspects": "[{name"}, kind=kind_named("judging")).is_valid()


def test_the_file_of_a_study_has_its_languages_and_copies_keep_them(bilingual):
    text = study_toml(bilingual.project)
    assert "[stages.config.languages.de]" in text
    [read] = parse("tea.toml", text.encode()).fields.stages
    assert read.config["languages"] == {"de": GERMAN}
    assert copy_stage(stage=bilingual, slug="again").config["languages"] == {"de": GERMAN}
    assert config_of(bilingual).question == "Is it good?"
    assert config_of(in_language(bilingual, "de")).question == "Tee?"


def test_every_kind_takes_a_language_in_its_form():
    for kind in kinds():
        form = StageForm({"step": "language", "further_language": "ar"}, kind=kind)
        form.is_valid()
        [part] = form.language_parts
        assert {"description", "title"} <= {field.name.rpartition(".")[2] for field in part.fields}, kind.name
