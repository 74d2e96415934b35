"""The worker's own data as an archive."""

import csv
import io
import json
import tracemalloc
import zipfile
from datetime import timedelta

from axes.models import AccessLog
from django.test import Client

from marketplace import clock
from marketplace.accounts import people
from marketplace.heritage.worker_archive import BLOCKS, NOT_IN_PROFILE, TABLES, exported, profile
from marketplace.lifecycle import feedback
from marketplace.lifecycle.hits import return_assignment
from marketplace.models import Holding, Place, Worker
from marketplace.money import finance
from marketplace.qualifications import grants
from tests.site import world


def archive_of(client):
    answer = client.post("/profile/export")
    assert answer.status_code == 200
    return opened(answer.streaming_content), answer


def opened(pieces):
    archive = zipfile.ZipFile(io.BytesIO(b"".join(pieces)))
    assert archive.testzip() is None
    return archive


def table(archive, name):
    folder = archive.namelist()[0].split("/")[0]
    return json.loads(archive.read(f"{folder}/{name}.json"))


def a_full_life(lab, rosa):
    group = world.make_group(lab, reward_cents=35)
    return_assignment(holding=world.take(rosa, world.post(group)))
    paid = world.submit(world.take(rosa, world.post(group)), "Blue, mostly.")
    world.approve(paid, "Very clear.")
    world.bonus(paid, 50, "For the explanation.")
    world.reject(world.do(rosa, world.post(group)), "=HYPERLINK(1)")
    letter = world.write(rosa, lab, "A typo", "In line 2.", hit_type=group)
    feedback.answer(letter=letter, body="Thank you.")
    world.rate(rosa, group, 4, "Good.")
    kind = world.make_qualification(lab, "Reading", on_request=True)
    grants.ask(worker=rosa, qualification_type=kind)
    finance.set_payment_note(worker=rosa, note="Rosa Lind, account 12 34")
    people.block(requester=lab, worker=rosa, reason="Too fast.")
    return paid


def test_the_archive_holds_everything_about_the_worker(lab, rosa, as_rosa):
    paid = a_full_life(lab, rosa)
    archive, answer = archive_of(as_rosa)
    assert answer["Content-Type"] == "application/zip"
    assert f'filename="distillery-{rosa.worker_id}-' in answer["Content-Disposition"]
    assert [row["state"] for row in table(archive, "assignments")] == ["returned", "approved", "rejected"]
    done = table(archive, "assignments")[1]
    assert done["assignment_id"] == paid.assignment_id
    assert "Blue, mostly." in done["answer"]
    assert (done["feedback"], done["reward_cents"], done["requester"]) == ("Very clear.", 35, "Answer Lab")
    assert [(row["kind"], row["cents"]) for row in table(archive, "earnings")] == [
        ("reward", 35),
        ("bonus", 50),
    ]
    assert table(archive, "bonuses")[0]["reason"] == "For the explanation."
    assert table(archive, "messages")[0]["answer_to"] == "A typo"
    assert table(archive, "letters")[0]["body"] == "In line 2."
    assert (table(archive, "ratings")[0]["stars"], table(archive, "ratings")[0]["words"]) == (4, "Good.")
    assert table(archive, "qualifications")[0]["name"] == "Reading"
    head, *rows = csv.reader(io.StringIO(archive.read(f"{rosa.worker_id}/assignments.csv").decode()))
    assert rows[2][head.index("feedback")] == "'=HYPERLINK(1)"
    assert table(archive, "assignments")[2]["feedback"] == "=HYPERLINK(1)"
    told = table(archive, "profile")
    assert told["account"]["username"] == "rosa"
    assert told["how_to_be_paid"] == "Rosa Lind, account 12 34"
    assert (told["worker"]["worker_id"], told["worker"]["approved_count"]) == (rosa.worker_id, 1)


def test_every_file_is_named_in_the_readme_and_blocks_are_not_there(lab, rosa, as_rosa):
    a_full_life(lab, rosa)
    archive, _ = archive_of(as_rosa)
    names = {name.split("/")[1] for name in archive.namelist()}
    words = archive.read(f"{rosa.worker_id}/README.txt").decode()
    for each in TABLES:
        assert {f"{each.name}.json", f"{each.name}.csv"} <= names
        assert each.name in words
    assert "blocks.json" not in names
    assert "ask the operator" in words
    assert not any(b"Too fast." in archive.read(name) for name in archive.namelist())
    archive = opened(exported(rosa, now=clock.now(), with_blocks=True))
    assert table(archive, "blocks")[0]["reason"] == "Too fast."
    assert "ask the operator" not in archive.read(f"{rosa.worker_id}/README.txt").decode()


def test_nothing_of_others_is_in_it(lab, rosa, ben, as_ben):
    a_full_life(lab, rosa)
    archive, _ = archive_of(as_ben)
    for each in TABLES:
        assert table(archive, each.name) == [] or each.name == "sign_ins"
    assert not any(b"rosa" in archive.read(name) for name in archive.namelist())


def test_every_table_that_knows_a_worker_is_in_the_archive_or_kept_back():
    """A new relation to workers has to be added to the export, or the test fails."""
    exports = {each.rows(Worker(pk=1)).model for each in (*TABLES, BLOCKS)}
    assert {each.related_model for each in Worker._meta.related_objects} - exports == set()


def test_the_profile_has_every_field_of_a_worker_but_keys(db):
    told = profile(world.make_worker("rosa"))["worker"]
    fields = {field.name for field in Worker._meta.concrete_fields}
    assert fields - told.keys() == set(NOT_IN_PROFILE)


def test_sign_ins_of_the_worker_are_in_it(db):
    world.make_worker("rosa")
    browser = Client(headers={"user-agent": "A browser"}, REMOTE_ADDR="192.0.2.7")
    browser.post("/accounts/login/", {"username": "rosa", "password": "wrong"})
    browser.post("/accounts/login/", {"username": "rosa", "password": "still warm copper"})
    assert AccessLog.objects.filter(username="rosa").exists()
    archive, _ = archive_of(browser)
    [row] = table(archive, "sign_ins")
    assert (row["address"], row["browser"]) == ("192.0.2.7", "A browser")


def test_a_scripted_worker_has_no_sign_ins_of_nobody(db):
    worker, _ = people.create_scripted_worker(name="robot")
    Client().post("/accounts/login/", {"password": "wrong"})
    archive = opened(exported(worker, now=clock.now()))
    assert table(archive, "sign_ins") == table(archive, "failed_sign_ins") == []
    assert table(archive, "profile")["account"] is None


def test_the_archive_is_made_in_pieces_and_in_little_memory(lab, rosa):
    hit = world.post(world.make_group(lab))
    now = clock.now()
    count, answer = 1500, "x" * 20_000
    places = Place.objects.bulk_create(
        Place(hit=hit, ordinal=number, assignment_id=f"3A{number}") for number in range(count)
    )
    Holding.objects.bulk_create(
        Holding(
            place=place,
            hit=hit,
            requester=lab,
            worker=rosa,
            assignment_id=place.assignment_id,
            state=Holding.State.RETURNED,
            accepted_at=now,
            deadline=now + timedelta(minutes=5),
            answer=f"{place.ordinal} {answer}",
        )
        for place in places
    )
    tracemalloc.start()
    try:
        longest = max(len(piece) for piece in exported(rosa, now=now))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert longest < 200_000
    assert peak < count * len(answer) / 2
