"""Copies of stages and projects: the terms of what went well, as drafts; no work, no people, no money."""

from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from core.projects.models import Project
from core.projects.services import create_project
from crowd.models import Picture, Stage
from crowd.services.pictures import add_picture, pictures_of
from crowd.services.sources import TERMS, SourcePlan, set_sources
from crowd.services.stages import create_stage
from crowd.sources import source_rows
from crowd.study.documents import COLUMNS


@transaction.atomic
def copy_stage(
    *, stage: Stage, slug: str, title: str = "", project: Project | None = None, actor: Any = None
) -> Stage:
    """A draft with the stage's terms, questions and sources, in its own project or in another one.

    Its budget is zero, for owners set budgets; what a study at Prolific pays beside rewards is set again.
    Stages that it is to be apart from are left out where the other project lacks them. CrowdError where there
    is a stage of this name already.
    """
    columns = {name: getattr(stage, name) for name in COLUMNS}
    columns |= {"title": title or stage.title, "budget_cents": 0}
    at = project or stage.project
    slugs = set(Stage.objects.filter(project=at).values_list("slug", flat=True))
    columns["apart_from"] = [name for name in stage.apart_from if name in slugs]
    if at != stage.project:
        for picture in Picture.objects.filter(project=stage.project, name__in=pictures_of(stage)):
            add_picture(project=at, name=picture.name, content=bytes(picture.content), actor=actor)
    stage_copy = create_stage(project=at, slug=slug, actor=actor, **columns)
    plans = [
        SourcePlan(row.endpoint, **{name: getattr(row, name) for name in TERMS}) for row in source_rows(stage)
    ]
    if plans:
        set_sources(stage=stage_copy, plans=plans, actor=actor)
    return stage_copy


@transaction.atomic
def copy_project(*, project: Project, slug: str, title: str, owner: User) -> Project:
    """A project of `owner` with drafts of all the project's stages; queries, answers and members stay behind.

    Budgets are zero. ProjectError where there is a project of this name, or the person may make none.
    """
    project_copy = create_project(
        slug=slug,
        title=title,
        owner=owner,
        wage_floor_cents=project.wage_floor_cents,
        language=project.language,
        licence=project.licence,
    )
    for stage in Stage.objects.filter(project=project).select_related("project", "endpoint").order_by("pk"):
        copy_stage(stage=stage, slug=stage.slug, project=project_copy, actor=owner)
    return project_copy
