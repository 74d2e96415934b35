"""Fields of questionnaires as human scores, and pairs as judged: from a release, from files, on the desk."""

import json
import shutil

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError
from django.urls import reverse

from evaluations.errors import EvaluationError
from evaluations.plans import EvaluationPlan
from evaluations.release_table import open_release
from evaluations.score_fields import can_score, ends_of, score_of
from evaluations.selectors import score_fields_of
from evaluations.services import planned
from judgments.questionnaire.config import QuestionnaireField
from releases.build import release_now
from releases.options import options_of
from tests.evaluations.test_evaluate_command import evaluated
from tests.judgments.questionnaire_world import answer_all, make_study, write_answers

pytestmark = pytest.mark.django_db


def field_of(**options):
    return QuestionnaireField(name="f", label="F?", **options)


@pytest.mark.parametrize(
    ("field", "ends", "values"),
    [
        (field_of(type="scale", options=("low", "middle", "high")), (1, 3), {"2": 2, 3: 3}),
        (field_of(type="slider", least=0, most=10), (0, 10), {7.5: 7.5}),
        (field_of(type="number", least=-5, most=5), (-5, 5), {-2: -2}),
        (field_of(type="yesno"), (0, 1), {"yes": 1, "no": 0}),
        (
            field_of(type="choice", options=("none", "some", "all"), ordered=True),
            (1, 3),
            {"all": 3, "?": None},
        ),
    ],
)
def test_values_of_fields_are_numbers_between_their_ends(field, ends, values):
    assert can_score(field)
    assert ends_of(field) == ends
    assert {value: score_of(field, value) for value in values} == values


def test_choices_without_an_order_texts_and_marks_are_no_scores():
    for options in (
        {"type": "choice", "options": ("a", "b")},
        {"type": "choices", "options": ("a", "b")},
        {"type": "text"},
        {"type": "spans", "options": ("wrong",)},
    ):
        assert not can_score(field_of(**options))


@pytest.fixture
def released(db, tmp_path, settings):
    """A release of a questionnaire that simulated people answered: its row and its folder."""
    settings.RELEASES_STORAGE = str(tmp_path / "shelf")

    def build(preset, people=3):
        owner = User.objects.create_superuser("researcher")
        study = make_study(write_answers(tmp_path / "answers.jsonl"), preset, owner, people=people)
        answer_all(study.stage, people=people)
        folder = tmp_path / "release"

        def copy(place):
            shutil.copytree(place, folder)

        release, _ = release_now(study.project, options=options_of({}), accepting="A test.", copy=copy)
        return release, folder

    return build


def rows_of(folder, table):
    lines = (folder / f"jsonl/{table}-train.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def test_a_field_of_a_release_is_the_human_score_with_its_raters(released):
    _, folder = released("likert-aspects")
    scores = {}
    for row in rows_of(folder, "responses"):
        if row["field"] == "correctness":
            scores.setdefault(row["candidate_id"], []).append(float(json.loads(row["value"])))
    assert scores
    with open_release(folder, field="correctness") as table:
        assert (table.scale, table.stage) == ((1.0, 5.0), "judging")
        rows = list(table.rows())
        assert {row.id: pytest.approx(row.human) for row in rows} == {
            candidate: sum(each) / len(each) for candidate, each in scores.items()
        }
        assert all(len(row.ratings) == 3 for row in rows)
    with (
        pytest.raises(EvaluationError, match=r"no field 'nothing'.*correctness \(judging\)"),
        open_release(folder, field="nothing"),
    ):
        pass
    _, report = evaluated(folder, score="readability", stage="judging")
    assert report["n"]["scored"] == 6
    assert report["ceiling"]["split_half"]


def test_pairs_of_a_release_are_compared_with_a_metric_as_people_judged_them(released):
    release, folder = released("pairs")
    leads = {}
    for row in rows_of(folder, "responses"):
        first, second, value = row["candidate_id"], row["second_id"], json.loads(row["value"])
        lead = (value == row["system"]) - (value == row["second_system"])
        key, lead = ((first, second), lead) if first < second else ((second, first), -lead)
        leads.setdefault(key, []).append(lead)
    decided = [pair for pair, each in leads.items() if sum(each)]
    assert len(leads) == 6
    text, report = evaluated(folder, score="preference")
    assert (report["scale"], report["n"]["scored"]) == ([0.0, 1.0], 6)
    assert report["metrics"]["rouge-1"]["pair_acc"]["n"] == len(decided)
    assert "People judged 18 times which of two answers is better, 6 pairs in all." in text

    fields = score_fields_of(release)
    assert list(fields) == [("judging", "preference")]
    evaluation = planned(release=release, plan=EvaluationPlan(stage="judging", field="preference"))
    assert evaluation.plan["field"] == "preference"
    with pytest.raises(EvaluationError, match="no field 'x'"):
        planned(release=release, plan=EvaluationPlan(stage="judging", field="x"))


def test_the_form_of_an_evaluation_offers_the_fields_of_questionnaires(released, client):
    release, _ = released("likert-aspects", people=1)
    client.force_login(User.objects.get(username="researcher"))
    address = reverse("evaluations:new", args=[release.project.slug])
    page = client.get(address).content.decode()
    assert 'value="judging/correctness"' in page
    assert "Fields of questionnaires can stand in for them." in page
    form = {
        "stage": "judging/correctness",
        "profile": "default",
        "metrics": "rouge-1",
        "seed": 0,
        "draws": 99,
    }
    answer = client.post(address, form | {"replicates": 10, "once": "a" * 32, "do": "begin"})
    assert answer.status_code == 302, answer.content.decode()
    (evaluation,) = release.evaluations.all()
    assert (evaluation.plan["stage"], evaluation.plan["field"]) == ("judging", "correctness")


def test_pairs_of_a_file_name_answers_by_question_and_system(tmp_path):
    answers, pairs = tmp_path / "answers.csv", tmp_path / "pairs.csv"
    lines = ["question_id,question,system,answer,reference"]
    for number in range(4):
        lines += [f"q{number},What?,{system},{text},one two three" for system, text in
                  (("good", "one two three"), ("poor", "four"))]  # fmt: skip
    answers.write_text("\n".join(lines))
    judged = ["q0,good,poor,good,w1", "q1,poor,good,good,w1", "q2,poor,good,poor,w1", "q3,good,poor,tie,w1"]
    pairs.write_text(
        "\n".join(["item,left,right,winner,worker", *judged, "q3,good,poor,tie,w2", "q9,good,poor,tie,w2"])
    )
    text, report = evaluated(answers, pairs=pairs, statistics=("pearson",))
    figures = report["metrics"]["rouge-1"]
    assert (figures["pair_acc"]["value"], figures["pair_acc"]["n"]) == (pytest.approx(2 / 3), 3)
    assert figures["acc_eq"]["value"] == pytest.approx(2 / 4)
    assert "Judgments of answers that answers.csv does not have: 1." in text
    assert [row["human"]["value"] for row in report["systems"]] == [
        pytest.approx(2.5 / 4),
        pytest.approx(1.5 / 4),
    ]
    for wrong, message in (
        ("question_id,question,answer,reference\nq0,What?,a,b", "has no column system"),
        ("\n".join([*lines, "q0,What?,good,again,b"]), "has two answers to the question q0"),
        (lines[0] + "\nq7,What?,good,a,b", "has the answers of no pair that people judged"),
    ):
        answers.write_text(wrong)
        with pytest.raises(CommandError, match=message):
            evaluated(answers, pairs=pairs)


def test_the_column_of_scores_is_named_by_score(tmp_path):
    answers = tmp_path / "answers.csv"
    rows = [f"q{number},a b,a c,{number % 3},{number % 2}" for number in range(12)]
    answers.write_text("\n".join(["question_id,answer,reference,score,validity", *rows]))
    _, report = evaluated(answers, score="validity")
    assert report["human"]["mean"] == 0.5
