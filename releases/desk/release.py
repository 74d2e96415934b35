"""Releases on the desk: lists, the page of one, what its owner may do with it, downloads."""

import json
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.template.defaultfilters import filesizeformat
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from core.jobs.models import Job, JobState
from core.projects.selectors import projects_of
from releases import download_files, manifest, selectors, services, storage
from releases.build import BUILD, begin_again
from releases.desk.forms import WithdrawForm
from releases.models import Release
from releases.tables import SPLITS
from web.access import ProjectAccess, Role, for_members, on_project
from web.cells import NONE, Cell, Link, chip, isolated, link, several
from web.forms import FormError, read_form, run_action
from web.kit import Empty, Listing, Page
from web.pages import show, show_table
from web.tables import Choices, Column, Grid, GridRequest

# Lists of releases: of one project, and of all that somebody may see.

FOLDER = "releases"
STATES = {
    "all": "All",
    "ready": "Ready",
    "building": "Being built",
    "failed": "Failed",
    "withdrawn": "Withdrawn",
}


_LOOKS = {
    "ready": ("Ready", "good"),
    "building": ("Being built", "wait"),
    "failed": ("Failed", "bad"),
    "withdrawn": ("Withdrawn", ""),
}


def _draw_project(cell: Cell) -> object:
    project = cell.row.project
    return link(project.title, reverse("releases:list", args=[project.slug]), most=60)


def _draw_version(cell: Cell) -> object:
    release = cell.row
    return link(release.version, reverse(PAGE, args=[release.project.slug, release.version]))


def _draw_state(cell: Cell) -> object:
    release = cell.row
    marks = (release.public and chip("Public"), release.simulated and chip("Simulated", "wait"))
    return several(chip(*_LOOKS[release.state]), *marks, release.imported and chip("Imported"))


def _person(release: Release) -> str:
    return release.created_by.get_username() if release.created_by else "the system"


def _draw_size(cell: Cell) -> object:
    return filesizeformat(cell.value) if cell.value else NONE


def _draw_digest(cell: Cell) -> object:
    return isolated(f"{cell.value[:12]}…", mono=True) if cell.value else NONE


_OWN = (
    Column("version", "Version", by="pk", down=True, head=True, cell=_draw_version),
    Column("state", "State", by="state", cell=_draw_state),
    Column("files", "Files", lambda row: row.file_count or None, number=True),
    Column(
        "bytes", "Size", number=True, cell=lambda cell: filesizeformat(cell.value) if cell.value else NONE
    ),
    Column("digest", "SHA-256 of the manifest", cell=_draw_digest),
    Column("by", "Begun by", _person, by="created_by__username"),
    Column("built", "Built", "built_at", by="built_at", down=True, gaps=True),
)
_STATE = Choices("state", "State of the releases", STATES, tabs=True)
RELEASES = Grid("releases", columns=_OWN, order="version", filters=(_STATE,))
_PROJECT = Column("project", "Project", "project.slug", by="project__slug", cell=_draw_project)
EVERYWHERE = Grid("releases", columns=(_PROJECT, *_OWN), order="version", filters=(_STATE,))


def _in_state(rows: QuerySet[Release], grid: GridRequest) -> QuerySet[Release]:
    return rows if grid["state"] == "all" else rows.filter(state=grid["state"])


@require_safe
@on_project()
def listing(request: HttpRequest, access: ProjectAccess) -> HttpResponseBase:
    """A project's releases."""
    make = access.manager and Link("New release", access.address("releases:content"))
    first = Link("Make the first release", access.address("releases:content")) if make else None
    none = Empty("No release is in this state", Link("Show all", "?"))
    ask = "" if access.manager else " A manager of the project can make the first one."
    empty = Empty("No release yet", f"{_FREEZES}{ask}", first)
    page = Page(
        "Releases",
        [Listing("State of the releases", "release", "releases", empty, none)],
        primary=[make] if make else [],
    )

    def rows(grid: GridRequest) -> QuerySet[Release]:
        return _in_state(selectors.releases_of(access.project), grid)

    return show_table(request, access, RELEASES, rows, page, tab="releases")


_FREEZES = (
    "A release freezes what this project has collected: reference sets, human scores, every rating with "
    "what the filters decided, splits, a report on agreement and pay, and a data card. Its files never "
    "change, and each has a checksum. Before it is built, texts are searched for personal data. You "
    "decide what happens to each find."
)


@require_safe
@for_members
def everywhere(request: HttpRequest, user: User) -> HttpResponseBase:
    """The releases of all projects that somebody is a member of."""
    begin = "Open a project and its tab Releases: there its data become a permanent data set."
    empty = Empty("No release yet", begin, Link("Projects", reverse("desk:projects")))
    page = Page(
        "Releases",
        [Listing("State of the releases", "release", "releases", empty)],
        lead="Data sets of all your projects.",
    )

    def rows(grid: GridRequest) -> QuerySet[Release]:
        return _in_state(selectors.releases_in(projects_of(user)), grid)

    return show_table(request, None, EVERYWHERE, rows, page, sidebar="releases")


PAGE = "releases:release"
#: A report is shown in a few lines only where it is small.
_LARGEST_REPORT = 1 << 20


def find_release(access: ProjectAccess, version: str) -> Release:
    """The release of this version, with its people."""
    rows = Release.objects.select_related("created_by", "withdrawn_by")
    release: Release = get_object_or_404(rows, project=access.project, version=version)
    release.project = access.project
    return release


@require_safe
@on_project()
def page(request: HttpRequest, access: ProjectAccess, *, version: str) -> HttpResponse:
    """One release."""
    release = find_release(access, version)
    if release.state in (Release.State.BUILDING, Release.State.FAILED):
        job = selectors.job_of(release)
        return show(
            request,
            "unfinished.html",
            access,
            folder=FOLDER,
            tab="releases",
            release=release,
            **_progress(release, job),
        )
    ready = release.state == Release.State.READY
    files = download_files.list_download_files(release) if ready else []
    link = _address(request, release, access) if ready else ""
    return show(
        request,
        "release.html",
        access,
        folder=FOLDER,
        tab="releases",
        release=release,
        files=files,
        link=link,
        loading=download_files.write_loading(files, link),
        earlier=selectors.before(release),
        splits=SPLITS,
        tables=manifest.tables(release.manifest),
        steps=manifest.steps(release.manifest),
        facts=manifest.facts(release.manifest),
        pay=_pay(release) if ready else None,
        withdraw_form=WithdrawForm() if access.owns and ready else None,
        public_address=request.build_absolute_uri(
            reverse("public_releases:page", args=[access.project.slug, release.version])
        ),
    )


def _address(request: HttpRequest, release: Release, access: ProjectAccess) -> str:
    """The beginning of addresses that a program can download from, for this person."""
    token = download_files.link_for(release, access.user)
    return request.build_absolute_uri(reverse("public_releases:linked", args=[token, "FILE"])).removesuffix(
        "FILE"
    )


def _pay(release: Release) -> dict[str, Any] | None:
    """The summary of costs, as the release has it."""
    try:
        with storage.open_at(release, "reports/costs.json") as file:
            report = json.loads(file.read(_LARGEST_REPORT))
    except (OSError, ValueError):
        return None
    return report if isinstance(report, dict) else None


@require_safe
@on_project()
def build(request: HttpRequest, access: ProjectAccess, *, job: int) -> HttpResponse:
    """How far a build is; when it is done, the release that it made or found."""
    row = _job(access, job)
    if row.state == JobState.DONE and row.result:
        version = str(row.result.get("version", ""))
        if row.result.get("same"):
            messages.info(
                request, f"Nothing has changed since release {version}, so it is that one, byte by byte."
            )
        return redirect(PAGE, access.project.slug, version)
    return redirect(PAGE, access.project.slug, str(row.payload.get("version", "")))


@require_safe
@never_cache
@on_project()
def live(request: HttpRequest, access: ProjectAccess, *, job: int) -> HttpResponse:
    """The part of a build's page that changes by itself."""
    row = _job(access, job)
    release = Release.objects.filter(project=access.project, job=row.pk).first()
    return show(
        request, "parts/build_live.html", access, folder=FOLDER, release=release, **_progress(release, row)
    )


def _progress(release: Release | None, job: Job | None) -> dict[str, Any]:
    done = job is not None and job.state == JobState.DONE
    failed = release is not None and release.state == Release.State.FAILED
    return {
        "job": job,
        "done": done,
        "over": failed or (not done and release is not None and services.is_stuck(release, job)),
        "why": (release.error if release else "") or (job.error if job else ""),
    }


def _job(access: ProjectAccess, pk: int) -> Job:
    row: Job = get_object_or_404(Job, pk=pk, kind=BUILD)
    if row.payload.get("project") != access.project.pk:
        raise Http404("There is no such build.")
    return row


@require_POST
@on_project(Role.MANAGER)
def cancel(request: HttpRequest, access: ProjectAccess, *, version: str) -> HttpResponse:
    """End a build."""

    def action() -> str:
        if not services.give_up(
            release=find_release(access, version), why="It was cancelled.", actor=access.user
        ):
            raise FormError("The build is over already.")
        return "The build was cancelled. No files were kept."

    return run_action(request, action, PAGE, access.project.slug, version)


@require_POST
@on_project(Role.MANAGER)
def again(request: HttpRequest, access: ProjectAccess, *, version: str) -> HttpResponse:
    """Build a version that failed once more."""

    def action() -> str:
        release = find_release(access, version)
        if services.is_stuck(release, selectors.job_of(release)):
            services.give_up(release=release, why="Its worker stopped.", actor=access.user)
        begin_again(release=release, actor=access.user)
        return f"Release {version} is being built again."

    return run_action(request, action, PAGE, access.project.slug, version)


@require_POST
@on_project(Role.OWNER)
def publish(request: HttpRequest, access: ProjectAccess, *, version: str) -> HttpResponse:
    """Give it a page that needs no log-in."""

    def action() -> str:
        services.show_release(release=find_release(access, version), actor=access.user)
        return f"Release {version} has a public page. Everybody who has its address can download its files."

    return run_action(request, action, PAGE, access.project.slug, version)


@require_POST
@on_project(Role.OWNER)
def hide(request: HttpRequest, access: ProjectAccess, *, version: str) -> HttpResponse:
    """Take the public page away."""

    def action() -> str:
        services.hide_release(release=find_release(access, version), actor=access.user)
        return f"Release {version} is for members of the project again."

    return run_action(request, action, PAGE, access.project.slug, version)


@require_POST
@on_project(Role.OWNER)
def withdraw(request: HttpRequest, access: ProjectAccess, *, version: str) -> HttpResponse:
    """Offer its files no more; the record stays."""
    release = find_release(access, version)

    def action() -> str:
        cleaned = read_form(WithdrawForm(request.POST))
        if cleaned["typed"].strip() != version:
            raise FormError(f"Type {version} to withdraw it; this was something else.")
        services.withdraw_release(release=release, reason=cleaned["reason"], actor=access.user)
        return f"Release {version} is withdrawn. Its page stays and says why."

    return run_action(request, action, PAGE, access.project.slug, version)


@require_safe
@on_project()
def difference(request: HttpRequest, access: ProjectAccess, *, version: str) -> HttpResponse:
    """What differs from another release of the project, the one before unless the address names another."""
    release = find_release(access, version)
    if release.state not in Release.BUILT:
        raise Http404("It is not built yet.")
    others = list(
        Release.objects.filter(project=access.project, state__in=Release.BUILT)
        .exclude(pk=release.pk)
        .order_by("-pk")
        .values_list("version", flat=True)[:100]
    )
    earlier = selectors.before(release)
    other_version = request.GET.get("from") or (earlier.version if earlier else "")
    other = find_release(access, other_version) if other_version else None
    if other is not None and (other.state not in Release.BUILT or other.pk == release.pk):
        raise Http404("There is no such release to compare with.")
    return show(
        request,
        "difference.html",
        access,
        folder=FOLDER,
        tab="releases",
        release=release,
        other=other,
        others=others,
        changes=manifest.changes(other.manifest, release.manifest) if other else None,
    )


# Downloads of members: one file, in whole or in part, and all files in one archive.


@require_safe
@on_project()
def file(request: HttpRequest, access: ProjectAccess, *, version: str, path: str) -> HttpResponseBase:
    """One file."""
    return download_files.send_file(request, find_release(access, version), path, user=access.user)


@require_safe
@on_project()
def archive(request: HttpRequest, access: ProjectAccess, *, version: str) -> HttpResponseBase:
    """All files."""
    return download_files.send_archive(request, find_release(access, version), user=access.user)
