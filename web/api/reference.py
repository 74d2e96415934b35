"""The reference of the API for people, made from its schema: no script, nothing from elsewhere."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from web.api.dispatch import SCHEMA
from web.api.operations import build_schema


@dataclass(frozen=True, slots=True)
class FieldRow:
    """A parameter or a field: what it is called, what it takes, whether it must be there."""

    name: str
    kind: str
    required: bool
    description: str
    place: str = ""


@dataclass(frozen=True, slots=True)
class OperationView:
    """One operation, as the page draws it."""

    name: str
    method: str
    path: str
    description: str
    scopes: str
    role: str
    parameters: list[FieldRow]
    fields: list[FieldRow]
    answer: str
    answer_fields: list[FieldRow]


@dataclass(frozen=True, slots=True)
class ResourceView:
    """The operations of one resource."""

    title: str
    anchor: str
    operations: list[OperationView]


@require_safe
def show_reference(request: HttpRequest) -> HttpResponse:
    """Every operation, with what it takes and gives."""
    context = {"resources": list_resources(), "schema": SCHEMA, "about": build_schema()["info"]}
    return render(request, "api/reference.html", context)


@cache
def list_resources() -> list[ResourceView]:
    """All resources in the order of their apps."""
    schema = build_schema()
    by_tag: dict[str, list[OperationView]] = {}
    for path, methods in schema["paths"].items():
        for method, facts in methods.items():
            by_tag.setdefault(facts["tags"][0], []).append(_operation(schema, path, method, facts))
    return [ResourceView(title, title.lower().replace(" ", "-"), rows) for title, rows in by_tag.items()]


def _operation(schema: Mapping[str, Any], path: str, method: str, facts: Mapping[str, Any]) -> OperationView:
    responses: dict[str, dict[str, Any]] = facts["responses"]
    status = next(each for each in responses if each < "300")
    content = responses[status].get("content", {})
    media = next(iter(content), "")
    body: dict[str, dict[str, Any]] = facts.get("requestBody", {}).get("content", {})
    body_schema: dict[str, Any] = next((each.get("schema", {}) for each in body.values()), {})
    return OperationView(
        name=facts["operationId"],
        method=method.upper(),
        path=path,
        description=facts.get("description", ""),
        scopes=", ".join(facts["x-scopes"]),
        role=_ROLES.get(facts["x-role"], facts["x-role"]),
        parameters=[
            FieldRow(
                each["name"],
                _kind(schema, each["schema"]),
                each["required"],
                each.get("description", ""),
                each["in"],
            )
            for each in facts["parameters"]
        ],
        fields=list(_fields(schema, body_schema)),
        answer=f"{status} {' or '.join(content)}".strip(),
        answer_fields=list(_fields(schema, content.get(media, {}).get("schema", {}))),
    )


_ROLES = {
    "account": "everyone with a token",
    "member": "members of a project, staff",
    "viewer": "viewers, managers, owners",
    "manager": "managers, owners",
    "owner": "owners",
    "view": "members of the requester, staff",
    "members": "owner of the requester, staff",
    "manage": "owner and managers of the requester, staff",
}


def _resolved(schema: Mapping[str, Any], part: Mapping[str, Any]) -> Mapping[str, Any]:
    reference = part.get("$ref")
    if reference is None:
        return part
    component: Mapping[str, Any] = schema["components"]["schemas"][reference.rsplit("/", 1)[-1]]
    return component


def _fields(schema: Mapping[str, Any], part: Mapping[str, Any]) -> Iterator[FieldRow]:
    """The fields of an object; of a page of rows, those of one row."""
    resolved = _resolved(schema, part)
    properties = resolved.get("properties", {})
    if set(properties) == {"items", "next"}:
        yield from _fields(schema, properties["items"]["items"])
        return
    required = set(resolved.get("required", ()))
    for name, field in properties.items():
        description = field.get("description", "")
        yield FieldRow(name, _kind(schema, field), name in required, description)


def _kind(schema: Mapping[str, Any], field: Mapping[str, Any]) -> str:
    """What a field takes, in a few words."""
    field = _resolved(schema, field.get("allOf", [field])[0])
    if choices := field.get("anyOf") or field.get("oneOf"):
        return " or ".join(_kind(schema, each) for each in choices)
    if options := field.get("enum"):
        return " | ".join(map(str, options))
    if field.get("type") == "array":
        return f"list of {_kind(schema, field.get('items', {}))}"
    if "properties" in field:
        return str(field.get("title", "object"))
    kind = str(field.get("format") or field.get("type") or "anything")
    least, most = field.get("minimum"), field.get("maximum")
    return f"{kind} {least} to {most}" if least is not None and most is not None else kind
