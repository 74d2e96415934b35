"""A query as metrics see it: its references by importance, and why one answer has its score."""

from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from annotation.models import Query
from crowd.desk.forms import Form
from evaluations.desk.listing import FOLDER
from judgments.models import Candidate
from judgments.selectors.references import reference_texts
from web.access import ProjectAccess, on_project
from web.pages import show

_MOST_ANSWERS = 200
_DIGITS = 19
DEFAULT_METRIC, DEFAULT_PROFILE = "pa-bleu-4", "default"


class WhyForm(Form):
    """A metric, a profile, and an answer: of a system, or one that is typed in."""

    metric = forms.ChoiceField(label="Metric")
    profile = forms.ChoiceField(label="Profile")
    candidate = forms.ChoiceField(required=False, label="Answer of a system")
    answer = forms.CharField(
        required=False,
        max_length=4000,
        widget=forms.Textarea(attrs={"rows": 3}),
        label="Or another answer",
        help_text="What you type here goes before the answer of a system, and is not stored.",
    )


@require_safe
@on_project()
def query(request: HttpRequest, access: ProjectAccess, *, pk: int) -> HttpResponse:
    """The references of a query by importance, and why an answer has its score, by the address."""
    row = get_object_or_404(Query, project=access.project, pk=pk)
    references = reference_texts([row.pk]).get(row.pk, [])
    asked = {"metric": DEFAULT_METRIC, "profile": DEFAULT_PROFILE, **request.GET.dict()}
    candidates = candidates_of(row, asked.get("candidate", ""))
    form = _form(asked, candidates)
    chosen = candidates.get(asked.get("candidate", ""))
    context: dict[str, Any] = {"query": row, "form": form, "candidate": chosen, "of": "", "error": ""}
    if form.is_valid():
        typed = form.cleaned_data["answer"].strip()
        answer = typed or (chosen.text if chosen else None)
        context |= {"typed": bool(typed), **_reasons(form, references, answer, row.text)}
    return show(request, "query.html", access, folder=FOLDER, tab="queries", **context)


def candidates_of(row: Query, asked: str) -> dict[str, Candidate]:
    """Answers of systems by their key, the first ones by system, and the one that is asked for."""
    rows = Candidate.objects.filter(query=row).exclude(text="").select_related("system")
    found = list(rows.order_by("system__name", "pk")[:_MOST_ANSWERS])
    if len(found) == _MOST_ANSWERS and asked.isdecimal() and len(asked) < _DIGITS:
        found = [*rows.filter(pk=int(asked)), *found]
    return {str(each.pk): each for each in found}


def _form(asked: dict[str, str], candidates: dict[str, Candidate]) -> WhyForm:
    """The form as the address fills it, with what can be chosen."""
    from evaluations import reasons  # noqa: PLC0415 - the library of metrics takes its time

    form = WhyForm(asked)
    known = dict(reasons.profiles())
    profile = asked["profile"] if asked["profile"] in known else DEFAULT_PROFILE
    fields: dict[str, Any] = form.fields
    fields["profile"].choices = list(known.items())
    fields["metric"].choices = reasons.metrics_by_family(profile)
    fields["candidate"].choices = choices_of(candidates)
    return form


def choices_of(candidates: dict[str, Candidate]) -> list[tuple[str, str]]:
    """None of them, or one by its system and the beginning of its text."""
    named = ((key, f"{each.system.name[:60]}: {each.text[:80]}") for key, each in candidates.items())
    return [("", "None"), *named]


def _reasons(form: WhyForm, references: list[str], answer: str | None, question: str) -> dict[str, Any]:
    from evaluations.reasons import reasons  # noqa: PLC0415
    from metrics.errors import MetricError  # noqa: PLC0415

    name, profile = form.cleaned_data["metric"], form.cleaned_data["profile"]
    try:
        found = reasons(name, profile, references, answer, question)
    except MetricError as error:
        return {"error": str(error)}
    return {
        "found": found,
        "why": found.explanation,
        "phrasing_aware": name.startswith("pa-"),
        "runs": "bleu" in name,
    }
