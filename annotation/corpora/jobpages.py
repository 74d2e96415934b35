"""The page of work on a corpus that waits or runs, its live part, and how it is cancelled."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from annotation.corpora.selectors import ADD, INDEX, KINDS, NETWORK, REMOVE
from annotation.corpora.views import FOLDER, TAB
from core.jobs.models import Job, JobState
from core.projects.models import Project
from retrieval.models import Corpus
from web.access import ProjectAccess, Role, on_project
from web.job_pages import cancel_and_say
from web.pages import show

_DOING = {
    ADD: "Passages are added",
    INDEX: "The index is built",
    NETWORK: "The network is built",
    REMOVE: "The corpus is removed",
}
#: What is left when the work is cancelled or fails.
_LEFT = {
    ADD: "Nothing of the file is added.",
    INDEX: "What was found before is found still. Building again goes on where it was.",
    NETWORK: "The network of before, if there is one, still answers.",
    REMOVE: "Removing it again goes on where it was.",
}


@require_safe
@on_project(Role.MANAGER)
def running(request: HttpRequest, access: ProjectAccess, *, job: int) -> HttpResponse:
    """How far it is, and what came of it."""
    return show(
        request, "corpus_job.html", access, folder=FOLDER, tab=TAB, **_live(_job(access.project, job))
    )


@require_safe
@never_cache
@on_project(Role.MANAGER)
def live(request: HttpRequest, access: ProjectAccess, *, job: int) -> HttpResponse:
    """The part of that page that changes by itself."""
    return show(request, "parts/corpus_live.html", access, folder=FOLDER, **_live(_job(access.project, job)))


@require_POST
@on_project(Role.MANAGER)
def stop(request: HttpRequest, access: ProjectAccess, *, job: int) -> HttpResponse:
    """Cancel it."""
    row = _job(access.project, job)
    return cancel_and_say(request, access, row, what="It", left=_LEFT[row.kind], then="annotation:corpus_job")


def _live(job: Job) -> dict[str, Any]:
    there = Corpus.objects.filter(pk=job.payload["corpus"]).exists()
    return {
        "job": job,
        "over": job.state in (JobState.FAILED, JobState.CANCELLED),
        "done": job.state == JobState.DONE,
        "doing": _DOING[job.kind],
        "left": _LEFT[job.kind],
        "kind": job.kind.rpartition(".")[2],
        "there": there,
    }


def _job(project: Project, pk: int) -> Job:
    row = get_object_or_404(Job, pk=pk, kind__in=KINDS)
    if row.payload.get("project") != project.pk:
        raise Http404("There is no such work.")
    return row
