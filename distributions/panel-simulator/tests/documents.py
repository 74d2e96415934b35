"""The panel's contract as a file (shapes without words): its operations, and bodies made from its schemas."""

import functools
import json
from dataclasses import dataclass
from pathlib import Path

from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

_TEXT = (Path(__file__).parent / "prolific-contract.json").read_text("utf-8")
#: Where it says "one of", forms overlap: 18 is an integer and a number. One that fits is enough.
CONTRACT = json.loads(_TEXT.replace('"oneOf"', '"anyOf"'))
_SCHEMAS = CONTRACT["components"]["schemas"]
_REGISTRY = Registry().with_resource("contract", Resource(contents=CONTRACT, specification=DRAFT202012))


@dataclass(frozen=True)
class Operation:
    method: str
    path: str
    success: int
    #: Schemas: of the body, of the answer, of a 400.
    request: dict | None
    response: dict
    refusal: dict | None
    query: tuple[tuple[str, bool, dict], ...]

    @property
    def name(self):
        return f"{self.method} {self.path}"


def _operations():
    for path, methods in CONTRACT["paths"].items():
        for method, each in methods.items():
            success = next(int(code) for code in each["responses"] if code.startswith("2"))
            body = each.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
            yield Operation(
                method.upper(),
                path,
                success,
                body,
                each["responses"][str(success)]["content"]["application/json"]["schema"],
                each["responses"].get("400", {}).get("content", {}).get("application/json", {}).get("schema"),
                tuple(
                    (one["name"], one.get("required", False), one.get("schema", {}))
                    for one in each.get("parameters", [])
                    if one["in"] == "query"
                ),
            )


OPERATIONS = {each.name: each for each in _operations()}


@functools.cache
def _validator(schema_text):
    schema = json.loads(schema_text.replace('"#/', '"contract#/'))
    return Draft202012Validator(schema, registry=_REGISTRY)


def list_faults(schema, value):
    """What of a value is against a schema of the contract."""
    return [
        f"{error.json_path}: {error.message[:300]}"
        for error in _validator(json.dumps(schema)).iter_errors(value)
    ]


def resolve(schema):
    while "$ref" in schema:
        schema = _SCHEMAS[schema["$ref"].rsplit("/", 1)[1]]
    return schema


def make_example(schema, values, *, full, name=""):
    """A body that fits a schema: required fields alone, or all; `values` has meaning by name of a field."""
    if name in values:
        return values[name]
    schema = resolve(schema)
    if "anyOf" in schema:
        return make_example(schema["anyOf"][0], values, full=full, name=name)
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "array":
        items = resolve(schema.get("items", {}))
        if "enum" in items:
            return list(items["enum"])
        return [make_example(items, values, full=full, name=f"{name}[]")]
    if kind == "object" or "properties" in schema:
        required = schema.get("required", [])
        return {
            field: make_example(of, values, full=full, name=field)
            for field, of in schema.get("properties", {}).items()
            if full or field in required
        }
    return {"string": f"text of {name}", "integer": 3, "number": 2.0, "boolean": True, "null": None}[kind]
