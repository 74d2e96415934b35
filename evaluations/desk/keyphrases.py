"""A query as KPQA sees it: which words of its references and of an answer are the key phrase."""

from typing import Any
from urllib.parse import urlencode

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from annotation.models import Query
from core.jobs.models import Job, JobState
from core.jobs.selectors import is_alive
from crowd.desk.forms import Form
from evaluations.desk.listing import FOLDER
from evaluations.desk.whyscore import candidates_of, choices_of
from evaluations.errors import EvaluationError
from evaluations.keyphrases.requests import MOST_REFERENCES, KeyphraseRequest, ask, job_of
from judgments.models import Candidate
from judgments.selectors.references import reference_texts
from web.access import ProjectAccess, Role, on_project
from web.pages import show

_FIELDS = ("model", "candidate", "answer")


class KeyphraseForm(Form):
    """A model, and an answer: of a system, or one that is typed in."""

    model = forms.ChoiceField(label="KPQA model")
    candidate = forms.ChoiceField(required=False, label="Answer of a system")
    answer = forms.CharField(
        required=False,
        max_length=800,
        widget=forms.Textarea(attrs={"rows": 3}),
        label="Or another answer",
        help_text="What you type here goes before the answer of a system, and is not stored.",
    )


@require_safe
@never_cache
@on_project()
def page(request: HttpRequest, access: ProjectAccess, *, pk: int) -> HttpResponse:
    """Weights that are known, or how far they are; nothing is begun by looking."""
    context = _context(request, access, pk)
    return show(request, "keyphrases.html", access, folder=FOLDER, tab="queries", **context)


@require_safe
@never_cache
@on_project()
def live(request: HttpRequest, access: ProjectAccess, *, pk: int) -> HttpResponse:
    """The part of the page that changes by itself."""
    return show(request, "parts/keyphrases.html", access, folder=FOLDER, **_context(request, access, pk))


@require_POST
@on_project(Role.MANAGER)
def weigh(request: HttpRequest, access: ProjectAccess, *, pk: int) -> HttpResponse:
    """Have the words weighed, unless they are."""
    row = get_object_or_404(Query, project=access.project, pk=pk)
    asked = _asked(request.POST)
    form, candidates = _form(row, asked)
    if form.is_valid():
        try:
            _publish_model(form.cleaned_data["model"])
            ask(access.project, _wanted(row, form, candidates))
        except EvaluationError as error:
            messages.error(request, str(error))
    there = reverse("evaluations:keyphrases", args=[access.project.slug, row.pk])
    return redirect(f"{there}?{urlencode(asked)}")


def _publish_model(name: str) -> None:
    from evaluations.learned import shelf  # noqa: PLC0415
    from evaluations.learned.pinned_models import publish_for_job  # noqa: PLC0415

    if (kept := shelf.named(name)) is not None:
        publish_for_job(kept)


def _context(request: HttpRequest, access: ProjectAccess, pk: int) -> dict[str, Any]:
    row = get_object_or_404(Query, project=access.project, pk=pk)
    asked = _asked(request.GET)
    form, candidates = _form(row, asked)
    fields: dict[str, Any] = form.fields
    context: dict[str, Any] = {
        "query": row,
        "form": form,
        "models": [each for each in fields["model"].choices if each[0]],
        "asked": urlencode(asked),
        "given": asked,
        "most": MOST_REFERENCES,
    }
    if "model" not in asked or not form.is_valid():
        return context
    wanted = _wanted(row, form, candidates)
    chosen = candidates.get(form.cleaned_data["candidate"])
    typed = bool(form.cleaned_data["answer"].strip())
    system = chosen.system.name if chosen is not None and not typed else ""
    return context | {"wanted": wanted, "system": system, **_state(job_of(access.project, wanted), wanted)}


def _asked(given: QueryDict) -> dict[str, str]:
    """What is asked for, by field."""
    return {name: str(given[name]) for name in _FIELDS if given.get(name)}


def _state(job: Job | None, wanted: KeyphraseRequest) -> dict[str, Any]:
    from evaluations.keyphrases.weight_views import SHADES, page  # noqa: PLC0415

    if job is None:
        return {"job": None}
    if job.state == JobState.DONE:
        return {"job": job, "found": page(wanted, job.result or {}), "shades": range(SHADES + 1)}
    over = job.state in (JobState.FAILED, JobState.CANCELLED) or not is_alive(job_id=job.pk)
    return {"job": job, "over": over}


def _form(row: Query, asked: dict[str, str]) -> tuple[KeyphraseForm, dict[str, Candidate]]:
    """The form as it is filled, with what can be chosen; the only model there is is chosen already."""
    from evaluations.learned import shelf  # noqa: PLC0415 - the library of metrics takes its time
    from metrics.learned.profile_models import KPQA  # noqa: PLC0415

    models = [(each.name, f"{each.name} ({each.signature})") for each in shelf.of_kind(KPQA)]
    candidates = candidates_of(row, asked.get("candidate", ""))
    form = KeyphraseForm(asked if "model" in asked else None, initial=asked)
    fields: dict[str, Any] = form.fields
    fields["model"].choices = models if len(models) == 1 else [("", "Choose one"), *models]
    fields["candidate"].choices = choices_of(candidates)
    return form, candidates


def _wanted(row: Query, form: KeyphraseForm, candidates: dict[str, Candidate]) -> KeyphraseRequest:
    from evaluations.learned import shelf  # noqa: PLC0415

    given = form.cleaned_data
    kept = shelf.named(given["model"])
    chosen = candidates.get(given["candidate"])
    return KeyphraseRequest(
        model=given["model"],
        digest=kept.digest if kept else "",
        question=row.text,
        references=reference_texts([row.pk]).get(row.pk, []),
        answer=given["answer"].strip() or (chosen.text if chosen else ""),
        encoder=settings.BERTSCORE_ENCODER,
    )
