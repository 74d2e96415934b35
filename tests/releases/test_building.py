"""Building a release: what is in it, that it is the same every time, and that it never changes."""

import hashlib
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import pytest
from django.db import transaction

from crowd.models import Worker
from judgments.services import filter_runs
from releases import build
from releases.errors import ReleaseError
from releases.manifest import verify
from releases.models import FrozenError, PrivacyFinding, Release, ReleaseFile
from releases.options import Options, options_of
from releases.row_reader import answer_rows, rating_rows
from releases.scope import scope_of
from releases.services import give_up, give_up_dead, next_version
from releases.tables import ANSWERS, CANDIDATES, RATINGS, REFERENCES, SCORES, Table
from tests.cases import rows_of_module
from tests.releases.world import (
    EDITORS,
    JUDGES,
    THEN,
    World,
    import_score,
    make_answer,
    make_judgment,
    make_stage,
    make_work,
    make_world,
)

pytestmark = pytest.mark.django_db
PLAIN = Options()
SPLIT = Options(formats=("jsonl", "csv", "parquet"), seed=1, shares=(0.6, 0.2, 0.2))


def built(world: World, folder: Path, options: Options = PLAIN, **given) -> build.BuiltFiles:
    release = build.plan_release(project=world.project, options=options, **given)
    done = build.build(release, folder=folder)
    build.finish(release, done)
    return done


class Standard(NamedTuple):
    """A release that many tests look at and none changes."""

    folder: Path
    built: build.BuiltFiles


@pytest.fixture(scope="module")
def _rows(standard, django_db_blocker) -> Iterator[World]:
    """The world that tests change, after the one of the standard release is gone."""
    with rows_of_module(django_db_blocker):
        yield make_world()


@pytest.fixture(scope="module")
def standard(tmp_path_factory, django_db_setup, django_db_blocker) -> Iterator[Standard]:
    """The world as it is, in splits; only its files are left."""
    folder = tmp_path_factory.mktemp("standard") / "release"
    with django_db_blocker.unblock(), transaction.atomic():
        done = built(make_world(hostile=True), folder, SPLIT)
        transaction.set_rollback(True)
    yield Standard(folder, done)


def rows(folder: Path, table: Table) -> list[dict]:
    return [
        json.loads(line)
        for path in sorted((folder / "jsonl").glob(f"{table.name}-*.jsonl"))
        for line in path.read_text(encoding="utf-8").split("\n")
        if line
    ]


def steps(done: build.BuiltFiles) -> dict[str, dict]:
    return {f"{each['what']}: {each['step']}": each for each in done.manifest["steps"]}


def all_bytes(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


class TestRows:
    def test_a_query_comes_with_its_turns_passages_and_references(self, standard):
        first = next(row for row in rows(standard.folder, REFERENCES) if row["query_id"] == "q1")
        assert first["query_id"] == "q1"
        assert first["context"] == [{"text": "tell me about france", "answer": "A country."}]
        texts = [each["text"] for each in first["passages"]]
        assert texts == ["Paris is the capital of France.", "Lyon is a city."]
        assert [(each["answer_id"], each["text"]) for each in first["answers"]] == [
            ("a700001", "Paris"),
            ("a700002", "It is Paris."),
            ("a700003", "Paris, the city."),
        ]
        assert first["answers"][1]["entities"] == [{"start": 6, "end": 11, "text": "Paris"}]

    def test_a_reference_that_came_with_a_query_stands_first_and_has_no_worker(self, standard):
        answers = next(row for row in rows(standard.folder, REFERENCES) if row["query_id"] == "q5")["answers"]
        assert answers[0] == {
            "answer_id": "q5#0", "worker": None, "text": "Yes, in fact.", "opinion": "", "entities": [],
            "simulated": False,
        }  # fmt: skip
        assert len(answers) == 5

    def test_only_queries_and_answers_with_work_that_counts_are_released(self, standard):
        ids = sorted(row["query_id"] for row in rows(standard.folder, REFERENCES))
        assert ids == ["q1", "q2", "q3", "q4", "q5"]
        found = {row["answer_id"] for row in rows(standard.folder, ANSWERS)}
        assert len(found) == 18
        assert not found & {f"a{pk}" for pk in (700_011, 700_012)}

    def test_a_held_out_answer_is_marked_and_is_a_candidate_of_people(self, standard):
        held = [row for row in rows(standard.folder, ANSWERS) if row["held_out"]]
        assert [(row["answer_id"], row["kind"]) for row in held] == [("a700004", "distillation")]
        people = [row for row in rows(standard.folder, CANDIDATES) if row["people"]]
        assert [(row["system"], row["answer"]) for row in people] == [("human", "Paris in France")]

    def test_a_rating_says_which_filter_removed_it_and_why(self, standard):
        found = rows(standard.folder, RATINGS)
        assert len(found) == 50
        removed = [row for row in found if not row["kept"]]
        assert {(row["rule"], row["reason"]) for row in removed} == {
            ("attention checks", "failed 1 of 1 attention checks")
        }
        assert len(removed) == 10

    def test_scores_are_those_of_the_filter_run_in_force(self, standard):
        first = next(row for row in rows(standard.folder, SCORES) if row["candidate_id"] == "c700021")
        assert (first["n_raw"], first["n_kept"], first["mean"], first["median"]) == (5, 4, 4.5, 4.5)
        assert [each["score"] for each in first["kept"]] == [5, 4, 5, 4]

    def test_without_filters_scores_are_of_all_good_ratings(self, made_world, tmp_path):
        world = make_world("towns", first=800_001, filtered=False)
        built(world, tmp_path / "a")
        first = rows(tmp_path / "a", SCORES)[0]
        assert (first["n_raw"], first["n_kept"], first["mean"], first["adjusted"]) == (5, 5, 3.8, None)
        assert first["sd"] == pytest.approx(1.6431676725)
        assert all(row["kept"] and not row["rule"] for row in rows(tmp_path / "a", RATINGS))

    def test_later_ratings_further_stages_and_imported_scores_are_told_apart(self, made_world, tmp_path):
        world = made_world
        make_judgment(world, "alpha/q1", "AE2", 1)
        world.stages["again"] = make_stage(world, "judging", world.stages["judging"].endpoint, "again")
        make_judgment(world, "alpha/q3", "AJ1", 2, work=make_work(world, "again", "AJ1"))
        import_score(world, "alpha/q3", 3.5, n=4, ratings=[3, 4, 3, 4])
        done = built(world, tmp_path / "a")
        [late] = [row for row in rows(tmp_path / "a", RATINGS) if row["rule"] == "later"]
        assert (late["kept"], late["score"]) == (False, 1)
        scores = rows(tmp_path / "a", SCORES)
        assert scores[0]["n_kept"] == 4
        assert [row["n_kept"] for row in scores if row["stage"] == "again"] == [1]
        assert [each["stage"] for each in done.manifest["stages"]] == ["judging", "again"]
        assert (tmp_path / "a/reports/agreement-again.json").exists()
        row = next(row for row in scores if row["stage"] == "imported")
        assert (row["n_raw"], row["n_kept"], row["mean"], row["median"]) == (4, 4, 3.5, 3.5)
        assert row["kept"] == [{"worker": None, "score": score} for score in (3, 4, 3, 4)]

    def test_splits_share_no_conversation_and_no_passage(self, standard):
        at = {row["query_id"]: row["split"] for row in rows(standard.folder, REFERENCES)}
        assert at["q1"] == at["q2"]
        assert at["q3"] == at["q4"]
        assert set(at.values()) == {"train", "validation", "test"}
        for table in (ANSWERS, CANDIDATES, SCORES, RATINGS):
            assert all(row["split"] == at[row["query_id"]] for row in rows(standard.folder, table))

    def test_what_a_person_blacked_out_is_black_in_every_file_and_other_spans_still_fit(
        self, made_world, tmp_path
    ):
        world = made_world
        answer, query = world.answers["q1/AE3"], world.queries["q2"]
        for subject, name, start, end in (
            (f"answer:{answer.pk}", "text", 7, 15),
            (f"query:{query.pk}", "text", 0, 3),
            (f"query:{query.pk}", "text", 9, 15),
            (f"query:{world.queries['q1'].pk}", "context.0.answer", 2, 9),
        ):
            PrivacyFinding.objects.create(
                project=world.project, rule="name", subject=subject, field=name, start=start, end=end,
                excerpt="…", state="redacted", reason="a name", found_at=THEN, decided_at=THEN,
            )  # fmt: skip
        done = built(world, tmp_path / "a", Options(formats=("jsonl", "csv")))
        text = next(row for row in rows(tmp_path / "a", ANSWERS) if row["answer_id"] == f"a{answer.pk}")
        assert text["answer"] == "Paris, ████████."
        assert text["entities"] == [{"start": 0, "end": 5, "text": "Paris"}]
        references = {row["query_id"]: row for row in rows(tmp_path / "a", REFERENCES)}
        assert references["q2"]["query"] == "███ many ██████ live there"
        assert references["q1"]["context"][0]["answer"] == "A ███████."
        assert "the city" not in "".join(p.read_text() for p in (tmp_path / "a").rglob("*") if p.is_file())
        assert done.manifest["parameters"]["redacted_spans"] == 4


class TestTheManifest:
    def test_it_counts_before_and_after_each_step_with_the_reasons(self, standard):
        found = steps(standard.built)

        def said(name):
            return found[name]["before"], found[name]["after"], found[name]["reasons"]

        assert said("queries: imported") == (
            14, 8, {"refused": 1, "repeats another": 2, "email": 1, "not sampled": 2},
        )  # fmt: skip
        assert said("queries: screened") == (8, 5, {"waiting": 1, "excluded": 1, "withdrawn": 1})
        assert said("queries: released") == (8, 5, {"taken_out": 2, "nothing_collected": 1})
        assert said("answers: accepted") == (20, 18, {"excluded": 1, "work_not_accepted": 1})
        assert said("answers: references") == (18, 17, {"held_out": 1})
        assert said("candidates: released") == (11, 11, {})
        assert said("candidates: judged") == (11, 10, {"exact": 1})
        assert said("judgments of judging: good") == (51, 50, {"rejected": 1})
        assert said("judgments of judging: kept") == (50, 40, {"attention checks": 10})

    def test_it_names_every_file_with_size_rows_and_digest(self, standard):
        done = standard.built
        for file in done.manifest["files"]:
            raw = (standard.folder / file["path"]).read_bytes()
            assert (file["bytes"], file["sha256"]) == (len(raw), hashlib.sha256(raw).hexdigest())
        ratings = next(f for f in done.manifest["files"] if f["path"] == "jsonl/ratings-test.jsonl")
        assert (ratings["format"], ratings["rows"]) == ("jsonl", 25)
        assert hashlib.sha256((standard.folder / "manifest.json").read_bytes()).hexdigest() == done.digest

    def test_it_has_the_recipe_and_no_account_of_a_tester(self, made_world, tmp_path):
        world = made_world
        world.run = filter_runs.apply(
            stage=world.stages["judging"],
            recipe="adem-2017",
            parameters={"rules": "technical,checks", "test_accounts": "AJ4"},
            actor=None,
        )
        done = built(world, tmp_path / "a")
        filters = done.manifest["stages"][0]["filters"]
        assert filters["recipe"] == "adem-2017"
        assert filters["parameters"]["test_accounts"] == ["(an account)"]
        assert "AJ4" not in (tmp_path / "a/reports/agreement-judging.json").read_text()

    def test_nothing_in_it_says_when_it_was_built(self, standard):
        today = datetime.now(UTC).date().isoformat()
        for path in standard.folder.rglob("*.json"):
            assert today not in path.read_text(encoding="utf-8"), path


class TestReports:
    def test_costs_are_in_cents_with_bonuses_apart_and_the_pay_beside_the_floor(self, standard):
        costs = json.loads((standard.folder / "reports/costs.json").read_text())
        stage = next(each for each in costs["stages"] if each["stage"] == "distillation")
        assert (stage["rewards_cents"], stage["bonuses_cents"], stage["fees_cents"]) == (190, 100, 58)
        assert (stage["median_seconds"], stage["cents_per_hour"], stage["below_floor"]) == (30, 1200, False)
        assert costs["total"] == {"USD": {"rewards_cents": 970, "bonuses_cents": 100, "fees_cents": 214}}

    def test_agreement_is_the_honest_report_with_pseudonyms(self, standard):
        report = json.loads((standard.folder / "reports/agreement-judging.json").read_text())
        assert report["n_ratings"] == 50
        assert report["n_kept"] == 40
        assert report["alpha"]["before"]["interval"] == pytest.approx(-0.0148635, abs=1e-6)
        assert all(name.startswith("w") for name in report["pairs"]["workers"])

    def test_no_file_holds_the_id_of_a_worker(self, standard):
        for path in standard.folder.rglob("*"):
            if path.is_file():
                text = path.read_bytes().decode("utf-8", "replace")
                assert [name for name in (*EDITORS, *JUDGES) if name in text] == [], path


class TestTheSameEveryTime:
    def test_the_same_content_built_twice_is_the_same_bytes_and_no_new_version(self, made_world, tmp_path):
        world = made_world
        first = built(world, tmp_path / "a", SPLIT)
        again = built(world, tmp_path / "b", SPLIT, notes="other words")
        assert again.same == Release.objects.get()
        assert all_bytes(tmp_path / "a") == all_bytes(tmp_path / "b")
        assert first.digest == again.digest
        other = built(world, tmp_path / "c", SPLIT.model_copy(update={"formats": ("csv",)}))
        assert (other.content, other.same) == (first.content, None), "of other options"
        Release.objects.update(state="withdrawn", withdrawn_reason="a mistake", withdrawn_at=THEN)
        assert built(world, tmp_path / "d", SPLIT).same is None, "what is withdrawn is not given again"
        make_answer(world, "q4", "AE1", "Yes, very")
        assert built(world, tmp_path / "e", SPLIT).content != first.content
        versions = Release.objects.order_by("pk").values_list("version", flat=True)
        assert list(versions) == ["1.0.0", "1.1.0", "1.2.0", "1.3.0"]
        with pytest.raises(ReleaseError, match=r"There is a release 1\.3\.0 already"):
            build.plan_release(project=world.project, version="1.3.0", options=SPLIT)

    def test_both_databases_give_the_same_content(self, standard):
        assert standard.built.content == CONTENT

    def test_simulated_workers_mark_the_release(self, made_world, tmp_path):
        Worker.objects.update(simulated=True)
        done = built(made_world, tmp_path / "a")
        assert done.simulated
        assert done.manifest["simulated"] is True
        assert Release.objects.get().simulated


class TestPlanning:
    def test_versions_follow_each_other_and_are_used_once(self, made_world):
        project = made_world.project
        for version in ("1", "v1.0.0", "1.0.0-rc1", "01.0.0", "1.0.0/../x", "1.0.0\n2"):
            with pytest.raises(ReleaseError, match="is no version"):
                build.plan_release(project=project, version=version, options=PLAIN)
        assert next_version(project) == "1.0.0"
        build.plan_release(project=project, version="2.4.1", options=PLAIN)
        assert next_version(project) == "2.5.0"
        with pytest.raises(ReleaseError, match=r"Version 2\.4\.1 is being built"):
            build.plan_release(project=project, version="2.4.1", options=PLAIN)

    def test_open_findings_stand_in_the_way(self, made_world):
        world = made_world
        PrivacyFinding.objects.create(
            project=world.project, rule="e-mail", subject="answer:1", excerpt="a@b.c", found_at=THEN
        )
        with pytest.raises(ReleaseError, match="one finding without a decision"):
            build.plan_release(project=world.project, options=PLAIN)
        assert not Release.objects.exists()

    def test_the_version_of_a_build_that_failed_or_died_is_free_again(self, made_world):
        project = made_world.project
        release = build.plan_release(project=project, options=PLAIN)
        assert give_up(release=release, why="the disk was full")
        release = build.plan_release(project=project, options=PLAIN)
        assert (release.version, Release.objects.count()) == ("1.0.0", 1)
        assert give_up_dead(project) == 0
        Release.objects.update(created_at=THEN)
        assert give_up_dead(project) == 1
        release.refresh_from_db()
        assert release.state == "failed"
        assert release.error == "The process that built it stopped before it was done."

    def test_options_that_make_no_sense_are_refused_in_words(self):
        for options, why in (
            ({"formats": ["excel"]}, "there is no format 'excel'; there are jsonl, csv, parquet"),
            ({"formats": []}, "formats: "),
            ({"shares": [0.5, 0.2, 0.2]}, "must add up to 1, not 0.9"),
            ({"shares": [0, 0.5, 0.5]}, "train must have a share"),
            ({"seed": -1}, "seed: "),
            ({"speed": 1}, "speed: "),
        ):
            with pytest.raises(ReleaseError, match=why):
                options_of(options)


class TestFinishing:
    def test_a_release_that_was_given_up_meanwhile_is_not_made_ready(self, made_world, tmp_path):
        release = build.plan_release(project=made_world.project, options=PLAIN)
        done = build.build(release, folder=tmp_path / "a")
        give_up(release=release, why="cancelled")
        with pytest.raises(ReleaseError, match="no longer being built"):
            build.finish(release, done)
        assert not ReleaseFile.objects.exists()

    def test_a_build_that_stops_in_the_middle_leaves_nothing_that_looks_ready(self, made_world, tmp_path):
        release = build.plan_release(project=made_world.project, options=PLAIN)

        def stop(done: int, total: int, note: str) -> None:
            if note.startswith(("CSV", "Parquet", "JSON")):
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            build.build(release, folder=tmp_path / "a", progress=stop)
        release.refresh_from_db()
        assert (release.state, release.digest) == ("building", "")
        assert not verify(tmp_path / "a").fine
        assert [path.name for path in tmp_path.iterdir()] == ["a"]
        with pytest.raises(ReleaseError, match="is not empty"):
            build.build(release, folder=tmp_path)

    def test_a_built_release_can_become_public_and_be_withdrawn_and_nothing_else(self, made_world, tmp_path):
        built(made_world, tmp_path / "a")
        release = Release.objects.get()
        release.notes = "better words"
        for change in (
            release.save,
            release.delete,
            Release.objects.all().delete,
            lambda: Release.objects.update(digest="0" * 64),
            lambda: Release.objects.update(state="building"),
            lambda: Release.objects.filter(pk=release.pk).update(version="9.9.9"),
            lambda: ReleaseFile.objects.update(sha256="0" * 64),
            ReleaseFile.objects.all().delete,
            ReleaseFile.objects.all()[0].delete,
            ReleaseFile.objects.all()[0].save,
        ):
            with pytest.raises(FrozenError):
                change()
        release = Release.objects.get()
        assert release.notes == ""
        release.public = True
        release.save()
        Release.objects.update(state="withdrawn", withdrawn_reason="a mistake", withdrawn_at=THEN)
        assert Release.objects.get().state == "withdrawn"


class TestMemoryAndStatements:
    @pytest.mark.long
    def test_rows_are_read_in_two_statements_a_batch_however_many_there_are(
        self, made_world, django_assert_max_num_queries
    ):
        scope = scope_of(made_world.project, PLAIN, "default")
        scope.people.names(worker.pk for worker in made_world.workers.values())
        with django_assert_max_num_queries(2):
            assert sum(map(len, answer_rows(scope))) == 18
        with django_assert_max_num_queries(3):  # one for further aspects
            assert sum(map(len, rating_rows(scope))) == 50


def test_a_project_in_which_nothing_was_done_gives_an_empty_release(tmp_path):
    from core.projects.services import create_project

    project = create_project(slug="empty", title="Empty")
    release = build.plan_release(project=project, options=PLAIN)
    done = build.build(release, folder=tmp_path / "a")
    assert build.finish(release, done).state == "ready"
    assert verify(tmp_path / "a").fine
    assert [table["rows"] for table in done.manifest["tables"]] == [{}] * 6


#: Of the world with hostile texts: the same on both databases.
CONTENT = "ae31b461a323e46809a236bd570270599adc1631d8089a55ff4ebf4e33c3a214"
