"""The prepared query of the working page says what the models say."""

from operator import attrgetter

from marketplace.lifecycle.hits import return_assignment
from marketplace.models import Holding
from marketplace.site.records import FIELDS, find_holding
from tests.site import world


def test_it_finds_the_assignment_with_everything_the_page_shows_in_one_query(
    lab, rosa, django_assert_num_queries
):
    taken = world.take(rosa, world.post(world.make_group(lab, "Judge an answer", reward_cents=60)))
    stored = Holding.objects.select_related("worker", "hit__hit_type__requester").get(pk=taken.pk)
    with django_assert_num_queries(1):
        found = find_holding(
            user_pk=rosa.user.pk, hit_id=stored.hit.hit_id, assignment_id=stored.assignment_id
        )
        assert found == stored
        for path in FIELDS:
            assert attrgetter(path.replace("__", "."))(found) == attrgetter(path.replace("__", "."))(
                stored
            ), path


def test_it_finds_nothing_that_does_not_fit_and_the_latest_hold_of_a_place(lab, rosa):
    hit = world.post(world.make_group(lab))
    return_assignment(holding=world.take(rosa, hit))
    taken = world.take(rosa, hit)
    right = {"user_pk": rosa.user.pk, "hit_id": hit.hit_id, "assignment_id": taken.assignment_id}
    found = find_holding(**right)
    assert (found, found.hit.pending) == (taken, 1), "what it did not read is loaded when asked for"
    for change in ({"user_pk": 0}, {"hit_id": "3OTHER"}, {"assignment_id": ""}):
        assert find_holding(**(right | change)) is None
