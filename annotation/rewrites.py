"""A page where a worker writes an answer again because a reviewer asked: reached by a signed link, once."""

from collections.abc import Mapping

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import path
from django.utils.translation import gettext, gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods
from django_stubs_ext import StrOrPromise

from annotation.models import Answer, AnswerReview
from annotation.services import query_answers
from annotation.services.query_answers import NotAskedError, rewrite_answer
from annotation.units import of_query
from crowd.kinds import kind_of
from crowd.taskpage import UnreadableError, form_of

# Show a query again with its passages, the earlier answer and the reviewer's reason; take the new text.
#
# The link is the only credential: the page sets no cookie, asks for none, and tells no other site its
# address.

_GONE = gettext_lazy(
    "This link is not valid any more: it works for some days and once. What you were "
    "paid stays as it is, "
    "and you need not do anything."
)
_DONE = gettext_lazy(
    "Thank you. Your new answer is stored and takes the place of the earlier one. You can close this page."
)
_UNREADABLE = gettext_lazy(
    "The form did not arrive as it should, so nothing was stored. Go back, shorten it, and send it again."
)


@csrf_exempt
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def rewrite(request: HttpRequest, token: str) -> HttpResponse:
    """GET shows what is asked, POST takes the new answer; once."""
    response = _answered(request, token)
    response["Referrer-Policy"] = "no-referrer"
    return response


def _answered(request: HttpRequest, token: str) -> HttpResponse:
    pk = query_answers.read_rewrite_token(token)
    rows = Answer.objects.select_related("stage__project", "query", "worker", "assignment")
    answer = rows.filter(pk=pk).first() if pk is not None else None
    if answer is not None and answer.state == Answer.State.REPLACED and request.method == "POST":
        return _show_message(request, gettext("Thank you"), _DONE)
    if answer is None or answer.state != Answer.State.REWRITE:
        return _show_message(
            request, gettext("Nothing to write again"), _GONE, status=404 if answer is None else 410
        )
    if request.method != "POST":
        return _page(request, answer, _fields_of(answer))
    return _take(request, answer)


def _take(request: HttpRequest, answer: Answer) -> HttpResponse:
    try:
        form = form_of(request)
    except UnreadableError:
        return _show_message(request, gettext("Nothing was sent"), _UNREADABLE, status=413)
    parsed = kind_of(answer.stage).parse(answer.stage, of_query(answer.query_id), form)
    errors = dict(parsed.errors)
    if not errors and _same(answer, parsed.response):
        errors["text"] = gettext("This is your earlier answer. Change what the reviewer asks about.")
    if errors:
        return _page(request, answer, form, errors)
    try:
        rewrite_answer(answer=answer, response=parsed.response)
    except NotAskedError:
        return _show_message(request, gettext("Nothing to write again"), _GONE, status=410)
    return _show_message(request, gettext("Thank you"), _DONE)


def _same(answer: Answer, response: dict[str, object]) -> bool:
    same_text = response["text"] == answer.text
    return same_text and all(
        response.get(name, value) == value
        for name, value in (("opinion", answer.opinion), ("entities", answer.entities))
    )


def _fields_of(answer: Answer) -> dict[str, str]:
    """The earlier answer as its form would hold it."""
    entities = "\n".join(str(span.get("text", "")) for span in answer.entities)
    return {"text": answer.text, "opinion": answer.opinion, "entities": entities}


def _page(
    request: HttpRequest, answer: Answer, values: Mapping[str, str], errors: Mapping[str, str] | None = None
) -> HttpResponse:
    stage = answer.stage
    page = kind_of(stage).page(stage, of_query(answer.query_id), stage.seed)
    problems = errors or {}
    unit = render_to_string(
        page.template,
        {**page.context, "prefix": "", "id": "u1-", "values": values, "errors": problems, "preview": False},
    )
    requests = AnswerReview.objects.filter(answer=answer, action=AnswerReview.Action.REWRITE).order_by("-pk")
    context = {
        "stage": stage,
        "answer": answer,
        "reason": requests.values_list("reason", flat=True).first() or "",
        "unit": unit,
        "problems": [(f"u1-{name}-error", sentence) for name, sentence in problems.items()],
    }
    return render(request, "annotation/rewrite.html", context, status=422 if problems else 200)


def _show_message(
    request: HttpRequest, title: StrOrPromise, sentence: StrOrPromise, *, status: int = 200
) -> HttpResponse:
    return render(
        request, "crowd/refused.html", {"title": title, "sentence": sentence, "back": ""}, status=status
    )


# Addresses of rewrites.

app_name = "rewriting"
urlpatterns = [path("task/rewrite/<str:token>/", rewrite, name="rewrite")]
