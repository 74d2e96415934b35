"""What applying a study would change, why some of it cannot be, and changing it in one transaction.

Applying opens no stage and spends nothing.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from django.contrib.auth import get_user_model
from django.db import transaction

from core.crypto import unseal
from core.money import dollars
from core.projects.models import Membership, Project
from core.projects.services import ProjectError, change_project, create_project, set_budget, set_role
from crowd.errors import CrowdError
from crowd.kinds import kind_named
from crowd.models import Endpoint, Stage
from crowd.rights import is_operator, usable_endpoints
from crowd.selectors.known_people import list_cautions
from crowd.selectors.wage import wage
from crowd.services import panel_pay, panels
from crowd.services.endpoints import (
    FIXED_ONCE_USED,
    PRESETS,
    change_endpoint,
    change_keys,
    create_endpoint,
    is_used,
)
from crowd.services.instructions import only_says_otherwise
from crowd.services.publication import Quote, quote
from crowd.services.sources import set_sources
from crowd.services.spenders import allow_spending
from crowd.services.stages import (
    FIXED_ONCE_OPENED,
    change_stage,
    create_stage,
    has_fixed_terms,
    take_panel_fees,
)
from crowd.sources import forget_rows, source_rows, spends_real_money, stages_at
from crowd.study import documents
from crowd.study.explain import Finding, Path, Problem, StudyError, not_known, without
from crowd.study.reader import Study
from crowd.study.schema import EndpointFields, ProjectFields, StageFields

Action = Literal["add", "change", "unchanged"]
#: Accounts among which a misspelt name is looked for.
_NAMES = 1000
#: Fields of the file whose columns have another name.
_COLUMNS = {
    "reward": "reward_cents",
    "expected_minutes": "expected_seconds",
    "work_time": "work_seconds",
    "open_for": "open_seconds",
    "auto_approve_after": "auto_approve_seconds",
    "fees": "fee_profile",
}


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field, as it is and as the file has it. None: it is not there."""

    name: str
    old: Any
    new: Any


@dataclass(frozen=True, slots=True)
class Change:
    """What becomes of the project, an endpoint or a stage."""

    what: Literal["project", "endpoint", "stage"]
    name: str
    action: Action
    fields: tuple[FieldChange, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """All changes that a file asks for. Cautions stop nobody; notes say what stays though it is not named."""

    changes: tuple[Change, ...]
    cautions: tuple[Problem, ...]
    notes: tuple[str, ...]

    @property
    def empty(self) -> bool:
        """Nothing to change."""
        return all(change.action == "unchanged" for change in self.changes)

    @property
    def commits_money(self) -> bool:
        """Applying it sets money aside at once, without a stage being opened."""
        return any(caution.code == "commits-money" for caution in self.cautions)


@dataclass(frozen=True, slots=True)
class Keys:
    """Keys of an endpoint from the environment; empty where none are named or set."""

    access_key: str
    secret: str

    @property
    def complete(self) -> bool:
        """Both are there."""
        return bool(self.access_key and self.secret)


def plan(study: Study, environment: Mapping[str, str], *, to_apply: bool) -> Plan:
    """Compare a study with the database. Raises StudyError with everything that cannot be done.

    Without `to_apply`, keys that are not in the environment yet are only a caution.
    """
    project = Project.objects.filter(slug=study.fields.project.slug).first()
    stages = {
        stage.slug: stage
        for stage in Stage.objects.select_related("endpoint", "project").filter(project=project)
    }
    endpoints = {endpoint.name: endpoint for endpoint in usable_endpoints()}
    endpoints |= {stage.endpoint.name: stage.endpoint for stage in stages.values()}
    finding_list = [
        *_project_findings(study, project),
        *_endpoint_findings(study, endpoints, environment, to_apply=to_apply),
        *_stage_findings(study, project, stages, endpoints),
    ]
    problems = sorted(
        map(study.source.problem, finding_list), key=lambda problem: (problem.line, problem.field)
    )
    if any(not problem.caution for problem in problems):
        raise StudyError(problems)
    return Plan(
        changes=tuple(_changes(study, project, endpoints, stages, environment)),
        cautions=tuple(problems),
        notes=tuple(_notes(study, project, stages)),
    )


def keys_of(fields: EndpointFields, environment: Mapping[str, str]) -> Keys:
    """The keys that an endpoint's table names."""
    return Keys(environment.get(fields.access_key_env, ""), environment.get(fields.secret_key_env, ""))


def keys_differ(endpoint: Endpoint, keys: Keys) -> bool:
    """Complete keys that are not the stored ones."""
    stored = unseal(endpoint.secret_sealed, purpose="crowd.endpoint") if endpoint.secret_sealed else ""
    return keys.complete and (endpoint.access_key, stored) != (keys.access_key, keys.secret)


def _changes(
    study: Study,
    project: Project | None,
    endpoints: Mapping[str, Endpoint],
    stages: Mapping[str, Stage],
    environment: Mapping[str, str],
) -> Iterator[Change]:
    fields = study.fields
    for name, endpoint in fields.endpoints.items():
        row = endpoints.get(name)
        new = documents.resolved_endpoint(name, endpoint)
        old = documents.endpoint_document(row) if row else None
        keys = keys_of(endpoint, environment)
        if keys.complete and (row is None or keys_differ(row, keys)):
            new["keys"] = f"from {endpoint.access_key_env} and {endpoint.secret_key_env}"
            old = old and {**old, "keys": "others"}
        yield _change("endpoint", name, old, new)
    project_fields = fields.project.model_dump(mode="json")
    old = documents.project_document(project) if project else None
    if old:
        old["members"] = {
            name: role for name, role in old["members"].items() if name in project_fields["members"]
        }
    yield _change("project", fields.project.slug, old, project_fields)
    for stage in fields.stages:
        before = stages.get(stage.slug)
        old, new = documents.stage_document(before) if before else None, stage.model_dump(mode="json")
        if new["panel"] is None:  # left out: stays as it is
            old = old and without(old, "panel")
        yield _change("stage", stage.slug, old, new)


def _change(
    what: Literal["project", "endpoint", "stage"],
    name: str,
    old: documents.Document | None,
    new: documents.Document,
) -> Change:
    before, after = documents.comparable(old or {}), documents.comparable(new)
    fields = tuple(
        FieldChange(field, before.get(field), after.get(field))
        for field in {**after, **before}
        if before.get(field) != after.get(field)
    )
    return Change(what, name, "add" if old is None else "change" if fields else "unchanged", fields)


def _project_findings(study: Study, project: Project | None) -> Iterator[Finding]:
    fields = study.fields.project
    accounts = get_user_model().objects.values_list("username", flat=True)
    people = set(accounts.filter(username__in=list(fields.members)))
    for name in fields.members:
        if name not in people:
            yield not_known(
                "no-such-user",
                ("project", "members", name),
                f"there is no user {name!r}",
                name,
                list(accounts[:_NAMES]),
            )
    before = documents.project_document(project)["members"] if project else {}
    if "owner" not in {**before, **fields.members}.values():
        if "owner" in before.values():
            yield Finding(
                "refused",
                ("project", "members"),
                "this would leave the project without an owner",
                "Make another person an owner.",
            )
        else:
            yield Finding(
                "caution",
                ("project", "members"),
                "the project has no owner, so only superusers can open stages",
                "Name an owner among the members.",
            )
    if project:
        yield from _below_spent(("project", "budget"), fields.budget, project)
    together = sum(stage.budget for stage in study.fields.stages)
    if together > fields.budget:
        yield Finding(
            "caution",
            ("project", "budget"),
            f"the stages' budgets are {dollars(together)} together, more than the project's",
            "The project's budget ends the stages early; raise it, or lower theirs.",
        )


def _below_spent(path: tuple[str | int, ...], budget: int, row: Project | Stage) -> Iterator[Finding]:
    least = row.reserved_cents + row.spent_cents
    if budget < least:
        yield Finding(
            "below-spent",
            path,
            f"{dollars(row.spent_cents)} is spent and {dollars(row.reserved_cents)} reserved already",
            f'Write "{dollars(least)}" or more.',
        )


def _endpoint_findings(
    study: Study, endpoints: Mapping[str, Endpoint], environment: Mapping[str, str], *, to_apply: bool
) -> Iterator[Finding]:
    for name, fields in study.fields.endpoints.items():
        path, row = ("endpoints", name), endpoints.get(name)
        needed = fields.preset is None or PRESETS[fields.preset].needs_keys
        has_keys = keys_of(fields, environment).complete
        if needed and not has_keys and (row is None or fields.access_key_env):
            yield _keys_missing(path, fields, new=row is None, to_apply=to_apply)
        if row is None or not is_used(row):
            continue
        old, new = documents.endpoint_document(row), documents.resolved_endpoint(name, fields)
        for field in sorted(FIXED_ONCE_USED):
            if old[field] != new[field]:
                yield _fixed(
                    (*path, field),
                    f"something was sent there already, so {field} stays {old[field]!r}",
                    "Give another endpoint a name of its own.",
                )


def _keys_missing(
    path: tuple[str | int, ...], fields: EndpointFields, *, new: bool, to_apply: bool
) -> Finding:
    named = [name for name in (fields.access_key_env, fields.secret_key_env) if name]
    what = f"{' and '.join(named)} are not set" if named else "no keys are named"
    if not new:
        return Finding("caution", path, f"{what}, so the stored keys stay", "Set them to replace the keys.")
    remedy = (
        "Set both in the environment of the command."
        if named
        else "Add access_key_env and secret_key_env, and set these variables."
    )
    return Finding("no-keys" if to_apply else "caution", path, what, remedy)


def _stage_findings(
    study: Study, project: Project | None, stages: Mapping[str, Stage], endpoints: Mapping[str, Endpoint]
) -> Iterator[Finding]:
    currencies = {name: row.currency for name, row in endpoints.items()}
    currencies |= {name: fields.currency for name, fields in study.fields.endpoints.items()}
    endpoint_names = sorted(currencies)
    slugs = {stage.slug for stage in study.fields.stages} | set(stages)
    for number, stage in enumerate(study.fields.stages):
        path = ("stages", number)
        if stage.endpoint not in endpoint_names:
            yield not_known(
                "no-such-endpoint",
                (*path, "endpoint"),
                f"there is no endpoint {stage.endpoint!r}",
                stage.endpoint,
                endpoint_names,
            )
        yield from _source_findings(path, stage, stages.get(stage.slug), currencies)
        yield from _panel_findings((*path, "panel"), study, stage, stages.get(stage.slug), endpoints)
        if stage.hold_failed_checks and not stage.checks_per_hit:
            yield Finding(
                "caution",
                (*path, "hold_failed_checks"),
                "no checks are mixed in, so nothing can be held",
                "Set checks_per_hit.",
            )
        for at, rule in enumerate(stage.eligibility):
            if rule.kind == "passed" and (rule.values[0] == stage.slug or rule.values[0] not in slugs):
                yield not_known(
                    "no-such-stage",
                    (*path, "eligibility", at, "values", 0),
                    f"there is no other stage {rule.values[0]!r} in the project",
                    str(rule.values[0]),
                    sorted(slugs - {stage.slug}),
                )
        for at, other in enumerate(stage.apart_from):
            if other == stage.slug or other not in slugs:
                yield not_known(
                    "no-such-stage",
                    (*path, "apart_from", at),
                    f"there is no other stage {other!r} in the project",
                    other,
                    sorted(slugs - {stage.slug}),
                )
        yield from _unknown_names(path, stage, project)
        before = stages.get(stage.slug)
        if before:
            yield from _below_spent((*path, "budget"), stage.budget, before)
            yield from _fixed_in_stage(path, before, stage)
            yield from _asks_for_more(path, before, stage)
            yield from _poor_pay(path, before)


def _source_findings(
    path: tuple[str | int, ...], stage: StageFields, before: Stage | None, currencies: Mapping[str, str]
) -> Iterator[Finding]:
    """What cannot be among a stage's sources, and what a running stage does not take from a file.

    `currencies` has every endpoint that the file or the installation names.
    """
    if not stage.sources:
        return
    place = (*path, "sources")
    names = [each.endpoint for each in stage.sources]
    if len(names) < 2:
        yield Finding("out-of-bounds", place, "it must have at least 2 entries", "Name all sources, or none.")
    if stage.endpoint not in names:
        yield Finding(
            "not-together",
            place,
            f"the stage's own endpoint {stage.endpoint!r} is not among its sources",
            "Add it to the sources, or name one of them as the stage's endpoint.",
        )
    for at, each in enumerate(stage.sources):
        if each.endpoint not in currencies:
            what = f"there is no endpoint {each.endpoint!r}"
            yield not_known(
                "no-such-endpoint", (*place, at, "endpoint"), what, each.endpoint, sorted(currencies)
            )
        elif names.index(each.endpoint) != at:
            yield Finding(
                "not-together", (*place, at, "endpoint"), "this source is named twice", "Leave one of them."
            )
        elif currencies[each.endpoint] != currencies.get(stage.endpoint):
            yield Finding(
                "not-together",
                (*place, at, "endpoint"),
                "it pays in another currency than the stage's own endpoint",
                "All sources of a stage have one currency: make a stage of its own for this one.",
            )
    if before is not None and before.status == Stage.Status.OPEN:
        now = {row.endpoint.name for row in source_rows(before)} or {before.endpoint.name}
        for at, name in enumerate(names):
            if name not in now:
                yield _fixed(
                    (*place, at),
                    "the stage is open, and a new source may cost more than was confirmed",
                    "Pause the stage, apply this, then open it again; or add it on the stage's page Sources.",
                )


def _panel_findings(
    path: tuple[str | int, ...],
    study: Study,
    stage: StageFields,
    before: Stage | None,
    endpoints: Mapping[str, Endpoint],
) -> Iterator[Finding]:
    """What a study at Prolific cannot pay, what is fixed once it is there, and what it sets aside."""
    fields = stage.panel
    if fields is None:
        return
    names = {stage.endpoint, *(each.endpoint for each in stage.sources)}
    protocols = {row.protocol for name, row in endpoints.items() if name in names}
    protocols |= {
        documents.resolved_endpoint(name, each)["protocol"]
        for name, each in study.fields.endpoints.items()
        if name in names
    }
    are_known = names <= endpoints.keys() | study.fields.endpoints.keys()
    if are_known and Endpoint.Protocol.PROLIFIC not in protocols:
        remedy = "Leave the table [stages.panel] out, or choose an endpoint or a source there."
        yield Finding("not-together", path, "no endpoint of the stage is at Prolific", remedy)
    if fields.screen_out is not None and fields.screen_out >= stage.reward:
        yield Finding(
            "out-of-bounds",
            (*path, "screen_out"),
            "it must be less than the reward",
            f'Write less than "{dollars(stage.reward)}".',
        )
    for row in documents.prolific_studies(before).exclude(external_id="") if before else ():
        for field, old, new in (
            ("screen_out", row.screen_out_cents, fields.screen_out or 0),
            ("pays_in_part", row.pays_in_part, fields.pays_in_part),
        ):
            if old != new:
                why = "the study is there already, and the panel takes this with a new one only"
                yield _fixed((*path, field), why, "Make a new stage.")
        if row.screen_out_cents and fields.screen_outs < row.screen_out_slots:
            yield _fixed(
                (*path, "screen_outs"),
                f"the study has {row.screen_out_slots:,} paid screen-outs, and their number only rises",
                f"Write {row.screen_out_slots} or more. What is not used goes back when the study stops.",
            )
        if row.screen_out_cents and fields.screen_outs > panel_pay.slots_asked(row):
            yield Finding(
                "commits-money",
                (*path, "screen_outs"),
                "the study is at the panel, so the money of the further screen-outs is set aside at once",
                "Leave the number as it is if you do not want to spend more.",
            )


def _unknown_names(
    path: tuple[str | int, ...], stage: StageFields, project: Project | None
) -> Iterator[Finding]:
    """Options that name things which the project does not have; before it has any, that is a caution."""
    for option, valid_names in (kind_named(stage.kind).choices(project) if project else {}).items():
        for at, name in enumerate(stage.config.get(option, ())):
            if name in valid_names:
                continue
            place, what = (*path, "config", option, at), f"the project has no {option} called {name!r}"
            if valid_names:
                yield not_known("no-such-name", place, what, str(name), list(valid_names))
            else:
                remedy = f"It has no {option} yet; the stage cannot be opened before this one is there."
                yield Finding("caution", place, what, remedy)


def _fixed_in_stage(path: tuple[str | int, ...], before: Stage, stage: StageFields) -> Iterable[Finding]:
    if not has_fixed_terms(before):
        return
    old, new = documents.stage_document(before), stage.model_dump(mode="json")
    for field in old:
        if field == "config" and only_says_otherwise(before.kind, old[field], new[field]):
            continue
        if _COLUMNS.get(field, field) in FIXED_ONCE_OPENED and old[field] != new[field]:
            is_was = f"stays {old[field]}" if isinstance(old[field], str | int) else "stays as it is"
            yield _fixed(
                (*path, field),
                f"HITs of the stage are published and people work under its terms, so {field} {is_was}",
                "Make a new stage.",
            )


def _fixed(path: tuple[str | int, ...], what: str, remedy: str) -> Finding:
    return Finding("not-changeable", path, what, remedy)


def _asks_for_more(path: tuple[str | int, ...], before: Stage, stage: StageFields) -> Iterator[Finding]:
    if before.status != Stage.Status.OPEN:
        return
    if spends_real_money(before) and stage.budget > max(before.budget_cents, before.armed_cents):
        yield _fixed(
            (*path, "budget"),
            "the stage spends real money, and the larger budget is not confirmed yet",
            "Pause the stage, apply this, then open it again and type the budget.",
        )
        return
    for field, old, new in (
        ("redundancy", before.redundancy, stage.redundancy),
        ("budget", before.budget_cents, stage.budget),
    ):
        if new > old:
            yield Finding(
                "caution",
                (*path, field),
                "the stage is open, so more is published by itself, as far as the budget goes",
                "Pause the stage first if you want to look at a quote.",
            )


def _poor_pay(path: tuple[str | int, ...], before: Stage) -> Iterator[Finding]:
    measured = wage(before)
    if measured.below and measured.enough and not measured.simulated:
        assert measured.cents_per_hour is not None
        yield Finding(
            "caution",
            (*path, "reward"),
            f"people earn {dollars(measured.cents_per_hour)} an hour here, below the floor of "
            f"{dollars(measured.floor_cents)}",
            f"Pay a bonus, and {dollars(measured.fair_reward_cents() or 0)} a HIT in the next stage.",
        )


def _notes(study: Study, project: Project | None, stages: Mapping[str, Stage]) -> Iterator[str]:
    if project is None:
        return
    named = {stage.slug for stage in study.fields.stages}
    for slug in sorted(set(stages) - named):
        yield f"The stage {slug} is not in the file and stays as it is."
    for name, role in documents.project_document(project)["members"].items():
        if name not in study.fields.project.members:
            yield f"{name} ({role}) is not in the file and stays a member."


@dataclass(frozen=True, slots=True)
class StudyResult:
    """What was done, and what publishing the drafts would cost, with what panels and kinds caution about."""

    plan: Plan
    quotes: Mapping[str, Quote]
    cautions: Mapping[str, Sequence[str]]


class ChangedMeanwhileError(Exception):
    """Somebody changed the project between the differences that were shown and now; nothing was done."""


def apply(
    study: Study, shown_plan: Plan, environment: Mapping[str, str], *, actor: Any = None
) -> StudyResult:
    """Apply a study exactly as its differences were shown.

    Raises StudyError, or ChangedMeanwhileError; then nothing was changed.
    """
    with transaction.atomic():
        list(Project.objects.select_for_update().filter(slug=study.fields.project.slug))
        if plan(study, environment, to_apply=True).changes != shown_plan.changes:
            raise ChangedMeanwhileError
        _Applier(study, environment, actor).run()
    drafts = _drafts(study)
    cautions = {stage.slug: [*take_panel_fees(stage), *list_cautions(stage)] for stage in drafts}
    return StudyResult(shown_plan, {stage.slug: quote(stage) for stage in drafts}, cautions)


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
        document, keys = documents.resolved_endpoint(name, fields), keys_of(fields, self._environment)
        document["fee_profile"] = document.pop("fees")
        row = Endpoint.objects.filter(name=name).first()
        if row is None:
            origins = tuple(document.pop("submit_origins"))
            create_endpoint(
                name=name,
                access_key=keys.access_key,
                secret=keys.secret,
                submit_origins=origins,
                actor=self._actor,
                **document,
            )
            return
        if row.is_panel:
            document["fee_profile"] = row.fee_profile  # what it told is nearer than the preset's
        if documents.endpoint_document(row) != documents.resolved_endpoint(name, fields):
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
        columns = documents.stage_columns(fields, endpoints[fields.endpoint])
        plans = documents.source_plans(fields, endpoints)
        if is_operator():
            # The operator and staff give the project what the file has it spend from.
            for endpoint in endpoints.values():
                allow_spending(endpoint=endpoint, project=project, actor=self._actor)
        stage = Stage.objects.filter(project=project, slug=fields.slug).first()
        if stage is None:
            stage = create_stage(project=project, slug=fields.slug, actor=self._actor, **columns)
            set_sources(stage=stage, plans=plans, actor=self._actor)
            self._panel_terms(stage, fields)
            return
        if documents.stage_document(stage)["config"] == fields.config:
            del columns["config"]
        if stage.endpoint_id != columns["endpoint"].pk and not has_fixed_terms(stage):
            set_sources(stage=stage, plans=[], actor=self._actor)
        change_stage(stage=stage, changes=columns, actor=self._actor)
        set_sources(stage=stage, plans=plans, actor=self._actor)
        self._panel_terms(stage, fields)

    def _panel_terms(self, stage: Stage, fields: StageFields) -> None:
        """What its studies at Prolific pay; of those that are there, how many screen-outs."""
        terms = fields.panel
        if terms is None:
            return
        forget_rows(stage)
        for source_stage in stages_at(stage):
            if source_stage.endpoint.protocol != Endpoint.Protocol.PROLIFIC:
                continue
            study = panels.study_of(source_stage)
            if study.external_id:
                if terms.screen_outs != panel_pay.slots_asked(study):
                    panel_pay.raise_slots(study, slots=terms.screen_outs, actor=self._actor)
            elif (study.screen_out_cents, study.screen_out_slots, study.pays_in_part) != (
                terms.screen_out or 0,
                terms.screen_outs,
                terms.pays_in_part,
            ):
                panel_pay.set_terms(
                    study,
                    screen_out_cents=terms.screen_out or 0,
                    screen_out_slots=terms.screen_outs,
                    pays_in_part=terms.pays_in_part,
                    actor=self._actor,
                )
