"""What goes into a release: only what was accepted, unless a person brings more in; every count adds up."""

import json
import math
from collections.abc import Iterator
from copy import deepcopy
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import krippendorff
import pytest
from django.core.management import CommandError, call_command
from django.db import transaction

from annotation.models import Answer, AnswerFlag, HeldOutWorker, Query
from core.projects.services import create_project
from crowd.desk.overview import Step
from crowd.models import Assignment
from crowd.services import decisions
from crowd.services.decisions import reconsider
from judgments.models import Judgment, Score, System, Verdict
from releases import build, extension
from releases.diff import diff, difference_lines
from releases.models import PrivacyFinding, Release
from releases.options import GROUPS, OPTIONAL, Options
from releases.privacy import check_project
from releases.selectors import content_of
from releases.tables import ANSWERS, CANDIDATES, RATINGS, REFERENCES, SCORES
from tests.releases.shelf_world import as_, people
from tests.releases.test_building import built, rows, steps
from tests.releases.test_shelf_pages import text
from tests.releases.world import (
    THEN,
    World,
    make_answer,
    make_candidate,
    make_judgment,
    make_stage,
    make_work,
)

pytestmark = pytest.mark.django_db
State = Answer.State
FORMATS = ("jsonl", "csv", "parquet")


def add_what_is_not_accepted(world: World) -> None:
    """One more of each group that can be brought in.

    q4 has an undecided answer, a flagged one, and one of work on hold; q2 an answer to be rewritten that is
    held out and was judged; q8 is disputed and has only an answer of a system; q5 lost all its references.
    """
    undecided = make_answer(world, "q4", "AJ1", "Undecided", state=State.UNDECIDED)
    flagged = make_answer(world, "q4", "AJ2", "Flagged, x y x y", state=State.UNDECIDED)
    for name in ("typed-too-fast", "gibberish"):
        AnswerFlag.objects.create(answer=flagged, name=name, created_at=THEN)
    held = make_work(world, "distillation", "AJ3", state=Assignment.State.SUBMITTED, held=True)
    make_answer(world, "q4", "AJ3", "On hold", work=held)
    rewrite = make_answer(world, "q2", "AJ4", "Again, please", state=State.REWRITE)
    HeldOutWorker.objects.create(
        query=world.queries["q2"], worker=world.workers["AJ4"], seed=1, created_at=THEN
    )
    make_candidate(world, System.PEOPLE, "q2", rewrite.text, answer=rewrite)
    make_judgment(world, "human/q2", "AJ1", 5)
    Query.objects.filter(key="q8").update(status=Query.Status.DISPUTED)
    make_candidate(world, "alpha", "q8", "Africa")
    make_judgment(world, "alpha/q8", "AJ2", 2)
    Query.objects.filter(key="q5").update(references=[])
    Answer.objects.filter(query__key="q5").update(state=State.UNDECIDED)
    assert undecided.pk != flagged.pk


class BuiltRelease(NamedTuple):
    folder: Path
    built: build.BuiltFiles


@pytest.fixture(scope="module")
def both(tmp_path_factory, _rows, django_db_blocker) -> Iterator[dict[str, BuiltRelease]]:
    """Everything that is not accepted, released as it is and with all groups brought in."""
    folder, made = tmp_path_factory.mktemp("selection"), {}
    with django_db_blocker.unblock(), transaction.atomic():
        world = deepcopy(_rows)
        add_what_is_not_accepted(world)
        for name, include in (("plain", ()), ("all", OPTIONAL)):
            options = Options(formats=FORMATS, include=include)
            made[name] = BuiltRelease(folder / name, built(world, folder / name, options))
        transaction.set_rollback(True)
    yield made


@pytest.fixture
def world(made_world: World) -> World:
    add_what_is_not_accepted(made_world)
    people(made_world.project)
    return made_world


def texts(made: BuiltRelease) -> set[str]:
    return {row["answer"] for row in rows(made.folder, ANSWERS)}


class TestByDefault:
    def test_undecided_flagged_held_and_unwritten_answers_are_left_out(self, both):
        assert not texts(both["plain"]) & {"Undecided", "Flagged, x y x y", "On hold", "Again, please"}
        q4 = next(row for row in rows(both["plain"].folder, REFERENCES) if row["query_id"] == "q4")
        assert [each["text"] for each in q4["answers"]] == ["Yes", "Very old", "Yes, it is", "It is old"]

    def test_every_row_of_references_has_an_answer(self, both):
        found = {row["query_id"]: row["answers"] for row in rows(both["plain"].folder, REFERENCES)}
        assert sorted(found) == ["q1", "q2", "q3", "q4"]
        assert all(found.values())

    def test_what_was_said_about_what_is_left_out_is_left_out_with_it(self, both):
        folder = both["plain"].folder
        inside = {row["candidate_id"] for row in rows(folder, CANDIDATES)}
        assert not [row for row in rows(folder, CANDIDATES) if row["query_id"] in ("q5", "q8")]
        assert {row["answer"] for row in rows(folder, CANDIDATES) if row["people"]} == {"Paris in France"}
        for table in (SCORES, RATINGS):
            assert {row["candidate_id"] for row in rows(folder, table)} <= inside

    def test_a_project_that_only_judges_has_no_answers_to_miss(self, made_world):
        world = made_world
        for what_filters_left in (Verdict, Score):
            what_filters_left.objects.all().delete()
        Judgment.objects.filter(candidate__system__kind="human").delete()
        world.systems["human"].candidates.all().delete()
        Answer.objects.all().delete()
        world.stages["distillation"].answers.all().delete()
        project = create_project(slug="judged", title="Judged")
        source = world.queries["q8"].source
        type(source).objects.filter(pk=source.pk).update(project=project)
        query = world.queries["q8"]
        Query.objects.filter(pk=query.pk).update(project=project)
        System.objects.filter(pk=world.systems["alpha"].pk).update(project=project)
        make_candidate(world, "alpha", "q8", "Africa")
        assert content_of(project).queries == 1


class TestBroughtIn:
    def test_each_group_comes_back_with_what_was_said_about_it(self, both):
        folder = both["all"].folder
        assert {"Undecided", "Flagged, x y x y", "On hold", "Again, please"} <= texts(both["all"])
        assert {row["query_id"] for row in rows(folder, REFERENCES)} == {"q1", "q2", "q3", "q4", "q5", "q8"}
        assert "Again, please" in {row["answer"] for row in rows(folder, CANDIDATES) if row["people"]}
        assert {"q8", "q5"} <= {row["query_id"] for row in rows(folder, RATINGS)}

    def test_what_a_person_excluded_or_rejected_never_comes_in(self, both):
        assert not {"Roma", "Rome, of course"} & texts(both["all"])
        with pytest.raises(ValueError, match="there is no group 'excluded' to bring in"):
            Options(include=("excluded",))

    def test_approval_and_flags_are_columns_in_every_format(self, both):
        import csv

        import pyarrow.parquet as pq

        folder = both["all"].folder
        plain = {row["answer"]: row for row in rows(folder, ANSWERS)}
        with (folder / "csv/answers-train.csv").open(encoding="utf-8", newline="") as file:
            cells = {row["answer"]: row for row in csv.DictReader(file)}
        table = {
            row["answer"]: row for row in pq.read_table(folder / "parquet/answers-train.parquet").to_pylist()
        }
        for found in (plain, table):
            assert found["Flagged, x y x y"]["flags"] == ["gibberish", "typed-too-fast"]
            assert found["Flagged, x y x y"]["approved"] is False
            assert (found["Yes, it is"]["flags"], found["Yes, it is"]["approved"]) == ([], True)
        assert json.loads(cells["Flagged, x y x y"]["flags"]) == ["gibberish", "typed-too-fast"]
        assert (cells["Flagged, x y x y"]["approved"], cells["Yes, it is"]["approved"]) == ("false", "true")

    def test_the_choice_is_in_the_manifest_and_on_the_card(self, both):
        said = both["all"].built.manifest["parameters"]
        assert said["include"] == list(OPTIONAL)
        assert said["brought_in"] == {
            "disputed": 1, "undecided": 5, "flagged": 1, "rewrite": 1, "held": 1,
        }  # fmt: skip
        card = (both["all"].folder / "README.md").read_text()
        assert "Brought in although they were not accepted: queries disputed (1), " in card
        assert "answers flagged (1)" in card
        plain = (both["plain"].folder / "README.md").read_text()
        assert "Answers left out: 5 undecided, 1 flagged, 1 waiting for a rewrite, 1 of work on hold" in plain
        assert "Queries left out: 1 disputed, 1 without a reference answer, 2 excluded or taken out" in plain


class TestCountsAddUp:
    def test_every_step_and_report_is_what_went_on_and_the_reasons(self, both):
        for name, made in both.items():
            for each in made.built.manifest["steps"]:
                if each["step"] not in ("imported", "references"):
                    assert each["before"] == each["after"] + sum(each["reasons"].values()), (name, each)
            report = json.loads((made.folder / "reports/agreement-judging.json").read_text())
            inside = report["in_release"]
            assert inside["ratings"] == len(rows(made.folder, RATINGS))
            assert inside["later"] == 2
            assert report["n_ratings"] + 2 == inside["ratings"] + sum(inside["left_out"].values())

    def test_the_reasons_are_told_apart(self, both):
        found = steps(both["plain"].built)
        assert found["queries: released"]["reasons"] == {"disputed": 1, "unanswered": 1, "taken_out": 2}
        assert found["answers: accepted"]["reasons"] == {
            "undecided": 5, "flagged": 1, "rewrite": 1, "held": 1, "excluded": 1, "work_not_accepted": 1,
        }  # fmt: skip
        assert found["candidates: released"]["reasons"] == {"query_left_out": 3, "answer_left_out": 1}
        assert found["judgments of judging: released"]["reasons"] == {
            "query_left_out": 11, "answer_left_out": 1,
        }  # fmt: skip

    def test_the_card_has_the_agreement_about_an_aspect_of_the_ratings_that_are_in_the_release(
        self, world, tmp_path
    ):
        stage = world.stages["judging"]
        stage.config = {**stage.config, "aspects": [{"name": "topicality", "question": "Is it about it?"}]}
        stage.save()
        for place, judgment in enumerate(world.judgments.values()):
            Judgment.objects.filter(pk=judgment.pk).update(aspects={"topicality": 1 + place * 7 % 5})
        built(world, tmp_path / "a", Options(formats=("jsonl",)))
        ratings = [row for row in rows(tmp_path / "a", RATINGS) if row["stage"] == "judging"]
        report = json.loads((tmp_path / "a/reports/agreement-judging.json").read_text())
        [aspect] = report["in_release"]["aspects"]
        of_stage = next(row for row in report["aspects"] if row["aspect"] == "topicality")
        for part, some in (
            ("before", ratings),
            ("after_workers", [row for row in ratings if row["rule"] in ("", "z")]),
        ):
            table: dict[str, dict[str, float]] = {}
            for row in some:
                table.setdefault(row["worker"], {})[row["candidate_id"]] = row["aspects"][0]["score"]
            items = sorted({row["candidate_id"] for row in some})
            by_worker = [[scores.get(item, math.nan) for item in items] for scores in table.values()]
            expected = krippendorff.alpha(by_worker, level_of_measurement="interval")
            assert aspect[part]["n_ratings"] == len(some)
            assert aspect[part]["alpha"] == pytest.approx(expected, abs=1e-12)
            assert aspect[part]["alpha"] != pytest.approx(of_stage[part]["alpha"], abs=1e-6)
            [line] = [
                line
                for line in (tmp_path / "a/README.md").read_text().splitlines()
                if "topicality (further aspect)" in line
            ]
            assert f"{expected:.3f}".replace("-", "") in line

    def test_the_card_has_the_agreement_of_the_ratings_that_are_in_the_release(self, both):
        folder = both["plain"].folder
        ratings = [row for row in rows(folder, RATINGS) if row["stage"] == "judging"]
        table: dict[str, dict[str, float]] = {}
        for row in ratings:
            table.setdefault(row["worker"], {})[row["candidate_id"]] = row["score"]
        items = sorted({row["candidate_id"] for row in ratings})
        by_worker = [[scores.get(item, math.nan) for item in items] for scores in table.values()]
        expected = krippendorff.alpha(by_worker, level_of_measurement="interval")
        inside = json.loads((folder / "reports/agreement-judging.json").read_text())["in_release"]
        assert inside["alpha"]["before"]["n"] == len(ratings)
        assert inside["alpha"]["after"]["n"] == sum(row["kept"] for row in ratings)
        assert inside["alpha"]["before"]["interval"] == pytest.approx(expected, abs=1e-12)
        assert f"| {expected:.3f}" in (folder / "README.md").read_text()

    @pytest.mark.parametrize("include", [("flagged",), OPTIONAL])
    def test_the_wizard_counts_what_the_build_takes(self, world, tmp_path, include):
        done = built(world, tmp_path / "a", Options(formats=("jsonl",), include=include))
        held = {table["name"]: sum(table["rows"].values()) for table in done.manifest["tables"]}
        if include == ("flagged",):
            alone = texts(BuiltRelease(tmp_path / "a", done))
            assert "Flagged, x y x y" in alone
            assert not {"Undecided", "On hold", "Again, please"} & alone
        found = content_of(world.project, include)
        assert (found.queries, found.answers) == (held["references"], held["answers"])
        assert (found.candidates, found.ratings) == (held["candidates"], held["ratings"])
        out = [
            sum(each.count for each in some if not each.brought_in)
            for some in (found.of_queries, found.of_answers)
        ]
        assert found.queries + out[0] == found.all_queries
        assert found.answers + out[1] + found.answers_of_queries == found.all_answers


class TestRatingsOfWorkThatDoesNotCount:
    """A rating counts when its work does; a release, its steps and the wizard say why others stay out."""

    @pytest.fixture
    def undecided(self, world):
        """One rating of work on hold, one of work that waits for approval, both as good as others."""
        by_hand = make_stage(world, "judging", world.stages["judging"].endpoint, slug="by-hand")
        type(by_hand).objects.filter(pk=by_hand.pk).update(approve_at_once=False)
        submitted = {"state": Assignment.State.SUBMITTED}
        made = {
            "held": make_work(world, "judging", "AE2", held=True, **submitted),
            "waits": make_work(world, "judging", "AE3", **submitted),
        }
        Assignment.objects.filter(pk=made["waits"].pk).update(stage=by_hand)
        made["waits"].stage = by_hand
        return {why: make_judgment(world, "alpha/q1", "AE2", 1, work=work) for why, work in made.items()}

    def test_they_are_in_no_table_and_every_step_adds_up(self, world, undecided, tmp_path):
        done = built(world, tmp_path / "a", Options(formats=("jsonl",)))
        inside = {row["rating_id"] for row in rows(tmp_path / "a", RATINGS)}
        assert not inside & {f"r{judgment.pk}" for judgment in undecided.values()}
        found = steps(done)
        assert found["judgments of judging: good"]["reasons"] == {"rejected": 1, "of_work_on_hold": 1}
        assert found["judgments of by-hand: good"]["reasons"] == {"waits_for_approval": 1}
        for each in done.manifest["steps"]:
            if each["what"].startswith("judgments"):
                assert each["before"] == each["after"] + sum(each["reasons"].values()), each

    def test_the_wizard_and_the_command_line_give_the_reasons(self, world, undecided):
        found = content_of(world.project)
        assert found.ratings_left_out == {
            "rejected": 1, "of_work_on_hold": 1, "waits_for_approval": 1, "candidate_left_out": 12,
        }  # fmt: skip
        assert found.ratings + sum(found.ratings_left_out.values()) == found.all_ratings
        words = "1 of work on hold, 1 of rejected work, 1 of work that waits for approval"
        page = text(as_("manager").get("/desk/projects/capitals/releases/new/"))
        assert f"Ratings left out: {words}, 12 of answers that are left out." in page
        out = StringIO()
        call_command("release", "content", "capitals", stdout=out)
        assert "  1 of work on hold (stay out)" in out.getvalue()

    def test_scores_of_filters_in_force_are_of_the_ratings_that_are_in(self, world, tmp_path):
        judgment = world.judgments["alpha/q1/AJ1"]
        stage = judgment.stage
        for row in (world.project, stage):
            type(row).objects.filter(pk=row.pk).update(reserved_cents=1_000)
        Assignment.objects.filter(pk=judgment.assignment_id).update(state="submitted")
        decisions.book_rejection(judgment.assignment, at=THEN)
        reconsider(stage)
        built(world, tmp_path / "a", Options(formats=("jsonl",)))
        name = f"c{judgment.candidate_id}"
        ratings = [row for row in rows(tmp_path / "a", RATINGS) if row["candidate_id"] == name]
        kept = [row["score"] for row in ratings if row["kept"]]
        (score,) = (row for row in rows(tmp_path / "a", SCORES) if row["candidate_id"] == name)
        assert (len(ratings), sorted(kept)) == (4, [4, 4, 5])
        assert (score["n_raw"], score["n_kept"], len(score["kept"])) == (4, 3, 3)
        assert score["mean"] == pytest.approx(sum(kept) / 3)

    def test_a_rating_comes_in_when_its_work_is_approved(self, world, undecided):
        before = content_of(world.project).ratings
        Assignment.objects.filter(judgments=undecided["held"]).update(held=False, state="approved")
        assert content_of(world.project).ratings == before + 1


class TestPages:
    def test_the_first_step_has_a_row_and_a_box_for_each_group(self, world, django_assert_max_num_queries):
        client = as_("manager")
        client.get("/desk/projects/capitals/releases/new/")
        with django_assert_max_num_queries(24):
            answer = client.get("/desk/projects/capitals/releases/new/?include=flagged")
        page, html = text(answer), answer.content.decode()
        for group in GROUPS.values():
            assert group.label in page
        assert [name for name in GROUPS if f'name="include" value="{name}"' in html] == list(OPTIONAL)
        assert 'value="flagged" checked' in html
        assert "queries/?only=flagged" in html
        assert "Queries 4 of 8" in page

    def test_the_list_of_queries_shows_those_of_a_group(self, world):
        client = as_("viewer")
        for only, key in (("undecided", "q4"), ("flagged", "q4"), ("rewrite", "q2"), ("no-answer", "q8")):
            page = text(client.get(f"/desk/projects/capitals/queries/?only={only}"))
            assert world.queries[key].text in page, only
            assert world.queries["q1"].text not in page, only

    def test_what_could_be_brought_in_is_looked_through_for_private_data(self, world):
        Answer.objects.filter(text="On hold").update(text="Write to jane@example.org")
        check_project(project=world.project)
        assert PrivacyFinding.objects.filter(rule="email", excerpt__contains="jane").exists()

    def test_the_funnel_never_releases_more_queries_than_came_through(self, world, tmp_path):
        built(world, tmp_path / "a", Options(formats=("jsonl",), include=OPTIONAL))
        step = _released(world)
        passed = next(count.count for count in step.counts if count.name == "passed")
        assert (step.entered, passed) == (5, 5)


def _released(world: World) -> Step:
    return extension.say(world.project, 5).steps[0]


class TestOnTheCommandLine:
    def test_it_counts_what_would_go_in_and_why_not(self, world):
        out = StringIO()
        call_command("release", "content", "capitals", "--include", "flagged", stdout=out)
        said = out.getvalue()
        assert "queries: 4 of 8 go in" in said
        assert "1  flagged and undecided (brought in)" in said
        assert "1  disputed or tied (--include disputed)" in said
        assert "1  of rejected or returned work (stays out)" in said
        out = StringIO()
        call_command("release", "content", "capitals", "--json", stdout=out)
        found: dict[str, Any] = json.loads(out.getvalue())
        assert found["answers"]["groups"]["held"] == 1
        assert found["answers"]["in"] + sum(found["answers"]["groups"].values()) == found["answers"]["all"]

    def test_building_says_what_stayed_out_and_takes_groups_by_name(self, world, settings, tmp_path):
        settings.RELEASES_STORAGE = str(tmp_path)
        out = StringIO()
        call_command(
            "release", "build", "capitals", "--include", "flagged", "--accept-findings", "ours", stdout=out
        )
        assert "answers left out: 5 undecided, 1 waiting for a rewrite" in out.getvalue()
        assert "brought in, not accepted: 1 flagged" in out.getvalue()
        assert Release.objects.get().options["include"] == ["flagged"]
        with pytest.raises(CommandError, match="there is no group 'rejected'"):
            call_command("release", "build", "capitals", "--include", "rejected")

    def test_two_releases_differ_in_what_was_brought_in(self, both):
        lines = "\n".join(difference_lines(diff(both["plain"].folder, both["all"].folder)))
        assert "'include': []" in lines
        assert "answers: accepted: 14 -> 22" in lines
