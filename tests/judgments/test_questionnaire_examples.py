"""The study files of `examples/` for public collections, each run with simulated people to its figures."""

import json
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.urls import reverse
from django.utils import timezone

from crowd.models import Stage
from crowd.services import stages
from crowd.study.planning import apply, plan
from crowd.study.reader import read
from distillery.studies.preparation import settle
from judgments.models import AgreementReport, QuestionnaireUnit, UnitResponse
from judgments.questionnaire.report import make_report
from releases.build import release_now
from releases.options import options_of
from releases.questionnaires import files_of
from releases.scope import scope_of
from tests.judgments.questionnaire_world import answer_all

pytestmark = pytest.mark.django_db
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
DATA = EXAMPLES / "questionnaires"


def make_stage(name: str, *, queries: Path, answers: Path, units: str = "", slug: str = "judging") -> Stage:
    """A stage of an example, open, as the commands of its head make it."""
    owner = User.objects.create_user("owner", is_staff=True, is_superuser=True)
    study = read(str(EXAMPLES / f"{name}.toml"))
    apply(study, plan(study, {}, to_apply=True), {}, actor=owner)
    if name != "mtrag":
        call_command("import-queries", name, str(queries), "--start-at", "distillation", "--json")
        call_command("import-candidates", name, str(answers), "--json")
    if units:
        call_command("import-units", f"{name}/{slug}", str(DATA / units))
    return open_stage(name, slug)


def open_stage(name: str, slug: str) -> Stage:
    """A stage with work for people."""
    stage = Stage.objects.select_related("project", "endpoint").get(project__slug=name, slug=slug)
    stages.open_stage(stage=stage, actor=User.objects.get(username="owner"))
    settle(stage)
    return stage


def keep_report(stage: Stage, report: dict) -> None:
    """Store figures as their job does, so that no intervals are worked out again."""
    last = UnitResponse.objects.filter(stage=stage).latest("pk").pk
    values = {"report": report, "last_judgment": last, "judgments": report["n_responses"], "stamp": "now"}
    AgreementReport.objects.create(stage=stage, seconds=0, created_at=timezone.now(), **values)


@pytest.mark.parametrize(
    ("name", "units", "figures"),
    [
        ("trec-support", "", "support"),
        ("alce", "", "support"),
        ("trec-nuggets", "nuggets.csv", "nuggets"),
        ("healthbench", "rubric.csv", "rubric"),
        ("esa", "", ""),
        ("mtrag", "conversations.jsonl", ""),
    ],
)
def test_an_example_runs_to_its_figures(name, units, figures, capsys):
    stage = make_stage(name, queries=DATA / "queries.jsonl", answers=DATA / "answers.jsonl", units=units)
    stage.redundancy = 1
    stage.save()
    answer_all(stage, people=1)
    report = make_report(stage, replicates=10)
    assert report["n_responses"] == report["n_units"] > 0
    if figures:
        assert len(report[figures]["systems"]) == 3
    else:
        assert any(row.get("systems") for row in report["fields"])


def test_nuggets_that_people_write_are_those_that_others_find_in_answers(client, capsys):
    name, own = "nuggets-from-people", {"queries": DATA / "queries.jsonl", "answers": DATA / "answers.jsonl"}
    write = make_stage(name, **own, units="questions.csv", slug="write")
    with pytest.raises(CommandError, match="have written no nuggets in the stage 'write' yet"):
        call_command("import-units", f"{name}/nuggets", "--from", "write")
    answer_all(write, people=2)
    written = UnitResponse.objects.filter(stage__slug="write").values_list("values__nuggets", flat=True)
    assert len(written) == 6
    assert "It is 2,850 km long and flows through ten countries." in "".join(written)
    with pytest.raises(CommandError, match="no stage 'nuggets' in which people write"):
        call_command("import-units", f"{name}/nuggets", "--from", "nuggets")
    call_command("import-units", f"{name}/nuggets", "--from", "write")
    assert "Units' material: 3, of it new or changed: 3." in capsys.readouterr().out
    draft = Stage.objects.get(slug="nuggets")
    assert (materials := list(draft.unit_materials.order_by("pk").values_list("key", "content")))
    draft.unit_materials.all().delete()
    client.force_login(User.objects.get(username="owner"))
    page = client.get(reverse("judgments:units", args=[name, "nuggets"]))
    address = reverse("judgments:take_nuggets", args=[name, "nuggets", "write"])
    assert "Take the nuggets of write" in page.content.decode()
    assert "3 read." in client.post(address, follow=True).content.decode()
    assert list(draft.unit_materials.order_by("pk").values_list("key", "content")) == materials
    stage = open_stage(name, "nuggets")
    answer_all(stage, people=2)
    report = make_report(stage, replicates=10)
    assert (report["n_responses"], report["n_units"], len(report["nuggets"]["systems"])) == (18, 9, 3)
    layouts = files_of(scope_of(stage.project, options_of({}), "default"))
    [path] = [path for path in layouts if path.startswith("questionnaires/nuggets/lewidi-")]
    layout = json.loads(layouts[path])
    assert {"question", "answer"} in [set(item["text"]) for item in layout.values()]
    assert not any("nugget" in item["text"] for item in layout.values())
    assert "Take the nuggets" not in client.get(page.request["PATH_INFO"]).content.decode()


def test_crowdrag_is_forty_pairs_with_seven_questions_and_ends_in_a_release(tmp_path, capsys):
    queries, answers = tmp_path / "queries.jsonl", tmp_path / "answers.jsonl"
    names = [f"{who}-{style}" for who in ("human", "llm") for style in ("bullet", "essay", "news")]
    topics = [{"id": f"t{n}", "query": f"Topic number {n} of the track?"} for n in range(25)]
    queries.write_text("\n".join(map(json.dumps, topics)))
    rows = [
        {"query_id": topic["id"], "system": name, "answer": f"{name} writes about {topic['id']}."}
        for topic in topics
        for name in names
    ]
    answers.write_text("\n".join(map(json.dumps, rows)))
    stage = make_stage("crowdrag", queries=queries, answers=answers)
    units = QuestionnaireUnit.objects.filter(stage=stage)
    assert (units.count(), stage.redundancy, len(stage.config["fields"])) == (40, 5, 7)
    stage.redundancy = 1
    stage.save()
    answer_all(stage, people=1)
    report = make_report(stage, replicates=0)
    assert (report["n_responses"], len(report["preferences"])) == (40, 7)
    assert {row["system"] for row in report["preferences"]["validity"]["strengths"]} == set(names)
    keep_report(stage, report)
    found: dict[str, bytes] = {}

    def look(folder: Path) -> None:
        found.update({path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*.*")})

    release_now(stage.project, options=options_of({}), accepting="A test.", copy=look)
    rows = [json.loads(line) for line in found["jsonl/responses-train.jsonl"].splitlines()]
    assert len(rows) == 40 * 7
    assert {row["system"] for row in rows} | {row["second_system"] for row in rows} == set(names)
    assert {json.loads(row["value"]) for row in rows} <= {*names, "tie"}
    folder = "questionnaires/judging"
    fields = json.loads(found[f"{folder}/fields.json"])
    assert [each["name"] for each in fields["fields"]][:2] == ["validity", "coherence_logical"]
    soft = [json.loads(line) for line in found[f"{folder}/soft_labels.jsonl"].splitlines()]
    assert len(soft) == 40 * 7
    assert all(sum(row["soft_label"].values()) == 1 for row in soft)
    lewidi = json.loads(found[f"{folder}/lewidi-validity.json"])
    keys = {"annotation task", "text", "number of annotators", "annotators", "number of annotations"}
    keys |= {"annotations", "soft_label", "split", "lang", "other_info"}
    assert all(set(item) == keys for item in lewidi.values())
    assert json.loads(found[f"{folder}/results.json"])["n_responses"] == 40
