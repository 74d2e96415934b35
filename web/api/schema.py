"""The API as OpenAPI 3.1: what django-ninja knows of the operations, and what our kit adds to all of them."""

import json
from functools import cache
from typing import Any

from ninja.openapi.schema import OpenAPISchema

from web.api.operations import api
from web.api.parts import ROOT
from web.api.problems import MEDIA_TYPE

_PROBLEM = {"$ref": "#/components/schemas/ProblemDetails"}
_WORDS = {
    "400": "The request cannot be read",
    "401": "No valid token",
    "403": "The token or its person may not do this",
    "404": "Not there, or not for this person",
    "409": "Not possible now, or the first request with this Idempotency-Key is under way",
    "412": "Changed since it was read",
    "413": "The body is too large",
    "422": "Refused, with the reason by field",
    "428": "If-Match is missing",
    "429": "Too many requests",
    "503": "Ask again later",
}


class NameTakenError(Exception):
    """Two models have one name; one of them needs another."""


class _Schema(OpenAPISchema):
    """Refuses a second model of the same name, which django-ninja would let take the place of the first."""

    def add_schema_definitions(self, definitions: dict[str, Any]) -> None:
        """Add models; those that are there are the same."""
        for name, model in definitions.items():
            known = self.schemas.setdefault(name, model)
            # What a model takes and what it gives may differ: fields with a default are always given.
            if known.get("properties", known).keys() != model.get("properties", model).keys():
                raise NameTakenError(f"There are two models {name!r}; give one of them another name.")
        super().add_schema_definitions(definitions)


@cache
def build_schema() -> dict[str, Any]:
    """The whole schema; the same for every installation."""
    found: dict[str, Any] = json.loads(json.dumps(_Schema(api(), ROOT)))
    found["servers"] = [{"url": "/"}]
    found["components"]["securitySchemes"] = {
        "token": {"type": "http", "scheme": "bearer", "description": "A token of the API, `dst_…`."}
    }
    for methods in found["paths"].values():
        for operation in methods.values():
            for status, response in operation["responses"].items():
                _complete(status, response)
    return found


def _complete(status: str, response: dict[str, Any]) -> None:
    content = response.get("content", {})
    if content.get("application/json", {}).get("schema") == _PROBLEM:
        response["content"] = {MEDIA_TYPE: {"schema": _PROBLEM}}
        response["description"] = _WORDS[status]


@cache
def schema_text() -> str:
    """The schema as it is served and committed."""
    return json.dumps(build_schema(), indent=1, ensure_ascii=False, sort_keys=True) + "\n"
