"""The search page: ask, follow up, clear, restore the options. Nothing is changed by any of it."""

from dataclasses import replace

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from annotation.retrieval_options import SHOWN
from annotation.searching import answers
from annotation.searching.conversation import Conversation, RefusedError, read
from annotation.searching.forms import AskForm
from annotation.searching.keys import key_for
from annotation.searching.samples import sample_for
from retrieval.errors import RetrievalError
from retrieval.models import Corpus
from retrieval.selectors import searchable
from web.access import ProjectAccess, on_project
from web.pages import show

PAGE = "annotation:search"


@require_http_methods(["GET", "HEAD", "POST"])
@on_project()
def search(request: HttpRequest, access: ProjectAccess) -> HttpResponse:
    """The conversation of the address with its answers; a post asks, clears, or restores."""
    corpora = searchable(access.project)
    posted = request.method == "POST"
    try:
        conversation = read(request.POST if posted else request.GET)
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
            return _asked(request, access, corpora, conversation, form)


def _asked(
    request: HttpRequest,
    access: ProjectAccess,
    corpora: list[Corpus],
    conversation: Conversation,
    form: AskForm,
) -> HttpResponse:
    """One turn more; what was typed stays where it is refused, or where the search fails."""
    if form.is_valid():
        try:
            asked = form.carried(conversation).with_question(form.question_asked, form.options_chosen)
            answers.lately(corpora, asked)
        except RefusedError as error:
            form.add_error("question", str(error))
        except RetrievalError as error:
            form.add_error("question", f"{error} Nothing was asked; your question is still here.")
        else:
            return _go_on(request, access, corpora, asked)
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
        turns=answers.shown(access.project, corpora, conversation),
        corpora=corpora,
        searchable=bool(corpora),
        many_corpora=len(corpora) > 1,
        sample=sample_for(access.project, slugs, conversation) if empty and corpora else None,
        keep=SHOWN,
        api_key=key_for(access) if corpora else "",
        api_url=request.build_absolute_uri(reverse("annotation:search_api", args=[access.project.slug])),
    )
