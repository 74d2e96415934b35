"""Batches of a requester by the API: their list, publishing and ending; and hours by the command."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from marketplace.models import Batch
from tests.api.conftest import is_problem, program_of
from tests.batches import making
from tests.site import world


@pytest.fixture
def lab(owner):
    return world.make_requester(dollars=100, owner=owner)


@pytest.fixture
def batch(lab):
    return making.draft(lab)


@pytest.fixture
def program(owner):
    return program_of(owner)


@pytest.fixture
def at(lab, batch):
    return f"/requesters/{lab.customer_id}/batches/{batch.number}"


def test_batches_are_listed_and_published_with_the_total_confirmed(program, lab, at, batch):
    (row,) = program.get(f"/requesters/{lab.customer_id}/batches").json()["items"]
    assert (row["number"], row["state"], row["tasks"], row["hours"]) == (batch.number, "draft", 2, None)
    wrong = is_problem(program.post(f"{at}/publish", {"confirm_total_cents": 1}), 422, "amount_not_confirmed")
    assert f"The total is {row['total_cents']} cents" in wrong["detail"]
    made = program.post(f"{at}/publish", {"confirm_total_cents": row["total_cents"]}, key="k")
    assert made.json()["state"] == "publishing", made.content
    assert (
        program.post(f"{at}/publish", {"confirm_total_cents": row["total_cents"]}, key="k").json()
        == made.json()
    )
    making.run_jobs()
    found = program.get(at).json()
    assert (found["state"], found["published"], found["open"]) == ("published", 2, 2)
    assert program.post(f"{at}/cancel").status_code == 200
    making.run_jobs()
    assert program.get(at).json()["state"] == "cancelled"
    is_problem(program.get(at.rpartition("/")[0] + "/999"), 404, "not_found")


def test_the_page_of_batches_marks_those_with_hours(lab, batch, owner, client):
    client.force_login(owner)
    page = reverse("requester:batches", args=[lab.customer_id])
    assert "Mon-Fri" not in client.get(page).content.decode()
    office = {"zone": "Europe/Berlin", "days": [0, 1, 2, 3, 4], "opens": "09:00", "closes": "17:00"}
    Batch.objects.update(hours=office)
    shown = client.get(page).content.decode()
    assert '<span class="chip">hours</span>' in shown and "Mon-Fri 09:00-17:00 Europe/Berlin" in shown
    table = client.get(f"{page}?format=csv")
    assert "draft,Mon-Fri 09:00-17:00 Europe/Berlin,2" in b"".join(table).decode()


class TestTheCommand:
    def run(self, *words: str):
        out = StringIO()
        call_command("marketplace", "batch", *words, "--json", stdout=out)
        return json.loads(out.getvalue())

    def test_hours_are_shown_set_and_taken_away(self, lab, batch):
        name, number = lab.name, str(batch.number)
        assert self.run("hours", name, number)["hours"] == "at any time"
        found = self.run("hours", name, number, "--set", "mon-wed, Sat 22:00-02:00 Europe/Berlin")
        assert found["hours"] == "Mon, Tue, Wed, Sat 22:00-02:00 Europe/Berlin"
        batch.refresh_from_db()
        assert batch.hours["days"] == [0, 1, 2, 5]
        assert self.run("show", name, number)["hours"] == found["hours"]
        assert self.run("hours", name, number, "--set", found["hours"]) == found
        assert self.run("hours", name, number, "--set", "every day 08:00-00:00 UTC")["hours"].startswith(
            "Every day"
        )
        assert self.run("hours", name, number, "--set", "Sat-Mon 08:00-10:00 UTC")["hours"].startswith(
            "Mon, Sat, Sun"
        )
        assert self.run("hours", name, number, "--any-time")["open_now"] is True
        assert Batch.objects.get().hours is None

    def test_what_cannot_be_is_told(self, lab, batch):
        for text, words in (
            ("whenever", "Write it like"),
            ("Mon 09:00-09:00 UTC", "closes when it opens"),
            ("Mon 09:00-26:00 UTC", "not a time of day"),
            ("Blursday 09:00-10:00 UTC", "not a day"),
            ("Mon-Wed-Fri 09:00-10:00 UTC", "'Wed-Fri' is not a day"),
            ("Monster 09:00-10:00 UTC", "not a day"),
            ("Mon 09:00-10:00 Mars/Olympus", "no time zone"),
        ):
            with pytest.raises(CommandError, match=words):
                self.run("hours", lab.name, str(batch.number), "--set", text)
        assert Batch.objects.get().hours is None
