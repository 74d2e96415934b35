"""Every page of the desk over a campaign of `tests.campaign`, from the urlconf, with real keys.

A page that only takes a POST is left out. Besides each page as it opens, there are the filters, orders and
last pages that cost the most.
"""

from collections.abc import Iterator
from typing import Any

from django.urls import URLPattern, get_resolver, reverse

from annotation.models import Answer, Query
from core.projects.models import Project
from crowd.models import Assignment, Hit, Stage
from judgments.models import Candidate, CandidateSource, Judgment, System

ROOMS = ("desk", "annotation", "judgments", "releases", "evaluations", "notices")
#: Kinds of stages that an app's pages are about, where these are not all.
_KINDS = {
    "annotation:agreement": ("screening", "curation"),
    "annotation": ("distillation",),
    "judgments": ("judging",),
}
#: What else to ask of a page: filters, orders, the last page.
FURTHER: dict[str, tuple[str, ...]] = {
    "desk:hits": ("order=missing", "order=answered", "page=last"),
    "desk:work": ("state=all&order=newest", "state=all&page=last", "state=all&order=checks"),
    "desk:workers": ("page=last",),
    "desk:operations": ("page=last", "state=confirmed", "state=unfinished"),
    "desk:events": ("page=last",),
    "annotation:queries": (
        "q=study", "only=flagged", "only=rewrite", "only=no-passages", "order=count&page=last",
        "status=through-curation", "order=text", "status=answered&type=PERSON",
    ),
    "annotation:answers": ("state=flagged", "state=all&order=newest", "state=decided", "order=fewest"),
    "annotation:answers_of_worker": ("page=last",),
    "judgments:scores": ("order=lowest", "page=last"),
    "judgments:system": ("order=best", "order=judged", "state=unjudged", "q=study", "page=last"),
    "judgments:judges": ("order=checks", "page=last"),
    "judgments:judge": ("page=last",),
    "judgments:filters": ("look=1&recipe=kpqa-2021",),
}  # fmt: skip
LIVE = {"desk:live", "judgments:agreement_live", "judgments:import_live", "annotation:import_live"}


def pages(project: Project) -> Iterator[tuple[str, str]]:
    """(Name, address) of all that can be looked at in this project."""
    stages = {stage.kind: stage for stage in Stage.objects.filter(project=project)}
    for room, pattern in _patterns():
        name = f"{room}:{pattern.name}"
        parts = set(pattern.pattern.converters)
        kinds: tuple[str | None, ...] = (None,)
        if "stage" in parts:
            kinds = _KINDS.get(name) or _KINDS.get(room) or tuple(stages)
        for kind in kinds:
            given = _keys(name, parts, project, stages.get(kind or ""))
            if given is None:
                continue
            address = reverse(name, kwargs=given)
            about = f"{name} {kind}" if kind and len(kinds) > 1 else name
            yield about, address
            for more in FURTHER.get(name, ()):
                yield f"{about} ?{more}", f"{address}?{more}"


def _patterns() -> Iterator[tuple[str, URLPattern]]:
    for resolver in get_resolver().url_patterns:
        namespace = getattr(resolver, "namespace", None)
        if namespace in ROOMS:
            for pattern in resolver.url_patterns:
                if isinstance(pattern, URLPattern) and pattern.name:
                    yield namespace, pattern


def _keys(name: str, parts: set[str], project: Project, stage: Stage | None) -> dict[str, Any] | None:
    """The values of an address's parts; None where the campaign has nothing of that kind."""
    given: dict[str, Any] = {}
    for part in parts:
        value = _key(name, part, project, stage)
        if value is None:
            return None
        given[part] = value
    return given


def _key(name: str, part: str, project: Project, stage: Stage | None) -> Any:
    answered = Query.objects.filter(project=project, status=Query.Status.ANSWERED).order_by("pk")
    work = Assignment.objects.filter(stage=stage, state="approved").order_by("pk")
    found: dict[str, Any] = {"project": project.slug}
    if stage is not None:
        found["stage"] = stage.slug
    if part in found:
        return found[part]
    if part == "number":
        return Hit.objects.filter(stage=stage).order_by("pk").values_list("ordinal", flat=True).first()
    if part == "query":
        tied = Query.objects.filter(project=project, status=Query.Status.DISPUTED)
        return tied.values_list("pk", flat=True).first()
    if part == "figure":
        return "histogram"
    by_name = {
        "annotation:query": answered,
        "evaluations:query": answered,
        "annotation:answers_of_query": answered,
        "annotation:answers_of_worker": Answer.objects.filter(stage=stage),
        "annotation:source": project.query_sources.all(),
        "desk:assignment": work,
        "desk:worker": work,
        "judgments:judge": Judgment.objects.filter(stage=stage),
        "judgments:system": System.objects.filter(project=project, kind="program"),
        "judgments:system_csv": System.objects.filter(project=project, kind="program"),
        "judgments:candidate": Candidate.objects.filter(system__project=project),
        "judgments:source": CandidateSource.objects.filter(project=project),
    }
    if part != "pk" or name not in by_name:
        return None
    workers = {"annotation:answers_of_worker", "desk:worker", "judgments:judge"}
    field = "worker_id" if name in workers else "pk"
    return by_name[name].order_by("pk").values_list(field, flat=True).first()
