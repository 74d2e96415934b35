"""Batches of a requester by the API: their list, hours, schedule, publishing and ending; and the command."""

import json
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from marketplace import clock
from marketplace.models import Activity, Batch
from tests.api.conftest import is_problem, program_of
from tests.batches import making
from tests.site import world

OFFICE = {
    "days": ["mon", "tue", "wed", "thu", "fri"],
    "opens": "09:00",
    "closes": "17:00",
    "zone": "Europe/Berlin",
}


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


def put_hours(program, at, hours):
    return program.ask("PUT", f"{at}/hours", hours, match=program.get(f"{at}/hours")["ETag"])


def test_hours_are_read_set_and_taken_away(program, at, batch):
    assert program.get(f"{at}/hours").json() == {"hours": None, "open_now": True, "opens_at": None}
    found = put_hours(program, at, OFFICE | {"days": ["fri", "mon", "tue", "wed", "thu", "mon"]}).json()
    assert found["hours"] == OFFICE | {"words": "Mon-Fri 09:00-17:00 Europe/Berlin"}
    assert found["open_now"] is (found["opens_at"] is None)
    assert program.get(at).json()["hours"] == "Mon-Fri 09:00-17:00 Europe/Berlin"
    batch.refresh_from_db()
    assert batch.hours == {
        "zone": "Europe/Berlin",
        "days": [0, 1, 2, 3, 4],
        "opens": "09:00",
        "closes": "17:00",
    }
    assert program.ask("DELETE", f"{at}/hours").status_code == 204
    assert program.get(f"{at}/hours").json()["hours"] is None
    notes = Activity.objects.filter(action="batch.hours")
    assert [note.via for note in notes] == ["api", "api"]


def test_when_it_opens_again_is_told_in_utc(program, at, monkeypatch):
    put_hours(program, at, OFFICE)
    saturday = clock.now().replace(year=2026, month=11, day=28, hour=12, minute=0, second=0, microsecond=0)
    monkeypatch.setattr(clock, "now", lambda: saturday)
    found = program.get(f"{at}/hours").json()
    assert (found["open_now"], found["opens_at"]) == (False, "2026-11-30T08:00:00Z")


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"days": []}, "days"),
        ({"days": ["someday"]}, "days.0"),
        ({"opens": "9:00"}, "opens"),
        ({"opens": "25:00"}, "opens"),
        ({"closes": "09:00"}, ""),
        ({"zone": "Mars/Olympus"}, "zone"),
        ({"zone": "../../etc/passwd"}, "zone"),
        ({"holidays": True}, "holidays"),
    ],
)
def test_hours_that_cannot_be_are_refused_by_field(program, at, batch, wrong, field):
    found = is_problem(put_hours(program, at, OFFICE | wrong), 422, "invalid")
    assert list(found["errors"]) == [field], found
    batch.refresh_from_db()
    assert batch.hours is None


def test_of_two_who_set_hours_the_second_reads_them_again(program, at):
    old = program.get(f"{at}/hours")["ETag"]
    is_problem(program.ask("PUT", f"{at}/hours", OFFICE), 428, "if_match_missing")
    put_hours(program, at, OFFICE)
    is_problem(program.ask("PUT", f"{at}/hours", OFFICE, match=old), 412, "changed_since")


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
    is_problem(put_hours(program, at, OFFICE), 422, "refused")
    is_problem(program.get(at.rpartition("/")[0] + "/999"), 404, "not_found")


def test_a_schedule_is_set_with_the_total_confirmed(program, at, batch):
    total, soon = program.get(at).json()["total_cents"], clock.now() + timedelta(days=1)
    times = {"publish_at": soon.isoformat(), "end_at": (soon + timedelta(days=1)).isoformat()}
    read = program.get(f"{at}/schedule")
    refused = program.ask("PUT", f"{at}/schedule", times, match=read["ETag"])
    assert "The total is" in is_problem(refused, 422, "refused")["detail"]
    sent = times | {"confirm_total_cents": total}
    assert program.ask("PUT", f"{at}/schedule", sent, match=read["ETag"]).json()["publish_at"] is not None
    is_problem(program.ask("PUT", f"{at}/schedule", sent, match=read["ETag"]), 412, "changed_since")


def test_the_page_of_batches_marks_those_with_hours(lab, at, program, owner, client):
    client.force_login(owner)
    page = reverse("requester:batches", args=[lab.customer_id])
    assert "Mon-Fri" not in client.get(page).content.decode()
    put_hours(program, at, OFFICE)
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

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("whenever", "Write it like"),
            ("Mon 09:00-09:00 UTC", "closes when it opens"),
            ("Mon 09:00-26:00 UTC", "not a time of day"),
            ("Blursday 09:00-10:00 UTC", "not a day"),
            ("Mon-Wed-Fri 09:00-10:00 UTC", "'Wed-Fri' is not a day"),
            ("Monster 09:00-10:00 UTC", "not a day"),
            ("Mon 09:00-10:00 Mars/Olympus", "no time zone"),
        ],
    )
    def test_what_cannot_be_is_told(self, lab, batch, text, words):
        with pytest.raises(CommandError, match=words):
            self.run("hours", lab.name, str(batch.number), "--set", text)
        assert Batch.objects.get().hours is None
