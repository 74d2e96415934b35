"""Ratings with halves, sliders and scales of one's own, from the page to the release."""

import csv
import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db.models import F
from django.urls import reverse
from pydantic import ValidationError

from crowd.errors import CrowdError
from crowd.kinds import config_of, kind_of
from crowd.models import Assignment, Worker
from crowd.services.publication import quote
from crowd.simulation.answers import PROFILES, SimulatedPerson, answer_unit, read_form
from crowd.study.documents import study_toml
from crowd.study.reader import read
from judgments.judging_config import JudgingConfig
from judgments.kinds import true_score
from judgments.models import AttentionCheck, CheckAnswer, Judgment, Score
from judgments.score_classes import score_classes
from judgments.selectors.judges import histogram, judges, time_plot
from judgments.selectors.live import live
from judgments.selectors.ratings import scale_of
from judgments.services import filter_runs, reports
from judgments.services.filter_decisions import FilteringError
from judgments.units import of_candidate, of_check
from metrics.agreement.scale import Scale
from releases import build
from releases.options import Options
from tests.cases import apart
from tests.judgments import desk_world
from tests.judgments.judging_world import (
    make_candidate,
    make_project,
    make_query,
    make_stage,
    make_topics,
    pending,
    send,
    visitor,
)
from tests.releases.world import make_world
from tests.taskpage.world import text as words

pytestmark = pytest.mark.django_db
SLIDER = {"scale": "slider"}
HALVES = {"scale": "halves"}
ODD = {"scale": "numbers", "scale_least": 1, "scale_most": 7, "scale_step": 2}


def place_of(config, **values):
    """A stage with one answer to judge."""
    project = make_project()
    return make_stage(project, config=config, **values), make_candidate(make_query(project))


def send_score(stage, candidate, score, worker="AROSA"):
    return send(visitor(stage, candidate, worker=worker), candidate, score=score)


# The scale of a stage's options


@pytest.mark.parametrize(
    ("config", "scale", "low", "high"),
    [
        ({}, Scale(1, 5), [1, 2], [4, 5]),
        (HALVES, Scale.of(1, 5, "0.5"), [1, 1.5, 2], [4, 4.5, 5]),
        (SLIDER, Scale.of(0, 100), [0, 39], [61, 100]),
        ({"scale": "slider", "scale_step": 0.1}, Scale.of(0, 100, "0.1"), [0, 39.9], [60.1, 100]),
        (
            {"scale": "numbers", "scale_least": -3, "scale_most": 3},
            Scale.of(-3, 3),
            [-3, -2],
            [2, 3],
        ),
        (
            {"scale": "numbers", "scale_least": 1, "scale_most": 7, "scale_step": 2},
            Scale(1, 7, every=2),
            [1],
            [7],
        ),
    ],
)
def test_a_stage_chooses_its_scale(config, scale, low, high):
    options = JudgingConfig.model_validate(config)
    assert options.rating_scale == scale
    for steps, ends in ((options.low, low), (options.high, high)):
        numbers = [scale.number(step) for step in steps]
        assert (numbers if len(ends) == len(numbers) else [numbers[0], numbers[-1]]) == ends


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        ({"scale_most": 10}, "belong to a slider or to numbers"),
        ({"scale": "numbers"}, "101 numbers are too many to choose from; at most 11"),
        ({"scale": "slider", "scale_step": 7}, "steps of 7 do not lead from 0 to 100"),
        ({"scale": "slider", "scale_most": -1}, "goes from a lower to a higher score"),
        ({"scale": "slider", "scale_step": 0.01}, "steps of 0.1 or more"),
        ({"scale": "slider", "scale_step": "any"}, "Write the finest step that you want to tell apart"),
        ({"scale": "slider", "scale_most": float("nan")}, "finite"),
        (SLIDER | {"gold": [{"query": "q", "text": "t", "accepted": [101]}]}, "scale from 0 to 100: 101"),
        (HALVES | {"gold": [{"query": "q", "text": "t", "accepted": ["2.25"]}]}, "in steps of 0.5: 2.25"),
        (SLIDER | {"redundancy_mode": "decision", "threshold": 101}, "threshold is not on the scale"),
        ({"scale": "sliders"}, "'slider'"),
    ],
)  # fmt: skip
def test_a_scale_that_cannot_be_is_refused_in_words(config, sentence):
    with pytest.raises(ValidationError, match=sentence):
        JudgingConfig.model_validate(config)


def test_options_of_stages_that_are_there_stay_valid():
    """Bounds of the modes are asked only of the scales that are new."""
    assert JudgingConfig(labels=("no", "yes"), redundancy_mode="precision").rating_scale.size == 2
    assert JudgingConfig(redundancy_mode="decision", threshold=6.0).rating_scale.size == 5


def test_a_study_file_keeps_a_scale(tmp_path: Path):
    stage, _ = place_of(
        {"scale": "slider", "scale_step": 2.5, "labels": ["bad", "good"]}, budget_cents=10_000
    )
    file = tmp_path / "study.toml"
    file.write_text(study_toml(stage.project))
    config = next(each.config for each in read(str(file)).fields.stages)
    assert JudgingConfig.model_validate(config).rating_scale == Scale.of(0, 100, "2.5")
    assert "scale_step = 2.5" in file.read_text()


# The page


def test_halves_are_radio_buttons_with_the_labels_of_whole_scores():
    stage, candidate = place_of(HALVES)
    page = visitor(stage, candidate).open()
    html = page.content.decode()
    assert html.count('type="radio"') == 9
    assert 'value="4.5"' in html
    assert "checked" not in html.partition('<fieldset class="choices')[2]
    assert "1 completely wrong 1.5 2 vital error" in " ".join(words(page).split())


def test_a_slider_is_a_number_field_without_a_value_until_somebody_gives_one():
    stage, candidate = place_of(SLIDER)
    html = visitor(stage, candidate).open().content.decode()
    number = next(part for part in " ".join(html.split()).split("<input") if 'type="number"' in part)
    assert 'min="0" max="100" step="1" value=""' in number
    slider = next(part for part in html.split("<input") if 'type="range"' in part)
    assert "name=" not in slider
    assert "hidden" in slider


def test_numbers_stand_side_by_side_with_the_labels_of_the_ends():
    stage, candidate = place_of({"scale": "numbers", "scale_most": 10, "labels": ["poor", "fine"]})
    page = visitor(stage, candidate).open()
    assert page.content.decode().count('type="radio"') == 11
    assert "10 0 poor 10 fine" in " ".join(words(page).split())


@pytest.mark.parametrize(
    ("config", "given", "stored", "number"),
    [
        (HALVES, "4.5", 9, 4.5),
        (HALVES, "4", 8, 4),
        (SLIDER, "73", 73, 73),
        (SLIDER, "73.0", 73, 73),
        (SLIDER, "0", 0, 0),
        ({"scale": "slider", "scale_step": 0.1}, "70.3", 703, 70.3),
        ({"scale": "slider", "scale_step": 0.1}, "0,3", 3, 0.3),
        ({"scale": "numbers", "scale_least": -3, "scale_most": 3}, "-3", -3, -3),
    ],
)
def test_a_score_is_stored_exactly(config, given, stored, number):
    stage, candidate = place_of(config)
    assert send_score(stage, candidate, given).status_code == 200
    assert Judgment.objects.get().score == stored
    assert Assignment.objects.get().response[of_candidate(candidate.pk)]["score"] == number
    assert live(stage).systems[0].mean == pytest.approx(number, abs=1e-12)


def test_what_is_no_score_of_the_scale_is_refused_in_words_and_stands_in_the_field_again(subtests):
    choose = "Choose a score from 1"
    for config, refusals in (
        (SLIDER, {
            "": "You gave no score yet. Move the slider, or type a number from 0, completely wrong",
            "50.5": "“50.5” is no score from 0 to 100.", "101": "“101” is no score from 0 to 100.",
            "-1": "“-1” is no score", "1e1": "“1e1” is no score", "nan": "“nan” is no score",
            "9" * 5_000: "is no score",
        }),
        (HALVES, {"": f"{choose}, completely wrong, to 5, completely correct.", "4.25": choose, "9": choose}),
        (ODD, {"4": choose}),
    ):  # fmt: skip
        stage, candidate = place_of(config)
        for given, sentence in refusals.items():
            with apart(subtests, config=config, given=given[:9]):
                answer = send_score(stage, candidate, given)
                assert answer.status_code == 422
                assert sentence in words(answer)
                assert ('value="50.5"' in answer.content.decode()) == (given == "50.5")
                assert not Judgment.objects.exists()


# Attention checks


def test_gold_of_a_range_passes_inside_it():
    project = make_project()
    query = make_query(project, key="gold-query")
    gold = [{"query": "gold-query", "text": "It is right.", "accepted": ["80-100"]}]
    stage = make_stage(project, config={**SLIDER, "gold": gold}, checks_per_hit=1)
    candidate = make_candidate(query)
    unit = kind_of(stage).checks(stage)[0]
    assert AttentionCheck.objects.get(source="gold").accepted == list(range(80, 101))
    for worker, score, passed in (("A1", "80", True), ("A2", "79", False)):
        assert send(visitor(stage, unit, candidate, worker=worker), unit, score=score).status_code == 422
        check = of_check(AttentionCheck.objects.get(source="gold").pk)
        assert kind_of(stage).passes(stage, check, {"score": int(score)}) is passed


def test_checks_that_are_drawn_accept_the_ends_of_the_scale():
    project = make_project()
    make_topics(project, "unilm", "mhpgm")
    config = {**HALVES, "instruction_checks": 2, "foreign_checks": 1, "reference_checks": 1}
    stage = make_stage(project, config=config, checks_per_hit=1)
    kind_of(stage).checks(stage)
    rows = {check.source: check for check in AttentionCheck.objects.all()}
    assert rows["foreign"].accepted == [2, 3, 4]
    assert rows["reference"].accepted == [8, 9, 10]
    line = rows["instruction"]
    assert f"choose {scale_of(stage).text(line.accepted[0])} for it" in line.text


def test_a_check_is_passed_by_what_is_stored():
    project = make_project()
    query = make_query(project, key="g")
    stage = make_stage(
        project,
        config={**HALVES, "gold": [{"query": "g", "text": "Right.", "accepted": [4.5, 5]}]},
        checks_per_hit=1,
    )
    make_candidate(query)
    unit = kind_of(stage).checks(stage)[0]
    send(visitor(stage, unit), unit, score="4.5")
    assert list(CheckAnswer.objects.values_list("score", "passed")) == [(9, True)]


# Figures


def half_scores():
    """Four judges who differ by halves about four answers of two systems, in units of a half."""
    rows = {"A1": (9, 3, 10, 2), "A2": (10, 3, 9, 3), "A3": (9, 4, 10, 2), "A4": (8, 2, 9, 4)}
    names = ("q1/unilm", "q1/mhpgm", "q2/unilm", "q2/mhpgm")
    return [
        (name, worker, score)
        for worker, each in rows.items()
        for name, score in zip(names, each, strict=True)
    ]


@pytest.fixture
def halves():
    place = desk_world.make_place(config=HALVES)
    desk_world.judge(place, half_scores())
    return place


def test_figures_reports_scores_and_judges_are_in_points_of_the_scale(halves):
    now = live(halves.stage)
    given = dict(now.histogram)
    assert list(given) == [1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5]
    assert (given[1], given[1.5], given[2], given[4], given[4.5], given[5]) == (3, 3, 2, 1, 4, 3)
    means = {row.system: row.mean for row in now.systems}
    assert means == {"unilm": pytest.approx(4.625), "mhpgm": pytest.approx(1.4375)}
    assert now.alpha["interval"].value > 0.9
    assert sum(n for name, n in now.spreads if name in {"0", "to 0.25", "to 0.5"}) == 4
    report = reports.make(halves.stage, lambda *_: None).report
    assert (report["scale"], report["step"]) == ([1, 5], 0.5)
    assert report["scores"]["before"]["4.5"] == 4
    before = report["alpha"]["before"]
    assert before["interval"] == pytest.approx(now.alpha["interval"].value)
    assert before["ordinal"] == pytest.approx(now.alpha["ordinal"].value)
    filter_runs.apply(stage=halves.stage, recipe="none", parameters={}, actor=None)
    found = Score.objects.get(candidate=halves.candidates["q1/unilm"])
    assert (found.mean, found.median) == (4.5, 4.5)
    assert found.sd == pytest.approx(0.408248, abs=1e-6)
    worker = desk_world.worker_of(halves, "A1")
    shares = {each.score: each.count for each in histogram(halves.stage, worker)}
    assert shares[4.5] == shares[5] == shares[1.5] == shares[1] == 1
    assert next(row for row in judges(halves.stage) if row.name == "A1").mean == 3.0
    assert [score for score, _ in time_plot(halves.stage, worker).rows][:3] == [5, 4.5, 4]


def test_pages_and_files_show_halves(halves, client, admin_user):
    client.force_login(admin_user)
    reports.keep(reports.make(halves.stage, lambda *_: None))
    fixed = {"project": halves.project.slug, "stage": halves.stage.slug}

    def page(name, **more):
        answer = client.get(reverse(f"judgments:{name}", kwargs=fixed | more))
        assert answer.status_code == 200
        return b"".join(answer).decode() if answer.streaming else answer.content.decode()

    judge = page("judge", pk=desk_world.worker_of(halves, "A1").pk)
    assert "<strong>4.5</strong>" in judge
    assert "mean 3.00, from 1 to 5 in steps of 0.5" in judge
    assert "The scale goes from 1 to 5 in steps of 0.5." in page("agreement")
    table = list(csv.reader(page("figure_csv", figure="histogram").splitlines()[1:]))
    assert ["4.5", "4", "4"] in table
    scores = list(csv.DictReader(page("scores_csv").splitlines()[1:]))
    assert {row["mean"] for row in scores} == {"4.5", "1.5", "4.75", "1.375"}
    assert {row["simulated"] for row in scores} == {"false"}
    Worker.objects.update(simulated=True)
    rows = csv.DictReader(page("scores_csv").splitlines()[1:])
    assert {row["simulated"] for row in rows} == {"true"}
    for name in ("planning", "scores", "judges", "filters"):
        page(name)


def test_long_scales_are_shown_in_classes():
    names = [each.name for each in score_classes(Scale.of(0, 100))]
    assert (len(names), names[0], names[-1]) == (20, "0–4", "95–100")  # noqa: RUF001 - as it is shown
    assert [len(each.steps) for each in score_classes(Scale.of(0, 100))] == [5] * 19 + [6]
    for scale in (Scale.of(0, 100, "0.1"), Scale.of(0, 22), Scale.of(1, 5, "0.5"), Scale.of(0, 63, 3)):
        steps = [step for each in score_classes(scale) for step in each.steps]
        assert steps == list(scale.scores)


def test_sliders_are_filtered_and_reported():
    place = desk_world.make_place(config=SLIDER)
    good = {"A1": 90, "A2": 85, "A3": 93}
    rows = [
        (f"q{query}/unilm", worker, abs(score - 7 * query))
        for query in range(12)
        for worker, score in good.items()
    ]
    desk_world.judge(place, rows)
    filter_runs.apply(stage=place.stage, recipe="kpqa-2021", parameters={}, actor=None)
    report = reports.make(place.stage, lambda *_: None).report
    assert (report["scale"], report["step"]) == ([0, 100], 1)
    assert Score.objects.filter(run__stage=place.stage, mean__gt=5).exists()


def test_a_scale_of_very_many_scores_has_no_response_filter():
    place = desk_world.make_place(config={"scale": "slider", "scale_step": 0.1})
    desk_world.judge(place, [("q/a", "A1", 703), ("q/a", "A2", 706)])
    with pytest.raises(FilteringError, match="takes scales of at most 201 scores"):
        filter_runs.apply(stage=place.stage, recipe="kpqa-2021", parameters={}, actor=None)
    filter_runs.apply(stage=place.stage, recipe="default", parameters={}, actor=None)
    assert Score.objects.get().mean == pytest.approx(70.45)


@pytest.mark.parametrize(("half_width", "missing"), [(30.0, 0), (2.0, 1)])
def test_precision_is_asked_in_points_of_the_scale(half_width, missing):
    config = {**SLIDER, "redundancy_mode": "precision", "least_judgments": 2, "half_width": half_width}
    stage, candidate = place_of(config)
    for worker, score in (("A1", "70"), ("A2", "74"), ("A3", "72")):
        send_score(stage, candidate, score, worker)
    assert pending(stage).get(of_candidate(candidate.pk), 0) == missing


# Releases


def lines(folder, table):
    """The rows of a table of a release."""
    texts = [file.read_text() for file in sorted((folder / "jsonl").glob(f"{table}-*"))]
    return [json.loads(line) for text in texts for line in text.splitlines()]


def test_a_release_has_halves_with_their_scale(tmp_path):
    world = make_world(filtered=False)
    stage = world.stages["judging"]
    type(stage).objects.filter(pk=stage.pk).update(config=stage.config | HALVES)
    Judgment.objects.filter(stage=stage).update(score=F("score") * 2)
    first = Judgment.objects.filter(stage=stage, score=8).order_by("pk").first()
    Judgment.objects.filter(pk=first.pk).update(score=9)
    stage.refresh_from_db()
    folder = tmp_path / "release"
    formats = ("jsonl", "csv", "parquet")
    release = build.plan_release(project=world.project, options=Options(formats=formats))
    done = build.build(release, folder=folder)
    build.finish(release, done)
    ratings, scores = lines(folder, "ratings"), lines(folder, "scores")
    assert {row["score"] for row in ratings} <= {1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5}
    assert next(row for row in ratings if row["rating_id"] == f"r{first.pk}")["score"] == 4.5
    scale = done.manifest["stages"][0]["scale"]
    assert (scale["least"], scale["most"], scale["step"]) == (1, 5, 0.5)
    assert scale["labels"]["5"] == "completely correct"
    mine = [row for row in scores if any(each["score"] == 4.5 for each in row["kept"])]
    assert len(mine) == 1
    given = [each["score"] for each in mine[0]["kept"]]
    assert mine[0]["mean"] == pytest.approx(sum(given) / len(given))
    assert "from 1 to 5 in steps of 0.5" in (folder / "README.md").read_text()
    table = next((folder / "csv").glob("ratings-*")).read_text()
    assert "4.5" in {row["score"] for row in csv.DictReader(StringIO(table))}
    # What `filter` reads of it is what the stage has.
    report = tmp_path / "report.json"
    call_command(
        "filter", str(next((folder / "jsonl").glob("ratings-*"))), recipe="none",
        report=str(report), replicates=0, stdout=StringIO(), stderr=StringIO(),
    )  # fmt: skip
    assert json.loads(report.read_text())["step"] == 0.5


# Simulated judges, training, quotes


def test_simulated_judges_rate_on_every_scale(subtests):
    for config in (HALVES, SLIDER, {"scale": "numbers", "scale_most": 10}):
        stage, candidate = place_of(config)
        unit = of_candidate(candidate.pk)
        form = read_form(visitor(stage, candidate).open().content.decode(), "http://task.example.org/")
        form.behind = {"0": unit}
        texts = {scale_of(stage).text(step) for step in scale_of(stage).scores}
        for profile in ("diligent", "random", "constant", "reversed", "copy-paster"):
            with subtests.test(profile=profile, config=config):
                people = [SimulatedPerson(number, PROFILES[profile], 7) for number in range(5)]
                assert {answer_unit(stage, form, unit, person)["0|score"] for person in people} <= texts


def test_a_truth_of_one_to_five_is_carried_over_to_a_slider():
    truth = {"scores": {"unilm": 4}, "scale": [1, 5]}
    candidate = make_candidate(make_query(make_project(), extra={"truth": truth}))
    assert true_score(candidate.pk, JudgingConfig(scale="slider")) == 75
    assert true_score(candidate.pk, JudgingConfig()) == 4


def test_a_training_teaches_a_slider():
    lesson = {"question": "q", "answer": "a", "accepted": ["<=20"], "reason": "It is wrong."}
    stage = make_stage(slug="training", kind="judge-training", config={**SLIDER, "lessons": [lesson]})
    rosa = visitor(stage, "lesson:0")
    assert "You gave no score yet" in words(send(rosa, "lesson:0", score=""))
    assert "Not quite. It is wrong." in words(send(rosa, "lesson:0", score="30"))
    assert send(rosa, "lesson:0", score="12").status_code == 200
    assert Assignment.objects.get().response["lesson:0"] == {
        "first": 30,
        "right_at_first": False,
        "score": 12,
    }


def test_judges_who_were_trained_on_another_scale_are_told_of_before_it_opens():
    project = make_project()
    lesson = {"question": "q", "answer": "a", "accepted": [1], "reason": "It is wrong."}
    make_stage(project, slug="training", kind="judge-training", config={"lessons": [lesson]})
    stage = make_stage(
        project, config=SLIDER, eligibility=[{"kind": "passed", "op": "Exists", "values": ["training"]}]
    )
    caution = kind_of(stage).cautions(stage)[-1]
    assert "a scale from 1 to 5 in" in caution
    assert "on one from 0 to 100" in caution
    stage.config = {}
    assert not any("scale" in each for each in kind_of(stage).cautions(stage))


def test_a_quote_is_the_same_on_every_scale():
    project = make_project()
    make_topics(project, "unilm", "mhpgm")
    quotes = []
    for config in ({}, HALVES, SLIDER):
        stage = make_stage(project, config=config)
        quotes.append(quote(stage, list(kind_of(stage).pending(stage))))
    assert quotes[0] == quotes[1] == quotes[2]


def test_options_that_cannot_be_stay_out_of_the_database():
    with pytest.raises((CrowdError, ValidationError)):
        config_of(make_stage(config={"scale": "slider", "scale_step": 7}))
