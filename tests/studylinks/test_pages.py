"""Links of a requester in a browser of its people: made, watched, changed, closed; classes; consent texts."""

import csv
import io

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from marketplace import members
from marketplace.models import Activity
from people.models import ConsentText, RosterRow, StudyLink
from tests.batches import making
from tests.people.test_joining import agree, come
from tests.site import world
from tests.studylinks.test_guests import do_everything, submit_task

pytestmark = pytest.mark.django_db


@pytest.fixture
def at(lab):
    """Addresses of the lab's pages."""
    return lambda path="": f"/requester/{lab.customer_id}/links/{path}"


def test_a_link_for_a_batch_is_made_from_its_page_and_closed(as_owner, at, lab):
    batch, kind = making.draft(lab), world.make_qualification(lab, "Reader")
    page = as_owner.get(f"/requester/{lab.customer_id}/batches/{batch.number}/").content.decode()
    new = f"{at('new/')}?target=batch:{batch.number}"
    assert new in page
    assert f'value="batch:{batch.number}" selected' in as_owner.get(new).content.decode()
    form = {
        "title": "Pictures", "target": f"batch:{batch.number}", "quota": "5", "compensation": "credit",
        "granted": kind.qualification_type_id, "granted_value": "4", "id_source": "leeds",
        "id_parameters": "participantId", "code_word": "plum", "code_completed": "C1",
        "secret": "a secret of sixteen", "most_per_address": "9", "most_tasks": "3", "languages": "en, de",
    }  # fmt: skip
    assert as_owner.post(at("new/"), form | {"granted": "NONE"}).status_code == 422
    assert as_owner.post(at("new/"), form | {"target": "batch:0"}).status_code == 422
    made = as_owner.post(at("new/"), form)
    link = StudyLink.objects.get()
    assert made["Location"] == at(f"{link.pk}/")
    assert (link.requester_id, link.project_id, link.target_id) == (lab.pk, None, batch.pk)
    assert (link.granted_value, link.most_tasks, link.languages) == (4, 3, ["en", "de"])
    page = as_owner.get(made["Location"]).content.decode()
    for words in ("/join/", "grants <bdi>Reader (4)</bdi>", "QR code", f"Batch {batch.number}, {batch.name}"):
        assert words in page
    assert (
        "Pictures" in as_owner.get(f"/requester/{lab.customer_id}/batches/{batch.number}/").content.decode()
    )
    as_owner.post(at(f"{link.pk}/close/"))
    assert "Closed since" in as_owner.get(made["Location"]).content.decode()
    as_owner.post(at(f"{link.pk}/reopen/"))
    as_owner.post(at(f"{link.pk}/quota/"), {"quota": "9"})
    link.refresh_from_db()
    assert (link.quota, link.closed_at) == (9, None)
    rows = Activity.objects.filter(requester=lab, action__startswith="link.").order_by("pk")
    assert [(row.action, row.actor) for row in rows] == [
        ("link.made", "olga"), ("link.closed", "olga"), ("link.reopened", "olga"), ("link.quota", "olga"),
    ]  # fmt: skip


def test_what_is_changed_holds_for_those_who_come_later(as_owner, at, hits, new_link, path_of, client, lab):
    link = new_link(returns={"completed": {"code": "C1", "address": ""}})
    page = as_owner.get(at(f"{link.pk}/edit/")).content.decode()
    assert 'value="C1"' in page
    form = {"title": "Tea", "quota": "1", "most_tasks": "1", "last_day": "", "code_completed": "C2"}
    wrong = as_owner.post(at(f"{link.pk}/edit/"), form | {"address_completed": "javascript:alert(1)"})
    assert wrong.status_code == 422
    assert as_owner.post(at(f"{link.pk}/edit/"), form)["Location"] == at(f"{link.pk}/")
    end, count = do_everything(client, path_of(link))
    assert ("C2" in end, count) == (True, 1)
    assert Client().get(path_of(link)).status_code == 403
    [row] = Activity.objects.filter(requester=lab, action="link.changed")
    assert row.details == "changed most_tasks, quota, returns, title"


def test_the_live_page_and_the_csv_say_who_came(as_owner, at, hits, new_link, path_of, client):
    link = new_link(id_parameters=["pid"], returns={"completed": {"code": "C1", "address": ""}})
    do_everything(client, path_of(link), "?pid=%3D1")
    assert "Done" in as_owner.get(at(f"{link.pk}/live/")).content.decode()
    [row] = csv.DictReader(io.StringIO(as_owner.get(at(f"{link.pk}/visits.csv")).content.decode()))
    assert (row["identity"], row["outcome"], row["tasks_finished"], row["code"]) == (
        "'=1", "completed", "2", "C1",
    )  # fmt: skip


def test_a_class_list_and_consent_texts_are_the_requesters_own(
    as_owner, at, hits, new_link, path_of, client, lab
):
    link = new_link()
    file = SimpleUploadedFile("class.csv", b"name,email\nAda,ada@example.org\n")
    as_owner.post(at(f"{link.pk}/list/"), {"file": file})
    [row] = csv.DictReader(io.StringIO(as_owner.get(at(f"{link.pk}/list.csv")).content.decode()))
    page = come(client, row["link"].removeprefix(settings.TASK_URL))
    task = agree(client, path_of(link), page)["Location"]
    assert submit_task(client, task)["Location"].startswith("/guest/")
    assert RosterRow.objects.get().guest.requester_id == lab.pk
    [row] = csv.DictReader(io.StringIO(as_owner.get(at(f"{link.pk}/list.csv")).content.decode()))
    assert (row["done"], row["credit"]) == ("1", "yes")
    page = {"language": "en", "body": "# Ours", "minimum_age": "16"}
    as_owner.post(at("consent/"), page)
    text = ConsentText.objects.order_by("-pk").first()
    assert (text.requester_id, text.project_id, text.version) == (lab.pk, None, 2)
    assert "Version 2" in as_owner.get(at("consent/")).content.decode()


def test_viewers_look_and_change_nothing(lab, at, new_link, hits):
    link = new_link()
    user = User.objects.create_user("vera", password="still warm copper")
    members.set_role(requester=lab, user=user, role="viewer")
    browser = Client()
    browser.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    for path in ("", f"{link.pk}/", f"{link.pk}/live/"):
        page = browser.get(at(path))
        assert page.status_code == 200
        assert "/join/" not in page.content.decode()
        assert f'action="{at()}' not in page.content.decode()
    for path in ("new/", "consent/", f"{link.pk}/visits.csv", f"{link.pk}/list/", f"{link.pk}/list.csv"):
        assert browser.get(at(path)).status_code == 404
    other = world.make_requester("Other Lab", owner=user)
    assert browser.get(f"/requester/{other.customer_id}/links/{link.pk}/").status_code == 404


def test_the_list_asks_the_same_of_many_links_as_of_one(as_owner, at, new_link, lab):
    batch = making.draft(lab)

    def count() -> int:
        with CaptureQueriesContext(
            connection,
        ) as queries:
            as_owner.get(at())
        return len(queries)

    new_link(target=f"batch:{batch.number}")
    new_link()
    count()
    few = count()
    for _ in range(4):
        new_link(target=f"batch:{batch.number}")
    assert count() == few
