"""The search of the bar: pages, projects, stages, workers, and what apps above find by the same text."""

from collections.abc import Iterable

from django.contrib.auth.models import User
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_safe

from core.extensions import parts_of
from core.projects.models import Project
from core.projects.selectors import projects_of
from crowd.models import Stage, Worker
from web import nav
from web.access import for_members
from web.nav import MATCHES, Finder, Match
from web.pages import show

_LONGEST = 200


@require_safe
@for_members
def find(request: HttpRequest, user: User) -> HttpResponse:
    """What has this text, in the project that the user is in or else in all of theirs.

    With a head of htmx only the list, for the field in the bar.
    """
    text = request.GET.get("q", "").replace("\0", "").strip()[:_LONGEST]
    own_projects = projects_of(user)
    project = own_projects.filter(slug=request.GET.get("in", "")).first()
    answer = show(
        request,
        "parts/matches.html" if request.headers.get("HX-Request") else "find.html",
        text=text,
        project=project,
        most=MATCHES,
        groups=_find_all(own_projects, project, text) if text else [],
    )
    patch_vary_headers(answer, ["HX-Request"])
    return answer


def _find_all(
    own_projects: QuerySet[Project], project: Project | None, text: str
) -> list[tuple[str, list[Match]]]:
    """Headings with what was found, one more than is shown where there are more."""
    inside = own_projects.filter(pk=project.pk) if project else own_projects
    groups = [
        ("Pages", find_pages(project, text) if project else ()),
        ("Projects", find_projects(own_projects, text)),
        *(
            (finder.heading, finder.find(inside, text))
            for finder in sorted(parts_of(Finder), key=lambda each: each.position)
        ),
    ]
    listed = [(heading, list(matches)) for heading, matches in groups]
    return [(heading, matches) for heading, matches in listed if matches]


def find_pages(project: Project, text: str) -> Iterable[Match]:
    """Places of the project's sidebar."""
    for heading, links in nav.sidebar_groups(project, "", ""):
        for link in links:
            if text.casefold() in link.label.casefold():
                yield Match(link.label, heading, link.address)


def find_projects(projects: QuerySet[Project], text: str) -> Iterable[Match]:
    """Projects by their titles and short names, the newest first."""
    named = projects.filter(Q(title__icontains=text) | Q(slug__icontains=text)).order_by("-pk")
    for project in named[: MATCHES + 1]:
        yield Match(project.title, project.slug, reverse("desk:project", args=[project.slug]))


def find_stages(projects: QuerySet[Project], text: str) -> Iterable[Match]:
    """Stages by their titles and short names, the newest first."""
    named = Q(title__icontains=text) | Q(slug__icontains=text)
    stages = Stage.objects.filter(named, project__in=projects).select_related("project").order_by("-pk")
    for stage in stages[: MATCHES + 1]:
        address = reverse("desk:stage", args=[stage.project.slug, stage.slug])
        yield Match(stage.title, f"{stage.kind} · {stage.status}", address)


def find_workers(projects: QuerySet[Project], text: str) -> Iterable[Match]:
    """Workers by their ids at a marketplace or link."""
    workers = (
        Worker.objects.filter(external_id__icontains=text, assignments__stage__project__in=projects)
        .order_by("external_id")
        .values_list("pk", "external_id", "assignments__stage__project__slug")
        .distinct()
    )
    for worker, external_id, slug in workers[: MATCHES + 1]:
        yield Match(external_id, slug, reverse("desk:person", args=[slug, worker]))
