"""TOML text of a study in the database: a file that, applied, would change nothing."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from crowd.models import Endpoint, Stage
from crowd.services.endpoints import PRESETS
from crowd.study.documents import (
    Document,
    endpoint_document,
    project_document,
    resolved_endpoint,
    stage_document,
)
from crowd.study.schema import EndpointFields
from projects.models import Project

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}
_WIDTH = 100


def study_toml(project: Project) -> str:
    """The project, the endpoints that its stages use, and its stages."""
    stages = list(Stage.objects.filter(project=project).select_related("endpoint").order_by("pk"))
    endpoints = {stage.endpoint.name: stage.endpoint for stage in stages}
    members = project_document(project)
    lines = ["[project]", *_pairs(_without(members, "members"))]
    if members["members"]:
        lines += ["", "[project.members]", *_pairs(members["members"])]
    for name, endpoint in sorted(endpoints.items()):
        lines += ["", *_endpoint(name, endpoint)]
    for stage in stages:
        lines += ["", *_stage(stage)]
    return "\n".join(lines) + "\n"


def _endpoint(name: str, endpoint: Endpoint) -> Iterator[str]:
    document = endpoint_document(endpoint)
    yield f"[endpoints.{_key(name)}]  # its keys stay in the installation"
    for preset in PRESETS:
        fields = EndpointFields.model_validate(
            {"preset": preset, **{key: document[key] for key in ("label", "currency", "burst")}}
        )
        if resolved_endpoint(name, fields) == document:
            yield f"preset = {_value(preset)}"
            document = {key: document[key] for key in ("label", "currency", "burst")}
            break
    yield from _pairs(document)


def _stage(stage: Stage) -> Iterator[str]:
    document = stage_document(stage)
    if document["max_hits_per_worker"] is None:
        del document["max_hits_per_worker"]
    yield "[[stages]]"
    yield from _pairs(_without(document, "task", "config"))
    for table in ("task", "config"):
        yield ""
        yield from _table(f"stages.{table}", document[table])


def _table(name: str, values: Mapping[str, Any]) -> Iterator[str]:
    """A table with the tables in it below; what is None has no place in TOML and means the default."""
    inner = {key: value for key, value in values.items() if isinstance(value, dict) and value}
    yield f"[{name}]"
    yield from _pairs(_without(values, *inner))
    for key, value in inner.items():
        yield ""
        yield from _table(f"{name}.{_key(key)}", value)


def _pairs(values: Mapping[str, Any]) -> Iterator[str]:
    for key, value in values.items():
        if value is not None:
            yield f"{_key(key)} = {_value(value)}"


def _without(values: Mapping[str, Any], *names: str) -> Document:
    return {key: value for key, value in values.items() if key not in names}


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _string(key)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(_pairs(value)) + "}"
    items = [_value(item) for item in value if item is not None]
    short = f"[{', '.join(items)}]"
    return short if len(short) <= _WIDTH else "[\n" + "".join(f"    {item},\n" for item in items) + "]"


def _string(text: str) -> str:
    return '"' + "".join(map(_character, text)) + '"'


def _character(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    number = ord(character)
    return f"\\u{number:04X}" if number < 0x20 or number == 0x7F else character
