"""Check 53 and what else is not done yet: an honest refusal, never a fake success."""

import pytest

from tests.conformance.protocol import NOBODY, hit_properties, refused_request

POLICY = {"PolicyName": "SimplePlurality/2011-09-01", "Parameters": []}


@pytest.mark.parametrize(
    ("operation", "parameters"),
    [
        ("list_review_policy_results_for_hit", {"HITId": NOBODY}),
        ("get_file_upload_url", {"AssignmentId": NOBODY, "QuestionIdentifier": "photo"}),
    ],
)
def test_53_an_operation_that_is_not_done_says_so(client, operation, parameters):
    """Check 53: RequestError with a sentence."""
    with refused_request("") as caught:
        getattr(client, operation)(**parameters)
    assert len(caught.value.response["Message"].split()) > 5


@pytest.mark.parametrize(
    "changes",
    [
        {"AssignmentReviewPolicy": {**POLICY, "PolicyName": "ScoreMyKnownAnswers/2011-09-01"}},
        {"HITReviewPolicy": POLICY},
    ],
    ids=["assignment", "HIT"],
)
def test_53_a_review_policy_is_refused_not_ignored(client, changes):
    """Silently ignoring a policy is the one wrong answer (2.8)."""
    with refused_request(""):
        client.create_hit(**hit_properties(**changes))
