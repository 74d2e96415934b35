"""TOML text of a study in the database: a file that, applied, would change nothing."""

from collections.abc import Iterator, Mapping
from typing import Any

from core.projects.models import Project
from crowd.models import Endpoint, Stage
from crowd.services.endpoints import PRESETS
from crowd.study.documents import (
    endpoint_document,
    project_document,
    resolved_endpoint,
    stage_document,
)
from crowd.study.notation import key, pairs, table, value, without
from crowd.study.schema import EndpointFields, StageFields


def study_toml(project: Project) -> str:
    """The project, the endpoints that its stages use, and its stages."""
    stages = list(Stage.objects.filter(project=project).select_related("endpoint").order_by("pk"))
    endpoints = {stage.endpoint.name: stage.endpoint for stage in stages}
    members = project_document(project)
    lines = ["[project]", *pairs(without(members, "members"))]
    if members["members"]:
        lines += ["", "[project.members]", *pairs(members["members"])]
    for name, endpoint in sorted(endpoints.items()):
        lines += ["", *_endpoint(name, endpoint)]
    for stage in stages:
        lines += ["", *_stage(stage)]
    return "\n".join(lines) + "\n"


def _endpoint(name: str, endpoint: Endpoint) -> Iterator[str]:
    document = endpoint_document(endpoint)
    yield f"[endpoints.{key(name)}]  # its keys stay in the installation"
    for preset in PRESETS:
        fields = EndpointFields.model_validate(
            {"preset": preset, **{name: document[name] for name in ("label", "currency", "burst")}}
        )
        if resolved_endpoint(name, fields) == document:
            yield f"preset = {value(preset)}"
            document = {name: document[name] for name in ("label", "currency", "burst")}
            break
    yield from pairs(document)


def _stage(stage: Stage) -> Iterator[str]:
    unsorted = stage_document(stage)
    document = {name: unsorted[name] for name in StageFields.model_fields}
    for name in ("max_hits_per_worker", "expected_minutes"):
        if document[name] is None:
            del document[name]
    yield "[[stages]]"
    yield from pairs(without(document, "task", "config"))
    for below in ("task", "config"):
        yield ""
        yield from table(f"stages.{below}", document[below])


def document_toml(document: Mapping[str, Any]) -> str:
    """A study in the file's own terms, as tables of the library that reads TOML, as a file again."""
    project = document["project"]
    lines = ["[project]", *pairs(without(project, "members"))]
    if project.get("members"):
        lines += ["", "[project.members]", *pairs(project["members"])]
    for stage in document.get("stages", ()):
        lines += ["", "[[stages]]", *pairs(without(stage, "task", "config"))]
        for below in ("task", "config"):
            if stage.get(below):
                lines += ["", *table(f"stages.{below}", stage[below])]
    return "\n".join(lines) + "\n"
