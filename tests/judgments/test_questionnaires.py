"""The kind `questionnaire`: units, pages, forms, rows and figures, by its presets and from one file."""

import json
from collections import Counter

import numpy as np
import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from scipy.stats import binomtest

from core.files.refusals import FileRefusedError
from crowd.errors import CrowdError
from crowd.kinds import kind_of
from crowd.models import Assignment
from crowd.selectors.people import people
from distillery.studies.preparation import settle
from judgments.desk.comparison import find_disagreements, list_results
from judgments.desk.planning import _usual_spread
from judgments.models import AgreementReport, QuestionnaireUnit, UnitMaterial, UnitResponse, Verdict
from judgments.questionnaire.config import (
    QuestionnaireConfig,
    QuestionnaireField,
    presets,
    questionnaire_config,
)
from judgments.questionnaire.materials import import_units
from judgments.questionnaire.people import fields_of_person
from judgments.questionnaire.prompts import passes_gold, read_spans
from judgments.questionnaire.ratings import spread_of_field
from judgments.questionnaire.report import adjust_for_style, error_points, make_report, win_rates
from judgments.questionnaire.rows import STYLES, pair_table, response_rows
from judgments.questionnaire.sentences import cut
from judgments.questionnaire.units import ensure_units, missing_responses, name_of
from judgments.services import filter_runs
from metrics.agreement.planning import comparisons_for_pairs
from metrics.agreement.scale import Scale
from tests.judgments.class_world import join
from tests.judgments.questionnaire_world import (
    ROWS,
    answer,
    answer_all,
    make_draft_study,
    make_study,
    show,
    write_answers,
)
from tests.scale import limit_cases

pytestmark = pytest.mark.django_db


@pytest.fixture
def researcher(db) -> User:
    return User.objects.create_user("researcher", is_staff=True, is_superuser=True)


# The options


def test_a_preset_brings_unit_texts_and_fields_and_the_stage_changes_them():
    for name, preset in presets().items():
        config = QuestionnaireConfig.model_validate({"preset": name})
        assert config.unit == preset.config["unit"]
        again = QuestionnaireConfig.model_validate(config.model_dump(mode="json"))
        assert again == config, f"{name} is the same when it is read again"
    own = QuestionnaireConfig.model_validate({"preset": "pairs", "instructions": "Be quick."})
    assert (own.instructions, own.fields[0].name) == ("Be quick.", "preference")


_CHOICE = {"name": "a", "type": "choice", "label": "A?", "options": ["x", "y"]}


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"preset": "none"}, "there is no 'none'"),
        ({"fields": [{"name": "A b", "type": "text", "label": "?"}]}, "small letters"),
        ({"fields": [{"name": "a", "type": "choice", "label": "?"}]}, "needs options"),
        ({"fields": [{**_CHOICE, "type": "text"}]}, "has no options"),
        ({"fields": [_CHOICE, _CHOICE]}, "two are called a"),
        ({"fields": [{**_CHOICE, "labels": ["one"]}]}, "2 options have 1 labels"),
        ({"fields": [{**_CHOICE, "per": "sentence"}]}, "per sentence, which a unit support has"),
        ({"fields": [{**_CHOICE, "show_if": "b = x"}]}, "no field before it"),
        ({"fields": [_CHOICE, {**_CHOICE, "name": "b", "show_if": "a = z"}]}, "no value of a"),
        ({"fields": [_CHOICE], "gold": [{"unit": "q", "field": "b", "accepted": ["x"]}]}, "no field 'b'"),
        ({"fields": [_CHOICE], "gold": [{"unit": "q", "field": "a", "accepted": ["z"]}]}, "no value of a"),
        ({"fields": [{"name": "n", "type": "slider", "label": "?", "most": 0}]}, "not more than least"),
        ({"fields": [_CHOICE], "pass_share": 1}, "a training needs gold"),
        ({"fields": []}, "at least 1"),
    ],
)
def test_options_that_do_not_fit_are_refused_in_words(config, message):
    with pytest.raises(ValidationError, match=message):
        QuestionnaireConfig.model_validate(config)


def test_fields_are_read_in_a_further_language_and_what_is_missing_is_named():
    german = {"fields": {"preference": {"label": "Welche Antwort ist besser?"}}}
    config = QuestionnaireConfig.model_validate({"preset": "pairs", "languages": {"de": german}})
    assert config.in_language("de").fields[0].label == "Welche Antwort ist besser?"
    assert config.in_language("fr").fields[0].label == "Which answer is better?"
    assert config.languages["de"].lacking(config) == ["title", "description", "instructions"]
    wrong = {"preset": "pairs", "languages": {"de": {"fields": {"other": {"label": "?"}}}}}
    with pytest.raises(ValidationError, match="has no field 'other': it has preference"):
        QuestionnaireConfig.model_validate(wrong)


# Units


def test_sentences_keep_their_citations_and_abbreviations_end_none():
    text = "Dr. Smith found it [1]. It is 2.5 m long [2, 5]! See e.g. this.[3] \n- A point [1][2]"
    assert [(each.text, each.citations) for each in cut(text)] == [
        ("Dr. Smith found it.", (1,)),
        ("It is 2.5 m long!", (2, 5)),
        ("See e.g. this.", (3,)),
        ("A point", (1, 2)),
    ]
    assert [each.text for each in cut("水沸腾。真的。")] == ["水沸腾。", "真的。"]
    assert cut("One. Two.", [[1], []])[0].citations == (1,)
    with pytest.raises(ValueError, match="for 1 sentences, and the answer has 2"):
        cut("One. Two.", [[1]])


def test_pairs_are_of_all_systems_and_go_round_where_a_question_has_fewer(researcher, tmp_path):
    names = "abcd"
    rows = [
        {"question": f"Q{n}?", "answers": {name: f"{name} says {n}" for name in names}} for n in range(12)
    ]
    draft = make_draft_study(write_answers(tmp_path / "a.jsonl", rows), "pairs", researcher)
    ensure_units(draft.stage)
    assert QuestionnaireUnit.objects.filter(stage=draft.stage).count() == 12 * 6
    draft.stage.config = {**draft.stage.config, "pairs_per_question": 2}
    draft.stage.save()
    ensure_units(draft.stage)
    pairs = Counter(
        unit.key.partition("/")[2] for unit in QuestionnaireUnit.objects.filter(stage=draft.stage)
    )
    assert set(pairs.values()) == {4}, "24 pairs of 6 kinds, each equally often"


def test_answers_that_cite_nothing_are_not_asked_about_and_have_figures(researcher, tmp_path):
    study = make_study(write_answers(tmp_path / "a.jsonl"), "support", researcher, people=2)
    assert len(list(missing_responses(study.stage))) == 4, "gamma cites nothing, twice"
    answer_all(study.stage, people=2)
    systems = make_report(study.stage, replicates=20)["support"]["systems"]
    gamma = next(each for each in systems if each["system"] == "gamma")
    assert (gamma["precision"]["value"], gamma["recall"]["value"], gamma["n_answers"]) == (0, 0, 2)


def test_a_file_corrects_sentences_before_people_saw_them_and_not_after(researcher, tmp_path):
    draft = make_draft_study(write_answers(tmp_path / "a.jsonl"), "support", researcher)
    question = ROWS[0]["question"]
    own = {"question": question, "system": "alpha", "sentences": ["All of it."], "citations": [[2]]}
    (tmp_path / "units.jsonl").write_text(json.dumps(own))
    file = import_units(stage=draft.stage, path=tmp_path / "units.jsonl")
    assert (file.stored, file.refused) == (1, [])
    ensure_units(draft.stage)
    unit = QuestionnaireUnit.objects.get(stage=draft.stage, key__endswith="/alpha", query__text=question)
    assert unit.content["sentences"] == [{"text": "All of it.", "citations": [2]}]
    draft.stage.opened_at = draft.stage.created_at
    draft.stage.save()
    (tmp_path / "units.jsonl").write_text(json.dumps({**own, "citations": [[1]]}))
    with pytest.raises(CrowdError, match="stays as people saw it"):
        import_units(stage=draft.stage, path=tmp_path / "units.jsonl")
    assert UnitMaterial.objects.get(key=unit.key).content["sentences"][0]["citations"] == [2]


def test_a_bad_file_of_units_names_line_field_and_remedy(researcher, tmp_path):
    draft = make_draft_study(write_answers(tmp_path / "a.jsonl"), "support", researcher)
    rows = [
        {"question": ROWS[0]["question"], "system": "omega", "sentences": ["A."]},
        {"question": "Unknown?", "system": "alpha", "sentences": ["A."]},
        {"question": ROWS[0]["question"], "system": "alpha", "sentences": ["A."], "citations": [["x"]]},
    ]
    (tmp_path / "units.jsonl").write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(FileRefusedError, match=r"line 1, system: The project has no system 'omega'"):
        import_units(stage=draft.stage, path=tmp_path / "units.jsonl")
    rows.append({"question": ROWS[0]["question"], "system": "alpha", "sentences": ["A."]})
    (tmp_path / "units.jsonl").write_text("\n".join(map(json.dumps, rows)))
    file = import_units(stage=draft.stage, path=tmp_path / "units.jsonl")
    assert [line.partition(": ")[0].split(", ")[1:] for line in file.refused] == [
        ["line 1", "system"],
        ["line 2", "question"],
        ["line 3", "citations"],
    ]
    assert file.read_as["rows"] == {"read": 4, "used": 1, "merged": 0, "repeats": 0, "refused": 3}


def test_topics_of_cast_are_conversations_by_their_numbers(researcher, tmp_path):
    study = make_draft_study(write_answers(tmp_path / "a.jsonl"), "likert-aspects", researcher)
    study.stage.config = {"preset": "conversation"}
    asked = {"number": "1-1", "raw_utterance": "Why?", "manual_rewritten_utterance": "Why is it so?"}
    topics = [
        {"number": 132, "turn": [{**asked, "response": "So it is."}, {**asked, "number": "1-3"}]},
        {
            "number": "133",
            "run_name": "bm25",
            "turn": [{**asked, "responses": [{"rank": 1, "text": "First."}, {"rank": 2, "text": "Next."}]}],
        },
        {"number": 134, "turn": [asked]},
        {"number": 132, "turn": [{**asked, "response": "So it is."}, {**asked, "number": "2-1"}]},
    ]
    (tmp_path / "topics.json").write_text(json.dumps(topics))
    file = import_units(stage=study.stage, path=tmp_path / "topics.json")
    person = {"role": "person", "text": "Why?"}
    assert file.materials.pop("132_2-1") == file.materials["132_1-3"], "a branch of the same topic"
    assert file.materials == {
        "132_1-3": {"turns": [person, {"role": "system", "text": "So it is."}, person]},
        "133_1-1": {"turns": [person, {"role": "system", "text": "First."}], "system": "bm25"},
    }
    assert "No turn is the system's" in file.refused[0]


# Pages and forms


def test_a_page_tells_nothing_of_systems_and_half_of_the_pairs_are_shown_the_other_way(researcher, tmp_path):
    study = make_study(write_answers(tmp_path / "a.jsonl"), "pairs", researcher, people=2)
    workers = [join(study.project, study.stage.endpoint) for _ in range(2)]
    works = [answer(study.stage, worker) for worker in workers]
    assert all(works)
    units = [set(work.claims.values_list("unit", flat=True)) for work in works]
    assert units[0] == units[1], "both get the same HIT"
    for work in works:
        page = show(work, sorted(units[0]))
        assert not [name for name in ("alpha", "beta", "gamma", "left", "right") if name in page]
        flips = Counter(UnitResponse.objects.filter(assignment=work).values_list("flipped", flat=True))
        assert abs(flips[True] - flips[False]) <= 1
    for unit in QuestionnaireUnit.objects.filter(responses__assignment__in=works).distinct():
        assert sorted(unit.responses.values_list("flipped", flat=True)) == [False, True]


def test_a_choice_of_a_pair_is_the_answer_that_the_person_saw(researcher, tmp_path):
    study = make_study(write_answers(tmp_path / "a.jsonl"), "pairs", researcher, people=2)
    for _ in range(2):
        answer(study.stage, join(study.project, study.stage.endpoint))
    columns, rows = pair_table(study.stage, QuestionnaireConfig.model_validate(study.stage.config))
    for row, response in zip(rows, UnitResponse.objects.order_by("pk"), strict=True):
        seen = dict(zip(columns, row, strict=True))
        value = response.values["preference"]
        names = {"left": response.unit.candidate.system.name, "right": response.unit.other.system.name}
        winner = seen[seen["preference"]] if seen["preference"] in ("left", "right") else seen["preference"]
        assert winner == names.get(value, value)
        assert (seen["left"] == names["left"]) is not response.flipped
        candidates = [response.unit.candidate, response.unit.other]
        of_left, of_right = candidates[::-1] if response.flipped else candidates
        assert (seen["length_left"], seen["length_right"]) == (len(of_left.text), len(of_right.text))


def test_numbers_of_style_count_characters_citations_and_formats():
    text = "# Gas\n\nIt is **methane** [1, 2], mostly [3].\n- one\n* two\n1. three\n__four__ 2 * 3 * 4"
    assert {name: count(text) for name, count in STYLES.items()} == {
        "length": len(text),
        "citations": 3,
        "markdown": 6,
    }


def test_results_of_pairs_show_wins_with_and_without_style_by_choice(researcher, tmp_path, client):
    study = make_study(write_answers(tmp_path / "a.jsonl"), "pairs", researcher, people=3)
    answer_all(study.stage, people=3)
    stage = study.stage
    report = make_report(stage, replicates=0)
    values = {
        "last_judgment": 0,
        "judgments": report["n_responses"],
        "seconds": 0,
        "created_at": stage.created_at,
    }
    AgreementReport.objects.create(stage=stage, stamp="x", report=report, **values)
    rates = win_rates(report["preferences"]["preference"])
    assert sum(rates.values()) == pytest.approx(3 / 2)
    client.force_login(researcher)
    address = reverse("judgments:results", args=[study.project.slug, stage.slug])
    page = client.get(address).content.decode()
    assert ("Adjust for style" in page, "Adjusted for style" in page) == (True, False)
    for style, columns in (("length", ["length"]), ("all", ["length", "citations"])):
        page = client.get(address, {"style": style}).content.decode()
        facts = adjust_for_style(stage, ["length", "citations", "markdown"] if style == "all" else [style])
        adjusted = win_rates(facts["preference"])
        assert [each["column"] for each in facts["preference"]["style"]] == columns
        assert sum(adjusted.values()) == pytest.approx(3 / 2)
        assert adjusted != rates
        assert all(f"{rate:.0%}" in page for rate in (*rates.values(), *adjusted.values()))
    assert "nothing to adjust for" in client.get(address, {"style": "markdown"}).content.decode()
    assert "Adjusted for style" not in client.get(address, {"style": "nothing"}).content.decode()


def test_fields_that_depend_on_others_are_asked_where_their_condition_holds(researcher, tmp_path):
    study = make_study(write_answers(tmp_path / "a.jsonl"), "ais", researcher)
    unit = QuestionnaireUnit.objects.get(
        stage=study.stage, key__endswith="/beta", query__text=ROWS[0]["question"]
    )
    parse = kind_of(study.stage).parse
    parsed = parse(study.stage, name_of(unit.pk), {"interpretable.1": "no", "attributable.1": "yes"})
    assert parsed.response == {"interpretable": {"1": "no"}}
    parsed = parse(study.stage, name_of(unit.pk), {"interpretable.1": "yes"})
    assert parsed.errors == {"attributable.1": "Please answer: Do the passages say all of it?"}


def test_marks_keep_their_places_in_any_script():
    field = QuestionnaireField(
        name="e", type="spans", label="?", options=("error",), severities=("minor", "major")
    )
    text = "Cafe\u0301 \U0001f600 costs. Cafe\u0301 again. \u0645\u0631\u062d\u0628\u0627"
    marks = (
        "minor: Caf\u00e9",
        "major: Caf\u00e9",
        "minor 6-7: \U0001f600",
        "major: \u0645\u0631\u062d\u0628\u0627",
    )
    lines = "\n".join(f"error/{mark}" for mark in marks)
    spans = read_spans(lines, text, field)
    assert [(span["start"], span["end"], span["severity"]) for span in spans] == [
        (0, 5, "minor"),
        (6, 7, "minor"),
        (15, 20, "major"),
        (28, 33, "major"),
    ]
    assert all(text[span["start"] : span["end"]] == span["text"] for span in spans)
    for wrong, message in (("error/minor: nothing", "is not in the text"), ("costs", "by a button")):
        with pytest.raises(ValueError, match=message):
            read_spans(wrong, text, field)


def test_points_of_errors_are_those_of_mqm():
    def marked(*marks):
        return [{"label": label, "severity": severity} for label, severity in marks]

    assert error_points(marked(("accuracy", "minor"), ("style", "major"), ("punctuation", "minor"))) == 6.1
    assert error_points(marked(("no answer", "minor"))) == 25
    assert error_points(marked(*[("style", "major")] * 7)) == 25, "the worst five"
    assert error_points(marked(("style", "neutral"))) == 0


MARKS = st.lists(
    st.fixed_dictionaries(
        {
            "label": st.sampled_from(["accuracy", "punctuation", "no answer"]),
            "severity": st.sampled_from(["neutral", "minor", "major", "critical"]),
        }
    ),
    max_size=8,
)


@settings(max_examples=limit_cases(300), deadline=None)
@given(MARKS, st.randoms(use_true_random=False))
def test_points_of_errors_know_no_order_rise_with_errors_and_end_after_five(marks, random):
    points = error_points(marks)
    assert error_points(random.sample(marks, len(marks))) == points
    assert 0 <= points <= 5 * 25
    assert all(error_points(marks[:place]) <= points for place in range(len(marks)))
    worst = sorted(marks, key=lambda mark: -error_points([mark]))[:5]
    assert error_points(worst) == points == pytest.approx(sum(error_points([mark]) for mark in worst))


# Checks, responses and figures


def test_units_with_gold_are_checks_and_enter_no_figures(researcher, tmp_path):
    draft = make_draft_study(write_answers(tmp_path / "a.jsonl"), "likert-aspects", researcher, people=2)
    stage = draft.stage
    ensure_units(stage)
    key = QuestionnaireUnit.objects.filter(stage=stage).earliest("key").key
    stage.config = {**stage.config, "gold": [{"unit": key, "field": "correctness", "accepted": ["5"]}]}
    stage.checks_per_hit, stage.units_per_hit = 1, 3
    stage.save()
    ensure_units(stage)
    unit = QuestionnaireUnit.objects.get(stage=stage, key=key)
    assert [name_of(unit.pk)] == kind_of(stage).checks(stage)
    assert unit.pk not in dict(missing_responses(stage))
    assert passes_gold(unit, {"correctness": 5})
    assert not passes_gold(unit, {"correctness": 4})
    stage.config = {**stage.config, "gold": [{"unit": "no/one", "field": "correctness", "accepted": ["5"]}]}
    stage.save()
    with pytest.raises(CrowdError, match="names the unit 'no/one'"):
        ensure_units(stage)


def test_a_person_is_compared_with_the_others_field_by_field(researcher, tmp_path, client):
    study = make_study(write_answers(tmp_path / "a.jsonl"), "likert-aspects", researcher, people=3)
    answer_all(study.stage, people=3)
    worker = UnitResponse.objects.filter(stage=study.stage).earliest("pk").worker
    rows = {row.field.name: row for row in fields_of_person(study.stage, worker)}
    row = rows["correctness"]
    assert row.answers == row.kappa_n == UnitResponse.objects.filter(worker=worker).count() > 0
    assert 0 <= row.agreement <= 1
    assert sum(each.count for each in row.histogram) == row.answers
    assert sum(each.crowd for each in row.histogram) == pytest.approx(100)
    client.force_login(researcher)
    place = [study.project.slug, study.stage.slug]
    page = client.get(reverse("judgments:judge", args=[*place, worker.pk])).content.decode()
    assert "Kappa with the others" in page
    assert "(correctness)" in page
    table = client.get(reverse("judgments:judges", args=place)).content.decode()
    assert worker.external_id in table
    assert next(each for each in people(study.project) if each.worker == worker.pk).ratings == row.answers


def test_nuggets_that_people_write_are_folded_into_the_file_of_the_next_stage(researcher, tmp_path, client):
    study = make_study(write_answers(tmp_path / "a.jsonl"), "likert-aspects", researcher, people=2)
    stage = study.stage
    for number in range(2):
        answer(stage, join(study.project, stage.endpoint), seed=number)
    first = UnitResponse.objects.filter(stage=stage).earliest("pk")
    same = UnitResponse.objects.filter(stage=stage, unit=first.unit).exclude(worker=first.worker).first()
    assert same is not None
    UnitResponse.objects.filter(pk=first.pk).update(
        values={"nuggets": "- vital: Mostly methane\n\nok : Cows\n3: of ten\nokay: =1+1 wells"}
    )
    UnitResponse.objects.filter(pk=same.pk).update(values={"nuggets": "okay: mostly  METHANE"})
    stage.config = {"unit": "answer", "fields": [{"name": "nuggets", "type": "text", "label": "Nuggets?"}]}
    stage.save()
    client.force_login(researcher)
    place = [study.project.slug, stage.slug, "nuggets.csv"]
    page = client.get(reverse("judgments:results_file", args=place))
    path = tmp_path / "nuggets.csv"
    path.write_bytes(b"".join(page.streaming_content))
    stage.config = {"preset": "nuggets"}
    file = import_units(stage=stage, path=path)
    assert list(file.materials.values()) == [
        {
            "nuggets": [
                {"text": "3: of ten", "importance": "vital"},
                {"text": "=1+1 wells", "importance": "okay"},
                {"text": "Cows", "importance": "okay"},
                {"text": "Mostly methane", "importance": "vital"},
            ]
        }
    ]


def test_lines_of_nuggets_that_nobody_can_read_are_named_beside_their_field(researcher, tmp_path):
    study = make_draft_study(write_answers(tmp_path / "a.jsonl"), "likert-aspects", researcher)
    stage = study.stage
    stage.config = {"unit": "answer", "fields": [{"name": "nuggets", "type": "text", "label": "Nuggets?"}]}
    stage.save()
    ensure_units(stage)
    unit = name_of(QuestionnaireUnit.objects.filter(stage=stage).earliest("pk").pk)

    def errors(text):
        return kind_of(stage).parse(stage, unit, {"nuggets": text}).errors

    assert errors("vital: Cows\nokay: 9 %\n3: of ten\n- 5 km") == {}
    assert "vital: ab\u2069” is too short" in errors("Methane\nvital: ab")["nuggets"]
    assert "okay:\u2069” is too short" in errors("okay:\nMethane")["nuggets"]
    assert errors("Cows\n" * 30) == {}
    assert errors("Cows\n" * 31) == {"nuggets": "Write at most 30 lines."}


@pytest.mark.parametrize(
    ("preset", "text"), [("pairs", "People per pair"), ("likert-aspects", "Questions that both systems")]
)
def test_a_study_is_planned_by_field(preset, text, researcher, tmp_path, client):
    study = make_draft_study(write_answers(tmp_path / "a.jsonl"), preset, researcher)
    client.force_login(researcher)
    address = reverse("judgments:planning", args=[study.project.slug, study.stage.slug])
    assert text in client.get(address).content.decode()


def test_choices_without_an_order_have_no_means_to_plan_with(researcher, tmp_path, client):
    study = make_draft_study(write_answers(tmp_path / "a.jsonl"), "likert-aspects", researcher)
    study.stage.config = {"fields": [_CHOICE]}
    study.stage.save()
    client.force_login(researcher)
    address = reverse("judgments:planning", args=[study.project.slug, study.stage.slug])
    assert "Nothing to plan" in client.get(address).content.decode()


def test_planning_begins_with_the_spread_of_the_stage_itself(researcher, tmp_path, client):
    study = make_study(write_answers(tmp_path / "a.jsonl"), "likert-aspects", researcher, people=3)
    client.force_login(researcher)
    address = reverse("judgments:planning", args=[study.project.slug, study.stage.slug])
    before = client.get(address)
    assert "moderate crowd" in before.content.decode()
    answer_all(study.stage, people=3)
    page = client.get(address)
    assert "moderate crowd" not in page.content.decode()
    field = questionnaire_config(study.stage).fields[0]
    spread = spread_of_field(study.stage, field)
    values = [
        [float(response.values[field.name]) for response in unit.responses.all()]
        for unit in study.stage.questionnaire_units.filter(candidate__system__name__in=("alpha", "beta"))
    ]
    variance = sum(np.var(each, ddof=1) for each in values) / len(values)
    assert spread.sd_rating == pytest.approx(variance**0.5, abs=1e-3)
    assert page.context["systems_form"]["sd_rating"].value() == round(spread.sd_rating, 3)
    assert _usual_spread(Scale(1, 2)).sd_rating == 0.354


def test_the_sign_test_needs_as_many_comparisons_as_simulated_studies():
    n = comparisons_for_pairs(0.6, ties=0.2, judges=1, correlation=0)
    rng = np.random.default_rng(1)
    decided = rng.binomial(n, 0.8, 4000)
    wins = rng.binomial(decided, 0.6)
    power = np.mean([binomtest(int(w), int(d)).pvalue < 0.05 for w, d in zip(wins, decided, strict=True)])
    assert 0.76 < power < 0.84
    assert comparisons_for_pairs(0.6, ties=0.2, judges=3, correlation=1) == pytest.approx(3 * n, abs=3)


def test_withdrawn_work_leaves_the_figures_and_is_asked_again(researcher, tmp_path):
    study = make_study(write_answers(tmp_path / "a.jsonl"), "likert-aspects", researcher, people=2)
    work = answer(study.stage, join(study.project, study.stage.endpoint))
    n = UnitResponse.objects.filter(assignment=work).count()
    before = sum(missing for _, missing in missing_responses(study.stage))
    assert make_report(study.stage, replicates=0)["n_responses"] == n
    Assignment.objects.filter(pk=work.pk).update(withdrawn=True)
    assert make_report(study.stage, replicates=0)["n_responses"] == 0
    assert sum(missing for _, missing in missing_responses(study.stage)) == before + n


@pytest.mark.parametrize(
    ("preset", "figures"),
    [("alce", "support"), ("ais", "support"), ("nuggets", "nuggets"), ("esa", ""), ("mqm", "")],
)
def test_a_file_becomes_a_study_with_figures(preset, figures, researcher, tmp_path):
    study = make_study(write_answers(tmp_path / "a.jsonl"), preset, researcher, people=2)
    answer_all(study.stage, people=2)
    report = make_report(study.stage, replicates=20)
    assert (report["n_units"], report["n_responses"], report["n_people"]) == (6, 12, 2)
    assert {row["name"] for row in report["fields"]} == {
        field["name"] for field in presets()[preset].config["fields"]
    }
    if figures:
        assert {row["system"] for row in report[figures]["systems"]} == {"alpha", "beta", "gamma"}
    config = QuestionnaireConfig.model_validate(study.stage.config)
    rows = list(response_rows(study.stage, config))
    assert sum(row["n"] for row in report["fields"]) == len(rows)
    assert {row["system"] for row in rows} == {"alpha", "beta", "gamma"}


def test_filters_remove_whole_responses_which_are_asked_again_and_come_back(researcher, tmp_path):
    study = make_study(write_answers(tmp_path / "a.jsonl"), "pairs", researcher, people=2)
    stage, workers = study.stage, [join(study.project, study.stage.endpoint) for _ in range(2)]
    for worker in workers:
        while answer(stage, worker):
            settle(stage)
    mine = UnitResponse.objects.filter(worker=workers[0]).count()
    assert mine
    assert not list(missing_responses(stage))
    recipe = {"rules": ["technical"], "test_accounts": [workers[0].external_id], "technical_least": 1}
    look = filter_runs.preview(stage, "none", recipe)
    assert (look.removed_workers, look.removed_ratings, look.fallen) == (1, mine, mine)
    assert look.missing.judgments == mine
    run = filter_runs.apply(stage=stage, recipe="none", parameters=recipe, actor=researcher)
    removed = Verdict.objects.filter(run=run, response__isnull=False)
    assert set(removed.values_list("response__worker", flat=True)) == {workers[0].pk}
    assert removed.count() == mine
    assert sum(missing for _, missing in missing_responses(stage)) == mine
    assert make_report(stage, replicates=0)["n_responses"] == 12 - mine
    filter_runs.undo(run, "A test.", researcher)
    assert make_report(stage, replicates=0)["n_responses"] == 12


def test_results_of_stages_stand_side_by_side_with_where_they_disagree(researcher, tmp_path, client):
    study = make_study(write_answers(tmp_path / "a.jsonl"), "likert-aspects", researcher, people=2)
    stage = study.stage
    client.force_login(researcher)
    address = reverse("judgments:compare_results", args=[study.project.slug])
    assert "Nothing to compare yet" in client.get(address).content.decode()

    def systems(*values):
        rows = zip("ab", values, strict=True)
        return [{"system": name, "value": value, "low": value - 1, "high": value + 1} for name, value in rows]

    fields = [
        {"name": name, "type": "scale", "per": "", "systems": systems(*values)}
        for name, values in {"correctness": (1, 5), "readability": (5, 1), "relevance": (1.5, 1)}.items()
    ]
    values = {"last_judgment": 0, "judgments": 1, "seconds": 0, "created_at": stage.created_at}
    AgreementReport.objects.create(stage=stage, stamp="x", report={"fields": fields}, **values)
    found = list(find_disagreements(list(list_results(study.project))))
    assert [(each.one.label, each.other.label, each.systems, each.is_clear) for each in found] == [
        ("correctness: mean", "readability: mean", ("b", "a"), True),
        ("correctness: mean", "relevance: mean", ("b", "a"), False),
    ]
    page = client.get(address).content.decode()
    assert "Where they disagree (2)" in page
    assert "5.00 (1)" in page
