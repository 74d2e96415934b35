"""Parameters for the protocol: right, nearly right, and absurd; and an independent judge of which is which.

Both read botocore's service model, not the tables of the server under test.
"""

import json
import re
from typing import Any

import botocore.session
from hypothesis import strategies as st

from tests.clients import Answer

MODEL = botocore.session.Session().get_service_model("mturk")
OPERATIONS = sorted(MODEL.operation_names)
CODES = {
    "RequestError",
    "ValidationException",
    "SerializationException",
    "ParameterValidationError",
    "UnknownOperationException",
    "RequestEntityTooLargeException",
    "MissingAuthenticationTokenException",
    "IncompleteSignatureException",
    "InvalidSignatureException",
    "UnrecognizedClientException",
    "AccessDeniedException",
}

#: Optional members that nearly always, and nearly never, go with a success.
USUAL = {"Question"}
RARE = {
    "QualificationRequirements",
    "HITLayoutId",
    "HITLayoutParameters",
    "AssignmentReviewPolicy",
    "HITReviewPolicy",
    "Test",
    "AnswerKey",
    "TestDurationInSeconds",
}

odd_text = st.one_of(
    st.sampled_from(["", " ", "\0", "\ud800", "\x1b[0m", "0.10", "A1", "3" * 64, "a" * 300, "🧪", "null"]),
    st.text(max_size=40),
)
odd_numbers = st.sampled_from([-1, 2**31, 2**63, -(2**63), 10**400]) | st.integers()
anything = st.recursive(
    st.none() | st.booleans() | odd_numbers | st.floats(allow_nan=True) | odd_text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(odd_text, inner, max_size=3),
    max_leaves=6,
)
#: Text that a model without constraints allows, and that a database or an XML writer may not.
plain_text = st.one_of(
    st.sampled_from(
        [
            "Answer a question",
            "0.10",
            "<b>&amp;",
            "%s %(x)s {0}",
            "x" * 129,
            "x" * 60_000,
            "🧪",
            "\x1b[0m",
            "",
        ]
    ),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=60),
)
numbers = st.sampled_from([0, 1, 2, 3, 9, 10, 30, 60, 600, 3600, 2_592_000, 31_536_000, -1, 2**31 - 1])
large_numbers = st.sampled_from([2**31, 2**40, 2**63 - 1, -(2**63)])
moments = st.sampled_from(
    [0, -1, 1.5, 1_795_000_000, 4_102_444_800, 253_402_300_799, 253_393_000_000, -62_135_596_800]
)


def fitting(shape: Any, known: dict[str, list[str]], name: str = "") -> st.SearchStrategy[Any]:
    """Values that the model allows, though the marketplace may not."""
    if shape.type_name == "structure":
        return members(shape, known)
    if shape.type_name == "list":
        return st.lists(fitting(shape.member, known, name), max_size=3)
    if shape.type_name == "boolean":
        return st.booleans()
    if shape.type_name == "timestamp":
        return moments
    if shape.type_name in ("integer", "long"):
        usual = st.sampled_from(known[name]) if name in known else numbers
        if "max" in shape.metadata:
            return st.integers(shape.metadata.get("min", 0), shape.metadata["max"])
        return (
            st.one_of(usual, usual, numbers, large_numbers) if shape.type_name == "long" else usual | numbers
        )
    if "enum" in shape.metadata:
        return st.sampled_from(shape.metadata["enum"])
    choices = known.get(name) or known.get(shape.name)
    limits = shape.metadata
    if "pattern" in limits:
        made = st.from_regex(re.compile(limits["pattern"].strip("^$"), re.ASCII), fullmatch=True)
        made = made.filter(lambda value: limits.get("min", 0) <= len(value) <= limits.get("max", 10**9))
    elif "max" in limits:
        made = st.text("aZ09é-_=", min_size=limits.get("min", 0), max_size=limits["max"])
    else:
        made = plain_text
    return mostly(st.sampled_from(choices), made) if choices else made


@st.composite
def members(draw: st.DrawFn, shape: Any, known: dict[str, list[str]]) -> dict[str, Any]:
    """A structure that the model allows; members that end in a refusal are rare."""
    given = {}
    for name, member in shape.members.items():
        tenths = 10 if name in shape.required_members else 9 if name in USUAL else 1 if name in RARE else 5
        if draw(st.integers(0, 9)) < tenths:
            given[name] = draw(fitting(member, known, name))
    return given


def mostly(usual: st.SearchStrategy[Any], rare: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Four times of five `usual`."""
    return st.integers(0, 4).flatmap(lambda number: usual if number else rare)


def structures(shape: Any, known: dict[str, list[str]]) -> st.SearchStrategy[dict[str, Any]]:
    """Parameters that the model allows, and as many that have something wrong with them."""
    good = fitting(shape, known)
    wrong: list[st.SearchStrategy[dict[str, Any]]] = [
        st.builds(
            lambda base, extra: {**base, **extra}, good, st.dictionaries(odd_text, anything, max_size=2)
        )
    ]
    for name in shape.members:
        replaced = st.builds(lambda base, value, key=name: {**base, key: value}, good, anything)
        dropped = st.builds(lambda base, key=name: {k: v for k, v in base.items() if k != key}, good)
        wrong += [replaced, replaced, dropped]
    return st.one_of(good, st.one_of(wrong))


def violations(shape: Any, value: Any, path: str = "") -> list[str]:
    """What the model forbids about a value; null members count as absent."""
    if shape.type_name == "structure":
        if not isinstance(value, dict):
            return [f"{path} is no object"]
        given = {name: member for name, member in value.items() if member is not None}
        found = [f"{path} lacks {name}" for name in shape.required_members if name not in given]
        for name, member in given.items():
            if name in shape.members:
                found += violations(shape.members[name], member, f"{path}.{name}")
            else:
                found.append(f"{path} knows no {name}")
        return found
    if shape.type_name == "list":
        if not isinstance(value, list):
            return [f"{path} is no list"]
        return [fault for item in value for fault in violations(shape.member, item, path)]
    if shape.type_name == "boolean":
        return [] if isinstance(value, bool) else [f"{path} is no boolean"]
    if shape.type_name == "timestamp":
        return (
            [] if isinstance(value, int | float) and not isinstance(value, bool) else [f"{path} is no time"]
        )
    if shape.type_name in ("integer", "long"):
        if not isinstance(value, int) or isinstance(value, bool):
            return [f"{path} is no whole number"]
        bits = 31 if shape.type_name == "integer" else 63
        least, most = shape.metadata.get("min", -(2**bits)), shape.metadata.get("max", 2**bits - 1)
        return [] if least <= value <= most else [f"{path} is out of bounds"]
    if not isinstance(value, str):
        return [f"{path} is no string"]
    limits = shape.metadata
    found = []
    if not limits.get("min", 0) <= len(value) <= limits.get("max", 10**9):
        found.append(f"{path} has a wrong length")
    if "pattern" in limits and not re.fullmatch(limits["pattern"].strip("^$"), value, re.ASCII):
        found.append(f"{path} has a wrong form")
    if "enum" in limits and value not in limits["enum"]:
        found.append(f"{path} is not one of the values")
    return found


def error_of(answer: Answer) -> str:
    """The error class of an answer that is a protocol error; fails for anything that is none."""
    assert 400 <= answer.status < 500, (answer.status, answer.text[:500])
    check_headers(answer)
    said = answer.json()
    assert isinstance(said, dict)
    assert said["__type"] in CODES, said
    assert said["Message"] and isinstance(said["Message"], str)
    if said["__type"] == "RequestError":
        assert said["TurkErrorCode"].startswith("AWS.MechanicalTurk.")
    kind: str = said["__type"]
    return kind


def check_headers(answer: Answer) -> None:
    """Every answer of the endpoint is the protocol's JSON with a request id."""
    assert answer.headers["content-type"].startswith("application/x-amz-json-1.1"), answer.text[:300]
    assert answer.headers["x-amzn-requestid"]


#: Members that an answer has only where there is something to say: a HIT without policies has no reports.
ABSENT = {
    "ListReviewPolicyResultsForHIT": {
        f"{level}Review{part}" for level in ("Assignment", "HIT") for part in ("Policy", "Report")
    }
}


def check_success(operation: str, parameters: Any, answer: Answer) -> dict[str, Any]:
    """A success must have the operation's output shape, and must have been asked for in the model's terms."""
    check_headers(answer)
    model = MODEL.operation_model(operation)
    faults = violations(model.input_shape, parameters)
    assert not faults, f"{operation} took {json.dumps(parameters)[:500]}: {faults}"
    said: dict[str, Any] = answer.json() if answer.body else {}
    if model.output_shape is not None:
        assert violations(model.output_shape, said) == [], said
        must = set(model.output_shape.members) - {"NextToken"} - ABSENT.get(operation, set())
        assert must <= set(said), f"{operation} answered {said}"
    return said
