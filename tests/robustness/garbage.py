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

text = st.one_of(
    st.sampled_from(["", " ", "\0", "\ud800", "\x1b[0m", "0.10", "A1", "3" * 64, "a" * 300, "🧪", "null"]),
    st.text(max_size=40),
)
numbers = st.one_of(
    st.integers(-5, 200),
    st.sampled_from([2**31 - 1, 2**31, 2**63 - 1, 2**63, -(2**63), 10**400, 31_536_000, 2_592_000]),
)
anything = st.recursive(
    st.none() | st.booleans() | numbers | st.floats(allow_nan=True) | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=6,
)


def values(shape: Any, known: dict[str, list[str]], name: str = "") -> st.SearchStrategy[Any]:
    """Values for a shape: mostly of the right type, often of the right form, sometimes neither."""
    right: st.SearchStrategy[Any]
    if shape.type_name == "structure":
        right = structures(shape, known)
    elif shape.type_name == "list":
        right = st.lists(values(shape.member, known, name), max_size=3)
    elif shape.type_name in ("integer", "long"):
        right = numbers
    elif shape.type_name == "boolean":
        right = st.booleans()
    elif shape.type_name == "timestamp":
        right = numbers | st.floats()
    else:
        fitting = shape.metadata.get("enum") or known.get(name) or known.get(shape.name) or []
        right = st.sampled_from(fitting) | text if fitting else text
    return st.one_of(right, right, right, anything)


def structures(shape: Any, known: dict[str, list[str]]) -> st.SearchStrategy[dict[str, Any]]:
    """A structure with required members mostly there, optional ones sometimes, unknown ones rarely."""
    required = set(shape.required_members)
    members = {name: values(member, known, name) for name, member in shape.members.items()}
    complete = st.fixed_dictionaries(
        {name: value for name, value in members.items() if name in required},
        optional={name: value for name, value in members.items() if name not in required},
    )
    partial = st.fixed_dictionaries({}, optional={**members, "Unknown": anything})
    return st.one_of(complete, complete, complete, partial)


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


def check_success(operation: str, parameters: Any, answer: Answer) -> dict[str, Any]:
    """A success must have the operation's output shape, and must have been asked for in the model's terms."""
    check_headers(answer)
    model = MODEL.operation_model(operation)
    faults = violations(model.input_shape, parameters)
    assert not faults, f"{operation} took {json.dumps(parameters)[:500]}: {faults}"
    said: dict[str, Any] = answer.json() if answer.body else {}
    if model.output_shape is not None:
        assert violations(model.output_shape, said) == [], said
        must = set(model.output_shape.members) - {"NextToken"}
        assert must <= set(said), f"{operation} answered {said}"
    return said
