"""A project and its stages as one file (`docs/study.md`): checked, compared, applied, written."""

from dataclasses import replace
from typing import Any, Literal

from django.http import HttpRequest, HttpResponse
from pydantic import BaseModel

from core.api.models import Scope
from core.projects.models import Project
from core.projects.selectors import project_for
from crowd.services.publication import Quote
from crowd.study import planning
from crowd.study.documents import study_toml
from crowd.study.explain import Problem, StudyError, in_words
from crowd.study.planning import Plan, plan
from crowd.study.reader import Study, parse
from web.api.access import MEMBER, ApiRequest, Role, check_scopes, project_access
from web.api.problems import ProblemError
from web.api.resources import Resource

studies = Resource("Studies")
#: Keys of endpoints are in no file, and the server's own environment is not for its members.
_ENVIRONMENT: dict[str, str] = {}
TOML = "application/toml"
_FILE = {TOML: {"schema": {"type": "string"}}}


class StudyProblem(BaseModel):
    """Something about a line of the file."""

    code: str
    line: int
    field: str
    what: str
    remedy: str


class FieldDifference(BaseModel):
    """A field, as it is and as the file has it."""

    name: str
    old: Any
    new: Any


class StudyChange(BaseModel):
    """What becomes of the project, an endpoint or a stage."""

    what: Literal["project", "endpoint", "stage"]
    name: str
    action: Literal["add", "change", "unchanged"]
    fields: list[FieldDifference]


class StageQuote(BaseModel):
    """What publishing a draft would cost."""

    units: int
    hits: int
    assignments: int
    reward_cents: int
    fee_cents: int
    screen_out_cents: int
    total_cents: int
    affordable: bool
    cautions: list[str]


class StudyOut(BaseModel):
    """What a file changes, or changed. It opens no stage."""

    project: str
    outcome: Literal["checked", "applied", "nothing to change"]
    changes: list[StudyChange]
    cautions: list[StudyProblem]
    notes: list[str]
    quotes: dict[str, StageQuote]


@studies.post("/studies/check", scopes=[Scope.READ], role=MEMBER, body=_FILE)
def check_study(request: ApiRequest) -> StudyOut:
    """All that is wrong with a study's file, and what applying it would change; nothing is changed."""
    study = _owned(request, _study(request))
    return _describe(study, _planned(study, to_apply=False), "checked")


@studies.post("/studies/apply", scopes=[Scope.ADMIN, Scope.COLLECT], role=MEMBER, body=_FILE)
def apply_study(request: ApiRequest) -> StudyOut:
    """Make the project and its stages match the file: all of it or nothing.

    A new project is owned by the token's person. Endpoints are those of the installation: a file that makes
    or changes one is refused. A file that adds paid screen-outs to a study at a panel needs the scope `pay`
    too.
    """
    study = _owned(request, _study(request))
    study_plan = _planned(study, to_apply=True)
    if study_plan.empty:
        return _describe(study, study_plan, "nothing to change")
    if study_plan.commits_money:
        check_scopes(request.caller, [Scope.PAY])
    try:
        applied = planning.apply(study, study_plan, _ENVIRONMENT, actor=request.caller.user)
    except planning.ChangedMeanwhileError as error:
        raise ProblemError(
            409, "changed_since", "The project was changed meanwhile. Send the file again."
        ) from error
    except StudyError as error:
        raise _wrong(error) from error
    return _describe(study, study_plan, "applied", applied)


@studies.get("/projects/{project}/study.toml", scopes=[Scope.READ], role=Role.VIEWER, content=_FILE)
def get_study(request: ApiRequest, project: str) -> HttpResponse:
    """The project as the file that would make it; applied, it would change nothing."""
    return HttpResponse(study_toml(project_access(request).project), content_type=TOML)


def _study(request: HttpRequest) -> Study:
    try:
        return parse("study.toml", request.body)
    except StudyError as error:
        raise _wrong(error) from error


def _planned(study: Study, *, to_apply: bool) -> Plan:
    try:
        study_plan = plan(study, _ENVIRONMENT, to_apply=to_apply)
    except StudyError as error:
        raise _wrong(error) from error
    new_endpoints = [
        each.name for each in study_plan.changes if each.what == "endpoint" and each.action != "unchanged"
    ]
    if new_endpoints:
        sentence = (
            f"The endpoint {new_endpoints[0]!r} is not there as the file has it. "
            "Add it first, or leave its table out."
        )
        raise ProblemError(
            422, "study_invalid", sentence, errors={f"endpoints.{new_endpoints[0]}": [sentence]}
        )
    return study_plan


def _owned(request: ApiRequest, study: Study) -> Study:
    """The file of an owner; a new project gets the caller as one. Others learn nothing of a project."""
    user, project = request.caller.user, study.fields.project
    if Project.objects.filter(slug=project.slug).exists():
        project_for(user, project.slug, at_least=Role.OWNER)
        return study
    members = {**project.members, user.get_username(): str(Role.OWNER)}
    fields = study.fields.model_copy(update={"project": project.model_copy(update={"members": members})})
    return replace(study, fields=fields)


def _wrong(error: StudyError) -> ProblemError:
    errors: dict[str, list[str]] = {}
    for problem in error.problems:
        sentences = errors.setdefault(problem.field or f"line {problem.line}", [])
        sentences.append(f"Line {problem.line}: {in_words(problem)}")
    name, sentences = next(iter(errors.items()))
    return ProblemError(422, "study_invalid", f"{name}: {sentences[0]}", errors=errors)


def _describe(
    study: Study, study_plan: Plan, outcome: Any, applied: planning.StudyResult | None = None
) -> StudyOut:
    quotes = applied.quotes if applied else {}
    return StudyOut(
        project=study.fields.project.slug,
        outcome=outcome,
        changes=[StudyChange.model_validate(each, from_attributes=True) for each in study_plan.changes],
        cautions=[_caution(problem) for problem in study_plan.cautions],
        notes=list(study_plan.notes),
        quotes={
            slug: _costs(quote, applied.cautions[slug] if applied else ()) for slug, quote in quotes.items()
        },
    )


def _caution(problem: Problem) -> StudyProblem:
    return StudyProblem(
        code=problem.code,
        line=problem.line,
        field=problem.field,
        what=problem.what,
        remedy=problem.remedy,
    )


def _costs(quote: Quote, cautions: Any) -> StageQuote:
    return StageQuote(
        units=quote.units,
        hits=quote.hits,
        assignments=quote.assignments,
        reward_cents=quote.reward_cents,
        fee_cents=quote.fee_cents,
        screen_out_cents=quote.screen_out_cents,
        total_cents=quote.total_cents,
        affordable=quote.affordable,
        cautions=list(cautions),
    )
