"""What this marketplace does not do: an honest refusal, never a fake success."""

import pytest

from tests.conformance.protocol import NOBODY, refused_request


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
