"""All operations of all apps, how their bodies are read, and the schema that describes them (OpenAPI 3.1)."""

import json
from functools import cache
from importlib import import_module
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest
from ninja import NinjaAPI
from ninja.openapi.schema import OpenAPISchema
from ninja.parser import Parser

from core.extensions import parts_of
from web.api import ROOT, ApiPart, audit, owners, problems, webhooks

_ESCAPED_NUL = b"\\u0000"


class BodyParser(Parser):
    """JSON as the databases can keep it: no NUL, no NaN."""

    def parse_body(self, request: HttpRequest) -> Any:
        """The body; ValueError says what is wrong with it."""
        try:
            body = json.loads(request.body, parse_constant=_refuse_constant)
            has_nul = _ESCAPED_NUL in request.body and _has_nul(body)
        except RecursionError as error:
            raise ValueError("it is nested too deeply") from error
        if has_nul:
            raise ValueError("the character U+0000 is allowed in no text")
        return body


def _has_nul(value: Any) -> bool:
    if isinstance(value, str):
        return "\0" in value
    inside = (
        (*value, *value.values()) if isinstance(value, dict) else value if isinstance(value, list) else ()
    )
    return any(map(_has_nul, inside))


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number")


@cache
def api() -> NinjaAPI:
    """All operations of all apps."""
    ninja_api = NinjaAPI(
        title="Distillery",
        version="1",
        description=_DESCRIPTION,
        openapi_url=None,
        docs_url=None,
        urls_namespace="api-v1",
        parser=BodyParser(),
    )
    parts = list(reversed(parts_of(ApiPart)))  # campaigns first, then their releases
    parts.sort(key=lambda part: part.last)
    for part in parts:
        module = import_module(part.module)
        for resource in module.RESOURCES:
            ninja_api.add_router("", resource.router)
        problems.KINDS.update(getattr(module, "PROBLEMS", {}))
        owners.DOORS.update(getattr(module, "OWNERS", {}))
    for resource in (owners.members, webhooks.webhooks, audit.audit):
        ninja_api.add_router("", resource.router)
    handled: tuple[type[Exception], ...] = (Exception, Http404, *problems.of_ninja())
    for error in handled:
        ninja_api.add_exception_handler(error, problems.handle)
    return ninja_api


_DESCRIPTION = f"""\
What programs need to run studies. Send a token with each request:
`Authorization: Bearer dst_…`. Times are UTC (ISO 8601), money is integers in minor units. Refusals are
problems of RFC 9457. Distillery {settings.DISTILLERY_VERSION.split("+")[0]}.
"""


# The schema: what django-ninja knows of the operations, and what our kit adds to all of them.


class NameTakenError(Exception):
    """Two models have one name; one of them needs another."""


class _Schema(OpenAPISchema):
    """Refuses a second model of the same name, which django-ninja would let take the place of the first."""

    def add_schema_definitions(self, definitions: dict[str, Any]) -> None:
        """Add models; those that are there are the same."""
        for name, model in definitions.items():
            earlier = self.schemas.setdefault(name, model)
            # What a model takes and what it gives may differ: fields with a default are always given.
            if earlier.get("properties", earlier).keys() != model.get("properties", model).keys():
                raise NameTakenError(f"There are two models {name!r}; give one of them another name.")
        super().add_schema_definitions(definitions)


@cache
def build_schema() -> dict[str, Any]:
    """The whole schema; the same for every installation."""
    described = _Schema(api(), ROOT)
    described.add_schema_definitions({problems.NAME: problems.ProblemDetails.model_json_schema()})
    schema: dict[str, Any] = json.loads(json.dumps(described))
    _describe_parts(schema)
    schema["servers"] = [{"url": "/"}]
    schema["components"]["securitySchemes"] = {
        "token": {"type": "http", "scheme": "bearer", "description": "A token of the API, `dst_…`."}
    }
    return schema


#: What the parts of addresses are.
_PARTS = {
    "assignment": "Id of an assignment.",
    "batch": "Number of a batch within its requester.",
    "corpus": "Short name of a corpus.",
    "endpoint": "Name of a marketplace or panel.",
    "job": "Id of a job.",
    "link": "Id of a study link.",
    "message": "Its `id` or `message_id`.",
    "name": "Name of a file.",
    "number": "Number or id within the list.",
    "operation": "Id of a call of the marketplace.",
    "path": "Path of a file in the release.",
    "project": "Short name of the project.",
    "requester": "Customer id of the requester.",
    "scores": "Id of the scores.",
    "stage": "Short name of the stage.",
    "submission": "Id of a submission.",
    "username": "User name.",
    "version": "Version of a release.",
    "webhook": "Id of a webhook.",
    "worker": "Id of a worker, as lists have it; not the one at the marketplace.",
}


def _describe_parts(schema: dict[str, Any]) -> None:
    for operation in (each for methods in schema["paths"].values() for each in methods.values()):
        for parameter in operation["parameters"]:
            if parameter["in"] == "path" and "description" not in parameter["schema"]:
                parameter["description"] = _PARTS[parameter["name"]]


@cache
def schema_text() -> str:
    """The schema as it is served and committed."""
    return json.dumps(build_schema(), indent=1, ensure_ascii=False, sort_keys=True) + "\n"
