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


@pytest.mark.parametrize("spelling", ["HITAlreadyExists", "HitAlreadyExists"])
def test_a_used_token_of_a_hit_names_the_hit(spelling):
    said = domain(
        spelling, f"You have already created a HIT with this UniqueRequestToken. HITId: {HIT} (1619128282649)"
    )
    assert classify(said) == EarlierSuccess(HIT)


def test_a_used_token_without_an_id_is_still_an_earlier_success():
    assert classify(domain("HITAlreadyExists", "You have already created this HIT.")) == EarlierSuccess(None)


def test_a_used_token_of_a_bonus_or_an_extension_is_an_earlier_success():
    text = 'The idempotency token "4f1c" has already been processed. (1619128282649 s)'
    assert classify(domain("DuplicateRequest", text)) == EarlierSuccess(None)
    assert classify(domain("SomethingElse", text)) == EarlierSuccess(None)


@pytest.mark.parametrize(
    ("turk", "message"),
    [
        ("HITDoesNotExist", f"Hit {HIT} does not exist. (1619128282649)"),
        ("AssignmentDoesNotExist", "Assignment 3X does not exist. (1619128282649)"),
        (
            "InvalidAssignmentState",
            "This operation can be called with a status of: Submitted (1619128282649)",
        ),
        ("InvalidHITState", "This HIT is currently in the state 'Reviewable'."),
        ("InvalidMaximumAssignmentsIncrease", "no"),
        ("InsufficientFunds", "This Requester has insufficient funds in their account."),
        ("QualificationTypeAlreadyExists", "You have already created a QualificationType with this name."),
    ],
)
def test_an_error_of_the_domain_is_a_refusal_with_its_own_code(turk, message):
    assert classify(domain(turk, message)) == CallRefusal(turk, message)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (
            "ValidationException",
            "1 validation error detected: Value '0.9752' at 'bonusAmount' failed to satisfy constraint",
        ),
        ("ParameterValidationError", 'The value "A143XRCI1YXAFE" is not valid for the parameter WorkerId.'),
        ("UnrecognizedClientException", "The security token included in the request is invalid."),
        ("InvalidSignatureException", "The request signature we calculated does not match."),
        ("AccessDeniedException", "User is not authorized."),
        ("UnknownOperationException", ""),
    ],
)
def test_errors_of_the_front_door_and_of_values_are_refusals(code, message):
    assert classify(error(code, message)) == CallRefusal(code, message)


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("ThrottlingException", 400),
        ("Throttling", 400),
        ("TooManyRequestsException", 400),
        ("RequestLimitExceeded", 503),
        ("429", 429),
        ("SomethingElse", 429),
    ],
)
def test_too_many_calls_are_throttled_and_nothing_else(code, status):
    assert isinstance(classify(error(code, "Rate exceeded", status=status)), CallThrottling)


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("ServiceFault", 500),
        ("ServiceFault", 400),
        ("InternalFailure", 500),
        ("ServiceUnavailable", 503),
        ("500", 500),
        ("502", 502),
        ("SomethingElse", 504),
        ("301", 301),
        ("302", 302),
        ("403", 403),
        ("404", 404),
        ("413", 413),
        ("Unknown", 400),
        ("", 400),
    ],
)
def test_everything_that_is_no_clear_answer_is_unknown(code, status):
    """A page of a proxy has a status and no code of the protocol; it cannot say whether the call was made."""
    assert isinstance(classify(error(code, "", status=status)), Unknown)


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("x", 403),
        ("RequestTimeout", 408),
        ("RequestEntityTooLarge", 413),
        ("ImATeapot", 418),
        ("AccessDeniedException", 403),
        ("ThrottlingException", 400),
        ("429", 429),
        ("ValidationException", 400),
    ],
)
def test_an_error_without_a_request_id_is_never_the_marketplaces_word(code, status):
    """A gateway that refuses or gives up may do so after the call went through."""
    assert isinstance(classify(without_id(error(code, "no", status=status))), Unknown)


def test_a_refusal_or_success_of_the_domain_without_a_request_id_is_unknown():
    for said in (domain("InsufficientFunds", "no"), domain("HITAlreadyExists", f"HITId: {HIT}")):
        assert isinstance(classify(without_id(said)), Unknown)
