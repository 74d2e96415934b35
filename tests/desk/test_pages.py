"""What the desk shows and does, page by page."""

from datetime import timedelta

import pytest
from django.utils import timezone

from core.projects.models import Membership, Project
from crowd.desk.work import Answer
from crowd.models import Assignment, Exclusion, Hit, LedgerEntry, MarketOperation, Stage, Worker
from tests.desk.conftest import HOSTILE, at, make_hit, make_stage, make_unknown, make_work
from tests.saving import messages_of, save

pytestmark = pytest.mark.django_db


def test_staff_without_projects_read_how_to_begin(client, django_user_model):
    client.force_login(django_user_model.objects.create_user("staff", is_staff=True))
    assert "Your first project" in client.get("/desk/projects/").content.decode()


@pytest.mark.long
def test_mistakes_in_a_project_are_named_beside_their_fields(owner, project):
    empty = {"from": "empty", "step": "make"}
    answer = owner.post("/desk/new-project/", empty | {"slug": "no slug", "title": "", "budget": "-1"})
    assert answer.status_code == 422
    assert set(answer.context["form"].errors) == {"slug", "title", "budget"}
    answer = owner.post("/desk/new-project/", empty | {"slug": "reading", "title": "x", "budget": "1.00"})
    assert "already a project" in answer.content.decode()


def test_a_new_project_belongs_to_who_made_it_and_its_budget_never_goes_below_what_is_spent(
    owner, project, people
):
    Project.objects.update(spent_cents=500)
    fields = {"title": "Reading", "language": "en", "wage_floor": "10.00"}
    answer = save(owner, "/desk/projects/reading/edit/", fields | {"budget": "4.99"})
    assert answer.status_code == 422
    assert "More than that is already spent or reserved." in answer.content.decode()
    save(owner, "/desk/projects/reading/edit/", fields | {"budget": "5.00"})
    assert Project.objects.get().budget_cents == 500
    owner.post("/desk/projects/reading/members/set/", {"username": "stranger", "role": "viewer"})
    assert Membership.objects.get(user=people["stranger"]).role == "viewer"
    place = f"/desk/projects/reading/members/{people['owner'].pk}/remove/"
    answer = owner.post(place, follow=True)
    assert messages_of(answer)[-1:] == ["A project keeps at least one owner; name another one first."]
    answer = owner.post(
        "/desk/projects/reading/members/set/", {"username": HOSTILE, "role": "owner"}, follow=True
    )
    assert messages_of(answer)[-1].startswith("There is no user")
    assert "<script>alert" not in answer.content.decode()
    sent = {"slug": "second", "title": "Second", "language": "en", "wage_floor": "12.00", "budget": "50"}
    sent |= {"from": "empty", "step": "make"}
    answer = owner.post("/desk/new-project/", sent)
    assert answer.headers["Location"] == "/desk/projects/second/"
    made = Project.objects.get(slug="second")
    assert (made.budget_cents, made.wage_floor_cents) == (5000, 1200)
    assert made.memberships.get().role == "owner"


def form_data(**changes):
    return {
        "config.question": "Which?",
        "config.options": "tea\nmilk",
        "config.items": "one\ntwo",
        "config.checks": '"say tea" = "tea"',
        "task.title": "Which?",
        "task.description": "One question.",
        "task.keywords": "",
        "slug": "drinks",
        "title": "Drinks",
        "endpoint": "local",
        "reward": "0.10",
        "redundancy": "3",
        "units_per_hit": "2",
        "max_hits_per_worker": "",
        "budget": "20.00",
        "work_time": "30m",
        "open_for": "7d",
        "auto_approve_after": "3d",
        "checks_per_hit": "1",
        "approve": "by-hand",
        "hold_failed_checks": "on",
        "eligibility": '[{kind = "country", op = "In", values = ["US", "DE"]}]',
        "seed": "5",
    } | changes


def test_without_a_marketplace_the_page_says_how_to_add_one(manager, project):
    assert "crowd endpoint add" in manager.get("/desk/projects/reading/new-stage/").content.decode()


def test_a_stage_is_made_from_the_form_with_the_options_of_its_kind(owner, project, endpoint):
    answer = owner.post("/desk/projects/reading/new-stage/?kind=poll", form_data())
    assert answer.headers["Location"] == "/desk/projects/reading/stages/drinks/"
    made = Stage.objects.get()
    assert made.config == {
        "question": "Which?",
        "options": ["tea", "milk"],
        "items": ["one", "two"],
        "checks": {"say tea": "tea"},
    }
    assert (made.reward_cents, made.budget_cents, made.work_seconds) == (10, 2000, 1800)
    assert (made.approve_at_once, made.hold_failed_checks, made.status) == (False, True, "draft")
    assert made.eligibility[0]["values"] == ["US", "DE"]
    assert not MarketOperation.objects.exists()


def test_a_mistake_in_a_stage_stands_beside_its_field(owner, project, endpoint):
    for field, entered, words in [
        ("config.question", "", "missing"),
        ("config.options", "only one", "at least 2"),
        ("config.checks", "say tea = tea", "no TOML"),
        ("config.checks", '"x" = "\\u0000"', "NUL"),
        ("eligibility", "[{kind = 1}]", "kind"),
        ("reward", "ten cents", "two decimals"),
        ("reward", "0.001", "two decimals"),
        ("redundancy", "0", "at least 1"),
        ("redundancy", "many", "whole number"),
        ("work_time", "soon", "no duration"),
        ("endpoint", "nowhere", "valid choice"),
        ("task.title", "x" * 129, "at most 128"),
        ("slug", "a b", ""),
    ]:
        answer = owner.post("/desk/projects/reading/new-stage/?kind=poll", form_data(**{field: entered}))
        errors = answer.context["form"].errors
        assert (answer.status_code, list(errors)) == (422, [field]), entered
        assert words in str(errors[field])
        assert not Stage.objects.exists()


def test_saving_a_stage_as_it_is_changes_nothing_also_in_lists_that_lines_would_spoil(owner, stage):
    form = owner.get(at("edit_stage", stage)).context["form"]
    sent = {name: form[name].value() for name in form.fields if form[name].value() not in (None, False)}
    before = Stage.objects.values().get()
    assert owner.post(at("edit_stage", stage), sent).status_code == 302
    assert Stage.objects.values().get() == before
    Stage.objects.update(config={**stage.config, "items": ["two\nlines", " spaces ", "[bracket"]})
    form = owner.get(at("edit_stage", stage)).context["form"]
    sent = {name: form[name].value() for name in form.fields if form[name].value() not in (None, False)}
    assert owner.post(at("edit_stage", stage), sent).status_code == 302
    assert Stage.objects.get().config["items"] == ["two\nlines", " spaces ", "[bracket"]


def test_once_opened_the_terms_of_a_stage_stay(owner, stage):
    Stage.objects.update(status="open", opened_at=timezone.now())
    make_hit(stage)
    form = owner.get(at("edit_stage", stage)).context["form"]
    for name in ("reward", "endpoint", "units_per_hit", "config.question", "slug"):
        assert form.fields[name].disabled
    sent = {name: form[name].value() for name in form.fields if form[name].value() not in (None, False)}
    sent |= {"reward": "9.99", "config.question": "Another?", "redundancy": "4"}
    assert save(owner, at("edit_stage", stage), sent).status_code == 302
    changed = Stage.objects.get()
    assert (changed.reward_cents, changed.config["question"], changed.redundancy) == (10, "Which?", 4)


def test_a_manager_makes_stages_and_an_owner_gives_them_money(manager, owner, project, endpoint):
    manager.post("/desk/projects/reading/new-stage/?kind=poll", form_data())
    made = Stage.objects.get()
    assert made.budget_cents == 0
    save(owner, at("stage", made), {"budget": "7.50"}, to=at("set_stage_budget", made))
    assert Stage.objects.get().budget_cents == 750


def test_the_quote_stands_before_the_button_and_looking_publishes_nothing(manager, stage):
    page = manager.get(at("opening", stage)).content.decode()
    assert "$0.60" in page  # two items, three people, ten cents
    assert not Hit.objects.exists()


def test_a_budget_that_is_too_small_says_so_and_has_no_button(owner, stage):
    Stage.objects.update(budget_cents=50)
    page = owner.get(at("opening", stage)).content.decode()
    assert "Publishing needs $0.72, and $0.50 is left" in page
    assert "Open and publish" not in page


@pytest.mark.long
def test_the_minutes_that_a_researcher_expects_are_kept_with_the_stage(manager, stage):
    for entered in ["0", "-1", "601", "nan", "2.55", "soon"]:
        answer = manager.post(at("expect", stage), {"minutes": entered}, follow=True)
        assert messages_of(answer)[-1].startswith("Minutes that one HIT takes:")
        assert Stage.objects.get().expected_seconds is None
    save(manager, at("opening", stage), {"minutes": "3"}, to=at("expect", stage))
    assert Stage.objects.get().expected_seconds == 180
    page = manager.get(at("opening", stage)).content.decode().split()
    page = " ".join(page)
    assert "$2.00/h" in page and "below the floor" in page
    assert "18 min" in page  # six assignments of three minutes
    assert "$2.00/h" in manager.get(at("stage", stage)).content.decode()
    save(manager, at("opening", stage), {"minutes": ""}, to=at("expect", stage))
    assert Stage.objects.get().expected_seconds is None


@pytest.mark.long
def test_expected_minutes_stand_in_the_stages_form(owner, project, endpoint):
    owner.post("/desk/projects/reading/new-stage/?kind=poll", form_data(expected_minutes="2.3"))
    made = Stage.objects.get()
    assert made.expected_seconds == 138
    assert 'value="2.3"' in owner.get(at("edit_stage", made)).content.decode()


def test_a_stage_is_opened_with_one_button_paused_closed_and_reopened(manager, stage):
    answer = manager.post(at("opening", stage), follow=True)
    assert messages_of(answer)[-1:] == ["The stage is open: 2 HITs for 6 places. They are published now."]
    assert Stage.objects.get().status == "open"
    assert MarketOperation.objects.filter(kind="publish").count() == 2
    for action, status in (("pause", "paused"), ("close", "closed"), ("reopen", "paused")):
        manager.post(at(action, stage), {"why": "lunch"})
        assert Stage.objects.get().status == status
    answer = manager.post(at("pause", stage), follow=True)
    assert "this is possible from: open" in messages_of(answer)[-1]
    assert stage.project.events.filter(action="stage.paused").get().details == {"why": "lunch"}


def test_real_money_is_spent_only_after_typing_the_amount_and_more_of_it_after_a_pause(owner, stage):
    stage.endpoint.real_money = True
    stage.endpoint.save()
    for typed in ("", "0.60", "19.99"):
        answer = owner.post(at("opening", stage), {"typed": typed}, follow=True)
        assert "Type its budget, 20.00" in messages_of(answer)[-1]
    assert not MarketOperation.objects.exists()
    owner.post(at("opening", stage), {"typed": "$20.00"})
    assert Stage.objects.get().status == "open"
    answer = owner.post(at("set_stage_budget", stage), {"budget": "90.00"}, follow=True)
    assert messages_of(answer)[-1].startswith("Pause the stage first")
    assert Stage.objects.get().budget_cents == 2000


@pytest.mark.long
def test_the_live_part_is_the_same_as_on_the_page_and_says_when_it_is_done(manager, stage):
    manager.post(at("opening", stage))
    make_work(make_hit(stage))
    part = manager.get(at("live", stage))
    assert "data-done" not in part.content.decode()
    assert "no-store" in part.headers["Cache-Control"]
    assert "<html" not in part.content.decode()
    Stage.objects.update(status="closed")
    Hit.objects.update(state="closed")
    MarketOperation.objects.update(state="confirmed")
    assert "data-done" in manager.get(at("live", stage)).content.decode()


def test_pay_below_the_floor_is_said_with_the_fair_reward(manager, stage):
    hit = make_hit(stage, places=20)
    for number in range(12):
        make_work(hit, f"A{number}", state="approved")
    page = manager.get(at("stage", stage)).content.decode()
    assert "$6.00/h" in page  # ten cents for a minute
    assert "below the floor of $10.00/h" in " ".join(page.split())
    assert "$0.17 or more" in page


@pytest.mark.long
def test_the_hit_table_is_filtered_and_sorted_by_its_address(manager, stage):
    full = make_hit(stage, places=1)
    make_work(full)
    make_hit(stage, expires_at=timezone.now() + timedelta(hours=1))
    make_hit(stage, state="closed")
    listed = lambda query: [hit.ordinal for hit in manager.get(at("hits", stage) + query).context["rows"]]  # noqa: E731
    assert listed("") == [0, 1, 2]
    assert listed("?state=closed") == [2]
    assert listed("?order=expires") == [1, 0, 2] or listed("?order=expires")[0] == 1
    assert listed("?order=answered")[0] == 0
    assert listed("?state=%00&order=nonsense&page=x") == [0, 1, 2]


def test_a_hit_gets_more_time_and_more_places_once_per_form(manager, stage):
    hit = make_hit(stage)
    manager.post(at("more_time", stage, number=0), {"hours": "24"})
    assert MarketOperation.objects.get(kind="deadline").target == f"hit:{hit.pk}"
    for _ in range(2):
        form = manager.get(at("hit", stage, number=0)).context["places_form"]
        for _ in range(2):
            manager.post(at("more_places", stage, number=0), {"places": "2", "once": form["once"].value()})
    assert MarketOperation.objects.filter(kind="extend").count() == 2
    assert Stage.objects.get().reserved_cents == 2 * 2 * 12
    once = "0f8fad5b-d9cb-469f-a165-70867728950e"
    Hit.objects.update(places=9)
    answer = manager.post(at("more_places", stage, number=0), {"places": "1", "once": once}, follow=True)
    assert "higher fee" in messages_of(answer)[-1]
    manager.post(at("expire", stage, number=0), {"once": once})
    assert MarketOperation.objects.filter(kind="close").count() == 1


@pytest.fixture
def held(stage):
    return make_work(make_hit(stage), held=True, note="Failed 1 of 1 attention checks.", failed_checks=1)


def test_the_page_of_work_shows_answers_checks_and_the_date_that_decides_by_itself(manager, stage, held):
    page = manager.get(at("assignment", stage, pk=held.pk)).content.decode()
    assert "check failed" in page
    assert "Failed 1 of 1 attention checks." in page
    assert "approves and pays it" in page
    overview = manager.get(at("stage", stage)).content.decode()
    assert "1 held assignment is approved automatically within 24 hours." in overview


@pytest.mark.long
def test_work_is_filtered_by_state_and_worker(manager, stage, held):
    make_work(held.hit, "A2")
    make_work(held.hit, "A3", state="quarantined")

    def listed(query):
        return {row.worker.external_id for row in manager.get(at("work", stage) + query).context["rows"]}

    assert listed("") == {"A1", "A2"}
    assert listed("?state=held") == {"A1"}
    assert listed("?state=quarantined") == {"A3"}
    assert listed("?state=all&worker=A2") == {"A2"}
    assert listed("?state=all&worker=%00'--") == set()


def test_work_is_approved_and_a_second_click_says_so(manager, stage, held):
    manager.post(at("approve", stage, pk=held.pk), {"note": "Thank you"})
    assert MarketOperation.objects.get().kind == "approve"
    answer = manager.post(at("approve", stage, pk=held.pk), follow=True)
    assert messages_of(answer)[-1:] == ["A decision on this work is on its way already."]
    assert MarketOperation.objects.count() == 1


def test_a_rejection_needs_a_reason(manager, stage, held):
    answer = manager.post(at("reject", stage, pk=held.pk), {"reason": "  "}, follow=True)
    assert messages_of(answer)[-1].startswith("Reason:")
    assert not MarketOperation.objects.exists()
    manager.post(at("reject", stage, pk=held.pk), {"reason": "Every answer is the first option."})
    assert MarketOperation.objects.get().kind == "reject"


def test_held_work_is_let_go(manager, stage, held):
    manager.post(at("release", stage, pk=held.pk))
    assert not Assignment.objects.get().held
    assert MarketOperation.objects.get().kind == "approve"


def test_rejected_work_is_approved_after_all(manager, stage, held):
    Assignment.objects.update(state="rejected", held=False)
    assert "Approve after all" in manager.get(at("assignment", stage, pk=held.pk)).content.decode()
    manager.post(at("override", stage, pk=held.pk), {"note": "Our mistake."})
    assert MarketOperation.objects.get().kind == "unreject"


def test_one_form_pays_one_bonus_however_often_it_is_sent(manager, stage, held):
    sent = {"amount": "0.50", "reason": "Very clear.", "once": "0f8fad5b-d9cb-469f-a165-70867728950e"}
    for _ in range(3):
        manager.post(at("bonus", stage, pk=held.pk), sent)
    operation = MarketOperation.objects.get()
    assert (operation.kind, operation.amount_cents, operation.fee_cents) == ("bonus", 50, 10)
    assert LedgerEntry.objects.get().cents == 50
    for amount in ("0", "-1", "x", "", "99999999999.00", "1.005"):
        manager.post(at("bonus", stage, pk=held.pk), {**sent, "amount": amount, "once": ""})
    assert MarketOperation.objects.count() == 1


def test_workers_are_written_to_excluded_and_compensated(manager, stage, held, project, endpoint):
    other = make_stage(project, endpoint, slug="other")
    make_work(make_hit(other), "A9")
    outsider = Worker.objects.get(external_id="A9")
    manager.post(at("message", stage), {"worker": [outsider.pk], "subject": "s", "text": "t"})
    assert not MarketOperation.objects.exists()
    other = make_work(make_hit(stage), "A2")
    manager.post(
        at("message", stage), {"worker": [held.worker_id], "subject": "Thanks", "text": "You helped a lot."}
    )
    assert MarketOperation.objects.get(kind="message").payload["workers"] == ["A1"]
    manager.post(at("message", stage), {"subject": "All", "text": "Thank you."})
    last = MarketOperation.objects.filter(kind="message").order_by("-planned_at", "-pk").first()
    assert sorted(last.payload["workers"]) == ["A1", "A2"]
    manager.post(at("exclude", stage, pk=other.worker_id), {"reason": "Many accounts."})
    assert Exclusion.objects.get().scope == f"stage:{stage.pk}"
    manager.post(
        at("compensate", stage, pk=other.worker_id), {"amount": "0.30", "reason": "Our server broke."}
    )
    assert MarketOperation.objects.get(kind="bonus").amount_cents == 30
    again = {"amount": "0.40", "reason": "Once more."}
    answer = manager.post(at("compensate", stage, pk=other.worker_id), again, follow=True)
    assert "compensated in this stage already, with $0.30" in messages_of(answer)[-1]


def test_an_operation_that_nobody_answered_waits_for_a_person(manager, stage):
    operation = make_unknown(make_hit(stage, state="planned", external_id=""))
    assert "1 operation needs your decision" in manager.get(at("stage", stage)).content.decode()
    page = manager.get(at("decisions", stage)).content.decode()
    assert operation.token in page
    assert "If it did not:" in page
    place = at("resolve", stage, operation=operation.pk)
    answer = manager.post(place, {"happened": "yes", "why": "I saw it."}, follow=True)
    assert messages_of(answer)[-1:] == ["Give the HIT's id at the marketplace."]
    answer = manager.post(place, {"happened": "yes", "ref": "3FOUND", "why": ""}, follow=True)
    assert messages_of(answer)[-1].startswith("How do you know?")
    manager.post(place, {"happened": "yes", "ref": "3FOUND", "why": "I saw it."})
    assert Hit.objects.get().external_id == "3FOUND"
    assert MarketOperation.objects.get().state == "confirmed"
    assert manager.get(at("decisions", stage)).context["cases"] == []


def test_what_did_not_happen_gives_its_money_back(manager, stage):
    manager.post(at("opening", stage))
    operation = MarketOperation.objects.filter(kind="publish").first()
    MarketOperation.objects.filter(pk=operation.pk).update(state="unknown", needs_person=True)
    before = Stage.objects.get().reserved_cents
    manager.post(at("resolve", stage, operation=operation.pk), {"happened": "no", "why": "Not in the list."})
    cost = operation.amount_cents + operation.fee_cents
    assert Stage.objects.get().reserved_cents == before - cost


@pytest.mark.long
def test_the_log_shows_request_ids(manager, stage):
    make_unknown(make_hit(stage))
    MarketOperation.objects.update(request_id="req-12345", error_code="ServiceFault", error_text=HOSTILE)
    page = manager.get(at("operations", stage) + "?state=unknown").content.decode()
    assert "req-12345" in page
    assert "<script>alert" not in page
    done = manager.get(at("operations", stage) + "?state=confirmed")
    assert done.context["rows"].paginator.count == 0


def test_what_was_filled_in_is_read_by_its_names_and_not_as_json():
    given = {"score": 4, "aspects": {"well_written": 5}, "comment": "Fine.", "flags": []}
    answer = Answer("u1", "Is tea hot?: Yes.", "unit", given, None)
    assert answer.fields == [("Score", 4), ("Well written", 5), ("Comment", "Fine.")]
    assert Answer("u2", "Is it?", "unit", "yes", None).fields == []
