"""Which correct answer judges see: an accepted one, the most central, and the same for all of them."""

from importlib import import_module

import pytest
from django.apps import apps as all_apps
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import Answer
from core.projects.models import Project
from core.projects.services import set_role
from crowd.kinds import kind_of
from crowd.models import Assignment, Stage
from crowd.services.publication import publish_pending
from judgments.models import ShownReferences
from judgments.units import of_candidate
from judgments.word_overlap import most_central
from tests.annotation import distilling
from tests.judgments.judging_world import make_candidate, make_query, make_stage, visitor
from tests.taskpage.world import text as words

pytestmark = pytest.mark.django_db
CENTRAL = "Natural gas is made of methane under the ground."
GIVEN = ("It is found with coal.", CENTRAL, "Methane under the ground makes natural gas.")


def shown_to(stage: Stage, candidate, worker: str = "AROSA") -> dict[str, object]:
    """The page's context of one answer."""
    unit = of_candidate(candidate.pk)
    return dict(kind_of(stage).pages(stage, [unit], stage.seed)[unit].context)


def test_the_reference_most_like_the_others_is_in_view_and_all_are_on_demand():
    stage = make_stage()
    candidate = make_candidate(make_query(stage.project, references=GIVEN))
    context = shown_to(stage, candidate)
    assert context["correct"] == [CENTRAL]
    assert sorted(context["others"]) == sorted(GIVEN)
    page = words(visitor(stage, candidate).open())
    assert page.index(CENTRAL) < page.index("All correct answers") < page.index(GIVEN[0])
    alone = make_candidate(make_query(stage.project, "another question", references=(CENTRAL,)))
    assert "All correct answers" not in words(visitor(stage, alone).open())


def test_the_most_central_shares_most_words_with_the_others_and_the_first_of_equals_wins():
    assert most_central(["a b c", "a b", "x y"]) == "a b c"
    assert most_central(["x", "y"]) == "x"
    assert most_central(["", "a b", "a c"]) == "a b"
    assert most_central(["水的沸点", "水的沸点是一百度", "今天"]) == "水的沸点"


def test_only_accepted_answers_are_shown_as_correct():
    written = distilling.make_stage(redundancy=9)
    query = distilling.make_query(written)
    state = Answer.State
    for number, kept in enumerate(state.values):
        answer = distilling.write(written, query, f"Answer that is {kept} of {number}", worker=f"A{number}")
        Answer.objects.filter(pk=answer.pk).update(state=kept)
    rejected = distilling.write(written, query, "Approved once, its work rejected", worker="A8")
    Answer.objects.filter(pk=rejected.pk).update(state=state.APPROVED)
    Assignment.objects.filter(pk=rejected.assignment_id).update(state=Assignment.State.REJECTED)
    stage = make_stage(written.project)
    page = words(visitor(stage, make_candidate(query)).open())
    assert [kept for kept in state.values if f"Answer that is {kept}" in page] == [state.APPROVED]
    assert "Approved once" not in page
    assert "All correct answers" not in page


def test_all_judges_see_what_the_first_saw_whatever_is_accepted_later():
    stage = make_stage(slug="stays", checks_per_hit=0)
    query = make_query(stage.project, references=GIVEN[:1])
    candidate = make_candidate(query)
    assert not ShownReferences.objects.exists()
    Project.objects.update(budget_cents=100_000)
    assert publish_pending(stage) == 1
    query.references = [*GIVEN, *GIVEN[1:]]
    query.save()
    assert shown_to(stage, candidate)["correct"] == [GIVEN[0]]
    kind_of(stage).freeze(stage, [of_candidate(candidate.pk)])
    assert shown_to(stage, candidate)["correct"] == [GIVEN[0]]
    other = make_stage(stage.project, slug="later")
    assert shown_to(other, candidate)["correct"] == [CENTRAL]


def test_stages_from_before_go_on_with_the_one_that_the_seed_draws():
    opened = make_stage(config={"passages": False}, opened_at=timezone.now())
    chosen = make_stage(config={"reference": "all"}, opened_at=timezone.now())
    draft = make_stage(config={})
    module = import_module("judgments.migrations.0004_drawn_reference_of_open_stages")
    module.keep_drawing(all_apps, None)
    for stage in (opened, chosen, draft):
        stage.refresh_from_db()
    assert opened.config == {"passages": False, "reference": "one"}
    assert (chosen.config, draft.config) == ({"reference": "all"}, {})


def cautions_of(stage, *references):
    """What the quote cautions of, with a query for each of these tuples of references."""
    for given in references:
        make_candidate(make_query(stage.project, references=given))
    return list(kind_of(stage).cautions(stage))


def test_the_quote_cautions_where_judges_would_see_no_correct_answer():
    (said,) = cautions_of(make_stage(), ())
    assert said.startswith("Judges are shown a correct answer, and no query has an accepted one")
    (said,) = cautions_of(make_stage(), (), GIVEN)
    assert "1 of 2 queries have no accepted one" in said
    assert not cautions_of(make_stage(config={"reference": "none"}), ())


def test_an_answer_that_waits_for_review_is_not_accepted_and_an_approved_one_is():
    distilled = distilling.make_stage()
    query = distilling.make_query(distilled)
    answer = distilling.write(distilled, query, "Rome", worker="A1")
    stage = make_stage(distilled.project)
    make_candidate(query)
    assert cautions_of(stage)
    Answer.objects.filter(pk=answer.pk).update(state="approved")
    assert not cautions_of(stage)


def test_the_pages_of_the_stage_and_of_its_opening_say_so_until_it_is_closed():
    stage = make_stage(status="draft")
    make_candidate(make_query(stage.project, references=()))
    owner = User.objects.create_user("ann")
    set_role(project=stage.project, user=owner, role="owner")
    client = Client()
    client.force_login(owner)
    page, opening = (
        reverse(name, args=[stage.project.slug, stage.slug]) for name in ("desk:stage", "desk:opening")
    )
    assert "they would judge without it" in client.get(opening).content.decode()
    assert "no query has an accepted one" in client.get(page).content.decode()
    Stage.objects.filter(pk=stage.pk).update(status="closed")
    assert "no query has an accepted one" not in client.get(page).content.decode()
