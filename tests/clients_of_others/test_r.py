"""R: the package paws, where this machine has it (`install.packages("paws")`); `conftest.py` looks."""

import pytest

from marketplace.forms.questions import html_question_xml
from tests.clients_of_others.running import RaisedError


def test_a_hit_from_its_making_to_its_end(outside, worker):
    page = "<form action='https://www.mturk.com/mturk/externalSubmit'><input name='word'></form>"
    with outside.rscript("client.R") as paws:
        assert paws("get_account_balance")["AvailableBalance"] == "1000.00"
        hit = paws(
            "create_hit",
            Title="Rätsel",
            Description="One word",
            Keywords="r, paws",
            Reward="0.25",
            MaxAssignments=2,
            LifetimeInSeconds=3600,
            AssignmentDurationInSeconds=600,
            Question=html_question_xml(page, 0),
            QualificationRequirements=[
                {
                    "QualificationTypeId": "00000000000000000071",
                    "Comparator": "In",
                    "LocaleValues": [{"Country": "US"}],
                    "ActionsGuarded": "Accept",
                }
            ],
        )["HIT"]
        assert (hit["Title"], hit["Reward"], hit["MaxAssignments"]) == ("Rätsel", "0.25", 2)
        assert [each["HITId"] for each in paws("list_hi_ts", MaxResults=10)["HITs"]] == [hit["HITId"]]

        worker.do(hit["HITId"], word="Haus")
        [work] = paws("list_assignments_for_hit", HITId=hit["HITId"])["Assignments"]
        assert "<FreeText>Haus</FreeText>" in work["Answer"]
        paws("approve_assignment", AssignmentId=work["AssignmentId"], RequesterFeedback="Schön.")
        bonus = {"WorkerId": worker.worker_id, "AssignmentId": work["AssignmentId"]}
        bonus |= {"BonusAmount": "0.50", "Reason": "fast", "UniqueRequestToken": "one"}
        paws("send_bonus", **bonus)
        with pytest.raises(RaisedError, match="has already been processed"):
            paws("send_bonus", **bonus)
        with pytest.raises(RaisedError, match="does not exist"):
            paws("get_hit", HITId="3" + "X" * 29)
        paws("update_expiration_for_hit", HITId=hit["HITId"], ExpireAt=0)
        paws("delete_hit", HITId=hit["HITId"])
        assert paws("get_hit", HITId=hit["HITId"])["HIT"]["HITStatus"] == "Disposed"
        assert paws("get_account_balance")["AvailableBalance"] == "999.25"
