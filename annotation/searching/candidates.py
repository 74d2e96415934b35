"""What was found for a turn becomes candidates of a query."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from annotation.retrieval_options import SHOWN, Recipe
from annotation.searching import answers
from annotation.searching.conversation import RefusedError, read
from annotation.searching.views import PAGE
from annotation.services.query_from_search import AlreadySentError, send_to_curation
from crowd.errors import CrowdError
from retrieval.errors import RetrievalError
from retrieval.selectors import searchable
from web.access import ProjectAccess, Role, on_project

MOST_KEPT = 100


@require_POST
@on_project(Role.MANAGER)
def send(request: HttpRequest, access: ProjectAccess) -> HttpResponse:
    """Search again and keep the best passages; a query that has candidates is left as it is."""
    try:
        conversation = read(request.POST)
        keep = _number(request.POST.get("keep") or str(SHOWN))
        if not conversation.turns:
            raise RefusedError("There is no question to send.")
        found = answers.answer(searchable(access.project), conversation, results=Recipe(shown=keep).depth)
        sent = send_to_curation(
            project=access.project, turns=conversation.questions, found=found, keep=keep, actor=access.user
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
        f"{'A new query of the project' if sent.new else 'The query'} has {sent.shown} "
        f"candidate{'' if sent.shown == 1 else 's'} now. Curation asks about it in its next round.",
    )
    return redirect("annotation:query", access.project.slug, sent.query.pk)


def _number(typed: str) -> int:
    text = typed.strip()
    if not (text.isascii() and text.isdigit() and 1 <= int(text[:9]) <= MOST_KEPT):
        raise RefusedError(f"Send between 1 and {MOST_KEPT} candidates.")
    return int(text)
