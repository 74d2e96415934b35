"""Search: the page, and the same answer as JSON, which the published endpoint gives (paper 001, section 4).

One asks, follows up, clears, restores the options; nothing is changed by any of it. A program comes with a
key, a page of ours with a session and the token that all forms have.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import RequestDataTooBig
from django.forms.boundfield import BoundField
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import URLPattern, path, reverse
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_http_methods, require_POST

from annotation import search as answers
from annotation.candidates import SHOWN, Recipe
from annotation.models import Query, QuerySource
from annotation.search import MOST_TURNS, Conversation, RefusedError, read_conversation
from annotation.search_calls import FieldsRefusedError, answer_of, asked_of
from annotation.services.candidates import FORMAT, AlreadySentError, send_to_curation
from core.accounts.keys import Purpose, issue_key, note_use, read_key
from core.projects.models import Project
from core.projects.selectors import project_for
from crowd.desk.forms import Form
from crowd.errors import CrowdError
from retrieval.errors import EngineError, ParametersError, RetrievalError
from retrieval.models import Corpus
from retrieval.ranking.parameters import (
    PREFIX,
    PROFILE,
    PROFILES,
    Option,
    Parameters,
    defaults,
    describe,
    weight_options,
)
from retrieval.selectors import searchable
from web.access import ProjectAccess, Role, on_project
from web.pages import show

# Keys with which a program searches a project as one of its members, without a log-in.
#
# As with addresses of release files: signed, good for a week, and only as long as the member may look. A key
# ends with the password it was made under: when that is changed, and when the person signs out everywhere.
# The person sees every key and can end it by itself (`core.accounts.keys`).

PURPOSE = Purpose(salt="annotation.search", life=timedelta(days=7))


def key_for(access: ProjectAccess) -> str:
    """A key of this person for this project."""
    scope = {"project": access.project.pk}
    return issue_key(purpose=PURPOSE, user=access.user, name=_name(access.project), payload=scope)


def access_of(key: str, slug: str) -> ProjectAccess | None:
    """The member whose key this is, at the project of this short name; None where it does not hold there."""
    if (valid := read_key(PURPOSE, key)) is None:
        return None
    try:
        project, role = project_for(valid.user, slug)
    except Http404:
        return None
    if project.pk != valid.payload["project"]:
        return None
    return ProjectAccess(valid.user, project, role) if note_use(valid, name=_name(project)) else None


def _name(project: Project) -> str:
    return f"Search in {project.title}"


@csrf_exempt
@require_POST
def getanswer(request: HttpRequest, *, project: str) -> HttpResponseBase:
    """Answer the last of `questions`, for a key or a member's session; 400 and 503 have `errors` by field."""
    header = request.headers.get("Authorization", "")
    if not header:
        return csrf_protect(on_project()(_answered))(request, project=project)
    access = access_of(header.removeprefix("Bearer ").strip(), project)
    if access is None:
        return _json({"errors": {"": "This key is not valid for this project, or it has ended."}}, 401)
    return _answered(request, access)


def _answered(request: HttpRequest, access: ProjectAccess) -> HttpResponse:
    try:
        call = asked_of(_body(request), searchable(access.project))
    except FieldsRefusedError as error:
        return _json({"errors": error.faults}, 400)
    try:
        return _json(answer_of(call), 200)
    except EngineError as error:  # nothing is wrong with what was asked
        return _json({"errors": {"": str(error)}}, 503)
    except RetrievalError as error:
        return _json({"errors": {"questions": str(error)}}, 400)


def _body(request: HttpRequest) -> dict[str, Any]:
    if request.content_type != "application/json":
        raise FieldsRefusedError({"": "Send JSON, with Content-Type: application/json."})
    try:
        body = json.loads(request.body)
    except (ValueError, RecursionError, RequestDataTooBig) as error:
        raise FieldsRefusedError({"": "Send a JSON object of less than 2.5 MB."}) from error
    if not isinstance(body, dict):
        raise FieldsRefusedError({"": "Send a JSON object with `questions`."})
    return body


def _json(value: dict[str, Any], status: int) -> JsonResponse:
    return JsonResponse(value, status=status, json_dumps_params={"ensure_ascii": False, "allow_nan": False})


#: Our own questions about the passages in `annotation/sample` (CC0), for a corpus that is called so.
TEXTBOOKS = "textbooks"
ABOUT_TEXTBOOKS = (
    "What is a monopoly?",
    "How does it differ from an oligopoly?",
    "Why do firms there cooperate?",
    "What is game theory used for?",
    "And what does the prisoner's dilemma show?",
)
_LONGEST_KNOWN = 5


@dataclass(frozen=True, slots=True)
class Sample:
    """Questions, oldest first, and the address that answers them all."""

    questions: Sequence[str]
    address: str


def sample_for(project: Project, corpora: Sequence[str], now: Conversation) -> Sample | None:
    """The longest imported conversation of the project, else the shipped one if it fits its corpora.

    It is asked with the corpora and the options of the page as it is `now`.
    """
    questions = _of_project(project) or (ABOUT_TEXTBOOKS if TEXTBOOKS in corpora else ())
    conversation = now.cleared()
    try:
        for question in questions:
            conversation = conversation.with_question(question, now.options)
    except RefusedError:
        return None
    if not questions or not conversation.fits_an_address:
        return None
    return Sample(conversation.questions, conversation.address())


def _of_project(project: Project) -> list[str]:
    """The turns of one conversation, five at most, so that the page stays readable."""
    latest = (
        Query.objects.filter(project=project, source__state=QuerySource.State.READY, turn__gte=2)
        .exclude(source__format=FORMAT)
        .order_by("-turn", "pk")
        .values_list("text", "context")
        .first()
    )
    if latest is None:
        return []
    text, context = latest
    before = [str(turn.get("text", "")) for turn in context if isinstance(turn, dict)]
    turns = [each for each in [*before, text] if each.strip()]
    return turns[: min(_LONGEST_KNOWN, MOST_TURNS)]


#: Options that both profiles have.
_SHARED = [option for option in describe() if not option.name.startswith(PREFIX)]


@dataclass(frozen=True, slots=True)
class Weights:
    """The weights of a profile as the page groups them."""

    profile: str
    label: str
    fields: Sequence[BoundField]


class AskForm(Form):
    """A question and the options that it is asked with; the conversation so far is carried beside it."""

    question = forms.CharField(
        required=False,
        label="Your question",
        widget=forms.TextInput(attrs={"form": "ask", "dir": "auto", "enterkeyhint": "search"}),
    )

    def __init__(
        self,
        data: Any = None,
        *,
        corpora: Sequence[Corpus],
        conversation: Conversation,
        question: str = "",
    ) -> None:
        super().__init__(data, initial=_initial(conversation) | {"question": question})
        if conversation.turns:
            self.fields["question"].widget.attrs["autofocus"] = True
        for option in _SHARED:
            self.fields[option.name] = _field(option)
        for profile in PROFILES:
            for option in weight_options(profile):
                self.fields[f"{profile}-{option.name}"] = _field(option)
        self.where = len(corpora) > 1
        if self.where:
            every = [("", "All corpora"), *((corpus.slug, corpus.title or corpus.slug) for corpus in corpora)]
            self.fields["in"] = forms.CharField(
                required=False,
                label="Where to search",
                widget=forms.Select(choices=every, attrs={"form": "ask"}),
            )

    def clean(self) -> dict[str, Any]:
        """Ask the validator that commands and endpoint ask as well; what was not sent has its default."""
        cleaned = super().clean() or {}
        sent = {name: value for name, value in cleaned.items() if name in self.data}
        shared = {option.name: sent[option.name] for option in _SHARED if option.name in sent}
        prefix = f"{shared.get(PROFILE.name, defaults().profile)}-"
        # With the name of a weight behind it: one profile's name may begin with another's.
        mine = f"{prefix}{PREFIX}"
        own = {name.removeprefix(prefix): sent[name] for name in sent if name.startswith(mine)}
        try:
            self.parameters = Parameters.of({**shared, **own})
        except ParametersError as error:
            for name, fault in error.faults.items():
                place = f"{prefix}{name}" if name.startswith(PREFIX) else name
                self.add_error(place if place in self.fields else None, fault)
        return cleaned

    @property
    def question_asked(self) -> str:
        """What was typed."""
        return str(self.cleaned_data["question"])

    @property
    def options_chosen(self) -> str:
        """The options as the address has them."""
        return answers.write_options(self.parameters)

    def carried(self, conversation: Conversation) -> Conversation:
        """The conversation with the options that are typed; with its own where those are refused."""
        return replace(conversation, options=self.options_chosen) if self.is_valid() else conversation

    def shared_fields(self) -> list[BoundField]:
        """Where to search, and the options that every profile has."""
        names = [option.name for option in _SHARED]
        return [self[name] for name in (["in", *names] if self.where else names)]

    def weights(self) -> list[Weights]:
        """The weights of each profile."""
        return [
            Weights(profile, label, [self[f"{profile}-{option.name}"] for option in weight_options(profile)])
            for profile, label in PROFILES.items()
            if weight_options(profile)
        ]


def _field(option: Option) -> forms.CharField:
    """Any text: the validator says what is wrong with it, and what was typed stays."""
    attrs = {"form": "ask"}
    widget: forms.Widget
    if option.kind == "choice":
        widget = forms.Select(choices=list(option.choices.items()), attrs=attrs)
    else:
        mode = "numeric" if option.kind == "whole" else "decimal"
        widget = forms.TextInput(attrs={**attrs, "inputmode": mode, "size": 6})
    help_text = option.help if option.kind == "choice" else f"{option.help} From {option.range}."
    return forms.CharField(required=False, label=option.label, help_text=help_text, widget=widget)


def _initial(conversation: Conversation) -> dict[str, str]:
    """The options of the conversation, or the defaults; of the other profile always those."""
    try:
        parameters = answers.read_options(conversation.options)
    except ParametersError:
        parameters = defaults()
    initial: dict[str, str] = {}
    for profile in PROFILES:
        mine = answers.option_values(parameters if parameters.profile == profile else defaults(profile))
        initial |= {f"{profile}-{name}": mine[name] for name in mine if name.startswith(PREFIX)}
    shared = answers.option_values(parameters)
    names = [option.name for option in _SHARED]
    return {**initial, **{name: shared[name] for name in names}, "in": "".join(conversation.corpora[:1])}


PAGE = "annotation:search"


@require_http_methods(["GET", "HEAD", "POST"])
@on_project()
def search(request: HttpRequest, access: ProjectAccess) -> HttpResponse:
    """The conversation of the address with its answers; a post asks, clears, or restores."""
    corpora = searchable(access.project)
    posted = request.method == "POST"
    try:
        conversation = read_conversation(request.POST if posted else request.GET)
    except RefusedError as error:
        form = AskForm(corpora=corpora, conversation=Conversation())
        return _page(request, access, corpora, Conversation(), form, problem=str(error), status=400)
    if not posted:
        form = AskForm(corpora=corpora, conversation=conversation)
        return _page(request, access, corpora, conversation, form)
    form = AskForm(request.POST, corpora=corpora, conversation=conversation)
    match request.POST.get("do"):
        case "clear-last":
            return _go_on(request, access, corpora, form.carried(conversation).without_last())
        case "clear-all":
            return _go_on(request, access, corpora, form.carried(conversation).cleared())
        case "restore":
            fresh = AskForm(
                corpora=corpora,
                conversation=replace(conversation, options=""),
                question=request.POST.get("question", ""),
            )
            return _page(request, access, corpora, conversation, fresh)
        case _:
            return _answer_question(request, access, corpora, conversation, form)


def _answer_question(
    request: HttpRequest,
    access: ProjectAccess,
    corpora: list[Corpus],
    conversation: Conversation,
    form: AskForm,
) -> HttpResponse:
    """One turn more; what was typed stays where it is refused, or where the search fails."""
    if form.is_valid():
        try:
            asked_conversation = form.carried(conversation).with_question(
                form.question_asked, form.options_chosen
            )
            answers.recent_answer(corpora, asked_conversation)
        except RefusedError as error:
            form.add_error("question", str(error))
        except RetrievalError as error:
            form.add_error("question", f"{error} Nothing was asked; your question is still here.")
        else:
            return _go_on(request, access, corpora, asked_conversation)
    return _page(request, access, corpora, conversation, form, status=422)


def _go_on(
    request: HttpRequest, access: ProjectAccess, corpora: list[Corpus], conversation: Conversation
) -> HttpResponse:
    """To the address of a conversation, so that Reload asks nothing twice; a long one is shown at once."""
    if conversation.fits_an_address:
        return redirect(f"{reverse(PAGE, args=[access.project.slug])}{conversation.address()}")
    return _page(request, access, corpora, conversation, AskForm(corpora=corpora, conversation=conversation))


def _page(
    request: HttpRequest,
    access: ProjectAccess,
    corpora: list[Corpus],
    conversation: Conversation,
    form: AskForm,
    *,
    problem: str = "",
    status: int = 200,
) -> HttpResponse:
    slugs = [corpus.slug for corpus in corpora]
    empty = not conversation.turns
    return show(
        request,
        "search.html",
        access,
        folder="annotation",
        status=status,
        tab="search",
        form=form,
        problem=problem,
        kept=conversation.fields_of_turns(),
        turns=answers.show_turns(access.project, corpora, conversation),
        corpora=corpora,
        searchable=bool(corpora),
        many_corpora=len(corpora) > 1,
        sample=sample_for(access.project, slugs, conversation) if empty and corpora else None,
        keep=SHOWN,
        api_key=key_for(access) if corpora else "",
        api_url=request.build_absolute_uri(reverse("annotation:search_api", args=[access.project.slug])),
    )


# What was found for a turn becomes candidates of a query.

MOST_KEPT = 100


@require_POST
@on_project(Role.MANAGER)
def send(request: HttpRequest, access: ProjectAccess) -> HttpResponse:
    """Search again and keep the best passages; a query that has candidates is left as it is."""
    try:
        conversation = read_conversation(request.POST)
        keep = _number(request.POST.get("keep") or str(SHOWN))
        if not conversation.turns:
            raise RefusedError("There is no question to send.")
        answer = answers.answer_turn(
            searchable(access.project), conversation, results=Recipe(shown_count=keep).depth
        )
        sent = send_to_curation(
            project=access.project, turns=conversation.questions, answer=answer, keep=keep, actor=access.user
        )
    except AlreadySentError as error:
        messages.info(request, f"{error} Nothing was changed.")
        return redirect("annotation:query", access.project.slug, error.query.pk)
    except RefusedError as error:
        messages.error(request, str(error))
        return redirect(PAGE, access.project.slug)
    except (CrowdError, RetrievalError) as error:
        messages.error(request, str(error))
        back = conversation.address() if conversation.fits_an_address else ""
        return redirect(f"{reverse(PAGE, args=[access.project.slug])}{back}")
    messages.success(
        request,
        f"{'A new query of the project' if sent.new else 'The query'} has {sent.shown_count} "
        f"candidate{'' if sent.shown_count == 1 else 's'} now. Curation asks about it in its next round.",
    )
    return redirect("annotation:query", access.project.slug, sent.query.pk)


def _number(typed: str) -> int:
    text = typed.strip()
    if not (text.isascii() and text.isdigit() and 1 <= int(text[:9]) <= MOST_KEPT):
        raise RefusedError(f"Send between 1 and {MOST_KEPT} candidates.")
    return int(text)


# Addresses of the search page; they stand among those of this app's desk.

_P = "projects/<slug:project>/search/"
PATHS: list[URLPattern] = [
    path(_P, search, name="search"),
    path(f"{_P}send/", send, name="search_send"),
    path(f"{_P}api/getanswer", getanswer, name="search_api"),
]
