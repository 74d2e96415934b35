"""Filters over a stage's judgments: preview, applying, undoing, asking again."""

import threading
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import connection

from core.jobs.models import Job
from core.projects.models import Event
from crowd.kinds import kind_of
from crowd.models import Assignment, HitUnit, Stage
from crowd.selectors.stage_status import stage_progress
from judgments.judging_config import judging_config
from judgments.models import Candidate, CheckAnswer, FilterRun, Judgment, Score, Verdict
from judgments.selectors.judging import missing_of, pending_judgments, pending_of_stage, sums_by_candidate
from judgments.selectors.ratings import checks_of, newer_than, ratings_of_stage, stamp_of
from judgments.services import filter_runs
from judgments.services.filter_decisions import FilteringError
from judgments.units import of_candidate
from tests.judgments.desk_world import Place, candidate_of, check, judge, make_place, worker_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def me() -> User:
    return User.objects.create_user("ada")


@pytest.fixture
def place() -> Place:
    """Two items with three honest judges, and a fourth who fails every check."""
    place = make_place()
    judge(
        place,
        [(item, worker, score) for item, score in (("q1", 5), ("q2", 1)) for worker in ("A", "B", "C")],
    )
    judge(place, [("q1", "SPAM", 1), ("q2", "SPAM", 5)])
    for honest in ("A", "B", "C"):
        check(place, honest, [True] * 4)
    check(place, "SPAM", [False] * 4)
    return place


def preview(place, recipe="default", **parameters):
    return filter_runs.preview(place.stage, recipe, parameters)


def apply(place, me, recipe="default", *, seen=None, once="", **parameters):
    return filter_runs.apply(
        stage=place.stage, recipe=recipe, parameters=parameters, actor=me, seen=seen, once=once
    )


def test_a_preview_says_what_would_happen_and_stores_nothing(place):
    found = preview(place)
    assert found.sentence == (
        "Would remove 1 of 4 judges, 2 of 8 judgments; 0 answers fall below the target of 3; "
        "0 judgments would be missing on 0 answers; asking for them costs $0.00."
    )
    assert [(each.rule, each.workers, each.ratings) for each in found.reasons] == [("attention checks", 1, 2)]
    assert (found.undetermined, found.seen) == (3, 0)
    assert not FilterRun.objects.exists()


def test_a_preview_counts_what_falls_below_the_target_and_what_that_costs(place):
    place.stage.redundancy = 4
    place.stage.save()
    found = preview(place)
    assert (found.target, found.fallen) == (4, 2)
    assert (found.missing.judgments, found.missing.answers, found.missing.requested) == (2, 2, 2)
    assert found.missing.offer.total_cents == 24
    Candidate.objects.filter(pk=candidate_of(place, "q1").pk).update(aside="withdrawn")
    assert preview(place).missing.judgments == 1
    Candidate.objects.update(aside="")
    place.stage.redundancy = 10  # answers that lacked judgments before are missing too, but did not fall
    place.stage.save()
    found = preview(place)
    assert (found.fallen, found.missing.answers, found.missing.judgments) == (0, 2, 14)
    place.stage.config = {"redundancy_mode": "precision", "least_judgments": 4, "most_judgments": 5}
    place.stage.save()
    found = preview(place)
    assert "below what is wanted" in found.sentence
    assert (found.fallen, found.missing.judgments, found.missing.answers) == (0, 2, 2)


@pytest.mark.parametrize("units_per_hit", [1, 2])
def test_what_is_missing_is_one_number_in_the_preview_after_it_and_on_the_stages_page(
    place, me, units_per_hit
):
    place.stage.redundancy, place.stage.units_per_hit = 6, units_per_hit
    place.stage.save()
    before = preview(place).missing
    apply(place, me)
    after = missing_of(place.stage, list(kind_of(place.stage).pending(place.stage)))
    assert before == after
    assert after.judgments == stage_progress(place.stage).answers_missing == 6
    assert after.offer.assignments == 6 / units_per_hit


def test_judgments_of_work_that_waits_for_a_person_are_in_no_score_and_are_not_asked_again(place):
    place.stage.redundancy = 4
    place.stage.save()
    pending = pending_of(place.stage)
    judgments = ratings_of_stage(place.stage).ratings
    work = Assignment.objects.filter(stage=place.stage, judgments__isnull=False).first()
    some = work.judgments.count()
    Assignment.objects.filter(pk=work.pk).update(held=True, state="submitted")
    stamp = stamp_of(place.stage)
    assert len(ratings_of_stage(place.stage).ratings) == len(judgments) - some
    assert pending_of(place.stage) == pending
    Assignment.objects.filter(pk=work.pk).update(held=False, state="rejected")
    assert sum(pending_of(place.stage).values()) == some
    Assignment.objects.filter(pk=work.pk).update(state="approved")
    assert stamp_of(place.stage) != stamp
    assert len(ratings_of_stage(place.stage).ratings) == len(judgments)


def test_checks_are_counted_by_worker_without_those_of_work_that_does_not_count(place):
    honest, spammer = worker_of(place, "A").pk, worker_of(place, "SPAM").pk
    found = checks_of(place.stage)
    assert (found[honest], found[spammer], len(found)) == ((4, 0), (4, 4), 4)
    work = Assignment.objects.filter(check_answers__worker=honest).first()
    lost = work.check_answers.count()
    Assignment.objects.filter(pk=work.pk).update(state="rejected")
    assert checks_of(place.stage).get(honest, (0, 0)) == (4 - lost, 0)
    Assignment.objects.filter(pk=work.pk).update(state="approved")
    first = CheckAnswer.objects.earliest("pk").at
    CheckAnswer.objects.exclude(worker=honest).update(at=first + timedelta(hours=1))
    assert set(checks_of(place.stage, first + timedelta(minutes=30))) == {honest}


def pending_of(stage):
    return {item.unit: item.missing for item in kind_of(stage).pending(stage)}


def test_applying_stores_verdicts_and_scores_once_and_the_log_says_who_did_it(place, me):
    run = apply(place, me, once="7f")
    assert (run.state, run.recipe, run.created_by) == ("in force", "default", me)
    about = run.verdicts.get(worker=worker_of(place, "SPAM"), judgment=None)
    assert (about.removes, about.rule, about.value) == (True, "attention checks", 4.0)
    assert about.reason == "failed 4 of 4 attention checks"
    removed = run.verdicts.filter(judgment__isnull=False)
    assert sorted(removed.values_list("judgment__score", flat=True)) == [1, 5]
    unsure = run.verdicts.filter(removes=False)
    assert {(each.worker.external_id, each.rule) for each in unsure} == {
        ("A", "kappa"), ("B", "kappa"), ("C", "kappa"),
    }  # fmt: skip
    score = run.scores.get(candidate=candidate_of(place, "q1"))
    assert (score.n_raw, score.n_kept, score.mean, score.sd, score.median) == (4, 3, 5.0, 0.0, 5.0)
    assert Judgment.objects.count() == 8
    assert Job.objects.filter(kind="judgments.report").count() == 1
    assert apply(place, me, once="7f", seen=0) == run
    assert FilterRun.objects.count() == 1
    event = Event.objects.get(action="filter.applied")
    assert (event.actor, event.subject, event.details["run"]) == (me, place.stage.slug, run.pk)
    assert (event.details["recipe"], event.details["removed_ratings"]) == ("default v1", 2)
    assert run.last_judgment == Judgment.objects.latest("pk").pk
    judge(place, [("q1", "LATE", 3)])
    assert newer_than(place.stage, run.last_judgment) == 1
    assert Score.objects.filter(run=run, candidate=candidate_of(place, "q1")).get().n_raw == 4


def test_all_parameters_are_stored_so_that_the_run_can_be_made_again(place, me):
    run = apply(place, me, kappa_below=0.1)
    assert run.parameters == {
        "rules": ["checks", "kappa"], "checks_failed": 2, "checks_least": 4, "kappa_below": 0.1,
        "kappa_least": 10, "kappa_weights": "quadratic", "kappa_reference": "pooled",
    }  # fmt: skip
    again = filter_runs.preview(place.stage, run.recipe, run.parameters)
    assert again.title == "default v1, changed: kappa_below"


def test_responses_removed_by_z_carry_their_z_and_rank(me):
    place = make_place()
    judge(place, [("q", name, score) for name, score in zip("ABCDE", (1, 4, 4, 4, 4), strict=True)])
    run = apply(place, me, "kpqa-2021")
    verdict = run.verdicts.get()
    assert (verdict.worker.external_id, verdict.rule, verdict.rank) == ("A", "z", 1)
    assert verdict.value == pytest.approx(-2.0, abs=1e-3)
    assert verdict.reason == "lies 2.00 standard deviations from the mean of its answer; the limit is 1"
    assert run.scores.get().mean == 4.0


def test_a_second_judgment_of_the_same_answer_is_set_aside_by_every_recipe(me):
    place = make_place()
    judge(place, [("q", "A", 1), ("q", "B", 2), ("q", "A", 5)])
    run = apply(place, me, "none")
    verdict = run.verdicts.get()
    assert (verdict.rule, verdict.judgment.score) == ("duplicate", 5)
    assert run.scores.get().mean == 1.5


def test_recipes_parameters_and_an_order_of_rules_that_do_not_exist_are_refused(place, me):
    for call in (preview, lambda place, **given: apply(place, me, **given)):
        with pytest.raises(FilteringError, match="order of the rules is fixed"):
            call(place, rules=["z", "kappa"])
    assert not FilterRun.objects.exists()
    with pytest.raises(FilteringError, match="no recipe 'best'"):
        preview(place, "best")
    with pytest.raises(FilteringError, match="no parameter 'k'"):
        preview(place, k=1)
    with pytest.raises(FilteringError, match="must be from -1 to 1"):
        preview(place, kappa_below=2)


def test_a_stage_without_judgments_cannot_be_filtered(me):
    with pytest.raises(FilteringError, match="no judgments yet"):
        apply(make_place(), me)


def test_a_later_run_supersedes_the_one_before_for_who_has_seen_it(place, me):
    first = apply(place, me)
    with pytest.raises(FilteringError, match="since you looked"):
        apply(place, me, "none", seen=0)
    assert FilterRun.objects.get() == first
    second = apply(place, me, "none", seen=first.pk)
    first.refresh_from_db()
    assert (first.state, first.ended_by, second.state) == ("superseded", me, "in force")
    assert first.verdicts.count() == 6


def test_undoing_needs_a_reason_and_happens_once(place, me):
    run = apply(place, me)
    with pytest.raises(FilteringError, match="Give a reason for undoing"):
        filter_runs.undo(run, "  ", me)
    filter_runs.undo(run, "too strict", me)
    run.refresh_from_db()
    assert (run.state, run.reason, run.ended_by) == ("undone", "too strict", me)
    assert Event.objects.get(action="filter.undone").details == {"run": run.pk, "why": "too strict"}
    with pytest.raises(FilteringError, match="no longer in force"):
        filter_runs.undo(run, "again", me)
    assert run.verdicts.count() == 6


def test_a_crash_in_the_middle_leaves_nothing(place, me, monkeypatch):
    first = apply(place, me, "none")
    stored = filter_runs.filter_decisions.store_scores

    def dies(*given):
        stored(*given)
        assert Verdict.objects.exclude(run=first).exists()
        assert Score.objects.exclude(run=first).exists()
        raise RuntimeError("power cut")

    monkeypatch.setattr(filter_runs.filter_decisions, "store_scores", dies)
    with pytest.raises(RuntimeError):
        apply(place, me)
    first.refresh_from_db()
    assert first.state == "in force"
    assert FilterRun.objects.count() == 1
    assert not Verdict.objects.exclude(run=first).exists()
    assert not Score.objects.exclude(run=first).exists()


def test_what_filters_removed_is_asked_again_for_the_amount_that_was_confirmed(place, me):
    Stage.objects.filter(pk=place.stage.pk).update(status="open", redundancy=4)
    place.stage.refresh_from_db()
    apply(place, me)
    with pytest.raises(FilteringError, match=r"It costs \$0\.24 by now, more than the \$0\.23"):
        filter_runs.top_up(stage=place.stage, most_cents=23, actor=me)
    assert filter_runs.top_up(stage=place.stage, most_cents=24, actor=me) == 2
    asked = HitUnit.objects.filter(hit__stage=place.stage, hit__state="planned").values_list(
        "unit", flat=True
    )
    assert sorted(asked) == sorted(of_candidate(candidate_of(place, name).pk) for name in ("q1", "q2"))
    event = Event.objects.get(action="stage.topped_up")
    assert (event.actor, event.details) == (me, {"hits": 2, "cents": 24})
    with pytest.raises(FilteringError, match="Nothing is missing"):
        filter_runs.top_up(stage=place.stage, most_cents=24, actor=me)


@pytest.mark.django_db(transaction=True)
def test_two_people_who_apply_at_once_leave_one_run_in_force(place, me):
    other = User.objects.create_user("bo")
    barrier, failures = threading.Barrier(2), []

    def go(actor, recipe):
        try:
            barrier.wait()
            apply(place, actor, recipe, seen=0)
        except FilteringError as error:
            failures.append(str(error))
        finally:
            connection.close()

    threads = [threading.Thread(target=go, args=pair) for pair in ((me, "default"), (other, "none"))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert FilterRun.objects.filter(state="in force").count() == 1
    assert FilterRun.objects.count() == 1
    assert len(failures) == 1
    run = FilterRun.objects.get()
    assert Event.objects.filter(action="filter.applied").count() == 1
    assert not Verdict.objects.exclude(run=run).exists()


@pytest.mark.django_db(transaction=True)
def test_a_click_that_arrives_twice_at_once_applies_once(place, me):
    barrier, runs = threading.Barrier(2), []

    def go():
        barrier.wait()
        runs.append(apply(place, me, once="8a", seen=0).pk)
        connection.close()

    threads = [threading.Thread(target=go) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(runs)) == 1
    assert FilterRun.objects.count() == 1


def test_what_is_pending_is_the_same_by_numbers_alone_as_by_sums(place, me):
    place.stage.redundancy = 6
    place.stage.save()
    apply(place, me)
    judge(place, [(item, worker, 3) for item in ("q1", "q2") for worker in ("D", "E", "F")])
    states = ({"state": "rejected"}, {"state": "submitted", "held": True}, {"withdrawn": True})
    for worker, changes in zip(("D", "E", "F"), states, strict=True):
        Assignment.objects.filter(stage=place.stage, worker__external_id=worker).update(**changes)
    config = judging_config(place.stage)
    by_sums = list(pending_judgments(place.stage, config, sums_by_candidate(place.stage)))
    assert list(pending_of_stage(place.stage, config)) == by_sums
    assert [missing for _, missing in by_sums] == [2, 2], "three count, and one waits for a person"
