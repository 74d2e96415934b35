"""Parameters for the protocol: right, nearly right, and absurd; and an independent judge of which is which.

Both read botocore's service model, not the tables of the server under test.
"""

import json
import re
from collections.abc import Iterator
from random import Random
from typing import Any

import botocore.session
from botocore.compat import HTTPHeaders
from botocore.parsers import create_parser
from hypothesis import strategies as st

from tests.clients import Answer, external_question
from tests.conformance.test_questions import html_question
from tests.questionforms import KEY, TEST
from tests.robustness.files import damaged
from tests.robustness.fuzzing import ODD_JSON, ODD_TEXT, nested

_PARSER = create_parser("json")
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

#: Members that are XML documents.
XML = {"Question", "Test", "AnswerKey"}
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
    if name in XML:
        return mostly(st.sampled_from(choices or [""]), documents())
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


def structures(shape: Any, known: dict[str, list[str]]) -> st.SearchStrategy[Any]:
    """Parameters that the model allows, and twice as many that have something wrong with them."""
    good = fitting(shape, known)
    wrong = mutated(shape, known)
    return st.one_of(good, wrong, wrong)


@st.composite
def mutated(draw: st.DrawFn, shape: Any, known: dict[str, list[str]]) -> Any:
    """Parameters that the model allows, but for one or two fields, at any depth."""
    value = draw(fitting(shape, known))
    for _ in range(draw(st.integers(1, 2))):
        at, inner = draw(st.sampled_from(list(fields_of(shape, value))))
        value = replaced(value, at, draw(oddities(inner)))
    return value


_ABSENT = object()
Path = tuple[str | int, ...]


def fields_of(shape: Any, value: Any, at: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Where the fields of a value are, given or not, and their shapes; unknown fields have none."""
    if at:
        yield at, shape
    if shape.type_name == "structure" and isinstance(value, dict):
        for name, member in shape.members.items():
            if name in value:
                yield from fields_of(member, value[name], (*at, name))
            else:
                yield (*at, name), member
        yield (*at, "NoSuchMember"), None
        yield (*at, "\ud800\0"), None
    elif shape.type_name == "list" and isinstance(value, list):
        for number, item in enumerate(value):
            yield from fields_of(shape.member, item, (*at, number))


def replaced(value: Any, at: Path, by: Any) -> Any:
    """The value with another one in this place, or none there."""
    if not at:
        return by
    first, *rest = at
    if not isinstance(value, dict | list):  # an earlier mutation took the place away
        return value
    if isinstance(value, list):
        if not isinstance(first, int) or first >= len(value):
            return value
        items = [replaced(item, tuple(rest), by) if n == first else item for n, item in enumerate(value)]
        return [item for item in items if item is not _ABSENT]
    changed = replaced(value.get(str(first), {}) if rest else None, tuple(rest), by)
    return {name: member for name, member in {**value, str(first): changed}.items() if member is not _ABSENT}


def oddities(shape: Any) -> st.SearchStrategy[Any]:
    """What is wrong, or nearly, with a field of this shape; no shape is a field that the model lacks."""
    common = st.one_of(
        st.just(_ABSENT),
        anything,
        st.sampled_from(ODD_TEXT),
        st.sampled_from([value for value in ODD_JSON if not isinstance(value, str)]),
        st.sampled_from([nested(90), nested(400)]),
    )
    if shape is None:
        return common
    least, most = shape.metadata.get("min"), shape.metadata.get("max")
    if shape.type_name in ("integer", "long"):
        bounds = [2**31 - 1, 2**31, 2**63 - 1, 2**63, -(2**31), -(2**63) - 1, 10**400, 1.0, 1e300, "1", True]
        bounds += [each for each in (least, most) if each is not None]
        bounds += [bound + step for bound in (least, most) if bound is not None for step in (-1, 1)]
        return st.one_of(common, st.sampled_from(bounds))
    if shape.type_name == "timestamp":
        moments = [-1e18, 1e18, 1e308, -62_135_596_801, 253_402_300_800, 0.1, "2026-11-22T10:00:00Z", "1e9"]
        return st.one_of(common, st.sampled_from(moments))
    if shape.type_name == "list":
        return st.one_of(common, st.sampled_from([[], ["a"] * 2000, [None], [[]], {}]))
    if shape.type_name == "string":
        lengths = [bound + step for bound in (least, most) if bound is not None for step in (-1, 0, 1)]
        return st.one_of(
            common, st.sampled_from(["a" * length for length in [*lengths, 65_536] if length >= 0])
        )
    return common


#: What questions, tests and answer keys can be damaged into, besides text that is no XML.
_DOCUMENTS = [
    external_question().encode(),
    html_question("<p>${a}</p><form><input name='a'></form>", 500).encode(),
    TEST.encode(),
    KEY.encode(),
]
_BAD_DOCUMENTS = [
    "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>",
    "<?xml version='1.0' encoding='utf-7'?><a/>",
    "<?xml version='1.0' encoding='ucs-4'?><a/>",
    "<a>" * 16_000,
    "<a " + " ".join(f"b{n}=''" for n in range(4000)) + "/>",
    "<a xmlns:b='" + "c" * 5000 + "'/>",
    "<a>&#0;&#xD800;&#xFFFFFF;</a>",
    external_question("https://[::1"),
    external_question("https://a.b/" + "c" * 5000),
    external_question(height=10**30),
    html_question("<script>" * 2000 + "]]>", -1),
]


def documents() -> st.SearchStrategy[str]:
    """Damaged XML of questions, tests and answer keys."""
    broken = st.builds(
        lambda number, whole: damaged(Random(number), whole).decode("utf-8", "replace"),
        st.integers(0, 2**32),
        st.sampled_from(_DOCUMENTS),
    )
    return st.one_of(st.sampled_from(_BAD_DOCUMENTS), broken)


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
    read = parsed(answer, None)
    assert read["Error"]["Code"], read
    assert read["ResponseMetadata"]["RequestId"] == answer.headers["x-amzn-requestid"]
    assert said["__type"] in CODES, said
    assert said["Message"] and isinstance(said["Message"], str)
    if said["__type"] == "RequestError":
        assert said["TurkErrorCode"].startswith("AWS.MechanicalTurk.")
    kind: str = said["__type"]
    return kind


def parsed(answer: Answer, shape: Any) -> dict[str, Any]:
    """The answer as botocore reads it."""
    raw = {
        "body": answer.body,
        "headers": HTTPHeaders.from_dict(answer.headers),
        "status_code": answer.status,
    }
    read: dict[str, Any] = _PARSER.parse(raw, shape)
    return read


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
    read = parsed(answer, model.output_shape)
    assert read.pop("ResponseMetadata")["RequestId"] == answer.headers["x-amzn-requestid"]
    assert set(read) >= set(said), f"botocore reads {sorted(read)} of {sorted(said)}"
    if model.output_shape is not None:
        assert violations(model.output_shape, said) == [], said
        must = set(model.output_shape.members) - {"NextToken"} - ABSENT.get(operation, set())
        assert must <= set(said), f"{operation} answered {said}"
    return said
