"""What an error answer means, on the shapes that botocore makes of real answers."""

import pytest
from botocore.exceptions import ClientError

from crowd.adapters.base import CallRefusal, CallThrottling, EarlierSuccess, Unknown
from crowd.adapters.outcomes import classify

HIT = "3W8CV64QJ2ZU5NC2LSNXS8XLKTMH9Y"


def error(code, message="", turk="", status=400):
    """A ClientError as botocore's parser makes it."""
    response = {
        "Error": {"Message": message, "Code": code},
        "ResponseMetadata": {
            "RequestId": "7d0b2c7e-3f3c-4d0c-9a4e-6f1f7f9a3b1c",
            "HTTPStatusCode": status,
            "HTTPHeaders": {"content-type": "application/x-amz-json-1.1"},
            "RetryAttempts": 0,
        },
    }
    if turk:
        response |= {"TurkErrorCode": turk, "Message": message}
    return ClientError(response, "AnyOperation")


def without_id(said):
    """The same from something that is not the marketplace."""
    del said.response["ResponseMetadata"]["RequestId"]
    return said


def domain(turk, message):
    return error("RequestError", message, f"AWS.MechanicalTurk.{turk}")


USED = 'The idempotency token "4f1c" has already been processed. (1619128282649 s)'
MADE = f"You have already created a HIT with this UniqueRequestToken. HITId: {HIT} (1619128282649)"


@pytest.mark.parametrize(
    ("turk", "message", "ref"),
    [
        ("HITAlreadyExists", MADE, HIT),
        ("HitAlreadyExists", MADE, HIT),
        ("HITAlreadyExists", "You have already created this HIT.", None),
        ("DuplicateRequest", USED, None),
        ("SomethingElse", USED, None),
    ],
)
def test_a_used_token_is_an_earlier_success_that_may_name_its_hit(turk, message, ref):
    assert classify(domain(turk, message)) == EarlierSuccess(ref)
    assert isinstance(classify(without_id(domain(turk, message))), Unknown)


def test_an_error_of_the_domain_the_front_door_or_of_values_is_a_refusal_with_its_own_code():
    for turk, message in (
        ("HITDoesNotExist", f"Hit {HIT} does not exist. (1619128282649)"),
        (
            "InvalidAssignmentState",
            "This operation can be called with a status of: Submitted (1619128282649)",
        ),
        ("InvalidHITState", "This HIT is currently in the state 'Reviewable'."),
        ("InsufficientFunds", "This Requester has insufficient funds in their account."),
    ):
        assert classify(domain(turk, message)) == CallRefusal(turk, message)
        assert isinstance(classify(without_id(domain(turk, message))), Unknown)
    for code in (
        "ValidationException",
        "ParameterValidationError",
        "UnrecognizedClientException",
        "InvalidSignatureException",
        "AccessDeniedException",
        "UnknownOperationException",
    ):
        assert classify(error(code, "no")) == CallRefusal(code, "no")


def test_too_many_calls_are_throttled_and_what_is_no_clear_answer_is_unknown():
    """A page of a proxy has a status and no code of the protocol; it cannot say whether the call was made."""
    throttled = {
        **{"ThrottlingException": 400, "Throttling": 400, "TooManyRequestsException": 400},
        **{"RequestLimitExceeded": 503, "429": 429, "SomethingElse": 429},
    }
    for code, status in throttled.items():
        assert isinstance(classify(error(code, "Rate exceeded", status=status)), CallThrottling), code
    for code, status in (
        *(
            ("ServiceFault", 500),
            ("ServiceFault", 400),
            ("InternalFailure", 500),
            ("ServiceUnavailable", 503),
        ),
        *((str(status), status) for status in (301, 302, 403, 404, 413, 500, 502)),
        *(("SomethingElse", 504), ("Unknown", 400), ("", 400)),
    ):
        assert isinstance(classify(error(code, "", status=status)), Unknown), (code, status)


def test_an_error_without_a_request_id_is_never_the_marketplaces_word():
    """A gateway that refuses or gives up may do so after the call went through."""
    for code, status in (
        *(("x", 403), ("RequestTimeout", 408), ("RequestEntityTooLarge", 413), ("ImATeapot", 418)),
        *(("AccessDeniedException", 403), ("ThrottlingException", 400), ("429", 429)),
        ("ValidationException", 400),
    ):
        assert isinstance(classify(without_id(error(code, "no", status=status))), Unknown), (code, status)
