"""Qualifications of a requester: types, holders, the file of grants, requests."""

from io import BytesIO

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from marketplace.models import Message, QualificationGrant, QualificationRequest, QualificationType
from marketplace.qualifications import grants
from tests.saving import save
from tests.site import world
from tests.workbooks import write_workbook

SCHEMAS = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/"
TEST = (
    f'<QuestionForm xmlns="{SCHEMAS}2005-10-01/QuestionForm.xsd"><Question>'
    "<QuestionIdentifier>capital</QuestionIdentifier><QuestionContent><Text>What is the capital of France?"
    "</Text></QuestionContent><AnswerSpecification><FreeTextAnswer/></AnswerSpecification></Question>"
    "</QuestionForm>"
)
TYPE = {
    "name": "Reading",
    "description": "You read with care.",
    "status": "Active",
    "way": "asked",
}


@pytest.fixture
def kind(lab):
    return world.make_qualification(lab, "Reading")


@pytest.fixture
def here(at, kind):
    return lambda path="": at(f"qualifications/{kind.qualification_type_id}/{path}")


def list_grants():
    return sorted(
        (each.worker.worker_id, each.value, each.status)
        for each in QualificationGrant.objects.select_related("worker")
    )


def test_a_type_is_made_changed_and_deleted(as_owner, at, lab):
    assert "No qualification yet" in as_owner.get(at("qualifications/")).content.decode()
    made = as_owner.post(at("qualifications/new/"), TYPE)
    kind = QualificationType.objects.get()
    here = at(f"qualifications/{kind.qualification_type_id}/")
    assert made.headers["Location"] == here
    changed = TYPE | {"name": "Other", "way": "everybody", "auto_granted_value": "7", "retry_hours": "24"}
    assert save(as_owner, f"{here}edit/", changed).status_code == 302
    kind.refresh_from_db()
    assert (kind.name, kind.auto_granted, kind.auto_granted_value) == ("Reading", True, 7)
    assert kind.retry_delay_s == 86_400
    kept = as_owner.post(f"{here}edit/", changed | {"retry_hours": ""})
    assert kept.status_code == 422
    assert "cannot be taken back" in kept.content.decode()
    assert "is deleted" in as_owner.post(f"{here}delete/", follow=True).content.decode()
    assert as_owner.get(here).status_code == 404


def test_a_type_that_cannot_be_comes_back_with_what_is_wrong(as_owner, at, subtests):
    for changes, said in [
        ({"name": ""}, "Name</a>: This field is required."),
        ({"way": "test"}, "A test needs its questions."),
        ({"way": "test", "test": TEST}, "A test needs a time."),
        ({"way": "test", "test": "<a", "minutes": "5"}, "There was an error parsing the XML"),
        ({"way": "everybody", "auto_granted_value": ""}, "Write the value that everybody gets."),
        ({"retry_hours": "-1"}, "greater than or equal to 0"),
    ]:
        with subtests.test(changes=changes, said=said):
            answer = as_owner.post(at("qualifications/new/"), TYPE | changes)
            assert answer.status_code == 422
            assert said in answer.content.decode()
            assert not QualificationType.objects.exists()


def test_a_name_is_used_once(as_owner, at, kind):
    answer = as_owner.post(at("qualifications/new/"), TYPE)
    assert "You have already created a QualificationType with this name." in answer.content.decode()


def test_a_test_is_kept_unless_it_is_changed(as_owner, at):
    as_owner.post(at("qualifications/new/"), TYPE | {"way": "test", "test": TEST, "minutes": "5"})
    kind = QualificationType.objects.get()
    QualificationType.objects.update(test_duration_s=290)
    here = at(f"qualifications/{kind.qualification_type_id}/")
    form = as_owner.get(f"{here}edit/").context["form"]
    sent = {name: form[name].value() or "" for name in form.fields}
    assert save(as_owner, f"{here}edit/", sent | {"description": "Read."}).status_code == 302
    kind.refresh_from_db()
    assert (kind.description, kind.test, kind.test_duration_s) == ("Read.", TEST, 290)
    save(as_owner, f"{here}edit/", sent | {"description": "Read.", "minutes": "10"})
    kind.refresh_from_db()
    assert kind.test_duration_s == 600


def test_a_type_for_which_hits_ask_is_deleted_when_they_are_gone(as_owner, here, lab, kind):
    world.post(world.make_group(lab, requirements=[world.needs(kind)]))
    said = as_owner.post(here("delete/"), follow=True).content.decode()
    assert "will be deleted as soon as no HIT asks for it" in said
    shown = as_owner.get(here())
    assert "<dt>HIT types that ask for it</dt><dd>1</dd>" in shown.content.decode()
    assert "Disposing" in shown.content.decode()


def test_types_of_others_do_not_exist(as_owner, at, other):
    theirs = world.make_qualification(other, "Writing")
    here = at(f"qualifications/{theirs.qualification_type_id}/")
    assert as_owner.get(here).status_code == 404
    assert as_owner.get(f"{here}edit/").status_code == 404
    for path in ("edit/", "delete/", "give/", "revoke/", "upload/"):
        assert as_owner.post(f"{here}{path}", TYPE).status_code == 404
    assert "Writing" not in as_owner.get(at("qualifications/")).content.decode()


def test_it_is_given_to_several_by_their_ids_or_to_none(as_owner, here, rosa, ben):
    said = as_owner.post(
        here("give/"), {"workers": "AROSA, ABEN", "value": "3"}, follow=True
    ).content.decode()
    assert "2 workers have it with value 3 now." in said
    assert list_grants() == [("ABEN", 3, "Granted"), ("AROSA", 3, "Granted")]
    said = as_owner.post(
        here("give/"), {"workers": "AROSA ANOBODY", "value": "4"}, follow=True
    ).content.decode()
    assert "There is no worker &#x27;ANOBODY&#x27;" in said
    assert list_grants() == [("ABEN", 3, "Granted"), ("AROSA", 3, "Granted")]
    assert not Message.objects.exists()
    as_owner.post(here("give/"), {"workers": "AROSA", "value": "4", "tell": "on"})
    assert Message.objects.count() == 1


def test_it_is_taken_back_from_the_chosen_who_read_why(as_owner, here, kind, rosa, ben):
    for worker in (rosa, ben):
        grants.grant(qualification_type=kind, worker=worker, value=1, notify=False)
    assert "Choose holders first" in as_owner.post(here("revoke/"), follow=True).content.decode()
    as_owner.post(here("revoke/"), {"worker": ["AROSA", "ANOBODY", "a\0b"], "reason": "The course is over."})
    assert list_grants() == [("ABEN", 1, "Granted"), ("AROSA", 1, "Revoked")]
    assert Message.objects.get().body == "The course is over."
    page = as_owner.get(here("?status=Revoked"))
    assert [row.worker for row in page.context["rows"]] == [rosa]


def upload(as_owner, here, text: str | bytes, name: str = "grants.csv") -> str:
    body = text if isinstance(text, bytes) else text.encode()
    return as_owner.post(
        here("upload/"), {"file": SimpleUploadedFile(name, body)}, follow=True
    ).content.decode()


def test_the_file_of_holders_comes_back_changed(as_owner, here, kind, rosa, ben):
    for worker in (rosa, ben):
        grants.grant(qualification_type=kind, worker=worker, value=1, notify=False)
    file = b"".join(as_owner.get(here("?format=csv&status=all&order=worker")).streaming_content).decode()
    assert file.splitlines()[0] == "worker,simulated,value,status,granted,reason"
    world.make_worker("carl")
    changed = file.replace("ABEN,no,1,Granted", "ABEN,no,-5,Granted").replace(
        "AROSA,no,1,Granted", "AROSA,no,1,Revoked"
    )
    said = upload(as_owner, here, changed + "ACARL,no,,,,\n")
    assert "2 given or changed, 1 taken back, 0 as before. No messages were sent." in said
    assert (
        "Read as: worker from worker; status from status; value from value; utf-8; separated by commas"
        in said
    )
    assert "Columns that were not read: simulated, granted, reason. 3 rows read = 3 used" in said
    assert list_grants() == [("ABEN", -5, "Granted"), ("ACARL", 1, "Granted"), ("AROSA", 1, "Revoked")]
    again = upload(as_owner, here, changed + "ACARL,no,,,,\n")
    assert "0 given or changed, 0 taken back, 3 as before. No messages were sent." in again
    assert "3 rows read = 0 used + 0 merged + 3 identical repeats" in again


def test_a_file_with_a_mistake_changes_nothing_and_says_where_it_is(as_owner, here, rosa, subtests):
    for text, said in [
        ("", "The submitted file is empty."),
        ("name\nAROSA\n", "line 1: no column is called “worker”"),
        ("worker\nAROSA\nANOBODY\n", "Line 3: there is no worker &#x27;ANOBODY&#x27;"),
        ("worker,value\nAROSA,many\n", "line 2: value &#x27;many&#x27; is not a whole number"),
        ("worker,value\nAROSA,99999999999\n", "line 2: value &#x27;99999999999&#x27; is not"),
        ("worker,status\nAROSA,lost\n", "line 2: status &#x27;lost&#x27; is neither Granted nor Revoked"),
        ("worker\nAROSA\nAROSA\n", "line 3: worker AROSA is in line 2 already"),
        ("worker,value\n,3\n", "line 2: it names no worker"),
        ('worker\n"AROSA\n', "line 2: a quotation mark opens here and never closes"),
        (b"worker,value\nAROSA,1\n\x00\n", "line 3"),
        (b"PK\x03\x04 and more", "grants.csv is damaged"),
    ]:
        with subtests.test(text=text, said=said):
            answer = upload(as_owner, here, text)
            assert said in answer
            assert list_grants() == []


def test_grants_are_read_from_any_table_and_it_is_said_how(as_owner, here, rosa, tmp_path):
    book = write_workbook(tmp_path / "grants.xlsx", {"Held": [["Worker", "Score"], ["AROSA", 90]]})
    assert "The file was read as a workbook, sheet &#x27;Held&#x27;." in upload(
        as_owner, here, book.read_bytes(), "grants.xlsx"
    )
    assert list_grants() == [("AROSA", 90, "Granted")]
    said = upload(
        as_owner, here, "worker;value;städte\nAROSA;7;Zürich, Köln und Düsseldorf\n".encode("cp1252")
    )
    assert "The file was read as Windows-1252 (Western Europe), a guess" in said
    assert list_grants() == [("AROSA", 7, "Granted")]
    upload(as_owner, here, b"\xef\xbb\xbfScore,Worker ID\r\n80,AROSA\r\n\r\n")
    assert list_grants() == [("AROSA", 80, "Granted")]


@pytest.mark.long
def test_a_file_of_many_lines_costs_few_queries(kind, django_assert_max_num_queries):
    from marketplace import clock
    from marketplace.heritage.workerfiles import grant_lines, open_grants
    from marketplace.models import Worker
    from marketplace.qualifications.grants import grant_many

    now = clock.now()
    Worker.objects.bulk_create(
        Worker(worker_id=f"A{number:05}", name=f"w{number}", created_at=now) for number in range(2500)
    )
    text = "worker,value\n" + "".join(f"A{number:05},{number}\n" for number in range(2500))
    with django_assert_max_num_queries(30):
        outcome = grant_many(
            qualification_type=kind, grants=grant_lines(open_grants("g.csv", BytesIO(text.encode()))), now=now
        )
    assert outcome.granted == 2500
    assert QualificationGrant.objects.get(worker__worker_id="A02499").value == 2499


def test_an_inactive_type_is_not_given(as_owner, here, kind, rosa):
    QualificationType.objects.update(status="Inactive")
    assert "can be neither asked for nor given" in as_owner.get(here()).content.decode()
    assert "Make it active first" in upload(as_owner, here, "worker\nAROSA\n")
    as_owner.post(here("give/"), {"workers": "AROSA", "value": "1"})
    assert list_grants() == []


def test_requests_are_decided_one_after_the_other(as_owner, at, kind, rosa, ben):
    first = grants.ask(worker=rosa, qualification_type=kind)
    second = grants.ask(worker=ben, qualification_type=kind)
    assert "2 requests to decide" in as_owner.get(at("qualifications/")).content.decode()
    page = as_owner.get(at("requests/"))
    assert [row.worker for row in page.context["rows"]] == [rosa, ben]
    gone = as_owner.post(at(f"requests/{first.request_id}/accept/"), {"value": "80"})
    assert gone.headers["Location"] == at(f"requests/{second.request_id}/")
    assert list_grants() == [("AROSA", 80, "Granted")]
    again = as_owner.post(at(f"requests/{first.request_id}/accept/"), {"value": "90"}, follow=True)
    assert "It was granted already." in again.content.decode()
    assert list_grants() == [("AROSA", 80, "Granted")]
    other_way = as_owner.post(at(f"requests/{first.request_id}/reject/"), {"reason": "No."}, follow=True)
    assert "It was granted meanwhile." in other_way.content.decode()
    gone = as_owner.post(at(f"requests/{second.request_id}/reject/"), {"reason": "Too early."})
    assert gone.headers["Location"] == at("requests/")
    second.refresh_from_db()
    assert (second.state, second.reason) == ("rejected", "Too early.")


def test_what_is_not_handed_in_and_what_is_others_is_not_shown(as_owner, at, lab, other, rosa):
    test = grants.QualificationTest(questions=TEST, answer_key="", duration_s=300)
    kind = world.make_qualification(lab, "Capitals")
    grants.update_qualification_type(qualification_type=kind, changes={}, test=test)
    begun = grants.ask(worker=rosa, qualification_type=kind)
    theirs = grants.ask(worker=rosa, qualification_type=world.make_qualification(other, "Writing"))
    for each in (begun, theirs):
        assert as_owner.get(at(f"requests/{each.request_id}/")).status_code == 404
        assert as_owner.post(at(f"requests/{each.request_id}/accept/"), {"value": "1"}).status_code == 404
    assert not as_owner.get(at("requests/?state=all")).context["rows"].object_list
    QualificationRequest.objects.filter(pk=begun.pk).update(
        state="pending",
        submitted_at=begun.started_at,
        answer="<QuestionFormAnswers><Answer><QuestionIdentifier>capital</QuestionIdentifier>"
        "<FreeText>&lt;script&gt;</FreeText></Answer></QuestionFormAnswers>",
    )
    page = as_owner.get(at(f"requests/{begun.request_id}/")).content.decode()
    assert "capital" in page and "&lt;script&gt;" in page


def test_tables_cost_the_same_with_one_row_and_with_many(as_owner, at, here, lab, kind, queries_of):
    def more(number: int) -> None:
        worker = world.make_worker(f"w{number}")
        grants.grant(qualification_type=kind, worker=worker, value=1, notify=False)
        asked = world.make_qualification(lab, f"Kind {number}")
        grants.ask(worker=worker, qualification_type=asked)

    more(0)
    paths = [at("qualifications/"), at("requests/"), here()]
    ones = [queries_of(as_owner, path) for path in paths]
    for number in range(1, 9):
        more(number)
    assert [queries_of(as_owner, path) for path in paths] == ones
