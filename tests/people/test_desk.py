"""Links on the desk: made, watched, closed; class lists; consent texts."""

import csv
import html
import io

import pytest
from django.core import mail
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from crowd.models import Stage
from crowd.selectors.wage import wage
from people import rosters
from people.errors import PeopleError
from people.models import ConsentText, Guest, RosterRow, StudyLink
from people.rosters import add_people, read_roster_file, send_letters
from people.selectors import count_visits
from tests.crowd.test_concurrency import at_once
from tests.people.test_joining import RETURNS, agree, come, do_everything
from tests.workbooks import write_workbook

pytestmark = pytest.mark.django_db


@pytest.fixture
def desk(manager, client):
    """The manager's browser."""
    client.force_login(manager, backend="django.contrib.auth.backends.ModelBackend")
    return client


def test_a_link_is_made_from_a_preset_and_closed(desk, stage):
    at = f"/desk/projects/{stage.project.slug}/people/"
    assert "Prolific by link" in desk.get(at).content.decode()
    page = desk.get(f"{at}new/?from=prolific").content.decode()
    assert 'value="PROLIFIC_PID"' in page
    form = {
        "from": "prolific", "title": "Tea", "target": f"stage:{stage.slug}", "quota": "5",
        "compensation": "panel",
        "id_parameters": "PROLIFIC_PID", "code_completed": "C1", "address_no_consent": "https://p.example.org/?c={code}",
        "address_completed": "https://app.prolific.com/submissions/complete?cc={code}",
    }  # fmt: skip
    for wrong in (
        "javascript:alert(1)",
        "https://x.example.org/{secret}",
        "https://{worker_id}.example.org/",
    ):
        assert desk.post(f"{at}new/", form | {"address_completed": wrong}).status_code == 422
    assert desk.post(f"{at}new/", form | {"target": "stage:0"}).status_code == 422
    made = desk.post(f"{at}new/", form)
    link = StudyLink.objects.get()
    assert made["Location"] == f"{at}{link.pk}/"
    assert {outcome: way["code"] for outcome, way in link.returns.items()} == {"completed": "C1"}
    assert "/join/" in desk.get(made["Location"]).content.decode()
    desk.post(f"{at}{link.pk}/close/")
    assert "Closed since" in desk.get(f"{at}{link.pk}/").content.decode()
    desk.post(f"{at}{link.pk}/quota/", {"quota": "9"})
    desk.post(f"{at}{link.pk}/reopen/")
    link.refresh_from_db()
    assert (link.quota, link.closed_at) == (9, None)


def test_the_counts_of_a_link_add_up(new_link, path_of, desk, stage):
    link = new_link(returns=RETURNS, id_parameters=["pid"])
    path = path_of(link)
    come(Client(), path, "?pid=reads")
    page = come(refuses := Client(), path, "?pid=no")
    refuses.post(f"{path}agree/", {"v": page.content.decode().split('name="v" value="')[1].split('"')[0]})
    agree(works := Client(), path, come(works, path, "?pid=%3D1%2B1"))
    do_everything(Client(), path, "?pid=done")
    counts = count_visits(link)
    assert (counts.opened, counts.total, counts.people) == (4, 4, 2)
    assert {name: number for name, number in counts.places if number} == {
        "Reading the consent page": 1, "Did not agree": 1, "Working": 1, "Done": 1,
    }  # fmt: skip
    at = f"/desk/projects/{stage.project.slug}/people/{link.pk}/"
    assert "Done" in desk.get(f"{at}live/").content.decode()
    rows = list(csv.DictReader(io.StringIO(desk.get(f"{at}visits.csv").content.decode())))
    assert len(rows) == 4
    assert {row["identity"] for row in rows} == {"reads", "no", "'=1+1", "done"}
    assert [row["consent_text_version"] for row in rows if row["outcome"] == "completed"] == ["1"]


def test_a_class_is_invited_and_its_list_tells_who_has_done_their_part(
    new_link, path_of, desk, stage, settings
):
    link = new_link()
    at = f"/desk/projects/{stage.project.slug}/people/{link.pk}/list"
    file = SimpleUploadedFile("c.csv", b"name,email\n=Ada,ada@example.org\nBo,bo@example.org\n")
    desk.post(f"{at}/", {"file": file})
    assert RosterRow.objects.count() == 2
    rows = list(csv.DictReader(io.StringIO(desk.get(f"{at}.csv").content.decode())))
    personal = {row["email"]: row["link"] for row in rows}
    client = Client()
    page = client.get(personal["ada@example.org"])
    answer = agree(client, path_of(link), page)
    assert "/task/" in answer["Location"]
    assert RosterRow.objects.get(name="=Ada").guest == Guest.objects.get()
    done = do_everything(Client(), path_of(link), f"for/{personal['bo@example.org'].split('/for/')[1]}")
    assert done.status_code == 200
    rows = list(csv.DictReader(io.StringIO(desk.get(f"{at}.csv").content.decode())))
    assert [(row["name"], row["done"], row["credit"]) for row in rows] == [
        ("'=Ada", "0", "no"),
        ("Bo", "2", "yes"),
    ]
    assert "no mail server" in desk.post(f"{at}/mail/", follow=True).content.decode()


def test_letters_go_out_once_and_their_heads_hold(new_link):
    link = new_link(title="Tea\r\nBcc: all@example.org")
    add_people(link=link, people=[("Ada\nX", "ada@example.org"), ("Bo", "bo@example.org")], actor=None)
    assert (send_letters(link, reminder=False), send_letters(link, reminder=False)) == (2, 0)
    assert (send_letters(link, reminder=True), send_letters(link, reminder=True)) == (2, 0)
    assert {len(letter.recipients()) for letter in mail.outbox} == {1}
    assert all("\n" not in letter.subject for letter in mail.outbox)
    assert mail.outbox[0].body.count("/for/") == 1


def test_a_letter_that_fails_is_due_again(new_link, monkeypatch):
    link = new_link()
    add_people(link=link, people=[("Ada", "ada@example.org")], actor=None)

    def fail(self, *args, **kwargs):
        raise OSError("away")

    with monkeypatch.context() as patched:
        patched.setattr("django.core.mail.EmailMessage.send", fail)
        with pytest.raises(OSError, match="away"):
            send_letters(link, reminder=False)
    assert send_letters(link, reminder=False) == 1


def test_a_list_that_is_wrong_is_refused_with_line_and_remedy(subtests):
    for text, words in [
        ("", "is empty"),
        ("name;mail address\n", "no column 'email'"),
        ("name,email\nAda,ada\n", "c.csv, line 2, column email: 'ada' is no e-mail address. Correct it."),
        ("name,email\nAda\n", "c.csv, line 2, column email: ''"),
        ("name,email\nAda,a@example.org\\nBcc: x@example.org\n", "line 2"),
        ('name,email\n"Ada" L,a@example.org\n', "line 2: a quoted cell goes on after its closing mark"),
        ("name,mail,e-mail\nAda,,a@example.org\n", "the email may be in any of 'mail', 'e-mail'"),
    ]:
        with subtests.test(text=text, words=words), pytest.raises(PeopleError, match=words):
            read_roster_file(io.BytesIO(text.encode()), "c.csv")


def test_a_list_is_read_from_any_table_and_says_how(desk, new_link, stage, tmp_path):
    """As spreadsheets in Western Europe write it: Windows-1252, semicolons, `sep=`, a person twice."""
    link = new_link()
    at = f"/desk/projects/{stage.project.slug}/people/{link.pk}/list/"
    text = (
        "sep=;\nStudent;Group;E-Mail\nZoë;1;zoe@example.org\nJörg;1;joerg@example.org\nZoë;1;Zoe@example.org\n"
        "Jorg;2;joerg@example.org\nRené;2;rene@example.org\n"
    )
    answer = desk.post(at, {"file": SimpleUploadedFile("c.csv", text.encode("cp1252"))}, follow=True)
    said = html.unescape(answer.content.decode())
    for sentence in (
        "3 added, 0 were on the list.",
        "Read as: name from Student; email from E-Mail; cp1252; separated by semicolons; "
        "columns named in row 2.",
        "Columns that were not read: Group.",
        "5 rows read = 3 used + 0 merged + 1 identical repeat + 1 refused.",
        "2 people are on it more than once, and added once.",
        "The first name of an address counts, not that of line 6.",
        "The encoding is Windows-1252 (Western Europe), a guess",
    ):
        assert sentence in said
    assert sorted(RosterRow.objects.values_list("name", flat=True)) == ["Jörg", "René", "Zoë"]
    workbook = write_workbook(
        tmp_path / "c.xlsx", [["name", "email"], ["Zoë", "zoe@example.org"], ["Bo", "b@x.org"]]
    )
    answer = desk.post(at, {"file": SimpleUploadedFile("c.xlsx", workbook.read_bytes())}, follow=True)
    assert "1 added, 1 were on the list. Read as: name from name" in html.unescape(answer.content.decode())


def test_a_return_address_that_no_browser_can_be_sent_to_is_refused_when_it_is_saved(new_link, subtests):
    for address, words in [
        ("https://panel.example.org/\ndone", "a blank or a line break"),
        ("https://panel.example.org/ done", "a blank or a line break"),
        ("https://ada:secret@panel.example.org/", "names a user or a password"),
        ("ftp://panel.example.org/", "must begin with https://"),
    ]:
        with subtests.test(address=address, words=words):
            with pytest.raises(PeopleError, match=f"Done: .*{words}"):
                new_link(returns={"completed": {"code": "C1", "address": address}})
            assert not StudyLink.objects.exists()


def test_a_read_only_project_gets_no_consent_text(desk, stage):
    type(stage.project).objects.update(read_only=True)
    at = f"/desk/projects/{stage.project.slug}/people/consent/"
    answer = desk.post(at, {"language": "en", "body": "Join us.", "minimum_age": "18", "step": "save"})
    assert answer.status_code == 422
    assert "is read-only" in answer.content.decode()
    assert not ConsentText.objects.exists()


def test_a_list_has_an_end_however_many_files_it_comes_in(new_link, monkeypatch):
    monkeypatch.setattr(rosters, "MOST_PEOPLE", 3)
    link = new_link()
    ada, bo, cy, di = ((name, f"{name}@example.org") for name in ("ada", "bo", "cy", "di"))
    assert add_people(link=link, people=[ada, bo], actor=None) == 2
    with pytest.raises(PeopleError, match="Make a second link for the rest"):
        add_people(link=link, people=[bo, cy, di], actor=None)
    assert RosterRow.objects.count() == 2
    assert add_people(link=link, people=[ada, cy], actor=None) == 1
    assert add_people(link=link, people=[ada, bo, cy], actor=None) == 0


@pytest.mark.django_db(transaction=True)
def test_two_who_add_to_a_list_at_once_neither_pass_its_end_nor_count_each_others(new_link, monkeypatch):
    monkeypatch.setattr(rosters, "MOST_PEOPLE", 5)
    link = new_link()

    def add(index: int) -> int:
        people = [("Ada", f"{index}-{number}@example.org") for number in range(3)]
        try:
            return add_people(link=link, people=people, actor=None)
        except PeopleError:
            return 0

    assert sorted(map(int, at_once(2, add))) == [0, 3]
    assert RosterRow.objects.filter(link=link).count() == 3
    monkeypatch.setattr(rosters, "MOST_PEOPLE", 100)
    assert at_once(4, lambda index: add(index + 2)) == [3, 3, 3, 3]


def test_a_consent_text_is_looked_at_and_saved_as_a_version(desk, stage):
    at = f"/desk/projects/{stage.project.slug}/people/consent/"
    form = {
        "language": "en",
        "body": "# Hello\r\n\r\n**You**",
        "minimum_age": "16",
        "contact": "a@example.org",
    }
    assert "<strong>You</strong>" in desk.post(at, form | {"step": "preview"}).content.decode()
    assert ConsentText.objects.count() == 0
    for _ in range(2):
        desk.post(at, form | {"step": "save"})
    assert ConsentText.objects.get().body == "# Hello\n\n**You**"
    desk.post(at, form | {"body": "Other"})
    assert ConsentText.objects.count() == 2


def test_a_study_that_pays_nothing_is_not_told_about_money(stage, new_link, manager, client):
    client.force_login(manager)
    Stage.objects.filter(pk=stage.pk).update(expected_seconds=3600)
    pages = [
        f"/desk/projects/{stage.project.slug}/stages/{stage.slug}/{page}" for page in ("", "open/", "edit/")
    ]

    def money_words() -> list[str]:
        said = " ".join(client.get(page).content.decode() for page in pages)
        return [words for words in ("fair reward", "the floor of", "$0.10", "below") if words in said]

    link = new_link(compensation="credit")
    assert money_words() == []
    assert wage(Stage.objects.get()).unpaid
    StudyLink.objects.filter(pk=link.pk).update(compensation="money")
    assert money_words() == ["fair reward", "the floor of", "$0.10", "below"]


def test_addresses_without_a_name_are_counted_and_greeted_without_one(new_link):
    roster = read_roster_file(io.BytesIO(b"name,email\nAda,a@example.org\n ,b@example.org\n"), "c.csv")
    assert "Addresses without a name, whose letters begin with “Hello,”: 1." in roster.sentences
    link = new_link()
    add_people(link=link, people=roster.people[1:], actor=None)
    assert send_letters(link, reminder=False) == 1
    assert mail.outbox[0].body.startswith("Hello,\n")
