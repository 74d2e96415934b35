"""History, earnings, inbox."""

from datetime import timedelta

from django.utils import timezone

from marketplace.lifecycle import review
from marketplace.lifecycle.hits import return_assignment
from marketplace.models import Message
from tests.site import world


def listed(client, query=""):
    page = client.get(f"/history{query}")
    return [(holding.hit.hit_type.title, holding.state) for holding in page.context["pages"]]


def bonus(holding, cents):
    return review.send_bonus(
        holding=holding,
        worker_id=holding.worker.worker_id,
        cents=cents,
        reason="Well done",
        now=timezone.now(),
    )


def message(worker, requester, subject, body="", *, days_ago=0):
    return Message.objects.create(
        worker=worker,
        requester=requester,
        subject=subject,
        body=body,
        sent_at=timezone.now() - timedelta(days=days_ago),
    )


def test_history_shows_what_became_of_every_hit(lab, rosa, ben, as_rosa):
    group = world.make_group(lab, "Answers")
    return_assignment(holding=world.take(rosa, world.post(group)))
    world.approve(world.do(rosa, world.post(group)), "Very clear, thank you.")
    world.reject(world.do(rosa, world.post(group)), "<b>This copies the passage.")
    world.reject(world.do(rosa, world.post(group)), "")
    waiting = world.do(rosa, world.post(group))
    for cents in (50, 25):
        bonus(waiting, cents)
    world.take(rosa, world.post(group))
    world.do(ben, world.post(group))
    assert [state for _, state in listed(as_rosa)] == [
        *("submitted", "rejected", "rejected", "approved", "returned"),
    ]
    page = as_rosa.get("/history").content.decode()
    assert "Very clear, thank you." in page
    assert "&lt;b&gt;This copies the passage." in page
    assert "The requester gave no reason." in page
    assert "$0.75" in page
    assert "automatic approval <time" in page


def test_history_is_filtered_by_the_url(lab, rosa, as_rosa):
    group = world.make_group(lab, "Answers")
    world.approve(world.do(rosa, world.post(group)))
    world.do(rosa, world.post(group))
    return_assignment(holding=world.take(rosa, world.post(group)))
    assert listed(as_rosa, "?state=approved") == [("Answers", "approved")]
    assert listed(as_rosa, "?state=pending") == [("Answers", "submitted")]
    assert listed(as_rosa, "?state=unfinished") == [("Answers", "returned")]
    assert listed(as_rosa, "?state=rejected") == []
    assert len(listed(as_rosa, "?state=whatever")) == 3


def test_work_whose_time_of_approval_came_is_approved_when_looked_at(lab, rosa, as_rosa):
    with world.in_the_past(days=2):
        world.do(rosa, world.post(world.make_group(lab, auto_approval_s=86_400)))
    assert [state for _, state in listed(as_rosa)] == ["approved"]
    assert "automatically, <time" in as_rosa.get("/history").content.decode()


def test_history_costs_the_same_with_one_hit_and_with_thirty(lab, rosa, as_rosa, queries_of):
    group = world.make_group(lab)
    world.do(rosa, world.post(group))
    one = queries_of(as_rosa, "/history")
    for number in range(29):
        holding = world.do(rosa, world.post(world.make_group(lab, f"group {number}")))
        bonus(holding, 5)
    assert queries_of(as_rosa, "/history") == one


def test_earnings_count_what_is_paid_what_waits_and_the_hour(lab, rosa, as_rosa):
    group = world.make_group(lab, reward_cents=100)
    with world.in_the_past(minutes=40):
        held = [world.take(rosa, world.post(group)) for _ in range(3)]
    with world.in_the_past(minutes=30):
        paid, waiting, refused = (world.submit(holding) for holding in held)
    world.approve(paid)
    bonus(paid, 50)
    world.reject(refused, "Empty.")
    total = as_rosa.get("/dashboard").context["earnings"].total
    assert (total.paid_cents, total.bonus_cents, total.pending_cents) == (100, 50, 100)
    assert (total.hits, total.rejected) == (3, 1)
    assert abs(total.seconds - 1800) <= 3
    assert abs(total.hourly_cents - 500) <= 2
    assert waiting.state == "submitted"
    page = as_rosa.get("/dashboard").content.decode()
    assert "$1.50" in page
    assert "$0.50 of it bonuses" in page


def test_earnings_stand_on_the_day_of_the_work(lab, rosa, as_rosa):
    group = world.make_group(lab, reward_cents=100)
    with world.in_the_past(days=3):
        holding = world.do(rosa, world.post(group))
    world.approve(holding)
    days = as_rosa.get("/dashboard?days=7").context["earnings"].days
    assert [day.paid_cents for day in days] == [0, 0, 0, 100, 0, 0, 0]


def test_the_period_is_chosen_in_the_url(lab, rosa, as_rosa):
    with world.in_the_past(days=40):
        world.do(rosa, world.post(world.make_group(lab, reward_cents=100, auto_approval_s=0)))
    assert as_rosa.get("/dashboard").context["earnings"].total.hits == 0
    assert as_rosa.get("/dashboard?days=90").context["earnings"].total.paid_cents == 100
    assert len(as_rosa.get("/dashboard?days=forever").context["earnings"].days) == 30
    assert "$1.00 since you joined" in as_rosa.get("/dashboard").content.decode()


def test_nobody_sees_the_earnings_of_others(lab, rosa, ben, as_ben):
    world.approve(world.do(rosa, world.post(world.make_group(lab))))
    page = as_ben.get("/dashboard")
    assert page.context["earnings"].ever_cents == 0
    assert "Nothing submitted in the last 30 days" in page.content.decode()


def test_earnings_cost_the_same_with_one_day_and_with_thirty(lab, rosa, as_rosa, queries_of):
    group = world.make_group(lab, auto_approval_s=0)
    world.do(rosa, world.post(group))
    one = queries_of(as_rosa, "/dashboard")
    for days in range(29):
        with world.in_the_past(days=days):
            world.do(rosa, world.post(group))
    assert queries_of(as_rosa, "/dashboard") == one


def test_the_inbox_counts_and_shows_messages_newest_first(lab, rosa, as_rosa):
    message(rosa, lab, "Older", days_ago=2)
    message(rosa, lab, "Newer", "Dear Rosa,\nthank you.")
    page = as_rosa.get("/inbox")
    assert [each.subject for each in page.context["pages"]] == ["Newer", "Older"]
    assert "2 unread messages" in page.content.decode()
    assert page.context["badges"].unread == 2


def test_reading_a_message_is_a_post(lab, rosa, as_rosa):
    one, two = message(rosa, lab, "One"), message(rosa, lab, "Two")
    as_rosa.get("/inbox")
    assert rosa.messages.filter(read_at=None).count() == 2
    assert as_rosa.post("/inbox", {"message": one.pk}).headers["Location"] == "/inbox"
    assert list(rosa.messages.filter(read_at=None)) == [two]
    as_rosa.post("/inbox")
    assert not rosa.messages.filter(read_at=None).exists()


def test_nobody_reads_the_messages_of_others(lab, rosa, as_ben):
    mine = message(rosa, lab, "For Rosa")
    assert "For Rosa" not in as_ben.get("/inbox").content.decode()
    as_ben.post("/inbox", {"message": mine.pk})
    mine.refresh_from_db()
    assert mine.read_at is None


def test_a_message_stays_text(lab, rosa, as_rosa):
    message(rosa, lab, "<b>Hi</b>", "<script>alert(1)</script>")
    page = as_rosa.get("/inbox").content.decode()
    assert "<b>Hi" not in page
    assert "<script>alert" not in page


def test_the_inbox_costs_the_same_with_one_message_and_with_thirty(lab, rosa, as_rosa, queries_of):
    message(rosa, lab, "One")
    one = queries_of(as_rosa, "/inbox")
    for number in range(29):
        message(rosa, lab, f"More {number}")
    assert queries_of(as_rosa, "/inbox") == one
