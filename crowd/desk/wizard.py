"""The way to a new project: choose a beginning, set the terms of its stages, look at it, make it.

What is entered becomes a study's file, which is read, compared and applied like any other, so that
`manage.py study` takes it too.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.text import slugify
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods
from pydantic import ValidationError

from core.money import dollars, entered_cents
from core.projects.models import Project
from crowd.desk import modelform
from crowd.desk.beginnings import StagePreset, StageTable, beginning_named, beginnings
from crowd.desk.forms import Form
from crowd.desk.stageform import add_copies, cost_of, endpoint_words, follow_entered, is_without_pay
from crowd.kinds import Listing, StageKind, kind_named, made_listing
from crowd.models import Endpoint
from crowd.rights import usable_endpoints
from crowd.services.publication import PER, Estimate
from crowd.study import planning
from crowd.study.documents import document_toml
from crowd.study.explain import Problem, StudyError, in_words
from crowd.study.planning import Plan, plan
from crowd.study.reader import Study, parse
from crowd.study.schema import ProjectFields, StageFields, TaskFields
from web.access import for_makers
from web.pages import show

#: What of a stage is asked here; everything else is in its own form afterwards.
ASKED = ("reward", "redundancy", "units_per_hit", "expected_minutes", "approve", "budget")
#: What of it is not folded where people are paid, and where nobody is.
_FIRST_PAID, _FIRST_UNPAID = ("reward", "redundancy"), ("redundancy", "units_per_hit")
#: What of the project is not folded; the budget is, where nobody is paid.
_OF_PROJECT = ("title", "endpoint", "budget", "language")
_NAME = "study.toml"
_STAGE = re.compile(r"stages\[(\d+)\]\.([^\[]+).*")
_INSTRUCTIONS = "instructions"
_TAKEN = "There is already a project of this short name."


@dataclass(frozen=True, slots=True)
class Fields:
    """Some fields of the form: what everybody is asked, and what is folded because it has good values."""

    asked: list[forms.BoundField]
    rare: list[forms.BoundField]

    @property
    def wrong(self) -> bool:
        """Something that is folded has an error."""
        return any(field.errors for field in self.rare)

    @property
    def all(self) -> list[forms.BoundField]:
        """All of them."""
        return [*self.asked, *self.rare]


@dataclass(frozen=True, slots=True)
class StagePart:
    """A stage's fields on the form, with what they would cost where they make sense."""

    anchor: str
    title: str
    kind: str
    keep: forms.BoundField
    terms: Fields
    budget: forms.BoundField
    cost: Estimate | None
    units_known: bool
    texts: Fields

    @property
    def shared(self) -> bool:
        """No budget of its own was entered."""
        return not self.budget.value()

    @property
    def is_kept(self) -> bool:
        """The stage is part of the project to be."""
        return bool(self.keep.value())


class WizardForm(Form):
    """A project with the stages of a beginning; `members` are those of a study's file."""

    def __init__(
        self,
        data: Any = None,
        *,
        stages: Sequence[StageTable],
        project: Mapping[str, Any],
        endpoint: str = "",
    ) -> None:
        super().__init__(data, initial=dict(project))
        self.stages = list(stages)
        self.members: Mapping[str, str] = project.get("members", {})
        self.fields.update(modelform.fields_of(ProjectFields, leave_out=frozenset({"members"})))
        self.order_fields(["title", "slug", "language", "licence", "budget", "wage_floor"])
        self.fields[
            "slug"
        ].help_text = "Names the project in addresses; never changes. Empty: made of the title."
        if stages:
            self.fields["endpoint"] = _endpoint_field(endpoint)
            if usable_endpoints().count() > 1:
                self.fields["also"] = _further_endpoints_field()
        for number, stage in enumerate(stages):
            fields = modelform.fields_of(StageFields, leave_out=frozenset({"sources", "panel"}))
            self.fields[f"{number}.keep"] = forms.BooleanField(
                required=False, initial=True, label=f"Begin with {stage['title']}"
            )
            for name in ASKED:
                field = fields[name]
                field.initial = stage.get(name, field.initial)
                self.fields[f"{number}.{name}"] = field
            self._add_texts(number, stage)
            self.fields[
                f"{number}.budget"
            ].help_text = (
                "Most that the stage may spend. Empty: its share of the project's budget, by what it costs."
            )

    def _add_texts(self, number: int, stage: StageTable) -> None:
        """What workers read: in the marketplace's list, and the kind's instructions if it has any."""
        kind = kind_named(str(stage["kind"]))
        listing = self._listing(stage, stage)
        written = stage.get("task", {})
        for name, field in modelform.fields_of(TaskFields, leave_out=frozenset({"keywords"})).items():
            field.label = f"{field.label} in the list"
            field.initial = written.get(name) or getattr(listing, name)
            self.fields[f"{number}.task.{name}"] = field
        add_copies(self, listing, texts=f"{number}.task.", copies=f"{number}.made.")
        options = modelform.fields_of(kind.config)
        for name in _options_asked(kind):
            field = options[name]
            field.initial = stage.get("config", {}).get(name, field.initial)
            self.fields[f"{number}.config.{name}"] = field

    def _listing(self, stage: StageTable, terms: Mapping[str, Any]) -> Listing:
        """What the stage's kind makes of these terms."""
        return made_listing(
            kind_named(str(stage["kind"])),
            units_per_hit=terms.get("units_per_hit") or 1,
            checks_per_hit=stage.get("checks_per_hit", 0),
            minutes=terms.get("expected_minutes"),
            config=stage.get("config", {}),
        )

    def project_fields(self) -> Fields:
        """What is asked about the project."""
        unpaid = bool(self.stages) and all(self._is_unpaid(number) for number in range(len(self.stages)))
        asked = [name for name in _OF_PROJECT if name in self.fields and not (unpaid and name == "budget")]
        rare = [name for name in self.fields if "." not in name and name not in asked]
        return Fields([self[name] for name in asked], [self[name] for name in rare])

    def _is_unpaid(self, number: int) -> bool:
        return is_without_pay(self.chosen_endpoint, self[f"{number}.reward"].value())

    def _terms(self, number: int) -> Fields:
        first = _FIRST_UNPAID if self._is_unpaid(number) else _FIRST_PAID
        return Fields(
            [self[f"{number}.{name}"] for name in first],
            [self[f"{number}.{name}"] for name in ASKED if name not in first],
        )

    def total(self) -> int:
        """What the stages that are kept would cost together, in cents, as far as they make sense."""
        costs = [part.cost for part in self.parts() if part.is_kept]
        return sum(cost.total_cents for cost in costs if cost)

    def parts(self) -> Iterator[StagePart]:
        """The stages, each with its cost."""
        for number, stage in enumerate(self.stages):
            units = _planned(stage)
            yield StagePart(
                f"stage-{number + 1}",
                str(stage["title"]),
                kind_named(str(stage["kind"])).label,
                self[f"{number}.keep"],
                self._terms(number),
                self[f"{number}.budget"],
                self._cost(number, units or PER),
                units is not None,
                Fields([], [self[name] for name in self._text_names(number)]),
            )

    def _text_names(self, number: int) -> list[str]:
        parts = (f"{number}.task.", f"{number}.config.")
        return [name for name in self.fields if name.startswith(parts)]

    @cached_property
    def chosen_endpoint(self) -> Endpoint | None:
        """Where the stages will be published, as far as that is known."""
        if "endpoint" not in self.fields:
            return None
        name = self["endpoint"].value()
        return Endpoint.objects.filter(name=name).first() if name else None

    def _cost(self, number: int, units: int) -> Estimate | None:
        try:
            floor = entered_cents(str(self["wage_floor"].value() or "0"))
        except ValueError:
            return None
        endpoint = self.chosen_endpoint
        return cost_of(
            lambda name: self[f"{number}.{name}"].value(),
            endpoint,
            units=units,
            wage_floor_cents=floor,
            unpaid=self._is_unpaid(number),
        )

    def clean(self) -> dict[str, Any]:
        """Ask the models about the project and about each stage that is kept."""
        cleaned = super().clean() or {}
        if not cleaned.get("slug") and "slug" not in self.errors:
            cleaned["slug"] = slugify(cleaned.get("title") or "")[:80].strip("-_")
        data = modelform.data_of(cleaned, ProjectFields)
        try:
            ProjectFields.model_validate(data)
        except ValidationError as error:
            modelform.add_errors(self, error, ProjectFields, data)
        if cleaned.get("slug") and Project.objects.filter(slug=cleaned["slug"]).exists():
            self.add_error("slug", _TAKEN)
        for number, stage in self._kept_stages():
            self._check_stage(number, stage)
            self._check_texts(number, stage)
        return cleaned

    def _kept_stages(self) -> list[tuple[int, StageTable]]:
        """Stages that are not unticked, with their numbers on the form."""
        return [
            (number, stage)
            for number, stage in enumerate(self.stages)
            if self.cleaned_data.get(f"{number}.keep")
        ]

    def _entered(self, number: int) -> dict[str, Any]:
        entries = {name: self.cleaned_data.get(f"{number}.{name}") for name in ASKED}
        return {name: value for name, value in entries.items() if value not in (None, "")}

    def _check_stage(self, number: int, stage: StageTable) -> None:
        prefix = f"{number}."
        if any(name.startswith(prefix) for name in self.errors):
            return
        data = self._table(stage, "x", "0.00") | self._entered(number)
        data["task"] = {"title": "-", "description": "-"}
        if "reward" not in self._entered(number):
            data.pop("reward", None)
        try:
            StageFields.model_validate(data)
        except ValidationError as error:
            modelform.add_errors(self, error, StageFields, data, prefix)

    def _check_texts(self, number: int, stage: StageTable) -> None:
        """Make those texts again that no person wrote, and ask the model about all."""
        prefix = f"{number}.task."
        wrong = any(name.startswith(f"{number}.") for name in self.errors)
        if not wrong:
            listing = self._listing(stage, self._entered(number))
            follow_entered(self, listing, texts=prefix, copies=f"{number}.made.")
        data = modelform.data_of(self.cleaned_data, TaskFields, prefix)
        if wrong:
            data = {"title": "-", "description": "-"} | data
        try:
            TaskFields.model_validate(data)
        except ValidationError as error:
            modelform.add_errors(self, error, TaskFields, data, prefix)

    def _texts(self, number: int, stage: StageTable) -> dict[str, Any]:
        """The tables of a stage that hold what workers read."""
        written, listing = stage.get("task", {}), self._listing(stage, stage)
        task = modelform.data_of(self.cleaned_data, TaskFields, f"{number}.task.")
        task["keywords"] = (written or {"keywords": listing.keywords}).get("keywords", "")
        config = dict(stage.get("config", {}))
        kind = kind_named(str(stage["kind"]))
        entered = modelform.data_of(self.cleaned_data, kind.config, f"{number}.config.")
        for name in _options_asked(kind):
            config.pop(name, None)
            value = entered.get(name)
            if name == _INSTRUCTIONS:  # none at all may be meant
                value = self.cleaned_data.get(f"{number}.config.{name}") or ""
            if not _is_default(value, kind.config.model_fields[name].default):
                config[name] = value.replace("\r\n", "\n") if isinstance(value, str) else value
        return {"task": task, "config": config}

    def _further_endpoints(self, endpoint: str) -> list[str]:
        """Marketplaces besides the first that people come from too."""
        endpoints = self.cleaned_data.get("also") or ()
        return [each.name for each in endpoints if each.name != endpoint]

    def _table(self, stage: StageTable, endpoint: str, budget: str) -> dict[str, Any]:
        table = {name: value for name, value in stage.items() if name not in ASKED or name == "reward"}
        if further := self._further_endpoints(endpoint):
            table["sources"] = [{"endpoint": name, "share": 1} for name in (endpoint, *further)]
        elif stage.get("sources"):  # the chosen marketplace takes the place of the stage's own
            own = stage.get("endpoint")
            table["sources"] = [
                {**each, "endpoint": endpoint} if each.get("endpoint") == own else dict(each)
                for each in stage["sources"]
            ]
        return {**table, "endpoint": endpoint, "budget": budget}

    def document(self, owner: str) -> dict[str, Any]:
        """The study, in the file's terms. Rules about stages that are left out are left out with them."""
        project = modelform.data_of(self.cleaned_data, ProjectFields)
        project["members"] = {**self.members, owner: "owner"}
        endpoint = (
            self.cleaned_data["endpoint"].name if self.stages and self.cleaned_data.get("endpoint") else ""
        )
        stages = self._kept_stages()
        slugs = {str(stage["slug"]) for _, stage in stages}
        shares = self._shares([number for number, _ in stages], entered_cents(str(project["budget"])))
        tables = []
        for number, stage in stages:
            entered = self._entered(number)
            table = self._table(stage, endpoint, shares[number]) | entered | self._texts(number, stage)
            table["eligibility"] = [
                dict(rule)
                for rule in stage.get("eligibility", ())
                if rule["kind"] != "passed" or rule["values"][0] in slugs
            ]
            table["apart_from"] = [other for other in stage.get("apart_from", ()) if other in slugs]
            tables.append({name: value for name, value in table.items() if value not in ([], {})})
        return {"project": project, "stages": tables}

    def _shares(self, numbers: list[int], budget: int) -> dict[int, str]:
        """The project's budget in the proportion of what the stages cost, in whole cents, never above it."""
        costs = {}
        for number in numbers:
            estimate = self._cost(number, _planned(self.stages[number]) or PER)
            costs[number] = estimate.total_cents if estimate else 0
        together = sum(costs.values())
        return {
            number: dollars(budget * cost // together if together else budget // len(costs))
            for number, cost in costs.items()
        }

    def text(self, owner: str) -> str:
        """The study as a file."""
        return document_toml(self.document(owner))

    def planned(self, owner: str) -> tuple[Study, Plan] | None:
        """The study and what applying it would do; None where something is wrong, which is here then."""
        try:
            study = parse(_NAME, self.text(owner).encode())
            return study, plan(study, {}, to_apply=True)
        except StudyError as error:
            for problem in error.problems:
                self._take(problem)
            return None

    def make(self, study: Study, shown_plan: Plan, *, actor: Any) -> Project | None:
        """Project, members and drafts in one transaction; None, with an error here, where that cannot be."""
        try:
            planning.apply(study, shown_plan, {}, actor=actor)
        except planning.ChangedMeanwhileError:
            self.add_error("slug", _TAKEN)
            return None
        except StudyError as error:
            for problem in error.problems:
                self._take(problem)
            return None
        return Project.objects.get(slug=study.fields.project.slug)

    def _take(self, problem: Problem) -> None:
        """A problem of the file beside the field that it comes from, else above the form."""
        if problem.caution:
            return
        sentence = in_words(problem)
        field = problem.field.removeprefix("project.")
        at = _STAGE.fullmatch(problem.field)
        if at is not None:
            number = self._kept_stages()[int(at[1])][0]
            named = {"endpoint": "endpoint", "sources": "also" if "also" in self.fields else "endpoint"}
            field = named.get(at[2], f"{number}.{at[2]}")
            if field not in self.fields:
                field = f"{number}.{at[2].partition('.')[0]}"
            sentence = sentence if field in self.fields else f"{self.stages[number]['title']}: {sentence}"
        self.add_error(field if field in self.fields else None, sentence)


def _options_asked(kind: StageKind) -> list[str]:
    """The kind's options on this form, the instructions last."""
    last = [_INSTRUCTIONS] if _INSTRUCTIONS in kind.config.model_fields else []
    return [*kind.config.asked_options, *last]


def _is_default(value: Any, default: Any) -> bool:
    """Nothing was entered, or what is there anyway."""
    if isinstance(value, str) and isinstance(default, str):
        return value.split() == default.split()
    return value is None or value == (list(default) if isinstance(default, tuple) else default)


def _planned(stage: StageTable) -> int | None:
    """How many units a stage will have, where its kind can tell from its options."""
    kind = kind_named(str(stage["kind"]))
    count = getattr(kind, "planned_units", None)
    if count is None:
        return None
    planned: int | None = count(kind.config.model_validate(stage.get("config", {})))
    return planned


def _further_endpoints_field() -> "forms.ModelMultipleChoiceField[Endpoint]":
    field = forms.ModelMultipleChoiceField(
        usable_endpoints().order_by("real_money", "name"),
        to_field_name="name",
        label=gettext("People also from"),
        help_text=gettext(
            "They work on the same stages, each place with an equal part. Parts, rewards and numbers "
            "of answers of each place are changed on a stage's page Sources afterwards."
        ),
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )
    field.label_from_instance = endpoint_words  # type: ignore[method-assign, assignment]
    return field


def _endpoint_field(initial: str) -> "forms.ModelChoiceField[Endpoint]":

    rows = usable_endpoints().order_by("real_money", "name")
    field = forms.ModelChoiceField(
        rows,
        to_field_name="name",
        label=gettext("Marketplace"),
        help_text=gettext("Where all these stages are published, once you open them."),
        empty_label=None,
        initial=initial if rows.filter(name=initial).exists() else getattr(rows.first(), "name", ""),
    )
    field.label_from_instance = endpoint_words  # type: ignore[method-assign, assignment]
    return field


# A study's file that somebody uploads as the beginning of a project.

#: Larger files are applied on the command line.
LARGEST = 500_000


@dataclass(frozen=True, slots=True)
class StudyUpload:
    """A good file: its text, project and stages in the file's terms, and what is not taken from it."""

    text: str
    project: Mapping[str, Any]
    stages: tuple[Mapping[str, Any], ...]
    endpoint: str
    notes: tuple[str, ...]


def uploaded(name: str, content: bytes) -> StudyUpload:
    """Read an upload. Raises StudyError with everything that is wrong with it, by line.

    Marketplaces with their keys are set up by whoever runs the server, never by an upload: their tables are
    left out, and the researcher chooses one of those there are.
    """
    if len(content) > LARGEST:
        problem = Problem(
            "too-large",
            name,
            1,
            "",
            f"this file is larger than {LARGEST // 1000} kB",
            "Have it applied with manage.py study apply, or keep data outside of it.",
        )
        raise StudyError([problem])
    study = parse(name, content)
    fields = study.fields.model_copy(update={"endpoints": {}})
    _check(Study(fields, study.source))
    notes = []
    if study.fields.endpoints:
        names = ", ".join(sorted(study.fields.endpoints))
        notes.append(
            f"The file's marketplaces ({names}) are not taken from it: choose one that this installation has."
        )
    used = sorted({stage.endpoint for stage in fields.stages})
    if len(used) > 1:
        notes.append(
            f"The file publishes at {', '.join(used)}; here all its stages go to one marketplace. Change a "
            "draft's own afterwards."
        )
    return StudyUpload(
        text=content.decode(),
        project=fields.project.model_dump(mode="json"),
        stages=tuple(
            {name: value for name, value in stage.model_dump(mode="json").items() if value is not None}
            for stage in fields.stages
        ),
        endpoint=used[0] if used else "",
        notes=tuple(notes),
    )


def _check(study: Study) -> None:
    """What is wrong beyond single fields; nothing is compared with a project that is there already."""
    if Project.objects.filter(slug=study.fields.project.slug).exists():
        return
    try:
        plan(study, {}, to_apply=False)
    except StudyError as error:
        wrong = [each for each in error.problems if not each.caution and each.code != "no-such-endpoint"]
        if wrong:
            raise StudyError([_without_accounts(each) for each in wrong]) from None


def _without_accounts(problem: Problem) -> Problem:
    """Who has an account here is nobody's business."""
    if problem.code != "no-such-user":
        return problem
    return replace(problem, remedy="Members need an account here; take them out and invite them later.")


_FILE = "file"


@dataclass(frozen=True, slots=True)
class Start:
    """What was chosen to begin with: a beginning that an app has ready, or an uploaded file."""

    name: str
    label: str
    beginning: StagePreset | None = None
    file: StudyUpload | None = None

    def form(self, data: Any = None) -> WizardForm:
        """The form with this beginning's stages."""
        if self.file is not None:
            return WizardForm(
                data, stages=self.file.stages, project=self.file.project, endpoint=self.file.endpoint
            )
        assert self.beginning is not None
        first = {"title": self.beginning.title, "budget": self.beginning.budget}
        links = usable_endpoints().filter(protocol=Endpoint.Protocol.LINK) if self.beginning.by_link else ()
        endpoint = next((each.name for each in links), "")
        return WizardForm(data, stages=self.beginning.stages, project=first, endpoint=endpoint)


@require_http_methods(["GET", "HEAD", "POST"])
@for_makers
def new(request: HttpRequest, user: User) -> HttpResponse:
    """A new project; who makes it owns it. Only the last step's POST changes anything."""
    if request.method != "POST":
        beginning = beginning_named(request.GET.get("from", ""))
        if beginning is None:
            return _choose(request)
        start = Start(beginning.name, beginning.label, beginning=beginning)
        return _fill_in(request, start, start.form())
    try:
        stage_start = _start(request)
    except StudyError as error:
        return _choose(request, error.problems)
    if stage_start is None:
        return _choose(request, [_nothing_chosen()])
    return _step(request, user, stage_start, request.POST.get("step", "review"))


def _step(request: HttpRequest, user: User, start: Start, step: str) -> HttpResponse:
    """Look at an upload, work out the cost, go back to change something, review, or make it."""
    if step == "upload":
        return _fill_in(request, start, start.form())
    form = start.form(request.POST)
    if step in ("cost", "change"):
        return _fill_in(request, start, form, status=200 if form.is_valid() else 422)
    study_and_plan = form.planned(user.get_username()) if form.is_valid() else None
    if study_and_plan is not None and step != "make":
        return _review(request, start, form, *study_and_plan)
    project = form.make(*study_and_plan, actor=user) if study_and_plan else None
    if project is None:
        return _fill_in(request, start, form, status=422)
    messages.success(request, gettext("The project is there. Nothing is published before you open a stage."))
    return redirect("desk:project", project.slug)


def _review(request: HttpRequest, start: Start, form: WizardForm, study: Study, plan: Plan) -> HttpResponse:
    return show(
        request,
        "wizard_review.html",
        start=start,
        form=form,
        plan=plan,
        study=study.fields,
        text=study.source.locator.text,
        endpoint=form.chosen_endpoint,
        currency=form.chosen_endpoint.currency if form.chosen_endpoint else "",
        parts=list(zip([part for part in form.parts() if part.is_kept], study.fields.stages, strict=True)),
    )


def _start(request: HttpRequest) -> Start | None:
    """What the form that was sent begins with. Raises StudyError for a file that cannot be read."""
    name = request.POST.get("from", "")
    if name == _FILE:
        sent = request.FILES.get("study")
        if sent is not None:
            content = sent.read(600_000)
            return Start(_FILE, "A study file", file=uploaded(str(sent.name), content))
        text = request.POST.get("text", "")
        if not text:
            return None
        return Start(_FILE, "A study file", file=uploaded("study.toml", text.encode()))
    beginning = beginning_named(name)
    if beginning is None:
        return None
    return Start(beginning.name, beginning.label, beginning=beginning)


def _nothing_chosen() -> Problem:
    return Problem("missing", "", 1, "", "no file was chosen", "Choose your study.toml, then upload it.")


def _choose(request: HttpRequest, problems: list[Problem] | None = None) -> HttpResponse:
    return show(
        request,
        "wizard_choose.html",
        status=422 if problems else 200,
        beginnings=beginnings(),
        problems=problems or [],
    )


def _fill_in(request: HttpRequest, start: Start, form: WizardForm, *, status: int = 200) -> HttpResponse:
    return show(
        request,
        "wizard_form.html",
        status=status,
        start=start,
        form=form,
        parts=list(form.parts()),
        endpoints=usable_endpoints().exists(),
        endpoint=form.chosen_endpoint,
    )
