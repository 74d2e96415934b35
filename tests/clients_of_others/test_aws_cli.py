"""The aws command line: `aws mturk … --endpoint-url`, as its own reference writes the commands."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.clients import external_question
from tests.clients_of_others.running import Outside


class Aws:
    """`aws mturk` with the endpoint on its command line."""

    def __init__(self, outside: Outside) -> None:
        self.outside = outside

    def __call__(self, operation: str, *arguments: str) -> Any:
        """Run one operation; what it printed, read as the JSON it is, or None where it prints nothing."""
        done = self.run(operation, *arguments)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout) if done.stdout.strip() else None

    def refused(self, operation: str, *arguments: str) -> str:
        """Run one operation that fails; the sentence that it prints."""
        done = self.run(operation, *arguments)
        assert done.returncode == 255, (done.returncode, done.stdout, done.stderr)
        return done.stderr.strip()

    def run(self, operation: str, *arguments: str) -> Any:
        """One command."""
        return self.outside.run(
            "aws", "mturk", operation, *arguments, "--endpoint-url", self.outside.requester.api_url
        )


@pytest.fixture
def aws(outside: Outside) -> Aws:
    return Aws(outside)


def make_hit(aws: Aws, **more: Any) -> Any:
    """A HIT past the command line, whose start takes a second of a processor."""
    return aws.outside.requester.client.create_hit(
        **{"Title": "A riddle", "Description": "One picture, one word.", "Reward": "0.25"},
        **{"MaxAssignments": 2, "LifetimeInSeconds": 3600, "AssignmentDurationInSeconds": 600},
        **{"Question": external_question(), **more},
    )["HIT"]


def found(aws: Aws, hit_id: str) -> Any:
    """The HIT as it is now, past the command line too."""
    return aws.outside.requester.client.get_hit(HITId=hit_id)["HIT"]


def create(aws: Aws, *more: str) -> dict[str, Any]:
    (aws.outside.home / "question.xml").write_text(external_question(), encoding="utf-8")
    made: dict[str, Any] = aws(
        "create-hit",
        *("--title", "Lösen Sie ein Rätsel", "--description", "One picture, one word.", "--reward", "0.25"),
        *("--max-assignments", "2", "--lifetime-in-seconds", "3600"),
        *("--assignment-duration-in-seconds", "600"),
        *("--question", "file://question.xml", *more),
    )["HIT"]
    return made


def test_publish_list_approve_and_pay_a_bonus(aws, worker):
    hit = create(aws, "--keywords", "picture, word", "--requester-annotation", "batch 7")
    assert (hit["Title"], hit["HITStatus"], hit["Reward"]) == ("Lösen Sie ein Rätsel", "Assignable", "0.25")
    assert [each["HITId"] for each in aws("list-hits")["HITs"]] == [hit["HITId"]]

    taken = worker.do(hit["HITId"], word="Haus")
    listed = aws(
        "list-assignments-for-hit", "--hit-id", hit["HITId"], "--assignment-statuses", "Submitted", "Approved"
    )["Assignments"]
    assert [(each["WorkerId"], each["AssignmentStatus"]) for each in listed] == [
        (worker.worker_id, "Submitted")
    ]
    assert "<FreeText>Haus</FreeText>" in listed[0]["Answer"]

    assignment = ("--assignment-id", taken["assignment_id"])
    assert aws("approve-assignment", *assignment, "--requester-feedback", "Schön.") is None
    assert aws("get-assignment", *assignment)["Assignment"]["RequesterFeedback"] == "Schön."
    bonus = (
        *("--worker-id", worker.worker_id, *assignment, "--bonus-amount", "0.50"),
        *("--reason", "fast", "--unique-request-token", "bonus-1"),
    )
    assert aws("send-bonus", *bonus) is None
    assert "has already been processed" in aws.refused("send-bonus", *bonus)
    payments = aws("list-bonus-payments", "--hit-id", hit["HITId"])["BonusPayments"]
    assert [(each["BonusAmount"], each["Reason"]) for each in payments] == [("0.50", "fast")]
    assert aws("get-account-balance")["AvailableBalance"] == "999.00"


def test_reject_and_think_again(aws, worker):
    taken = worker.do(make_hit(aws)["HITId"])
    assignment = ("--assignment-id", taken["assignment_id"])
    aws("reject-assignment", *assignment, "--requester-feedback", "Not a word.")
    again = aws.refused("approve-assignment", *assignment)
    assert "(RequestError)" in again and "status of: Submitted" in again
    aws("approve-assignment", *assignment, "--override-rejection")
    assert aws("get-assignment", *assignment)["Assignment"]["AssignmentStatus"] == "Approved"


def test_expire_extend_and_delete(aws):
    number = make_hit(aws)["HITId"]
    hit_id = ("--hit-id", number)
    aws("create-additional-assignments-for-hit", *hit_id, "--number-of-additional-assignments", "3")
    assert found(aws, number)["MaxAssignments"] == 5
    assert "(RequestError)" in aws.refused("delete-hit", *hit_id)
    aws("update-expiration-for-hit", *hit_id, "--expire-at", "0")
    assert found(aws, number)["HITStatus"] == "Reviewable"
    aws("delete-hit", *hit_id)
    assert aws("get-hit", *hit_id)["HIT"]["HITStatus"] == "Disposed"


def test_dates_as_people_write_them(aws):
    number = make_hit(aws)["HITId"]
    hit_id = ("--hit-id", number)
    noon = datetime.now(UTC).replace(hour=12, minute=0, second=0, microsecond=0) + timedelta(days=100)
    for days, form in enumerate(("%Y-%m-%dT12:00:00Z", "%Y-%m-%dT14:00:00+02:00", "%Y-%m-%d 12:00")):
        moment = noon + timedelta(days=days)
        aws("update-expiration-for-hit", *hit_id, "--expire-at", moment.strftime(form))
        assert found(aws, number)["Expiration"] == moment
    # This generation of the command line prints times as they come over the wire.
    assert aws("get-hit", *hit_id)["HIT"]["Expiration"] == moment.timestamp()


def test_all_pages_of_a_list_come_together(aws):
    made = {make_hit(aws, RequesterAnnotation=str(number))["HITId"] for number in range(12)}
    listed = [hit["HITId"] for hit in aws("list-hits")["HITs"]]
    assert len(listed) == 12 and set(listed) == made
    first = aws("list-hits", "--max-items", "5")
    assert len(first["HITs"]) == 5
    rest = aws("list-hits", "--starting-token", first["NextToken"])
    assert [hit["HITId"] for hit in first["HITs"] + rest["HITs"]] == listed


def test_a_qualification_from_its_making_to_its_end(aws, worker):
    made = aws(
        "create-qualification-type",
        *("--name", "Reads German", "--description", "Passed our test.", "--keywords", "language"),
        *("--qualification-type-status", "Active"),
    )["QualificationType"]
    kind = ("--qualification-type-id", made["QualificationTypeId"])
    person = ("--worker-id", worker.worker_id)
    rule = {
        "QualificationTypeId": made["QualificationTypeId"],
        "Comparator": "GreaterThan",
        "IntegerValues": [50],
        "ActionsGuarded": "DiscoverPreviewAndAccept",
    }
    wanted = json.dumps([rule])
    hit = create(aws, "--qualification-requirements", wanted)
    assert worker.next(hit["HITGroupId"]) is None
    aws(
        "associate-qualification-with-worker",
        *(*kind, *person, "--integer-value", "80", "--no-send-notification"),
    )
    assert aws("get-qualification-score", *kind, *person)["Qualification"]["IntegerValue"] == 80
    assert worker.next(hit["HITGroupId"])["hit_id"] == hit["HITId"]
    holders = aws("list-workers-with-qualification-type", *kind)["Qualifications"]
    assert [each["WorkerId"] for each in holders] == [worker.worker_id]
    aws("disassociate-qualification-from-worker", *person, *kind, "--reason", "It was long ago.")
    assert "status of: Granted" in aws.refused("get-qualification-score", *kind, *person)


def test_qualification_types_are_searched(aws):
    aws(
        "create-qualification-type",
        *("--name", "Knows opera", "--description", "Listens.", "--qualification-type-status", "Active"),
    )
    listed = aws("list-qualification-types", "--no-must-be-requestable", "--must-be-owned-by-caller")
    assert [each["Name"] for each in listed["QualificationTypes"]] == ["Knows opera"]


def test_messages_and_blocks(aws, worker):
    worker.do(make_hit(aws)["HITId"])
    said = aws(
        "notify-workers",
        *("--subject", "A second part", "--message-text", "It is open now."),
        *("--worker-ids", worker.worker_id),
    )
    assert said["NotifyWorkersFailureStatuses"] == []
    aws("create-worker-block", "--worker-id", worker.worker_id, "--reason", "Copies.")
    assert [each["Reason"] for each in aws("list-worker-blocks")["WorkerBlocks"]] == ["Copies."]
    aws("delete-worker-block", "--worker-id", worker.worker_id)
    assert aws("list-worker-blocks")["WorkerBlocks"] == []


def test_a_hit_that_is_not_there(aws):
    said = aws.refused("get-hit", "--hit-id", "3" + "X" * 29)
    assert "(RequestError)" in said and "does not exist" in said


def test_the_environment_turns_it_too(outside):
    done = outside.run(
        "aws",
        *("mturk", "get-account-balance", "--query", "AvailableBalance", "--output", "text"),
        AWS_ENDPOINT_URL_MTURK=outside.requester.api_url,
    )
    assert (done.returncode, done.stdout.strip()) == (0, "1000.00"), done.stderr
