"""Accepting, working, returning, and what comes after a submission."""

import re
from urllib.parse import parse_qs, urlsplit

from marketplace.models import HIT, Holding, Worker
from marketplace.site.taskpages import submit_signature
from tests.site import world


def work_path(holding):
    hit = holding.hit
    return f"/projects/{hit.hit_type.group_id}/tasks/{hit.hit_id}?assignment_id={holding.assignment_id}"


def test_accepting_leads_to_the_working_page(lab, rosa, as_rosa):
    group = world.make_group(lab, "Judge an answer", reward_cents=60)
    hit = world.post(group)
    answer = as_rosa.post(f"/projects/{group.group_id}/tasks/accept", {"hit_id": hit.hit_id})
    holding = Holding.objects.get(worker=rosa)
    assert answer.headers["Location"] == work_path(holding)
    page = as_rosa.get(work_path(holding))
    query = parse_qs(urlsplit(page.context["frame_url"]).query)
    assert query["assignmentId"] == [holding.assignment_id]
    assert query["workerId"] == ["AROSA"]
    [to] = query["turkSubmitTo"]
    assert to.partition("~")[0] == f"http://testserver/s/{submit_signature(holding.pk)}"
    assert "no-store" in page.headers["Cache-Control"]
    text = page.content.decode()
    assert "Judge an answer" in text and "$0.60" in text
    assert 'role="timer"' in text and f"{holding.deadline:%H:%M} UTC" in text
    assert sorted(text.split('sandbox="')[1].split('"')[0].split()) == [
        "allow-downloads",
        "allow-forms",
        "allow-modals",
        "allow-popups",
        "allow-popups-to-escape-sandbox",
        "allow-same-origin",
        "allow-scripts",
        "allow-top-navigation-by-user-activation",
    ]


def test_the_foot_of_a_task_says_how_far_one_is_and_where_one_s_work_is(lab, rosa, ben, as_rosa):
    group, elsewhere = world.make_group(lab), world.make_group(lab, "elsewhere")
    for done in (world.post(group), world.post(elsewhere)):
        world.do(rosa, done)
    world.take(ben, world.post(group))
    held = world.take(rosa, world.post(group, places=2))
    for _ in range(2):
        world.post(group)
    page = as_rosa.get(work_path(held)).content.decode()
    assert "1 HIT of this group done<" in page
    assert re.findall(r'<li><a href="([^"]+)"[^>]*>([^<]+)</a>', page) == [
        ("/history", "Your work"), ("/tasks", "Stop for now"),
    ]  # fmt: skip
    assert held.hit.hit_id in as_rosa.get("/tasks").content.decode()


def test_without_a_hit_the_next_one_is_accepted(lab, rosa, as_rosa):
    group = world.make_group(lab)
    first, second = world.post(group, places=2), world.post(group, places=2)
    world.do(rosa, first)
    as_rosa.post(f"/projects/{group.group_id}/tasks/accept")
    assert Holding.objects.get(worker=rosa, state="accepted").hit == second


def test_nothing_is_accepted_by_a_link(lab, rosa, as_rosa):
    group = world.make_group(lab)
    world.post(group)
    answer = as_rosa.get(f"/projects/{group.group_id}/tasks/accept")
    assert answer.headers["Location"] == f"/projects/{group.group_id}/tasks"
    assert not Holding.objects.exists()


def test_a_refusal_is_told_in_words_on_the_preview(lab, rosa, as_rosa, as_ben):
    group = world.make_group(lab)
    hit = world.post(group)
    world.take(rosa, hit)
    page = as_ben.post(f"/projects/{group.group_id}/tasks/accept", {"hit_id": hit.hit_id}, follow=True)
    assert page.redirect_chain[-1][0] == f"/projects/{group.group_id}/tasks"
    assert "Another person took the last place of this HIT" in page.content.decode()


def test_when_nothing_is_left_the_worker_is_back_at_the_list(lab, rosa, as_rosa):
    group = world.make_group(lab)
    page = as_rosa.post(f"/projects/{group.group_id}/tasks/accept", follow=True)
    assert page.redirect_chain[-1][0] == "/"
    assert "no HIT left in this group" in page.content.decode()


def test_a_hit_of_another_group_is_not_accepted_by_this_one(lab, as_rosa):
    group, other = world.make_group(lab, "one"), world.make_group(lab, "two")
    hit = world.post(other)
    path = f"/projects/{group.group_id}/tasks/accept"
    assert as_rosa.post(path, {"hit_id": hit.hit_id}).status_code == 404
    assert as_rosa.post(path, {"hit_id": "\0"}).status_code == 404


def test_somebody_elses_work_does_not_exist(lab, rosa, as_ben, as_staff, visitor):
    holding = world.take(rosa, world.post(world.make_group(lab)))
    assert as_ben.get(work_path(holding)).status_code == 404
    assert as_staff.get(work_path(holding)).status_code == 404
    assert as_ben.post(work_path(holding).replace("?", "/return?")).status_code == 404
    assert as_ben.get(f"/tasks/continue/{holding.pk}").status_code == 404
    assert visitor.get(work_path(holding)).headers["Location"].startswith("/accounts/login/?next=/projects/")
    holding.refresh_from_db()
    assert holding.state == "accepted"


def test_ids_that_cannot_be_are_not_found(lab, rosa, as_rosa):
    holding = world.take(rosa, world.post(world.make_group(lab)))
    path = work_path(holding).split("?")[0]
    assert as_rosa.get(f"{path}?assignment_id=%00").status_code == 404
    assert as_rosa.get(f"{path}?assignment_id=3OTHER").status_code == 404
    assert as_rosa.get(f"/tasks/continue/{10**30}").status_code == 404


def test_the_address_with_another_group_leads_to_the_right_one(lab, rosa, as_rosa):
    holding = world.take(rosa, world.post(world.make_group(lab)))
    right = work_path(holding)
    wrong = right.replace(holding.hit.hit_type.group_id, world.make_group(lab, "other").group_id)
    assert as_rosa.get(wrong).headers["Location"] == right


def test_after_the_deadline_the_page_says_that_the_time_is_over(lab, rosa, as_rosa):
    group = world.make_group(lab, duration_s=60)
    with world.in_the_past(hours=1):
        holding = world.take(rosa, world.post(group))
    text = as_rosa.get(work_path(holding)).content.decode()
    assert "The time for this HIT is over" in text
    assert "<iframe" not in text
    holding.refresh_from_db()
    assert holding.state == "abandoned"


def test_work_that_was_handed_in_or_back_is_not_opened_again(lab, rosa, as_rosa):
    group = world.make_group(lab)
    done = world.do(rosa, world.post(group))
    assert "You have submitted this HIT" in as_rosa.get(work_path(done)).content.decode()
    held = world.take(rosa, world.post(group))
    page = as_rosa.post(work_path(held).replace("?", "/return?"), {"assignment_id": held.assignment_id})
    assert page.headers["Location"] == "/"
    assert "You returned this HIT" in as_rosa.get(work_path(held)).content.decode()


def test_returning_twice_is_refused_in_words(lab, rosa, as_rosa):
    group = world.make_group(lab)
    holding = world.take(rosa, world.post(group))
    path = work_path(holding).replace("?", "/return?")
    assert "You returned the HIT." in as_rosa.post(path, follow=True).content.decode()
    assert "no longer yours to return" in as_rosa.post(path, follow=True).content.decode()
    queued = work_path(world.take(rosa, world.post(group))).replace("?", "/return?")
    assert as_rosa.post(queued, {"from": "queue"}).headers["Location"] == "/tasks"


def test_the_queue_lists_what_is_in_hand_most_urgent_first(lab, rosa, as_rosa):
    slow, fast = world.make_group(lab, "slow", duration_s=3600), world.make_group(lab, "fast", duration_s=600)
    world.take(rosa, world.post(slow))
    world.take(rosa, world.post(fast))
    world.do(rosa, world.post(fast))
    page = as_rosa.get("/tasks")
    assert [holding.hit.hit_type.title for holding in page.context["holdings"]] == ["fast", "slow"]
    assert "in 9 min" in page.content.decode()


def test_the_queue_drops_what_ran_out_of_time(lab, rosa, as_rosa):
    with world.in_the_past(hours=1):
        world.take(rosa, world.post(world.make_group(lab, duration_s=60)))
    page = as_rosa.get("/tasks")
    assert "Your queue is empty" in page.content.decode()
    assert page.context["badges"].in_queue == 0


def test_the_queue_costs_the_same_with_one_hit_and_with_twenty(lab, rosa, as_rosa, queries_of):
    group = world.make_group(lab)
    world.take(rosa, world.post(group))
    one = queries_of(as_rosa, "/tasks")
    for number in range(19):
        world.take(rosa, world.post(world.make_group(lab, f"group {number}")))
    assert queries_of(as_rosa, "/tasks") == one


def test_before_submitting_the_continue_page_leads_back_to_work(lab, rosa, as_rosa):
    holding = world.take(rosa, world.post(world.make_group(lab)))
    assert as_rosa.get(f"/tasks/continue/{holding.pk}").headers["Location"] == work_path(holding)


def test_after_submitting_the_worker_is_thanked_and_offered_the_next_one(lab, rosa, as_rosa):
    group = world.make_group(lab, reward_cents=25)
    holding = world.do(rosa, world.post(group))
    world.post(group)
    page = as_rosa.get(f"/tasks/continue/{holding.pk}").content.decode()
    assert "Thank you, your work is submitted" in page
    assert "$0.25" in page
    assert "Accept the next HIT" in page
    assert "data-at-once" not in page


def test_the_next_one_is_accepted_by_a_post_of_workers_who_want_that(lab, rosa, as_rosa):
    group = world.make_group(lab)
    holding = world.do(rosa, world.post(group))
    world.post(group)
    Worker.objects.update(accept_next=True)
    page = as_rosa.get(f"/tasks/continue/{holding.pk}").content.decode()
    assert "data-at-once" in page
    assert "at-once.js" in page
    assert Holding.objects.filter(worker=rosa).count() == 1
    world.do(rosa, HIT.objects.latest("pk"))
    page = as_rosa.get(f"/tasks/continue/{holding.pk}").content.decode()
    assert "There is nothing left for you in this group." in page
    assert "data-at-once" not in page


def test_accepting_automatically_is_switched_on_and_off(rosa, as_rosa):
    for sent, stored in (({"accept_next": "on"}, True), ({}, False)):
        assert as_rosa.post("/profile/accept-next", sent).headers["Location"] == "/profile"
        rosa.refresh_from_db()
        assert rosa.accept_next is stored


def test_the_switch_answers_scripts_briefly_and_never_leads_elsewhere(as_rosa):
    answer = as_rosa.post("/profile/accept-next", headers={"accept": "application/json"})
    assert answer.status_code == 204
    away = as_rosa.post("/profile/accept-next", {"back": "https://evil.example.org/"})
    assert away.headers["Location"] == "/profile"
    nowhere = as_rosa.post("/profile/accept-next", {"back": "[]"})
    assert nowhere.headers["Location"] == "/profile"
    back = as_rosa.post("/profile/accept-next", {"back": "/tasks"})
    assert back.headers["Location"] == "/tasks"


def test_every_page_of_a_worker_asks_visitors_to_sign_in(db, visitor):
    for path in ("/tasks", "/history", "/dashboard", "/inbox", "/profile", "/tasks/continue/1"):
        assert visitor.get(path).headers["Location"] == f"/accounts/login/?next={path}"


def test_people_who_are_no_workers_are_told_how_to_become_one(as_staff):
    for path in ("/tasks", "/history", "/dashboard", "/inbox", "/profile"):
        page = as_staff.get(path)
        assert page.status_code == 403
        assert "You are not a worker yet" in page.content.decode()
