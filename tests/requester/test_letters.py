"""Messages of a requester: letters of workers, and ratings without names."""

import csv
import io

from django.utils import timezone

from marketplace.lifecycle import feedback
from marketplace.models import Letter, Message, Worker
from tests.site import world
from tests.site.conftest import signed_in


def at(lab, path=""):
    return f"/requester/{lab.customer_id}/{path}"


def body(response):
    return b"".join(response.streaming_content).decode() if response.streaming else response.content.decode()


def rated(lab, *stars, words="", title="Answer a question"):
    group = world.make_group(lab, title)
    for number, each in enumerate(stars):
        worker = world.make_worker(f"w{group.pk}n{number}")
        world.do(worker, world.post(group))
        world.rate(worker, group, each, f"{words} {number}" if words else "")
    return group


def test_letters_are_listed_by_state_and_found_by_words(lab, rosa, ben, as_owner):
    one = world.write(rosa, lab, "Why rejected?", "I read both passages.")
    two = world.write(ben, lab, "A typo")
    feedback.mark_read(letter=two)
    shown = as_owner.get(at(lab, "letters/"))
    assert list(shown.context["rows"]) == [one]
    assert "1 waits for you" in body(shown)
    assert list(as_owner.get(at(lab, "letters/?state=read")).context["rows"]) == [two]
    assert list(as_owner.get(at(lab, "letters/?state=all&q=both+passages")).context["rows"]) == [one]
    assert list(as_owner.get(at(lab, "letters/?state=all&q=ABEN")).context["rows"]) == [two]


def test_an_answer_goes_to_the_inbox_of_the_worker_and_the_letter_is_answered(lab, rosa, as_owner):
    letter = world.write(rosa, lab, "Why rejected?")
    page = as_owner.post(at(lab, f"letters/{letter.pk}/"), {"body": "  "})
    assert "This field is required." in body(page)
    assert not Message.objects.exists()
    letter.refresh_from_db()
    assert letter.answered_at is None
    page = as_owner.post(at(lab, f"letters/{letter.pk}/"), {"body": "By mistake. Sorry."}, follow=True)
    assert "Your answer is in the inbox" in body(page)
    message = Message.objects.get(worker=rosa)
    assert (message.subject, message.body, message.answers) == (
        "Re: Why rejected?",
        "By mistake. Sorry.",
        letter,
    )
    letter.refresh_from_db()
    assert letter.answered_at
    assert letter.read_at
    assert list(as_owner.get(at(lab, "letters/?state=answered")).context["rows"]) == [letter]
    assert "By mistake. Sorry." in body(as_owner.get(at(lab, f"letters/{letter.pk}/")))
    assert "By mistake. Sorry." in body(signed_in(rosa.user).get("/inbox/sent"))


def test_a_letter_is_put_away_and_brought_back(lab, rosa, as_owner):
    letter = world.write(rosa, lab)
    as_owner.post(at(lab, f"letters/{letter.pk}/settle"))
    letter.refresh_from_db()
    assert letter.read_at
    as_owner.post(at(lab, f"letters/{letter.pk}/settle"), {"open": "1"})
    letter.refresh_from_db()
    assert letter.read_at is None


def test_a_letter_shows_the_assignment_it_is_about(lab, rosa, as_owner):
    group = world.make_group(lab)
    holding = world.do(rosa, world.post(group))
    world.reject(holding, "This copies the passage.")
    letter = world.write(rosa, lab, hit_type=group, assignment_id=holding.assignment_id)
    page = body(as_owner.get(at(lab, f"letters/{letter.pk}/")))
    assert holding.assignment_id in page
    assert f'href="/requester/{lab.customer_id}/work/{holding.pk}/"' in page
    assert f'href="/requester/{lab.customer_id}/hits/{holding.hit.hit_id}/"' in page
    assert "This copies the passage." in page


def test_letters_of_another_requester_do_not_exist(lab, rosa, as_owner):
    other = world.make_requester("Another Lab")
    letter = world.write(rosa, other)
    assert as_owner.get(at(lab, f"letters/{letter.pk}/")).status_code == 404
    assert as_owner.post(at(lab, f"letters/{letter.pk}/"), {"body": "Hello"}).status_code == 404
    assert as_owner.post(at(lab, f"letters/{letter.pk}/settle")).status_code == 404
    assert as_owner.get(at(other, "letters/")).status_code == 404
    letter.refresh_from_db()
    assert letter.read_at is None


def test_letters_stay_text_on_the_page_and_in_the_file(lab, rosa, as_owner):
    letter = world.write(rosa, lab, "=HYPERLINK(1)", "<script>alert(1)</script>")
    assert "<script>alert" not in body(as_owner.get(at(lab, f"letters/{letter.pk}/")))
    [_, row] = csv.reader(io.StringIO(body(as_owner.get(at(lab, "letters/?format=csv")))))
    assert row[2:4] == ["'=HYPERLINK(1)", "<script>alert(1)</script>"]


def test_the_list_costs_the_same_with_one_letter_and_with_twenty(lab, rosa, as_owner, queries_of):
    world.write(rosa, lab)
    one = queries_of(as_owner, at(lab, "letters/"))
    Letter.objects.bulk_create(
        Letter(requester=lab, worker=rosa, subject=f"More {n}", body="…", sent_at=timezone.now())
        for n in range(20)
    )
    assert queries_of(as_owner, at(lab, "letters/")) == one


def test_ratings_come_with_their_spread_and_words_and_without_names(lab, as_owner):
    rated(lab, 5, 4, 4, words="Fair")
    page = as_owner.get(at(lab, "ratings/"))
    [row] = page.context["rows"]
    assert (row.count, round(row.mean, 2)) == (3, 4.33)
    assert [(stars, count) for stars, count, _ in row.bars] == [(5, 1), (4, 2), (3, 0), (2, 0), (1, 0)]
    assert row.comments == ["Fair 0", "Fair 1", "Fair 2"]
    for worker_id in Worker.objects.values_list("worker_id", flat=True):
        assert worker_id not in body(page)


def test_few_ratings_are_kept_back(lab, as_owner):
    rated(lab, 1, 1, words="Slow")
    page = as_owner.get(at(lab, "ratings/"))
    [row] = page.context["rows"]
    assert (row.count, row.mean, row.spread, row.comments) == (2, None, (0, 0, 0, 0, 0), [])
    assert "Slow" not in body(page)
    assert "Slow" not in body(as_owner.get(at(lab, "ratings/?format=csv")))


def test_ratings_are_sorted_with_those_that_are_kept_back_last(lab, as_owner):
    low, high = rated(lab, 1, 2, 1, title="Low"), rated(lab, 5, 5, 4, title="High")
    few = rated(lab, 5, title="Few")
    shown = as_owner.get(at(lab, "ratings/?order=mean")).context["rows"]
    assert [row.hit_type for row in shown] == [high, low, few]


def test_ratings_cost_the_same_with_one_group_and_with_three(lab, as_owner, queries_of):
    rated(lab, 5, 5, 5)
    one = queries_of(as_owner, at(lab, "ratings/"))
    rated(lab, 4, 4, 4, title="Second")
    rated(lab, 3, 3, 3, title="Third")
    assert queries_of(as_owner, at(lab, "ratings/")) == one
