"""From a table to a project with an open stage and a link; again, and after a stop between any two steps."""

import json
from datetime import timedelta
from io import StringIO
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotation.models import CuratedPassage, Query
from core.errors import ActionError
from core.projects.services import create_project, set_role
from crowd.errors import CrowdError
from crowd.models import Hit, Stage
from crowd.services.endpoints import create_endpoint
from distillery.management.commands.judge import Command as Judge
from distillery.studies import preparation
from distillery.studies.outcomes import results_of, write_results
from distillery.studies.passages import add_passages
from distillery.studies.preparation import StudyPlan, make_draft, name_of_study, open_study
from distillery.studies.presets import all_presets, fitting_preset
from distillery.studies.progress import progress_of
from distillery.studies.tables import Choices, read_study_table
from judgments.models import Candidate, Judgment
from judgments.questionnaire.config import presets as questionnaire_presets
from people.consents import text_for
from people.models import StudyLink
from releases.models import PrivacyFinding
from tests.judgments.class_world import join, judge

ANSWERS = Path("examples/answers.csv")
ROWS = [
    {"question": "What is drift?", "system": "a", "answer": "Chance.", "passages": ["Drift is chance."]},
    {"question": "What is drift?", "system": "b", "answer": "A boat.", "passages": ["Drift is chance."]},
]


def write(path: Path, rows: list[dict]) -> Path:
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def make(path, researcher, *, kind="judging", choices=None, **plan):
    table = read_study_table(path, choices)
    asked = StudyPlan(fitting_preset(kind, table.roles), **plan)
    made = make_draft(table, asked, slug=name_of_study(path, kind), owner=researcher)
    open_study(made, asked, owner=researcher)
    return made


def rows_of(project) -> tuple[int, ...]:
    queries, candidates = (
        Query.objects.filter(project=project),
        Candidate.objects.filter(query__project=project),
    )
    links = StudyLink.objects.filter(project=project)
    return queries.count(), candidates.count(), project.stages.count(), links.count(), Hit.objects.count()


def test_a_file_becomes_an_open_study_and_the_same_file_changes_nothing(researcher):
    made = make(ANSWERS, researcher)
    assert (made.questions, made.answers, made.copies, made.refusals) == (25, 50, 7, [])
    assert (made.stage.status, made.stage.redundancy, made.stage.reward_cents) == (Stage.Status.OPEN, 3, 0)
    assert made.stage.config["passages"] is False, "the file has none"
    assert made.stage.config["reference"] == "central"
    progress = progress_of(made.stage, made.link)
    assert (progress.count, progress.missing) == (0, 150), "copies of a reference are judged, too"
    before = rows_of(made.project)
    again = make(ANSWERS, researcher)
    assert (again.project, again.link, again.is_new) == (made.project, made.link, False)
    assert (again.questions, again.answers, again.refusals) == (0, 0, [])
    assert rows_of(made.project) == before


def test_a_changed_file_adds_what_is_new_and_says_what_cannot_change(researcher, tmp_path):
    path = write(tmp_path / "answers.jsonl", ROWS)
    first = make(path, researcher)
    changed = [
        ROWS[0] | {"answer": "Luck."},
        ROWS[1],
        ROWS[0] | {"system": "c", "answer": "Random change."},
        {"question": "What is potlatch?", "system": "a", "answer": "A feast.", "passages": ["A feast."]},
    ]
    made = make(write(path, changed), researcher)
    assert made.project == first.project
    assert (made.questions, made.answers) == (1, 2)
    [refusal] = made.refusals
    assert refusal.startswith("answers.jsonl, line 1: The system ")
    assert "has another answer to this query" in refusal
    assert Candidate.objects.get(system__name="a", query__text="What is drift?").text == "Chance."
    assert progress_of(made.stage, made.link).missing == 12
    elsewhere = tmp_path / "copy"
    elsewhere.mkdir()
    assert make(write(elsewhere / "answers.jsonl", ROWS), researcher).project != first.project


def test_passages_and_turns_decide_what_is_shown(researcher, tmp_path):
    made = make(write(tmp_path / "rows.jsonl", ROWS), researcher)
    assert CuratedPassage.objects.filter(curated_set__query__project=made.project).count() == 1
    assert made.stage.config["passages"] is True
    assert (made.stage.config["reference"], made.stage.config["reference_checks"]) == ("none", 0)
    turns = [row | {"history": ["Tell me of evolution."]} for row in ROWS]
    dialogue = make(write(tmp_path / "turns.jsonl", turns), researcher)
    assert (dialogue.stage.config["wording"], dialogue.stage.units_per_hit) == ("dialogue", 10)
    assert Query.objects.get(project=dialogue.project).context == [{"text": "Tell me of evolution."}]


def test_what_the_command_line_says_of_people_consent_and_time(researcher, tmp_path):
    closes_at = timezone.now() + timedelta(days=2)
    path = write(tmp_path / "rows.jsonl", ROWS)
    made = make(path, researcher, people=2, title="Drift", consent="Read **this**.", closes_at=closes_at)
    assert (made.project.title, made.stage.redundancy, made.link.expires_at) == ("Drift", 2, closes_at)
    assert text_for(made.link, []).body == "Read **this**."
    assert make(path, researcher, people=5).stage.redundancy == 5
    assert make(path, researcher).stage.redundancy == 5, "what was not said again stays"


def said_of(made, path, **plan) -> str:
    """What the command says of a study."""
    table = read_study_table(path)
    asked = StudyPlan(fitting_preset("judging", table.roles), **plan)
    command = Judge()
    return "\n".join(command._summary(table, asked, made))


def test_what_a_later_file_cannot_change_is_said(researcher, tmp_path):
    bare = [{name: value for name, value in row.items() if name != "passages"} for row in ROWS]
    path = write(tmp_path / "rows.jsonl", [*bare, {"question": "Empty?", "system": "a", "answer": ""}])
    made = make(path, researcher)
    said = said_of(made, path)
    assert "Empty answers: 1. No one is asked about them" in said
    assert "Not known: references (none are shown); passages (none are shown); your consent" in said
    later = [row | {"reference": "Chance, it is."} for row in ROWS[:1]]
    made = make(
        write(path, later), researcher, consent="Read this.", closes_at=timezone.now() + timedelta(days=1)
    )
    said = said_of(made, path)
    assert "Answers that the file does not have any more: 2. They stay in the study." in said
    assert "The file has references now." in said
    assert "The file has passages now." in said
    assert "Not known: references (none are shown); passages (none are shown)." in said
    assert made.link.expires_at is not None, "a later closing time holds"


def test_lines_are_those_of_the_persons_file(researcher, tmp_path):
    path = tmp_path / "lines.csv"
    path.write_text("Title,,\n\nquestion,system,answer\nWhy?,a,So.\n\nHow?,a,Thus.\n", encoding="utf-8")
    make(path, researcher)
    assert list(Candidate.objects.order_by("line").values_list("line", flat=True)) == [4, 6]
    path.write_text("question,system,answer\nHow?,a,Otherwise.\n", encoding="utf-8")
    [refusal] = make(path, researcher).refusals
    assert "line 2: " in refusal
    assert "in line 6 of lines.csv" in refusal


def test_only_an_owner_goes_on_with_a_study(researcher, tmp_path):
    """The short name of a file can be worked out by others, who may have made a project of it."""
    path, ben = write(tmp_path / "rows.jsonl", ROWS), User.objects.create_user("ben")
    theirs = create_project(slug=name_of_study(path, "judging"), title="Mine", owner=ben)
    with pytest.raises(ActionError, match="researcher does not own the project"):
        make(path, researcher)
    set_role(project=theirs, user=researcher, role="manager", actor=ben)
    with pytest.raises(ActionError, match="--as USER"):
        make(path, researcher)
    assert not theirs.stages.exists()


def test_what_is_on_a_marketplace_waits_for_its_server(researcher, tmp_path, monkeypatch):
    made = make(write(tmp_path / "rows.jsonl", ROWS), researcher)
    made.stage.endpoint.protocol = "mturk"
    monkeypatch.setattr(preparation, "run_round", lambda *_: pytest.fail("a round was made"))
    preparation.settle(made.stage)


def test_study_links_may_have_an_http_address_of_this_installation(researcher, settings):
    settings.TASK_URL = "http://192.0.2.7:8000"
    assert make(ANSWERS, researcher).link is not None
    with pytest.raises(CrowdError, match="is not an https address"):
        create_endpoint(name="other", protocol="link", url="http://192.0.2.8", access_key="", secret="")


@pytest.mark.parametrize("step", ["_apply", "_import", "import_candidates", "make_link", "settle"])
def test_a_run_that_was_stopped_at_any_step_goes_on(researcher, tmp_path, monkeypatch, step):
    path, real = write(tmp_path / "rows.jsonl", ROWS), getattr(preparation, step)

    def stop(*args, **options):
        if step == "_apply":
            real(*args, **options)
        raise KeyboardInterrupt

    monkeypatch.setattr(preparation, step, stop)
    with pytest.raises(KeyboardInterrupt):
        make(path, researcher)
    monkeypatch.setattr(preparation, step, real)
    made = make(path, researcher)
    assert rows_of(made.project)[:4] == (1, 2, 1, 1)
    assert made.stage.status == Stage.Status.OPEN
    assert progress_of(made.stage, made.link).missing == 6


def test_questions_are_collected_with_passages_from_anywhere(researcher, tmp_path, subtests):
    questions = write(
        tmp_path / "questions.jsonl", [{"question": "What is a bank run?"}, {"question": "Drift?"}]
    )
    own = [{"question": "Drift?", "text": "Drift is chance."}, {"question": "Other?", "text": "Nothing."}]
    with subtests.test("each question's own"):
        table = read_study_table(questions)
        said = add_passages(table, write(tmp_path / "own.jsonl", own), "en")
        assert [len(each.passages) for each in table.questions.values()] == [0, 1]
        assert said == [
            "own.jsonl: passages of 1 of 2 questions.",
            "Its rows of 1 other question were left out.",
        ]
    with subtests.test("a collection that is searched"):
        table = read_study_table(questions)
        rows = [
            {"id": f"p{at}", "text": text} for at, text in enumerate(("A run on a bank.", "Rivers flow."))
        ]
        said = add_passages(table, write(tmp_path / "all.jsonl", rows), "en")
        assert [[each.text for each in one.passages] for one in table.questions.values()] == [
            ["A run on a bank."],
            [],
        ]
        assert said == ["all.jsonl was searched (BM25): the best 5 passages are shown with each question."]
    with subtests.test("a column of the file"):
        made = make(
            write(tmp_path / "with.jsonl", ROWS),
            researcher,
            kind="distillation",
            choices=Choices({"answer": "", "system": ""}),
        )
        assert (made.stage.kind, made.questions, made.answers) == ("distillation", 1, 0)
        assert progress_of(made.stage, made.link).missing == 3


def test_results_carry_their_n_and_say_why_a_figure_is_missing(researcher, tmp_path):
    made = make(write(tmp_path / "rows.jsonl", ROWS), researcher)
    nothing = results_of(made.stage)
    assert (nothing["n_ratings"], nothing["systems"], nothing["people"]) == (0, [], [])
    assert nothing["agreement"]["alpha"]["interval"] is None
    assert "there are no ratings" in nothing["agreement"]["reason"]
    people = [join(made.project, made.stage.endpoint).external_id for _ in range(3)]
    for person in people:
        assert judge(made.stage, person)
    preparation.settle(made.stage)
    results = results_of(made.stage)
    assert (results["n_ratings"], results["n_answers"], results["n_people"]) == (6, 2, 3)
    assert [(row["system"], row["n"], row["mean"], row["low"]) for row in results["systems"]] == [
        ("a", 1, 3.0, None),
        ("b", 1, 3.0, None),
    ]
    assert results["systems"][0]["reason"] == "an interval needs answers to two questions"
    assert results["simulated_ratings"] == 0
    folder = tmp_path / "out"
    assert write_results(made.stage, results, folder) == ["results.json", "scores.csv", "responses.jsonl"]
    written = "".join(file.read_text(encoding="utf-8") for file in folder.iterdir())
    assert not any(person in written for person in people), "only pseudonyms leave"
    responses = [json.loads(line) for line in (folder / "responses.jsonl").read_text("utf-8").splitlines()]
    assert len(responses) == Judgment.objects.count() == 6
    assert {row["person"] for row in responses} == {row["person"] for row in results["people"]}
    assert (folder / "scores.csv").read_text("utf-8").count("\n") == 3
    other = tmp_path / "other"
    other.mkdir()
    (other / "results.json").write_text('{"mine": 1}', encoding="utf-8")
    with pytest.raises(CommandError, match="holds something else"):
        call_command("results", made.project.slug, out=other, json=True, stdout=StringIO())
    assert [file.name for file in other.iterdir()] == ["results.json"]
    call_command("results", made.project.slug, out=folder, json=True, stdout=StringIO(), stderr=StringIO())
    manifest = json.loads((folder / "release" / "manifest.json").read_text("utf-8"))
    assert {table["name"]: sum(table["rows"].values()) for table in manifest["tables"]}["ratings"] == 6
    [few] = PrivacyFinding.objects.all()
    assert (few.rule, few.state) == ("small-group", "open"), "the next release asks again"


def test_presets_are_stages_of_the_study_file():
    names = {name for name, preset in questionnaire_presets().items() if preset.of_answers}
    assert set(all_presets()) == {"kpqa", "adem", "distillation", *names}
    assert fitting_preset("judging", {"question", "answer"}).name == "kpqa"
    assert fitting_preset("judging", {"question", "answer", "turns"}).name == "adem"
