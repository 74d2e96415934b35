"""Rating a group, and writing to its requester."""

from datetime import timedelta

import pytest

from marketplace import clock
from marketplace.errors import Refusal
from marketplace.lifecycle import feedback
from marketplace.lifecycle.hits import return_assignment
from marketplace.models import Letter, Message, Rating
from tests.site import world


def rate_by(group, *stars):
    for number, each in enumerate(stars):
        worker = world.make_worker(f"w{group.pk}n{number}")
        world.do(worker, world.post(group))
        world.rate(worker, group, each)


def test_who_submitted_a_hit_of_the_group_can_rate_it(lab, rosa, as_rosa):
    group = world.make_group(lab)
    world.do(rosa, world.post(group))
    path = f"/projects/{group.group_id}/rating"
    page = as_rosa.post(path, {"stars": "4", "words": " Clear instructions. "}, follow=True)
    assert "your rating is kept" in page.content.decode()
    rating = Rating.objects.get()
    assert (rating.worker, rating.stars, rating.words) == (rosa, 4, "Clear instructions.")
    assert "You gave 4 of 5" in page.content.decode()
    as_rosa.post(path, {"stars": "2"})
    rating.refresh_from_db()
    assert (rating.stars, rating.words) == (2, "")
    as_rosa.post(path, {"take_back": "1"})
    assert not Rating.objects.exists()
    world.reject(world.do(rosa, world.post(group)), "No.")
    assert world.rate(rosa, group, 1).stars == 1, "also after a rejection"


def test_who_did_not_submit_one_cannot(lab, rosa, as_rosa):
    group = world.make_group(lab)
    return_assignment(holding=world.take(rosa, world.post(group)))
    path = f"/projects/{group.group_id}/rating"
    assert "once you have submitted" in as_rosa.get(path).content.decode()
    as_rosa.post(path, {"stars": "1"})
    assert not Rating.objects.exists()
    with pytest.raises(Refusal, match="once you have submitted"):
        world.rate(rosa, group, 1)


def test_only_one_to_five_stars_are_taken(lab, rosa, as_rosa, subtests):
    for stars in ["0", "6", "", "good"]:
        with subtests.test(stars=stars):
            group = world.make_group(lab)
            world.do(rosa, world.post(group))
            page = as_rosa.post(f"/projects/{group.group_id}/rating", {"stars": stars})
            assert page.status_code == 200
            assert 'role="alert"' in page.content.decode()
            assert not Rating.objects.exists()


def test_the_mean_is_shown_from_three_ratings_on(lab, rosa, as_rosa):
    group = world.make_group(lab)
    world.post(group, places=9)
    rate_by(group, 5, 4)
    assert "Rated by" not in as_rosa.get("/").content.decode()
    world.do(rosa, world.post(group))
    world.rate(rosa, group, 4)
    for path in ("/", f"/projects/{group.group_id}/tasks"):
        page = as_rosa.get(path).content.decode()
        assert "Rated by 3" in page
        assert "4.3" in page


def test_groups_are_sorted_by_their_ratings_those_without_last(lab, as_rosa):
    groups = {title: world.make_group(lab, title) for title in ("Poor", "Good", "New", "Few")}
    for group in groups.values():
        world.post(group)
    rate_by(groups["Poor"], 1, 2, 1)
    rate_by(groups["Good"], 5, 5, 4)
    rate_by(groups["Few"], 5, 5)
    shown = as_rosa.get("/?sort=rating").context["groups"]
    assert [group.hit_type.title for group in shown] == ["Good", "Poor", "Few", "New"]


def test_the_list_of_groups_costs_the_same_with_one_rated_group_and_with_ten(lab, as_rosa, queries_of):
    def rated(title):
        group = world.make_group(lab, title)
        world.post(group)
        rate_by(group, 5, 5, 5)

    rated("First")
    one = queries_of(as_rosa, "/?sort=rating")
    for number in range(9):
        rated(f"group {number}")
    assert queries_of(as_rosa, "/?sort=rating") == one


def test_a_worker_writes_to_the_requester_of_a_group(lab, rosa, as_rosa):
    group = world.make_group(lab)
    holding = world.take(rosa, world.post(group))
    path = f"/projects/{group.group_id}/contact?assignment_id={holding.assignment_id}"
    assert holding.assignment_id in as_rosa.get(path).content.decode()
    page = as_rosa.post(path, {"subject": "A typo", "body": "In line 2."}, follow=True)
    assert "Your message is sent" in page.content.decode()
    letter = Letter.objects.get()
    assert (letter.requester, letter.worker, letter.hit_type) == (lab, rosa, group)
    assert (letter.assignment_id, letter.subject, letter.body) == (
        holding.assignment_id,
        "A typo",
        "In line 2.",
    )
    assert "In line 2." in as_rosa.get("/inbox/sent").content.decode()


def test_nobody_writes_about_an_assignment_of_others(lab, rosa, as_ben):
    group = world.make_group(lab)
    holding = world.take(rosa, world.post(group))
    path = f"/projects/{group.group_id}/contact?assignment_id={holding.assignment_id}"
    assert as_ben.get(path).status_code == 404
    assert as_ben.post(path, {"subject": "A", "body": "B"}).status_code == 404
    assert not Letter.objects.exists()


def test_a_form_that_is_sent_twice_is_one_letter(lab, rosa):
    assert world.write(rosa, lab) == world.write(rosa, lab)
    assert Letter.objects.count() == 1


def test_a_worker_writes_five_letters_a_day_to_one_requester(lab, rosa, as_rosa):
    group = world.make_group(lab)
    for number in range(feedback.LETTERS_A_DAY):
        world.write(rosa, lab, f"Letter {number}")
    page = as_rosa.post(f"/projects/{group.group_id}/contact", {"subject": "Six", "body": "Hello?"})
    assert "5 messages to this requester in the last 24 hours" in page.content.decode()
    assert Letter.objects.count() == feedback.LETTERS_A_DAY
    Letter.objects.update(sent_at=clock.now() - timedelta(hours=25))
    assert world.write(rosa, lab, "Six").subject == "Six"


def test_a_worker_writes_twenty_letters_a_day_to_all(rosa):
    for number in range(feedback.LETTERS_A_DAY_TO_ALL):
        world.write(rosa, world.make_requester(f"Lab {number}", dollars=0))
    with pytest.raises(Refusal, match="20 messages in the last 24 hours"):
        world.write(rosa, world.make_requester("One more", dollars=0))


@pytest.mark.parametrize(
    "form", [{"subject": "", "body": "B"}, {"subject": "A", "body": " "}, {"subject": "A" * 201, "body": "B"}]
)
def test_a_letter_needs_a_subject_and_words(lab, rosa, as_rosa, form):
    group = world.make_group(lab)
    page = as_rosa.post(f"/projects/{group.group_id}/contact", form)
    assert 'role="alert"' in page.content.decode()
    assert not Letter.objects.exists()


def test_a_message_is_replied_to(lab, rosa, as_rosa):
    group = world.make_group(lab)
    letter = world.write(rosa, lab, "A typo", hit_type=group)
    message = feedback.answer(letter=letter, body="Where?")
    page = as_rosa.get(f"/inbox/{message.pk}/reply").content.decode()
    assert "Where?" in page
    assert 'value="Re: A typo"' in page
    as_rosa.post(f"/inbox/{message.pk}/reply", {"subject": "Re: A typo", "body": "In line 2."})
    assert Letter.objects.filter(subject="Re: A typo", hit_type=group, requester=lab).exists()


def test_nobody_replies_to_messages_of_others(lab, rosa, as_ben):
    message = Message.objects.create(
        worker=rosa, requester=lab, subject="For Rosa", body="", sent_at=clock.now()
    )
    assert as_ben.get(f"/inbox/{message.pk}/reply").status_code == 404
    assert as_ben.post(f"/inbox/{message.pk}/reply", {"subject": "A", "body": "B"}).status_code == 404


def test_sent_letters_cost_the_same_with_one_and_with_five(lab, rosa, as_rosa, queries_of):
    feedback.answer(letter=world.write(rosa, lab), body="Yes.")
    one = queries_of(as_rosa, "/inbox/sent")
    for number in range(4):
        feedback.answer(letter=world.write(rosa, lab, f"Letter {number}"), body="No.")
    assert queries_of(as_rosa, "/inbox/sent") == one


def test_what_a_worker_writes_stays_text(lab, rosa, as_rosa):
    world.write(rosa, lab, "<b>Hi</b>", "<script>alert(1)</script>")
    page = as_rosa.get("/inbox/sent").content.decode()
    assert "<b>Hi" not in page
    assert "<script>alert" not in page
