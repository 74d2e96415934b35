"""The search of the bar: pages, projects, stages, workers, and what apps above find by the same words."""

from collections.abc import Iterable
from itertools import islice

from django.contrib.auth.models import User
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from core.extensions import parts_of
from core.projects.models import Project
from core.projects.selectors import projects_of
from crowd.models import Stage, Worker
from web import nav
from web.access import for_members
from web.nav import Finder, Match
from web.pages import show

#: How many of each kind are shown.
_MOST = 6
_LONGEST = 200


@require_safe
@for_members
def find(request: HttpRequest, user: User) -> HttpResponse:
    """What has these words, in the project that the user is in or else in all of theirs.

    With a head of htmx only the list, for the field in the bar.
    """
    words = request.GET.get("q", "").replace("\0", "").strip()[:_LONGEST]
    own_projects = projects_of(user)
    here = own_projects.filter(slug=request.GET.get("in", "")).first()
    groups = [("Projects", list(islice(find_projects(own_projects, words), _MOST)))] if words else []
    if words and here is not None:
        groups.insert(0, ("Pages", list(islice(find_pages(here, words), _MOST))))
    if words:
        inside = own_projects.filter(pk=here.pk) if here else own_projects
        groups += [
            (finder.heading, list(islice(finder.find(inside, words), _MOST)))
            for finder in sorted(parts_of(Finder), key=lambda each: each.position)
        ]
    return show(
        request,
        "parts/matches.html" if request.headers.get("HX-Request") else "find.html",
        words=words,
        project=here,
        groups=[(heading, matches) for heading, matches in groups if matches],
    )


def find_pages(project: Project, words: str) -> Iterable[Match]:
    """Places of the project's sidebar."""
    for heading, links in nav.sidebar_groups(project, "", ""):
        for link in links:
            if words.casefold() in link.label.casefold():
                yield Match(link.label, heading, link.address)


def find_projects(projects: QuerySet[Project], words: str) -> Iterable[Match]:
    """Projects by their titles and names, the newest first."""
    named = projects.filter(Q(title__icontains=words) | Q(slug__icontains=words)).order_by("-pk")
    for project in named[:_MOST]:
        yield Match(project.title, project.slug, reverse("desk:project", args=[project.slug]))


def find_stages(projects: QuerySet[Project], words: str) -> Iterable[Match]:
    """Stages by their titles and names."""
    named = Q(title__icontains=words) | Q(slug__icontains=words)
    stages = Stage.objects.filter(named, project__in=projects).select_related("project").order_by("-pk")
    for stage in stages[:_MOST]:
        address = reverse("desk:stage", args=[stage.project.slug, stage.slug])
        yield Match(stage.title, f"{stage.kind} · {stage.status}", address)


def find_workers(projects: QuerySet[Project], words: str) -> Iterable[Match]:
    """Workers by their ids at a marketplace or link."""
    workers = (
        Worker.objects.filter(external_id__icontains=words, assignments__stage__project__in=projects)
        .values_list("pk", "external_id", "assignments__stage__project__slug")
        .distinct()
    )
    for worker, external_id, slug in workers[:_MOST]:
        yield Match(external_id, slug, reverse("desk:person", args=[slug, worker]))
