"""The schema that is committed is that of the code."""

import re
from collections.abc import Iterator
from typing import Any

from crowd.kinds import kinds
from tests.api.world import operations
from tests.api.write import FILE
from web.api.fields import Body
from web.api.operations import build_schema, schema_text


def test_the_committed_schema_is_that_of_the_operations():
    assert FILE.read_text() == schema_text(), "run `make openapi` and commit docs/openapi.json"


def texts(part: Any) -> Iterator[str]:
    """All descriptions and summaries below a part of the schema."""
    if isinstance(part, dict):
        yield from (part[name] for name in ("summary", "description") if isinstance(part.get(name), str))
    for each in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        yield from texts(each)


def test_it_is_written_in_plain_english():
    odd = re.compile(r"\b(nobody|somebody|anybody|everybody|whoever|stands?|anew|is said|one's own)\b", re.I)
    assert [text for text in texts(build_schema()) if odd.search(text)] == []


def test_every_operation_says_what_it_does_and_which_problems_there_are():
    for operation in operations():
        facts = operation.facts
        assert facts["summary"] and facts["description"].endswith("."), operation.name
        problems = {status: each for status, each in facts["responses"].items() if status >= "400"}
        assert {"401", "403", "404", "422", "429"} <= problems.keys(), operation.name
        assert all(each["description"] for each in problems.values()), operation.name
        for each in facts["parameters"]:
            assert each.get("description") or each["schema"].get("description"), (
                operation.name,
                each["name"],
            )


def test_the_options_of_a_stage_are_typed_by_its_kind():
    schemas = build_schema()["components"]["schemas"]
    by_kind = {
        each["properties"]["kind"]["const"]: each["properties"]["config"]["$ref"].rpartition("/")[2]
        for each in schemas["StageIn"]["oneOf"]
    }
    assert by_kind == {kind.name: kind.config.__name__ for kind in kinds()}
    assert "question" in schemas[by_kind["poll"]]["required"]


def test_no_field_has_two_limits_of_one_kind():
    """Of `field: Cents = Field(le=5)` pydantic keeps the limit of `Cents`, which the field was to lower."""
    operations()
    bodies = [Body]
    for body in bodies:
        bodies += body.__subclasses__()
        for name, field in body.model_fields.items():
            kinds = [type(each) for each in field.metadata if hasattr(each, "__slots__")]
            assert len(kinds) == len(set(kinds)), f"{body.__name__}.{name} has two of {kinds}"
