"""Sections that apps above add to pages of the desk, so that `crowd` need not know them.

Each is a part of its app's extension:

    Section("annotation/funnel.html", funnel_of)
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from core.extensions import parts_of
from core.projects.models import Project
from crowd.models import Worker


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the project's overview: a template, and its context for a project; None leaves it out."""

    template: str
    context: Callable[[Project], Mapping[str, Any] | None]


@dataclass(frozen=True, slots=True)
class WorkerSection:
    """A part of the page of a worker in a project; None as its context leaves it out."""

    template: str
    context: Callable[[Project, Worker], Mapping[str, Any] | None]


@dataclass(frozen=True, slots=True)
class SettingsSection:
    """A part of a page of settings: of a project, or with None of the user's own."""

    template: str
    context: Callable[[User, Project | None], Mapping[str, Any] | None]


def sections(project: Project) -> list[SafeString]:
    """The parts of a project's overview, rendered."""
    return _rendered(
        ((each.template, each.context(project)) for each in parts_of(Section)), {"project": project}
    )


def worker_sections(project: Project, worker: Worker) -> list[SafeString]:
    """The parts of a worker's page, rendered."""
    own = {"project": project, "worker": worker}
    return _rendered(
        ((each.template, each.context(project, worker)) for each in parts_of(WorkerSection)), own
    )


def settings_sections(user: User, project: Project | None, request: HttpRequest) -> list[SafeString]:
    """The parts of a page of settings, rendered with the request: they have forms."""
    own = {"project": project, "user": user}
    return _rendered(
        ((each.template, each.context(user, project)) for each in parts_of(SettingsSection)), own, request
    )


def _rendered(
    parts: Iterable[tuple[str, Mapping[str, Any] | None]],
    own: Mapping[str, Any],
    request: HttpRequest | None = None,
) -> list[SafeString]:
    return [
        render_to_string(template, {**own, **context}, request=request)
        for template, context in parts
        if context is not None
    ]
