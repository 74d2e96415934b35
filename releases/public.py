"""Pages and downloads without a log-in: of releases whose owner says so, and signed addresses of members."""

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from core.projects.selectors import project_for
from releases import download_files, manifest
from releases.models import Release
from releases.tables import SPLITS


def _public(project: str, version: str) -> Release:
    rows = Release.objects.select_related("project").filter(public=True, state__in=Release.BUILT)
    release: Release = get_object_or_404(rows, project__slug=project, version=version)
    return release


@require_safe
def page(request: HttpRequest, *, project: str, version: str) -> HttpResponse:
    """A public release: what is in it, its files, or why it was withdrawn. No member is named on it."""
    release = _public(project, version)
    ready = release.state == Release.State.READY
    base = request.build_absolute_uri(reverse("public_releases:file", args=[project, version, "FILE"]))
    return render(
        request,
        "releases/public.html",
        {
            "release": release,
            "title": release.manifest.get("title") or release.project.title,
            "files": download_files.list_download_files(release) if ready else [],
            "link": base.removesuffix("FILE"),
            "splits": SPLITS,
            "tables": manifest.tables(release.manifest),
            "facts": manifest.facts(release.manifest),
            "steps": manifest.steps(release.manifest),
        },
    )


@require_safe
def file(request: HttpRequest, *, project: str, version: str, path: str) -> HttpResponseBase:
    """A file of a public release."""
    return download_files.send_file(request, _public(project, version), path)


@require_safe
def archive(request: HttpRequest, *, project: str, version: str) -> HttpResponseBase:
    """All files of a public release."""
    return download_files.send_archive(request, _public(project, version))


@require_safe
def linked(request: HttpRequest, *, token: str, path: str) -> HttpResponseBase:
    """A file, by the signed address of a member who may still look."""
    link = download_files.read_link(token)
    release = get_object_or_404(Release.objects.select_related("project"), pk=int(link.given["release"]))
    project_for(link.user, release.project.slug)
    download_files.note_link_use(link, release)
    return download_files.send_file(request, release, path, user=link.user)
