"""The schema that is committed is that of the code."""

from tests.api.write import FILE
from web.api.schema import schema_text


def test_the_committed_schema_is_that_of_the_operations():
    assert FILE.read_text() == schema_text(), "run `make openapi` and commit docs/openapi.json"
