"""Pages on single texts: a query as metrics see it, and the weights of words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
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
from evaluations import model_shelf
from evaluations.desk.evaluations import FOLDER
from evaluations.desk.new import by_family
from evaluations.errors import EvaluationError
from evaluations.keyphrases import LONGEST, MOST_REFERENCES, KeyphraseRequest, ask, job_of
from evaluations.model_shelf import publish_for_job
from judgments.models import Candidate
from judgments.selectors.candidates import reference_texts
from metrics.errors import MetricError
from metrics.explanation import Explanation, ReferenceShare, explain, explainable, weights
from metrics.figure import NONE
from metrics.profiles import KPQA, PROFILES
from metrics.word_spans import cut_words
from web.access import ProjectAccess, Role, on_project
from web.pages import show

#: Characters of text times number of texts that a page compares; METEOR looks for alignments, which is slow.
_MOST, _MOST_ALIGNED = 4_000_000, 120_000
#: Importance that differs by less than this share of the greatest is alike, and shaded so.
_ALIKE, _MIDDLE = 0.01, 3
#: Starts a Java process for every page, which takes seconds.
_SLOW = ("meteor-1.5", "pa-meteor-1.5")


@dataclass(frozen=True, slots=True)
class ReferenceView:
    """A reference on the page; `level` goes from 1, the least important one of the query, to 5, the most."""

    against: ReferenceShare
    number: int
    level: int
    width: float
    best: bool


@dataclass(frozen=True, slots=True)
class Reasons:
    """What the page shows: references by importance, and the explanation where an answer is given."""

    references: tuple[ReferenceView, ...]
    explanation: Explanation | None


@cache
def metrics_by_family(profile: str) -> tuple[tuple[str, tuple[tuple[str, str], ...]], ...]:
    """Metrics that one answer can be explained under, as families of (name, title)."""
    families = []
    for family, offers in by_family(profile):
        titles = {each.name: each.title for each in offers if not each.missing and each.name not in _SLOW}
        names = explainable(list(titles), profile)
        if names:
            families.append((family, tuple((name, titles[name]) for name in names)))
    return tuple(families)


def profiles() -> list[tuple[str, str]]:
    """Profiles with what each says of itself."""
    return [(each.name, f"{each.name}: {each.says}") for each in PROFILES.values()]


def reasons(name: str, profile: str, references: Sequence[str], answer: str | None, question: str) -> Reasons:
    """The references by importance and, with an answer, why it has its score; MetricError in words."""
    texts = [*references, answer or ""]
    most = _MOST_ALIGNED if "meteor" in name else _MOST
    if sum(map(len, texts)) * len(texts) > most:
        raise MetricError(
            f"Its {len(references)} references are too much text to be compared pair by pair on a page. "
            "Choose another metric, or evaluate a release."
        )
    explanation = None
    if answer is None:
        shares_of_references = weights(name, profile, references)
    else:
        explanation = explain(name, profile, answer, references, question)
        shares_of_references = explanation.references
    best = explanation.best if explanation else None
    shares = [each.share or 0.0 for each in shares_of_references]
    lowest, highest = min(shares, default=0.0), max(shares, default=0.0)
    return Reasons(
        tuple(_view_reference(each, lowest, highest, best) for each in shares_of_references), explanation
    )


def _view_reference(each: ReferenceShare, lowest: float, highest: float, best: int | None) -> ReferenceView:
    share = each.share or 0.0
    part = share / highest if highest else 0.0
    spread = highest - lowest
    level = 1 + round(4 * (share - lowest) / spread) if spread > _ALIKE * highest else _MIDDLE
    return ReferenceView(each, each.place + 1, level, round(100 * part, 1), each.place == best)


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
    fields = {"metric": DEFAULT_METRIC, "profile": DEFAULT_PROFILE, **request.GET.dict()}
    candidates = candidates_of(row, fields.get("candidate", ""))
    form = _why_form(fields, candidates)
    candidate = candidates.get(fields.get("candidate", ""))
    context: dict[str, Any] = {"query": row, "form": form, "candidate": candidate, "of": "", "error": ""}
    if form.is_valid():
        typed = form.cleaned_data["answer"].strip()
        answer = typed or (candidate.text if candidate else None)
        context |= {"typed": bool(typed), **_reasons(form, references, answer, row.text)}
    return show(request, "query.html", access, folder=FOLDER, tab="queries", **context)


def candidates_of(row: Query, key: str) -> dict[str, Candidate]:
    """Answers of systems by their key, the first ones by system, and the one that is asked for."""
    rows = Candidate.objects.filter(query=row).exclude(text="").select_related("system")
    candidates = list(rows.order_by("system__name", "pk")[:_MOST_ANSWERS])
    if len(candidates) == _MOST_ANSWERS and key.isdecimal() and len(key) < _DIGITS:
        candidates = [*rows.filter(pk=int(key)), *candidates]
    return {str(each.pk): each for each in candidates}


def _why_form(fields_of_form: dict[str, str], candidates: dict[str, Candidate]) -> WhyForm:
    """The form as the address fills it, with what can be chosen."""
    pass

    form = WhyForm(fields_of_form)
    profile_titles = dict(profiles())
    profile = fields_of_form["profile"] if fields_of_form["profile"] in profile_titles else DEFAULT_PROFILE
    fields: dict[str, Any] = form.fields
    fields["profile"].choices = list(profile_titles.items())
    fields["metric"].choices = metrics_by_family(profile)
    fields["candidate"].choices = choices_of(candidates)
    return form


def choices_of(candidates: dict[str, Candidate]) -> list[tuple[str, str]]:
    """None of them, or one by its system and the beginning of its text."""
    named = ((key, f"{each.system.name[:60]}: {each.text[:80]}") for key, each in candidates.items())
    return [("", "None"), *named]


def _reasons(form: WhyForm, references: list[str], answer: str | None, question: str) -> dict[str, Any]:
    pass

    name, profile = form.cleaned_data["metric"], form.cleaned_data["profile"]
    try:
        explained = reasons(name, profile, references, answer, question)
    except MetricError as error:
        return {"error": str(error)}
    return {
        "found": explained,
        "why": explained.explanation,
        "phrasing_aware": name.startswith("pa-"),
        "runs": "bleu" in name,
    }


#: Shades of the heat map: from 0 for no weight to this.
SHADES = 10


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a text: a word with its weight, or with an empty `number` what is between words."""

    text: str
    number: str = ""
    shade: int = 0


@dataclass(frozen=True, slots=True)
class Text:
    """A reference or the answer: the same words by key phrase and by rarity, and both for a table."""

    name: str
    answer: bool
    keyphrase: Sequence[Piece]
    rarity: Sequence[Piece]
    rows: Sequence[tuple[str, str, str]]
    cut: bool
    scores: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Page:
    """What was weighed."""

    question: str
    texts: Sequence[Text]
    references: int
    left_out: int
    reasons: Sequence[tuple[str, str]]
    signatures: Sequence[str]


def weights_page(request: KeyphraseRequest, result: Mapping[str, Any]) -> Page | None:
    """What a job's result says of the texts; None where it is not about them."""
    texts, weights, idf = request.texts, result.get("weights") or [], result.get("idf") or []
    if not len(texts) == len(weights) == len(idf):
        return None
    scores = [each for each in result.get("scores") or [] if each.get("values")]
    full_texts = [*request.references[:MOST_REFERENCES], *([request.answer] if request.answer else [])]
    weighed = []
    for place, text in enumerate(texts):
        spans = cut_words(text)
        if not len(spans) == len(weights[place]) == len(idf[place]):
            return None
        answer = bool(request.answer) and place == len(texts) - 1
        weighed.append(
            Text(
                "The answer" if answer else f"Reference {place + 1}",
                answer,
                _pieces(text, weights[place]),
                _pieces(text, idf[place]),
                [
                    (text[begin:end], _number(weight), _number(rare))
                    for (begin, end), weight, rare in zip(spans, weights[place], idf[place], strict=True)
                ],
                len(full_texts[place]) > LONGEST,
                [] if answer else [(each["title"], _number(each["values"][place])) for each in scores],
            )
        )
    if request.answer:
        weighed = [weighed[-1], *weighed[:-1]]
    return Page(
        request.question,
        weighed,
        int(result.get("references") or 0),
        max(0, len(request.references) - MOST_REFERENCES),
        [(each["title"], each["why"]) for each in result.get("scores") or [] if each.get("why")],
        [each["signature"] for each in scores if each.get("signature")],
    )


def _pieces(text: str, weights: Sequence[float]) -> list[Piece]:
    pieces, at = [], 0
    for (begin, end), weight in zip(cut_words(text), weights, strict=True):
        if begin > at:
            pieces.append(Piece(text[at:begin]))
        pieces.append(Piece(text[begin:end], _number(weight), round(SHADES * min(1.0, max(0.0, weight)))))
        at = end
    return [*pieces, *([Piece(text[at:])] if at < len(text) else [])]


def _number(value: float | None) -> str:
    """As papers print it: no zero before the point."""
    if value is None:
        return NONE
    text = f"{value:.2f}"
    return text.removeprefix("0") if 0 <= value < 1 and text.startswith("0") else text


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
    fields = _read_fields(request.POST)
    form, candidates = _form(row, fields)
    if form.is_valid():
        try:
            _publish_model(form.cleaned_data["model"])
            ask(access.project, _build_request(row, form, candidates))
        except EvaluationError as error:
            messages.error(request, str(error))
    address = reverse("evaluations:keyphrases", args=[access.project.slug, row.pk])
    return redirect(f"{address}?{urlencode(fields)}")


def _publish_model(name: str) -> None:
    if (model := model_shelf.model_named(name)) is not None:
        publish_for_job(model)


def _context(request: HttpRequest, access: ProjectAccess, pk: int) -> dict[str, Any]:
    row = get_object_or_404(Query, project=access.project, pk=pk)
    fields_of_form = _read_fields(request.GET)
    form, candidates = _form(row, fields_of_form)
    fields: dict[str, Any] = form.fields
    context: dict[str, Any] = {
        "query": row,
        "form": form,
        "models": [each for each in fields["model"].choices if each[0]],
        "asked": urlencode(fields_of_form),
        "given": fields_of_form,
        "most": MOST_REFERENCES,
    }
    if "model" not in fields_of_form or not form.is_valid():
        return context
    request_of_words = _build_request(row, form, candidates)
    candidate = candidates.get(form.cleaned_data["candidate"])
    typed = bool(form.cleaned_data["answer"].strip())
    system = candidate.system.name if candidate is not None and not typed else ""
    return context | {
        "wanted": request_of_words,
        "system": system,
        **_state(job_of(access.project, request_of_words), request_of_words),
    }


def _read_fields(parameters: QueryDict) -> dict[str, str]:
    """What is asked for, by field."""
    return {name: str(parameters[name]) for name in _FIELDS if parameters.get(name)}


def _state(job: Job | None, request: KeyphraseRequest) -> dict[str, Any]:
    pass

    if job is None:
        return {"job": None}
    if job.state == JobState.DONE:
        return {"job": job, "found": weights_page(request, job.result or {}), "shades": range(SHADES + 1)}
    over = job.state in (JobState.FAILED, JobState.CANCELLED) or not is_alive(job_id=job.pk)
    return {"job": job, "over": over}


def _form(row: Query, form_fields: dict[str, str]) -> tuple[KeyphraseForm, dict[str, Candidate]]:
    """The form as it is filled, with what can be chosen; the only model there is is chosen already."""

    models = [(each.name, f"{each.name} ({each.signature})") for each in model_shelf.of_kind(KPQA)]
    candidates = candidates_of(row, form_fields.get("candidate", ""))
    form = KeyphraseForm(form_fields if "model" in form_fields else None, initial=form_fields)
    fields: dict[str, Any] = form.fields
    fields["model"].choices = models if len(models) == 1 else [("", "Choose one"), *models]
    fields["candidate"].choices = choices_of(candidates)
    return form, candidates


def _build_request(row: Query, form: KeyphraseForm, candidates: dict[str, Candidate]) -> KeyphraseRequest:
    cleaned = form.cleaned_data
    model = model_shelf.model_named(cleaned["model"])
    candidate = candidates.get(cleaned["candidate"])
    return KeyphraseRequest(
        model=cleaned["model"],
        digest=model.digest if model else "",
        question=row.text,
        references=reference_texts([row.pk]).get(row.pk, []),
        answer=cleaned["answer"].strip() or (candidate.text if candidate else ""),
        encoder=settings.BERTSCORE_ENCODER,
    )
