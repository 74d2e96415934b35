"""The requester protocol and the worker API answer with the bytes of the snapshot."""

import json
import re

import botocore.session
import pytest

from marketplace.protocol.shapes import input_shapes
from tests.contracts.protocol import record_protocol
from tests.contracts.snapshots import FOLDER, check_snapshot


@pytest.mark.django_db
def test_every_operation_answers_as_it_did(settings):
    settings.MARKETPLACE_REQUESTS_PER_SECOND = 10_000
    check_snapshot("protocol", record_protocol())


def test_the_snapshot_has_every_operation():
    text = (FOLDER / "protocol.txt").read_text(encoding="utf-8")
    assert sorted(set(input_shapes()) - set(re.findall(r"^> (\w+) ", text, flags=re.MULTILINE))) == []


def list_differences(path, value, shape):
    """Where a value of an answer is not of the shape that the service model describes."""
    kinds = {"string": str, "integer": int, "long": int, "boolean": bool, "timestamp": int}
    if shape.type_name == "structure":
        for name, member in value.items():
            if name not in shape.members:
                yield f"{path}.{name} is not in the model"
            else:
                yield from list_differences(f"{path}.{name}", member, shape.members[name])
    elif shape.type_name == "list":
        for member in value:
            yield from list_differences(f"{path}[]", member, shape.member)
    elif type(value) is not kinds[shape.type_name]:
        yield f"{path} is {value!r}"
    elif value not in getattr(shape, "enum", []) and getattr(shape, "enum", []):
        yield f"{path} is {value!r}, not one of {shape.enum}"


def test_the_answers_have_the_shapes_of_the_service_model():
    model = botocore.session.get_session().get_service_model("mturk")
    text = (FOLDER / "protocol.txt").read_text(encoding="utf-8")
    answered = re.findall(r"^> (\w+) .*\n< 200 .*amz-json-1\.1.*\n< (.+)$", text, flags=re.MULTILINE)
    answers = [(name, json.loads(re.sub(r"\bTIME\b(?!\")", "0", body))) for name, body in answered]
    assert {name for name, _ in answers} >= {"CreateHIT", "GetAssignment", "ListBonusPayments", "ListHITs"}
    differences = [
        difference
        for name, answer in answers
        if (shape := model.operation_model(name).output_shape)
        for difference in list_differences(name, answer, shape)
    ]
    assert differences == []
