"""The same worker twice at the same moment: two clicks, two tabs, two windows."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from crowd.models import Assignment, Claim, Stage
from examples.poll.models import Vote
from tests.taskpage.world import Visitor, handed_over, make_hit, make_stage

pytestmark = pytest.mark.django_db(transaction=True)
State = Assignment.State


def at_once(*calls: Callable[[], Any]) -> list[Any]:
    """Run the calls in threads that start together; what they returned, in their order."""
    barrier = threading.Barrier(len(calls))
    results: list[Any] = [None] * len(calls)

    def run(index: int) -> None:
        try:
            barrier.wait(30)
            results[index] = calls[index]()
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(index,)) for index in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    return results


def test_two_clicks_make_one_record_and_the_same_handover():
    rosa = Visitor(make_hit(make_stage()))
    ticket = rosa.ticket()
    sent = at_once(*[lambda: Visitor(rosa.hit).send(ticket, item_0="Blue", item_1="Red")] * 6)
    assert len({str(handed_over(response)) for response in sent}) == 1
    assert rosa.row.state == State.STORED
    assert Vote.objects.count() == 2


def test_the_page_opened_in_many_tabs_is_one_assignment():
    hit = make_hit(make_stage())
    opened = at_once(*[lambda: Visitor(hit).open()] * 6)
    assert [response.status_code for response in opened] == [200] * 6
    assert Assignment.objects.count() == 1
    assert Claim.objects.count() == 2


def open_at_once_with_one_unit(*, signed: bool) -> list[int]:
    """The statuses, sorted, of four HITs with the same unit that one worker opens at the same moment."""
    stage = make_stage()
    hits = [make_hit(stage, "item:0", external_id=f"3HIT{n}") for n in range(4)]
    opened = at_once(
        *[lambda n=n: Visitor(hits[n], assignment=f"3A{n}", signed=signed).open() for n in range(4)]
    )
    return sorted(response.status_code for response in opened)


def test_hits_with_one_unit_opened_at_once_give_it_once():
    assert open_at_once_with_one_unit(signed=True) == [200, 403, 403, 403]
    assert Claim.objects.count() == 1


def test_what_nothing_proves_makes_way_but_the_unit_is_held_once():
    """An unsigned page that comes after another was given the unit takes it over, so several may see it."""
    assert 200 in open_at_once_with_one_unit(signed=False)
    holder = Claim.objects.get().assignment
    assert holder.state == State.WORKING
    assert not Assignment.objects.exclude(pk=holder.pk).exclude(state=State.ENDED).exists()


def test_the_most_hits_per_worker_hold_when_all_are_opened_at_once():
    stage = make_stage(max_hits_per_worker=2)
    Stage.objects.update(config=stage.config | {"items": ["a", "b", "c", "d"]})
    stage.refresh_from_db()
    hits = [make_hit(stage, f"item:{n}", external_id=f"3HIT{n}") for n in range(4)]
    opened = at_once(
        *[lambda n=n: Visitor(hits[n], assignment=f"3A{n}", signed=True).open() for n in range(4)]
    )
    assert sorted(response.status_code for response in opened) == [200, 200, 403, 403]


def test_drafts_and_measures_saved_at_once_lose_nothing():
    rosa = Visitor(make_hit(make_stage()))
    ticket = rosa.ticket()
    saved = at_once(
        *[
            lambda n=n: Visitor(rosa.hit).save(ticket, {f"0|f{n}": str(n)}, visit=str(n), keystrokes=1)
            for n in range(8)
        ]
    )
    assert [response.status_code for response in saved] == [200] * 8
    assert rosa.row.draft == {f"0|f{n}": str(n) for n in range(8)}
    assert rosa.row.telemetry["keystrokes"] == 8


def test_sending_and_saving_at_once_stores_one_whole_answer():
    rosa = Visitor(make_hit(make_stage()))
    ticket = rosa.ticket()
    calls = [lambda: Visitor(rosa.hit).save(ticket, {"0|choice": "Red"}) for _ in range(3)]
    sent = at_once(lambda: Visitor(rosa.hit).send(ticket, item_0="Blue", item_1="Red"), *calls)
    handed_over(sent[0])
    assert rosa.row.response == {"item:0": {"choice": "Blue"}, "item:1": {"choice": "Red"}}
