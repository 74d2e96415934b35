"""Only work that counts decides; what was decided on work that ceases to count is decided again."""

import threading

import pytest
from django.db import connections, transaction
from django.utils import timezone

from annotation.models import Answer, CuratedSet, Doubt, Query, QueryStep
from annotation.selectors.curation import doubts_about
from annotation.services import steps
from annotation.services.queries import (
    accept_by_hand,
    decide_chosen,
    exclude_by_hand,
    put_back,
    take_back,
    withdraw,
)
from core.projects.models import Event, Project
from crowd.adapters.base import CallRefusal
from crowd.errors import CrowdError
from crowd.kinds import kind_of
from crowd.models import Assignment, MarketOperation, Recount, Stage
from crowd.outbox import results
from crowd.services import decisions, review
from crowd.services.approvals import plan_decision
from crowd.services.tick import living_stages, settle_news
from tests.annotation.distilling import make_query as make_curated_query
from tests.annotation.distilling import make_stage as make_distillation
from tests.annotation.distilling import write
from tests.annotation.world import (
    make_candidates,
    make_project,
    make_query,
    make_stage,
    make_work,
    select,
    status,
    unit_of,
    vote,
)
from tests.cases import apart
from tests.taskpage.world import make_hit

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return make_project()


@pytest.fixture
def screening(project):
    return make_stage("screening", project)


@pytest.fixture
def query(project):
    return make_query(project)


def rich(stage):
    """Money is set aside for what its people did."""
    Stage.objects.filter(pk=stage.pk).update(budget_cents=10_000, reserved_cents=5_000)
    Project.objects.filter(pk=stage.project_id).update(budget_cents=10_000, reserved_cents=5_000)


def reject(said):
    rich(said.stage)
    assert decisions.book_rejection(said.assignment, at=timezone.now())


def approve(said):
    rich(said.stage)
    assert decisions.book_approval(said.assignment, at=timezone.now())


def why(query):
    return Query.objects.get(pk=query.pk).status_reason


def pending(stage):
    return {item.unit: item.missing for item in kind_of(stage).pending(stage)}


def screened(stage, query, *changes):
    """A vote with each of the changes, and what they decide."""
    votes = [vote(stage, query, **each) for each in changes]
    settle_news(stage)
    return votes


FIT, FLAG, NO = {}, {"sensitive": True}, {"unambiguous": False}


def test_work_that_a_person_has_to_decide_about_settles_nothing(screening, query, subtests):
    for fields, work in [
        ({}, {"held": True}),
        ({"hold_failed_checks": True}, {"failed_checks": 1}),
        ({"hold_failed_checks": True}, {"failed_checks": 1, "state": "stored"}),
        ({"approve_at_once": False}, {}),
        ({}, {"state": "quarantined"}),
        ({}, {"state": "rejected"}),
    ]:
        with apart(subtests, fields=fields, work=work):
            for _ in range(2):
                vote(screening, query, work=make_work(screening, state="approved"))
            vote(screening, query, work=make_work(screening, **work))
            Stage.objects.filter(pk=screening.pk).update(**fields)
            stage = Stage.objects.get(pk=screening.pk)
            settle_news(stage)
            assert status(query) == "waiting"
            approved = work.get("state") in {"quarantined", "rejected"}
            assert pending(stage) == ({unit_of(query): 1} if approved else {})


def test_held_work_decides_as_soon_as_it_is_approved_and_not_before(screening, query):
    votes = [vote(screening, query) for _ in range(2)]
    votes.append(vote(screening, query, work=make_work(screening, held=True)))
    settle_news(screening)
    assert status(query) == "waiting"
    approve(votes[2])
    settle_news(screening)
    assert status(query) == "accepted"


def test_selections_and_answers_of_held_work_settle_nothing(project):
    curation = make_stage("curation", project, redundancy=1)
    query = make_query(project, status="accepted")
    make_candidates(query, "It is 100 degrees.", "It is wet.")
    chosen = select(curation, query, "p1", work=make_work(curation, held=True))
    settle_news(curation)
    assert (status(query), pending(curation)) == ("accepted", {})
    approve(chosen)
    settle_news(curation)
    assert status(query) == "curated"

    distillation = make_distillation(project, redundancy=1, approve_at_once=False)
    other = make_curated_query(project)
    Query.objects.filter(pk=query.pk).update(status="excluded")
    answer = write(distillation, other, "Rome", worker="A1")
    settle_news(distillation)
    assert (status(other), pending(distillation)) == ("curated", {})
    approve(answer)
    settle_news(distillation)
    assert status(other) == "answered"


def test_a_query_that_rejected_work_excluded_waits_again_and_more_people_are_asked(screening, query):
    votes = screened(screening, query, FIT, FIT, FLAG)
    assert (status(query), pending(screening)) == ("excluded", {})
    reject(votes[2])
    assert settle_news(screening)
    assert status(query) == "waiting"
    name = votes[2].assignment.worker.external_id
    assert why(query) == f"2 of 3 votes count; decided again, for the work of {name} was rejected"
    assert pending(screening) == {unit_of(query): 1}
    step = QueryStep.objects.filter(query=query).last()
    assert (step.before, step.after, step.actor, step.stage) == ("excluded", "waiting", None, screening)
    with transaction.atomic():
        approve(votes[2])
        for _ in range(2):
            settle_news(screening)
            assert status(query) == "excluded", "what is approved after all decides again"
        transaction.set_rollback(True)
    screened(screening, query, FIT)
    assert status(query) == "accepted"


def test_a_vote_that_comes_back_beside_its_replacement_counts_too(screening, query):
    votes = screened(screening, query, FIT, NO, NO)
    assert status(query) == "excluded"
    reject(votes[2])
    settle_news(screening)
    screened(screening, query, FIT)
    assert status(query) == "accepted"
    approve(votes[2])
    settle_news(screening)
    assert status(query) == "tied"
    assert why(query).startswith("2 of 4: fit to be answered")


def test_the_same_decision_for_other_reasons_is_written_down(screening, query):
    votes = screened(screening, query, NO, NO, NO)
    reject(votes[0])
    settle_news(screening)
    screened(screening, query, NO)
    approve(votes[0])
    settle_news(screening)
    assert status(query) == "excluded"
    assert why(query).startswith("4 of 4: its intent is not clear; decided again, for the work of")


def test_a_curated_set_is_made_again_from_the_selections_that_count(project):
    curation = make_stage("curation", project, redundancy=3)
    query = make_query(project, status="accepted")
    make_candidates(query, "It is 100 degrees.", "It is wet.", "It is 90 degrees.")
    chosen = [select(curation, query, *keys) for keys in (("p1",), ("p1", "p2"), ("p2",))]
    settle_news(curation)
    assert keys_of(query) == ["p1", "p2"]
    reject(chosen[0])
    settle_news(curation)
    assert (status(query), pending(curation)) == ("accepted", {unit_of(query): 1})
    assert not CuratedSet.objects.exists()
    select(curation, query, "p2")
    settle_news(curation)
    assert keys_of(query) == ["p2"]
    approve(chosen[0])
    settle_news(curation)
    assert (status(query), keys_of(query)) == ("curated", ["p2"])


def keys_of(query):
    rows = CuratedSet.objects.get(query=query).members
    return list(rows.order_by("position").values_list("candidate__key", flat=True))


def test_an_answer_of_rejected_work_is_no_reference_and_the_history_says_why(project):
    distillation = make_distillation(project)
    query = make_curated_query(project)
    first = write(distillation, query, "Rome", worker="A1")
    write(distillation, query, "The city of Rome", worker="A2")
    settle_news(distillation)
    assert status(query) == "answered"
    reject(first)
    settle_news(distillation)
    assert why(query) == "It lacks one answer: the work of A1 was rejected"
    assert pending(distillation) == {unit_of(query): 1}
    approve(first)
    settle_news(distillation)
    assert status(query) == "answered"


def test_a_refused_approval_holds_the_work_and_what_it_decided(screening, query):
    votes = screened(screening, query, FIT, FIT, FIT)
    operation = plan_decision(votes[0].assignment, MarketOperation.Kind.APPROVE, "")
    results.apply(operation, CallRefusal("RequestError", "The account is closed."))
    settle_news(screening)
    assert (status(query), pending(screening)) == ("waiting", {})
    review.release_hold(assignment=Assignment.objects.get(pk=votes[0].assignment_id), actor=None)
    settle_news(screening)
    assert status(query) == "accepted"


def test_a_closed_stage_decides_again_too(screening, query):
    votes = screened(screening, query, FIT, FIT, FLAG)
    Assignment.objects.update(state="rejected")
    Stage.objects.update(status="closed")
    screening.hits.update(state="closed")
    assert screening not in living_stages(screening.endpoint)
    approve(votes[0])
    assert screening in living_stages(screening.endpoint)


def test_what_a_person_took_out_stays_out_and_is_decided_again_when_it_is_put_back(ada, screening, query):
    votes = screened(screening, query, FIT, FIT, FLAG)
    query.refresh_from_db()
    withdraw(query=query, reason="A duplicate.", actor=ada)
    reject(votes[2])
    settle_news(screening)
    assert status(query) == "withdrawn"
    put_back(query=query, reason="It is not.", actor=ada)
    assert (query.status, status(query)) == ("waiting", "waiting")


def test_killed_between_the_rejection_and_its_consequences_the_next_round_draws_them(
    screening, query, monkeypatch
):
    votes = screened(screening, query, FIT, FIT, FLAG)
    reject(votes[2])
    from annotation import screening as service

    def killed(*_args, **_named):
        raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        broken.setattr(service, "lift_doubt", killed)
        with pytest.raises(KeyboardInterrupt):
            settle_news(screening)
    assert (status(query), Recount.objects.count()) == ("excluded", 1)
    settle_news(screening)
    assert (status(query), Recount.objects.count()) == ("waiting", 0)


@pytest.mark.django_db(transaction=True)
def test_rejections_and_rounds_at_once_leave_every_query_as_its_votes_say():
    stage = make_stage("screening", make_project())
    rich(stage)
    queries = [make_query(stage.project) for _ in range(8)]
    votes = [[vote(stage, query) for _ in range(3)] for query in queries]
    start, failed = threading.Barrier(4), []

    def run(work):
        try:
            start.wait(60)
            work()
        except BaseException as error:
            failed.append(error)
            raise
        finally:
            connections.close_all()

    def rejections():
        for some in votes[::2]:
            with transaction.atomic():
                decisions.book_rejection(some[0].assignment, at=timezone.now())

    def rounds():
        mine = Stage.objects.get(pk=stage.pk)
        for _ in range(4):
            settle_news(mine)

    threads = [threading.Thread(target=run, args=[work]) for work in (rejections, rounds, rounds, rounds)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    settle_news(Stage.objects.get(pk=stage.pk))
    assert [status(query) for query in queries] == ["waiting", "accepted"] * 4
    assert not Recount.objects.exists()


@pytest.fixture
def built_on(screening, query):
    """An accepted query for whose passages a HIT is on offer; its votes."""
    votes = screened(screening, query, FIT, FIT, NO)
    curation = make_stage("curation", screening.project)
    make_hit(curation, unit_of(query), external_id="3CURATE")
    return votes


def test_nothing_changes_silently_where_later_work_was_built_on_it(screening, query, built_on):
    reject(built_on[0])
    settle_news(screening)
    assert status(query) == "accepted"
    (found,) = doubts_about(query)
    assert found.doubt.says == "2 of 3 votes count"
    assert found.doubt.why == f"the work of {built_on[0].assignment.worker.external_id} was rejected"
    assert str(found.later) == "1 HIT on offer"
    settle_news(screening)
    assert Doubt.objects.count() == 1
    approve(built_on[0])
    settle_news(screening)
    assert (Doubt.objects.get().outcome, status(query)) == ("lifted", "accepted")


def settle_doubt(screening, built_on, how, ada):
    reject(built_on[0])
    settle_news(screening)
    how(doubt=Doubt.objects.get(), actor=ada, reason="I read it.")


def test_a_person_keeps_the_decision_and_no_vote_changes_it_again(ada, screening, query, built_on):
    settle_doubt(screening, built_on, steps.keep_decision, ada)
    assert (status(query), why(query)) == ("accepted", "Stays as it is: I read it.")
    reject(built_on[1])
    settle_news(screening)
    assert (status(query), Doubt.objects.get().outcome) == ("accepted", "kept")
    with pytest.raises(CrowdError, match="settled in the meantime"):
        steps.ask_again(doubt=Doubt.objects.get(), actor=ada, reason="No.")


def test_a_person_has_people_asked_again_or_leaves_the_query_out(ada, screening, query, built_on, subtests):
    with apart(subtests, outcome="again"):
        settle_doubt(screening, built_on, steps.ask_again, ada)
        assert (status(query), pending(screening)) == ("waiting", {unit_of(query): 1})
        event = Event.objects.get(action="query.doubt_settled")
        assert (event.actor, event.details) == (ada, {"outcome": "again", "why": "I read it."})
    settle_doubt(screening, built_on, steps.leave_out, ada)
    assert status(query) == "excluded"


def test_passages_that_are_chosen_again_take_no_answers_to_the_old_ones_along(ada, project):
    curation = make_stage("curation", project, redundancy=1)
    query = make_query(project, status="accepted")
    make_candidates(query, "It is 100 degrees.", "It is wet.")
    chosen = select(curation, query, "p1")
    settle_news(curation)
    distillation = make_distillation(project, redundancy=1)
    answer = write(distillation, query, "A hundred", worker="A1")
    settle_news(distillation)
    reject(chosen)
    settle_news(curation)
    (found,) = doubts_about(query)
    assert (status(query), str(found.later)) == ("answered", "1 answer, 1 HIT on offer")
    steps.ask_again(doubt=found.doubt, actor=ada, reason="It was made up.")
    assert status(query) == "accepted"
    answer.refresh_from_db()
    assert (answer.state, answer.reviews.get().reason) == (
        Answer.State.EXCLUDED,
        "The passages are chosen again: It was made up.",
    )
    select(curation, query, "p2")
    settle_news(curation)
    assert (status(query), keys_of(query)) == ("curated", ["p2"])


def by_hand(decide, query, ada, reason="I read it."):
    query.refresh_from_db()
    decide(query=query, reason=reason, actor=ada)


def test_a_query_is_accepted_by_hand_against_its_votes_and_stays_so(ada, screening, query):
    votes = screened(screening, query, FIT, FIT, FLAG)
    by_hand(accept_by_hand, query, ada, "It is no secret.")
    assert status(query) == "accepted"
    step = QueryStep.objects.filter(query=query).last()
    assert (step.actor, step.reason, step.before) == (ada, "It is no secret.", "excluded")
    reject(votes[0])
    settle_news(screening)
    assert status(query) == "accepted"
    assert not Doubt.objects.exists()


def test_a_decision_by_hand_is_taken_back_and_the_votes_decide(ada, screening, query):
    votes = screened(screening, query, FIT, FIT, FLAG)
    by_hand(accept_by_hand, query, ada)
    reject(votes[2])
    settle_news(screening)
    by_hand(take_back, query, ada)
    assert (query.status, query.by_hand) == ("waiting", False)
    with pytest.raises(CrowdError, match="no decision by hand"):
        by_hand(take_back, query, ada)


def test_of_two_decisions_by_hand_the_last_is_taken_back_first(ada, screening, query):
    by_hand(accept_by_hand, query, ada)
    by_hand(exclude_by_hand, query, ada)
    by_hand(take_back, query, ada)
    assert (query.status, query.by_hand) == ("accepted", True)


def test_an_acceptance_that_was_used_is_not_taken_back(ada, project, query):
    by_hand(accept_by_hand, query, ada)
    make_hit(make_stage("curation", project), unit_of(query), external_id="3CURATE")
    with pytest.raises(CrowdError, match="Later work is built on its acceptance"):
        by_hand(take_back, query, ada)
    by_hand(exclude_by_hand, query, ada)
    assert query.status == "excluded"


def test_many_are_decided_about_at_once_and_one_that_cannot_be_stops_no_other(ada, project):
    queries = [make_query(project, status=each) for each in ("excluded", "waiting", "curated")]
    foreign = make_query(make_project())
    chosen = [each.pk for each in (*queries, foreign)]
    done = decide_chosen(project=project, queries=chosen, decision="accept", reason="All fine.", actor=ada)
    assert len(done.done) == 2
    ((_, words),) = done.refused
    assert words == "This query is curated, being answered; that cannot be done with it."
    assert [status(each) for each in queries] == ["accepted", "accepted", "curated"]
    assert status(foreign) == "waiting"
    assert Event.objects.filter(action="query.accepted", actor=ada).count() == 2


def test_what_cannot_be_asked_for_changes_nothing(ada, project, query, subtests):
    for given, words in [
        ({"reason": " "}, "Say why"),
        ({"queries": []}, "Nothing is chosen"),
        ({"queries": range(300)}, "at most 200"),
        ({"decision": "burn"}, "Choose what to do"),
    ]:
        with apart(subtests, given=given, words=words):
            wish = {"queries": [query.pk], "decision": "exclude", "reason": "No."} | given
            with pytest.raises(CrowdError, match=words):
                decide_chosen(project=project, actor=ada, **wish)
            assert status(query) == "waiting"
