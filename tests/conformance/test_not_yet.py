"""What this marketplace does not do: an honest refusal, never a fake success."""

import pytest

from tests.conformance.protocol import NOBODY, hit_properties, refused_request


@pytest.mark.parametrize(
    ("operation", "parameters"),
    [("get_file_upload_url", {"AssignmentId": NOBODY, "QuestionIdentifier": "photo"})],
    ids=["GetFileUploadURL"],
)
def test_an_operation_that_is_not_done_says_so(client, operation, parameters):
    """RequestError with a sentence."""
    with refused_request("") as caught:
        getattr(client, operation)(**parameters)
    assert len(caught.value.response["Message"].split()) > 5


def test_a_hit_layout_is_refused_not_ignored(client):
    """The question itself has to be sent."""
    properties = hit_properties(HITLayoutId=NOBODY)
    del properties["Question"]
    with refused_request("NotSupported", "send the Question itself"):
        client.create_hit(**properties)
