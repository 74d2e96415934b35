"""FileUploadAnswer and GetFileUploadURL: files of workers, from the form of the task to the requester."""

import re
import time
import uuid
from xml.etree import ElementTree

import pytest

from tests.clients import ask
from tests.conformance.protocol import ANSWERS_SCHEMA, assignments, create_hit, refused, refused_request

SCHEMA = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2005-10-01/QuestionForm.xsd"
PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20
PAGE = b"<!doctype html><script>alert(1)</script>" + b"x" * 100


def question(least=10, most=100_000, required=True):
    return (
        f'<QuestionForm xmlns="{SCHEMA}"><Question><QuestionIdentifier>photo</QuestionIdentifier>'
        f"<IsRequired>{str(required).lower()}</IsRequired>"
        "<QuestionContent><Text>A photo</Text></QuestionContent>"
        f"<AnswerSpecification><FileUploadAnswer><MaxFileSizeInBytes>{most}</MaxFileSizeInBytes>"
        f"<MinFileSizeInBytes>{least}</MinFileSizeInBytes></FileUploadAnswer></AnswerSpecification></Question>"
        "<Question><QuestionIdentifier>words</QuestionIdentifier><IsRequired>true</IsRequired>"
        "<QuestionContent>"
        "<Text>What is it?</Text></QuestionContent>"
        "<AnswerSpecification><FreeTextAnswer/></AnswerSpecification>"
        "</Question></QuestionForm>"
    )


def send(address, fields, files=()):
    """Post a form as a browser does that has no script."""
    boundary = uuid.uuid4().hex
    parts = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
        for name, value in fields
    ]
    for name, file_name, content in files:
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"; filename="{file_name}"'
        parts.append(f"{head}\r\nContent-Type: image/png\r\n\r\n".encode() + content + b"\r\n")
    body = b"".join(parts) + f"--{boundary}--\r\n".encode()
    return ask("POST", address, body, {"Content-Type": f"multipart/form-data; boundary={boundary}"})


@pytest.fixture
def task(client, worker):
    """A HIT that asks for a file, taken by a worker; the address of its form."""

    def take(**limits):
        hit = create_hit(client, Question=question(**limits))
        taken = worker.accept(hit["HITId"])
        page = ask("GET", taken["frame_url"]).text
        assert 'enctype="multipart/form-data"' in page and 'type="file"' in page
        [action] = re.findall(r'action="([^"]+)"', page)
        worker.in_hand.pop(taken["assignment_id"])
        return hit, taken, action

    return take


def test_a_file_is_taken_named_in_the_answer_and_lent_for_a_minute(client, task):
    hit, taken, action = task()
    answer = send(action, [("answer:words", "a cat")], [("file:photo", "../cat “1”.png", PNG)])
    assert answer.status == 200, answer.text
    [assignment] = assignments(client, hit)
    root = ElementTree.fromstring(assignment["Answer"])
    facts = {each.tag.rpartition("}")[2]: each.text for each in root[0]}
    assert root.tag == f"{{{ANSWERS_SCHEMA}}}QuestionFormAnswers"
    assert facts["QuestionIdentifier"] == "photo" and facts["UploadedFileSizeInBytes"] == str(len(PNG))
    assert re.fullmatch("[0-9a-f]{32}", facts["UploadedFileKey"])

    named = {"AssignmentId": taken["assignment_id"], "QuestionIdentifier": "photo"}
    url = client.get_file_upload_url(**named)["FileUploadURL"]
    lent = ask("GET", url)
    assert (lent.status, lent.body) == (200, PNG)
    assert lent.headers["content-type"] == "image/png"
    assert lent.headers["content-disposition"].startswith("attachment")
    assert lent.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in lent.headers["content-security-policy"]
    assert ask("GET", f"{url}x").status == 403
    with refused("ParameterValidationError", stem="words"):
        client.get_file_upload_url(**named | {"QuestionIdentifier": "words"})
    client.approve_assignment(AssignmentId=taken["assignment_id"])
    client.delete_hit(HITId=hit["HITId"])
    with refused_request("HITDoesNotExist"):
        client.get_file_upload_url(**named)
    assert ask("GET", url).status == 404


def test_what_a_browser_would_run_is_sent_as_bytes(client, task):
    _, taken, action = task()
    assert send(action, [("answer:words", "a page")], [("file:photo", "page.html", PAGE)]).status == 200
    url = client.get_file_upload_url(AssignmentId=taken["assignment_id"], QuestionIdentifier="photo")
    lent = ask("GET", url["FileUploadURL"])
    assert lent.headers["content-type"] == "application/octet-stream" and lent.body == PAGE
    assert lent.headers["content-disposition"].startswith("attachment")


def test_limits_of_the_question_count_and_a_file_is_not_asked_for_twice(client, task):
    hit, _, action = task(least=100, most=6_000)
    for content, says in (
        (b"x" * 50, "at least 100"),
        (b"x" * 7_000, "at most 6,000"),
        (None, "Choose a file"),
    ):
        files = [] if content is None else [("file:photo", "a.png", content)]
        answer = send(action, [("answer:words", "x")], files)
        assert answer.status == 422 and says in answer.text
    # The file is right and the words are missing: it is kept, and taken with the words.
    answer = send(action, [("answer:words", "")], [("file:photo", "cat.png", PNG)])
    assert answer.status == 422 and "Uploaded: <bdi>cat.png</bdi>" in answer.text
    assert send(action, [("answer:words", "now")]).status == 200
    [assignment] = assignments(client, hit)
    assert f"<UploadedFileSizeInBytes>{len(PNG)}</UploadedFileSizeInBytes>" in assignment["Answer"]
    assert send(action, [("answer:words", "again")], [("file:photo", "b.png", PNG)]).status in (200, 409)
    assert assignments(client, hit) == [assignment]


def test_a_file_may_be_left_out_where_it_is_not_required(client, task):
    hit, taken, action = task(required=False)
    assert send(action, [("answer:words", "none")]).status == 200
    [assignment] = assignments(client, hit)
    assert "UploadedFileKey" not in assignment["Answer"]
    with refused("ParameterValidationError"):
        client.get_file_upload_url(AssignmentId=taken["assignment_id"], QuestionIdentifier="photo")


def test_long_files_are_taken_where_the_address_asks_for_them_alone(client, task, market):
    _, taken, action = task(most=20_000_000)
    long = b"\x89PNG\r\n\x1a\n" + b"x" * 7_000_000
    assert send(action, [("answer:words", "long")], [("file:photo", "long.png", long)]).status == 200
    url = client.get_file_upload_url(AssignmentId=taken["assignment_id"], QuestionIdentifier="photo")
    assert len(ask("GET", url["FileUploadURL"]).body) == len(long)
    for path in (f"/uploads/{'x' * 20}/mturk/externalSubmit", "/mturk/externalSubmit"):
        begun = time.monotonic()
        try:
            assert send(f"{market.site_url}{path}", [], [("file:photo", "l.png", long)]).status in (400, 413)
        except OSError:
            assert time.monotonic() - begun < 30  # the server ends the connection before all is there


def test_a_file_in_progress_is_nobodys_yet(client, worker):
    hit = create_hit(client, Question=question())
    taken = worker.accept(hit["HITId"])
    with refused_request("InvalidAssignmentState"):
        client.get_file_upload_url(AssignmentId=taken["assignment_id"], QuestionIdentifier="photo")


def test_a_question_with_wrong_limits_is_refused(client):
    for least, most in ((9, 8), (-1, 8), (0, 3_000_000_000), ("", 8)):
        with refused_request("XMLParseError"):
            create_hit(client, Question=question(least=least, most=most))
