"""The way to a new project: choose a beginning, set its terms, look at it, make it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from core.projects.models import Project
from crowd.desk.beginnings import StagePreset, beginning_named, beginnings
from crowd.desk.wizard import WizardForm
from crowd.models import Endpoint
from crowd.study.planning import Plan, plan
from crowd.study.problems import Problem, StudyError
from crowd.study.reader import Study, parse
from web.access import for_members
from web.pages import show

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
        return WizardForm(data, stages=self.beginning.stages, project=first)


@require_http_methods(["GET", "HEAD", "POST"])
@for_members
def new(request: HttpRequest, user: User) -> HttpResponse:
    """A new project; who makes it owns it. Only the last step's POST changes anything."""
    if request.method != "POST":
        beginning = beginning_named(request.GET.get("from", ""))
        if beginning is None:
            return _choose(request)
        start = Start(beginning.name, beginning.label, beginning=beginning)
        return _fill_in(request, start, start.form())
    try:
        chosen = _start(request)
    except StudyError as error:
        return _choose(request, error.problems)
    if chosen is None:
        return _choose(request, [_nothing_chosen()])
    return _step(request, user, chosen, request.POST.get("step", "review"))


def _step(request: HttpRequest, user: User, start: Start, step: str) -> HttpResponse:
    """Look at an upload, work out the cost, go back to change something, review, or make it."""
    if step == "upload":
        return _fill_in(request, start, start.form())
    form = start.form(request.POST)
    if step in ("cost", "change"):
        return _fill_in(request, start, form, status=200 if form.is_valid() else 422)
    found = form.planned(user.get_username()) if form.is_valid() else None
    if found is not None and step != "make":
        return _review(request, start, form, *found)
    made = form.make(*found, actor=user) if found else None
    if made is None:
        return _fill_in(request, start, form, status=422)
    messages.success(request, "The project is there. Nothing is published before you open a stage.")
    return redirect("desk:project", made.slug)


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
        parts=list(zip([part for part in form.parts() if part.kept], study.fields.stages, strict=True)),
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
        endpoints=Endpoint.objects.exists(),
        endpoint=form.chosen_endpoint,
    )
