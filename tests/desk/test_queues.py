"""What waits for a decision, and how one leads to the next."""

import pytest

from crowd.models import MarketOperation, Stage
from crowd.services.endpoints import create_endpoint
from people.links import LinkPlan, make_link
from people.owners import project_owner
from tests.desk.conftest import at, make_hit, make_stage, make_unknown, make_work

pytestmark = pytest.mark.django_db

QUEUES = "/desk/projects/reading/queues/"


def held(stage, name, **fields):
    return make_work(make_hit(stage), name, held=True, failed_checks=1, **fields)


def counts(client):
    return {each.queue.name: each.count for each in client.get(QUEUES).context["waiting"]}


@pytest.mark.long
def test_the_queues_are_counted(manager, stage):
    held(stage, "A1")
    held(stage, "A2")
    make_work(make_hit(stage), "A3", state="quarantined")
    make_unknown(make_hit(stage))
    assert counts(manager) == {"held": 2, "quarantined": 1, "operations": 1}


def test_work_waits_by_hand_only_where_the_stage_says_so(manager, stage):
    make_work(make_hit(stage), "A1")
    assert counts(manager) == {}
    Stage.objects.update(approve_at_once=False)
    assert counts(manager) == {"by-hand": 1}


@pytest.mark.long
def test_without_anything_to_decide_the_page_says_what_would_come(manager, stage):
    page = manager.get(QUEUES).content.decode()
    assert "Nothing waits for you" in page
    assert "Ties in screening" in page


def test_after_a_decision_the_next_one_opens_until_none_is_left(manager, stage):
    first, second = held(stage, "A1"), held(stage, "A2")
    opened = manager.get(f"{QUEUES}held/next/")
    assert opened.headers["Location"] == at("assignment", stage, pk=first.pk) + "?queue=held"
    page = manager.get(opened.headers["Location"]).content.decode()
    assert f"{at('approve', stage, pk=first.pk)}?queue=held" in page
    answer = manager.post(f"{at('approve', stage, pk=first.pk)}?queue=held", {"note": ""}, follow=True)
    assert answer.redirect_chain[-1][0] == at("assignment", stage, pk=second.pk) + "?queue=held"
    answer = manager.post(
        f"{at('reject', stage, pk=second.pk)}?queue=held", {"reason": "Empty."}, follow=True
    )
    assert answer.redirect_chain[-1][0] == QUEUES
    assert "Nothing is left: held work." in answer.content.decode()


def test_a_refused_decision_stays_at_its_work(manager, stage):
    work = held(stage, "A1")
    answer = manager.post(f"{at('reject', stage, pk=work.pk)}?queue=held", {"reason": ""}, follow=True)
    assert answer.redirect_chain[-1][0] == at("assignment", stage, pk=work.pk) + "?queue=held"
    assert not MarketOperation.objects.exists()


def test_operations_lead_from_one_stage_to_the_next(manager, stage, project, endpoint):
    other = make_stage(project, endpoint, slug="other")
    one = make_unknown(make_hit(stage))
    make_unknown(make_hit(other))
    sent = {"happened": "no", "ref": "", "why": "Looked."}
    place = at("resolve", stage, operation=one.pk) + "?queue=operations"
    answer = manager.post(place, sent, follow=True)
    assert answer.redirect_chain[-1][0] == at("decisions", other) + "?queue=operations"


def test_viewers_see_the_counts_and_strangers_nothing(as_, stage, manager):
    held(stage, "A1")
    assert counts(as_("viewer")) == {"held": 1}
    assert as_("stranger").get(QUEUES).status_code == 404
    assert as_("stranger").get(f"{QUEUES}held/next/").status_code == 404
    assert manager.get(f"{QUEUES}nonsense/next/").status_code == 404


def steps(client):
    page = client.get("/desk/projects/reading/").content.decode()
    return page.split('id="h-next"')[1].split("</section>")[0] if 'id="h-next"' in page else ""


@pytest.mark.long
def test_a_new_project_says_what_is_next_and_ticks_it_off(owner, project, endpoint):
    shown = steps(owner)
    assert "Make a stage</a>" in shown and "Import queries</a>" in shown
    assert "<strong>Invite members</strong>" in shown  # there are three
    make_stage(project, endpoint)
    shown = steps(owner)
    assert "<strong>Make a stage</strong>" in shown
    assert "Import queries" not in shown  # a poll asks about none
    assert "/stages/poll/open/" in shown


@pytest.mark.long
def test_the_next_steps_leave_when_every_stage_was_opened(owner, project, endpoint):
    stage, other = make_stage(project, endpoint), make_stage(project, endpoint, slug="other", title="Other")
    owner.post(at("opening", stage))
    assert "Open Other</a>" in steps(owner)
    assert "Next: Open Other</a>" in owner.get(at("stage", stage)).content.decode()
    owner.post(at("opening", other))
    assert steps(owner) == ""


def test_stages_on_study_links_want_a_link_before_the_list_leaves(owner, project):
    links = create_endpoint(name="links", preset="link", access_key="", secret="")
    stage = make_stage(project, links, reward_cents=0)
    owner.post(at("opening", stage))
    assert "/people/new/" in steps(owner)
    plan = LinkPlan(title="A class", target="project:reading")
    make_link(owner=project_owner(project), plan=plan, actor=None)
    assert steps(owner) == ""
