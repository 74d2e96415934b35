"""Storage of task pages: lent to a requester's pages for one worker, kept change by change, within limits."""

import json
from datetime import timedelta
from urllib.parse import urlsplit

import pytest
from django.test import Client

from marketplace import clock
from marketplace.errors import Refusal
from marketplace.forms import pagestorage
from marketplace.forms.questions import html_question_xml
from marketplace.models import PageStorage
from marketplace.site.lookup import work_url
from tests.site import world

PAGE = html_question_xml("<form><input name=a></form>", 0)


@pytest.fixture
def holding(lab, rosa):
    return world.take(rosa, world.post(world.make_group(lab, "Look"), question=PAGE))


def keep(client, holding, *changes):
    return client.post("/tasks/storage", {"holding": holding.pk, "changes": json.dumps(changes)})


def lent(holding):
    return pagestorage.lent_to(worker_pk=holding.worker_id, requester_pk=holding.requester_id)["areas"]


def test_what_a_page_keeps_comes_with_the_next_page_of_the_requester(holding, as_rosa):
    ends = (clock.now() + timedelta(days=30)).timestamp() * 1000
    changes = [
        ["local", "seen", "</script><b>", None],
        ["cookies", "q", "1", ends],
        ["local", "x", "1", None],
    ]
    assert keep(as_rosa, holding, *changes).status_code == 204
    assert (
        keep(as_rosa, holding, ["local", "x", None, None], ["session", "s", "é\0\ud800", None]).status_code
        == 204
    )
    assert lent(holding) == {
        "local": {"seen": ["</script><b>", None]},
        "session": {"s": ["é\ufffd\ufffd", None]},
        "cookies": {"q": ["1", ends]},
    }
    frame = urlsplit(as_rosa.get(work_url(holding)).context["frame_url"])
    page = Client().get(f"{frame.path}?{frame.query}").content.decode()
    assert page.startswith("<script>var distilleryLent={")
    assert "</script><b>" not in page and "\\u003c/script>\\u003cb>" in page


def test_pages_of_another_requester_and_of_another_worker_get_nothing_of_it(holding, as_rosa, rosa):
    keep(as_rosa, holding, ["local", "secret", "1", None])
    other = world.make_requester("Other Lab")
    theirs = world.take(rosa, world.post(world.make_group(other, "Other"), question=PAGE))
    assert lent(theirs)["local"] == {}
    mine = world.take(
        world.make_worker("Paul"), world.post(world.make_group(holding.requester, "B"), question=PAGE)
    )
    assert lent(mine)["local"] == {}


def test_nothing_is_kept_for_a_holding_of_somebody_else_or_without_signing_in(holding, as_rosa, visitor):
    world.make_worker("Paul")
    other = world.take(
        world.make_worker("Quin"), world.post(world.make_group(holding.requester, "C"), question=PAGE)
    )
    assert keep(as_rosa, other, ["local", "a", "1", None]).status_code == 404
    assert keep(visitor, holding, ["local", "a", "1", None]).status_code == 302
    assert as_rosa.post("/tasks/storage", {"holding": "x", "changes": "[]"}).status_code == 400
    assert not PageStorage.objects.exists()


def test_more_than_may_be_kept_is_refused_and_changes_nothing(holding, as_rosa):
    keep(as_rosa, holding, ["local", "a", "1", None])
    most = pagestorage.MOST_CHARACTERS
    full = keep(as_rosa, holding, ["local", "b", "x" * most, None])
    assert (full.status_code, lent(holding)["local"]) == (413, {"a": ["1", None]})
    assert (
        keep(
            as_rosa, holding, ["local", None, None, None], ["local", "b", "x" * (most - 1), None]
        ).status_code
        == 204
    )


def test_changes_of_another_shape_are_refused(holding, as_rosa, subtests):
    for changes in [
        {},
        [1],
        [["local", "a", 1, None]],
        [["elsewhere", "a", "b", None]],
        [["local", "a", "b"]],
        [["local", "n" * 1001, "b", None]],
        [["local", "a", "b", 1e300]],
        [["local", "a", "b", None]] * 2001,
    ]:
        with subtests.test(changes=changes):
            body = {"holding": holding.pk, "changes": json.dumps(changes)}
            assert as_rosa.post("/tasks/storage", body).status_code == 400
            assert as_rosa.post("/tasks/storage", body | {"changes": "{"}).status_code == 400
            assert as_rosa.post("/tasks/storage", body | {"changes": "[" * 100_000}).status_code == 400
            with pytest.raises(Refusal):
                pagestorage.record_changes(
                    worker_pk=holding.worker_id, requester_pk=holding.requester_id, changes=changes
                )


def test_what_has_ended_is_not_lent(holding, as_rosa):
    past = (clock.now() - timedelta(seconds=1)).timestamp() * 1000
    keep(as_rosa, holding, ["cookies", "old", "1", past], ["cookies", "now", "1", None])
    keep(as_rosa, holding, ["session", "s", "1", None], ["local", "l", "1", None])
    assert list(lent(holding)["cookies"]) == ["now"]
    PageStorage.objects.update(changed_at=clock.now() - pagestorage.SESSION - timedelta(minutes=1))
    assert lent(holding) == {"local": {"l": ["1", None]}, "session": {}, "cookies": {}}


def test_what_no_page_has_changed_for_a_year_goes(holding, as_rosa, settings):
    keep(as_rosa, holding, ["local", "a", "1", None])
    assert pagestorage.forget_page_storage() == 0
    PageStorage.objects.update(changed_at=clock.now() - timedelta(days=366))
    settings.PAGE_STORAGE_KEPT_DAYS = 0
    assert pagestorage.forget_page_storage() == 0
    settings.PAGE_STORAGE_KEPT_DAYS = 365
    assert pagestorage.forget_page_storage() == 1
