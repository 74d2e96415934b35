"""Making the database say what a file says, in one transaction. Opens no stage and spends nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.auth import get_user_model
from django.db import transaction

from core.projects.models import Membership, Project
from core.projects.services import ProjectError, change_project, create_project, set_budget, set_role
from crowd.errors import CrowdError
from crowd.kinds import kind_of
from crowd.models import Endpoint, Stage
from crowd.services import panel_pay, panels
from crowd.services.endpoints import change_endpoint, change_keys, create_endpoint
from crowd.services.quotes import Quote, quote
from crowd.services.sources import set_sources
from crowd.services.stages import change_stage, create_stage, has_fixed_terms
from crowd.sources import forget_rows, stages_at
from crowd.study.documents import (
    endpoint_document,
    resolved_endpoint,
    source_plans,
    stage_columns,
    stage_document,
)
from crowd.study.planning import Plan, keys_differ, keys_of, plan
from crowd.study.problems import Path, Problem, StudyError
from crowd.study.reader import Study
from crowd.study.schema import EndpointFields, ProjectFields, StageFields


@dataclass(frozen=True, slots=True)
class StudyResult:
    """What was done, and what publishing the drafts would cost, with what their kinds caution about."""

    plan: Plan
    quotes: Mapping[str, Quote]
    cautions: Mapping[str, Sequence[str]]


class ChangedMeanwhileError(Exception):
    """Somebody changed the project between the differences that were shown and now; nothing was done."""


def apply(study: Study, shown: Plan, environment: Mapping[str, str], *, actor: Any = None) -> StudyResult:
    """Apply a study exactly as its differences were shown.

    Raises StudyError, or ChangedMeanwhileError; then nothing was changed.
    """
    with transaction.atomic():
        list(Project.objects.select_for_update().filter(slug=study.fields.project.slug))
        if plan(study, environment, to_apply=True).changes != shown.changes:
            raise ChangedMeanwhileError
        _Applier(study, environment, actor).run()
    drafts = _drafts(study)
    quotes = {stage.slug: quote(stage) for stage in drafts}
    return StudyResult(shown, quotes, {stage.slug: kind_of(stage).cautions(stage) for stage in drafts})


def _drafts(study: Study) -> list[Stage]:
    drafts = Stage.objects.select_related("project", "endpoint").filter(
        project__slug=study.fields.project.slug,
        slug__in=[stage.slug for stage in study.fields.stages],
        status=Stage.Status.DRAFT,
    )
    return list(drafts)


class _Applier:
    """One run; errors of the services get the place in the file that they are about."""

    def __init__(self, study: Study, environment: Mapping[str, str], actor: Any) -> None:
        self._study, self._environment, self._actor = study, environment, actor
        self._at: Path = ()

    def run(self) -> None:
        fields = self._study.fields
        try:
            for name, endpoint in fields.endpoints.items():
                self._at = ("endpoints", name)
                self._endpoint(name, endpoint)
            self._at = ("project",)
            project = self._project(fields.project)
            for number, stage in enumerate(fields.stages):
                self._at = ("stages", number)
                self._stage(project, stage)
        except (CrowdError, ProjectError) as error:
            source = self._study.source
            raise StudyError(
                [
                    Problem(
                        "refused",
                        source.name,
                        source.locator.line(self._at),
                        ".".join(map(str, self._at)),
                        str(error),
                        "Change what the sentence names.",
                    )
                ]
            ) from error

    def _endpoint(self, name: str, fields: EndpointFields) -> None:
        document, keys = resolved_endpoint(name, fields), keys_of(fields, self._environment)
        document["fee_profile"] = document.pop("fees")
        row = Endpoint.objects.filter(name=name).first()
        if row is None:
            origins = tuple(document.pop("submit_origins"))
            create_endpoint(
                name=name,
                access_key=keys.access_key,
                secret=keys.secret,
                submit_origins=origins,
                **document,
            )
            return
        if endpoint_document(row) != resolved_endpoint(name, fields):
            change_endpoint(endpoint=row, changes=document)
        if keys_differ(row, keys):
            change_keys(endpoint=row, access_key=keys.access_key, secret=keys.secret)

    def _project(self, fields: ProjectFields) -> Project:
        project = Project.objects.filter(slug=fields.slug).first()
        if project is None:
            project = create_project(
                slug=fields.slug,
                title=fields.title,
                language=fields.language,
                licence=fields.licence,
                wage_floor_cents=fields.wage_floor,
                budget_cents=fields.budget,
                actor=self._actor,
            )
        change_project(
            project=project,
            changes={
                "title": fields.title,
                "language": fields.language,
                "licence": fields.licence,
                "wage_floor_cents": fields.wage_floor,
            },
            actor=self._actor,
        )
        if project.budget_cents != fields.budget:
            set_budget(project=project, budget_cents=fields.budget, actor=self._actor)
            project.refresh_from_db()
        self._members(project, fields.members)
        return project

    def _members(self, project: Project, members: Mapping[str, str]) -> None:
        """Owners first: a project that hands over its last owner keeps one at every moment."""
        before = dict(Membership.objects.filter(project=project).values_list("user__username", "role"))
        people = get_user_model().objects.in_bulk(list(members), field_name="username")
        for name, role in sorted(members.items(), key=lambda member: member[1] != Membership.Role.OWNER):
            if before.get(name) != role:
                set_role(project=project, user=people[name], role=role, actor=self._actor)

    def _stage(self, project: Project, fields: StageFields) -> None:
        names = {fields.endpoint, *(each.endpoint for each in fields.sources)}
        endpoints = {row.name: row for row in Endpoint.objects.filter(name__in=names)}
        columns = stage_columns(fields, endpoints[fields.endpoint])
        plans = source_plans(fields, endpoints)
        stage = Stage.objects.filter(project=project, slug=fields.slug).first()
        if stage is None:
            stage = create_stage(project=project, slug=fields.slug, actor=self._actor, **columns)
            set_sources(stage=stage, plans=plans, actor=self._actor)
            self._panel_terms(stage, fields)
            return
        if stage_document(stage)["config"] == fields.config:
            del columns["config"]
        if stage.endpoint_id != columns["endpoint"].pk and not has_fixed_terms(stage):
            set_sources(stage=stage, plans=[], actor=self._actor)
        change_stage(stage=stage, changes=columns, actor=self._actor)
        set_sources(stage=stage, plans=plans, actor=self._actor)
        self._panel_terms(stage, fields)

    def _panel_terms(self, stage: Stage, fields: StageFields) -> None:
        """What its studies at Prolific pay; of those that are there, how many screen-outs."""
        wanted = fields.panel
        if wanted is None:
            return
        forget_rows(stage)
        for here in stages_at(stage):
            if here.endpoint.protocol != Endpoint.Protocol.PROLIFIC:
                continue
            study = panels.study_of(here)
            if study.external_id:
                if wanted.screen_outs != panel_pay.slots_asked(study):
                    panel_pay.raise_slots(study, slots=wanted.screen_outs, actor=self._actor)
            elif (study.screen_out_cents, study.screen_out_slots, study.pays_in_part) != (
                wanted.screen_out or 0,
                wanted.screen_outs,
                wanted.pays_in_part,
            ):
                panel_pay.set_terms(
                    study,
                    screen_out_cents=wanted.screen_out or 0,
                    screen_out_slots=wanted.screen_outs,
                    pays_in_part=wanted.pays_in_part,
                    actor=self._actor,
                )
