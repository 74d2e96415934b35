"""The sources of a stage: how each stands, and what a person does about one."""

from collections.abc import Callable
from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST, require_safe
from pydantic import ValidationError

from crowd.desk import modelform
from crowd.desk.access import StageAccess, on_stage
from crowd.desk.forms import Form, OpenForm, WhyForm
from crowd.desk.stageform import endpoint_words
from crowd.errors import CrowdError, NotArmedError
from crowd.models import Endpoint, PersonMatch, Stage, StageSource
from crowd.selectors.stage_status import source_status
from crowd.services import persons
from crowd.services.publication import quote
from crowd.services.sources import close_source, move_work, open_source, pause_source, row_of, set_sources
from crowd.sources import forget_rows, source_rows, spends_real_money
from crowd.study.documents import source_plans, stage_document
from crowd.study.schema import StageFields
from web.access import ProjectAccess, Role, on_project
from web.forms import read_form, run_action
from web.pages import show

SOURCES = "desk:sources"
_FEWEST = 2


class SourcesForm(Form):
    """The list of a stage's sources, read by the model that also reads a study's file."""

    def __init__(self, data: Any = None, *, stage: Stage) -> None:
        rows = stage_document(stage)["sources"] or [{"endpoint": stage.endpoint.name, "share": 1}]
        super().__init__(data, initial={"sources": rows})
        self.stage = stage
        field = modelform.fields_of(StageFields)["sources"]
        field.label, field.help_text = "Sources", ""
        assert isinstance(field, modelform.Rows)
        known = Endpoint.objects.filter(currency=stage.endpoint.currency).order_by("real_money", "name")
        choices = [("", "\N{EN DASH}"), *((each.name, endpoint_words(each)) for each in known)]
        inner = forms.ChoiceField(label="Marketplace", choices=choices)
        field.inner["endpoint"] = field.widget.inner["endpoint"] = inner  # type: ignore[index]  # a dict
        self.fields["sources"] = field
        typed = OpenForm().fields["typed"]
        typed.required = False
        self.fields["typed"] = typed

    def clean(self) -> dict[str, Any]:
        """Ask the model; its errors stand beside the list."""
        cleaned = super().clean() or {}
        if self.errors:
            return cleaned
        data = stage_document(self.stage)
        data["sources"] = cleaned["sources"] if isinstance(cleaned["sources"], list) else []
        try:
            self.read = StageFields.model_validate(data)
        except ValidationError as error:
            modelform.add_errors(self, error, StageFields, data)
        return cleaned

    def apply(self, access: StageAccess) -> None:
        """Make these the stage's sources. Raises CrowdError."""
        fields = self.read
        names = [each.endpoint for each in fields.sources]
        known = {each.name: each for each in Endpoint.objects.filter(name__in=names)}
        if missing := next((name for name in names if name not in known), None):
            raise CrowdError(f"There is no marketplace {missing!r}.")
        plans = source_plans(fields, known)
        if len(plans) < _FEWEST and names in ([], [self.stage.endpoint.name]):
            plans = []
        is_open = self.stage.status == Stage.Status.OPEN
        if is_open and not access.owns and any(plan.endpoint.real_money for plan in plans):
            raise CrowdError("Only an owner of the project can change sources that spend real money.")
        typed = self.cleaned_data["typed"]
        set_sources(stage=self.stage, plans=plans, actor=access.user, typed_cents=typed)


@require_safe
@on_stage()
def sources(request: HttpRequest, access: StageAccess) -> HttpResponse:
    """Where the people of the stage come from, each source with its part, its answers and its money."""
    return _page(request, access, SourcesForm(stage=access.stage))


def _page(request: HttpRequest, access: StageAccess, form: SourcesForm, *, status: int = 200) -> HttpResponse:
    stage = access.stage
    forget_rows(stage)
    return show(
        request,
        "sources.html",
        access,
        tab="stage",
        rows=source_status(stage),
        offer=_offer(stage),
        form=form,
        why_form=WhyForm(),
        may_type=spends_real_money(stage) or Endpoint.objects.filter(real_money=True).exists(),
        open_matches=persons.count_open(access.project),
        statuses=StageSource.Status,
        status=status,
    )


def _offer(stage: Stage) -> Any:
    """What is still to be published at each source; None where the kind cannot tell yet."""
    if not source_rows(stage):
        return None
    try:
        return quote(stage)
    except CrowdError:
        return None


@require_POST
@on_stage(Role.MANAGER, spends=True)
def set_all(request: HttpRequest, access: StageAccess) -> HttpResponse:
    """Add sources and change their parts."""
    form = SourcesForm(request.POST, stage=access.stage)
    if form.is_valid():
        try:
            form.apply(access)
        except CrowdError as error:
            form.add_error("typed" if isinstance(error, NotArmedError) else "sources", str(error))
        else:
            messages.success(request, "Saved. What is published from now on is divided so.")
            return redirect(SOURCES, access.project.slug, access.stage.slug)
    return _page(request, access, form, status=422)


def _one(
    request: HttpRequest, access: StageAccess, endpoint: str, do_it: Callable[[StageSource, str], str]
) -> HttpResponse:
    own = {access.stage.endpoint.name, *(row.endpoint.name for row in source_rows(access.stage))}
    if endpoint not in own:
        raise Http404("The stage has no such source.")

    def action() -> str:
        return do_it(row_of(access.stage, endpoint), read_form(WhyForm(request.POST))["why"])

    return run_action(request, action, SOURCES, access.project.slug, access.stage.slug)


@require_POST
@on_stage(Role.MANAGER)
def pause(request: HttpRequest, access: StageAccess, *, endpoint: str) -> HttpResponse:
    """Publish nothing more at one source."""

    def pausing(row: StageSource, why: str) -> str:
        pause_source(stage=access.stage, row=row, actor=access.user, why=why)
        return f"{row.endpoint.label} is paused. What is on offer there stays; its part waits for it."

    return _one(request, access, endpoint, pausing)


@require_POST
@on_stage(Role.MANAGER, spends=True)
def reopen(request: HttpRequest, access: StageAccess, *, endpoint: str) -> HttpResponse:
    """Let a source take work again."""

    def opening(row: StageSource, why: str) -> str:
        typed = read_form(OpenForm(request.POST))["typed"] if request.POST.get("typed") else None
        open_source(stage=access.stage, row=row, actor=access.user, typed_cents=typed, why=why)
        return f"{row.endpoint.label} takes work again."

    return _one(request, access, endpoint, opening)


@require_POST
@on_stage(Role.MANAGER)
def close(request: HttpRequest, access: StageAccess, *, endpoint: str) -> HttpResponse:
    """Take nothing more from a source; others do what it leaves."""

    def closing(row: StageSource, why: str) -> str:
        close_source(stage=access.stage, row=row, actor=access.user, why=why)
        return f"{row.endpoint.label} is closed. The other sources get what it leaves undone."

    return _one(request, access, endpoint, closing)


@require_POST
@on_stage(Role.MANAGER)
def move(request: HttpRequest, access: StageAccess, *, endpoint: str) -> HttpResponse:
    """Give the free places of a source to the others."""

    def moving(row: StageSource, _why: str) -> str:
        count = move_work(stage=access.stage, row=row, actor=access.user)
        if not count:
            return "No place is free there, so there is nothing to give to the others."
        return (
            f"{count} HIT{'' if count == 1 else 's'} there expire; the other sources get their free places."
        )

    return _one(request, access, endpoint, moving)


# Workers who may be the same person


@require_POST
@on_project(Role.MANAGER)
def decide(request: HttpRequest, access: ProjectAccess, *, pk: int) -> HttpResponse:
    """Say whether two workers are one person."""

    rows = PersonMatch.objects.select_related("project", "first", "second")
    found = get_object_or_404(rows, pk=pk, project=access.project)

    def action() -> str:
        persons.decide_match(match=found, verdict=request.POST.get("verdict", ""), actor=access.user)
        return "Noted. Nothing that either did is changed by it."

    return run_action(request, action, "desk:matches", access.project.slug)


@require_safe
@on_project()
def matches(request: HttpRequest, access: ProjectAccess) -> HttpResponse:
    """Workers of different marketplaces who may be the same person."""
    return show(request, "matches.html", access, matches=persons.list_matches(access.project))
