"""Pages of a worker: the id that they had on MTurk, and a copy of their data."""

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext, gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from marketplace import clock
from marketplace.errors import Refusal
from marketplace.heritage.formerids import state_former_id
from marketplace.heritage.models import FormerIdClaim
from marketplace.heritage.worker_archive import exported
from marketplace.models import Worker
from marketplace.site.access import for_workers, page


class FormerIdForm(forms.Form):
    """The id that a worker had on MTurk."""

    former_id = forms.CharField(
        label=gettext_lazy("Your worker id on MTurk"),
        max_length=40,
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
        help_text=gettext_lazy(
            "It begins with A, such as A1B2C3D4E5F6G7. You state it once, and "
            "it cannot be checked: "
            "requesters are told so."
        ),
    )


@require_http_methods(["GET", "HEAD", "POST"])
@for_workers
def former_id(request: HttpRequest, worker: Worker) -> HttpResponse:
    """State the worker id that one had on MTurk, once."""
    claim = FormerIdClaim.objects.filter(worker=worker).first()
    form = FormerIdForm(request.POST or None) if claim is None else None
    if form is not None and form.is_valid():
        try:
            claim = state_former_id(worker=worker, former_id=form.cleaned_data["former_id"])
        except Refusal as refusal:
            form.add_error("former_id", refusal.message)
        else:
            if claim.accepted:
                messages.success(
                    request, gettext("Your MTurk id is noted. What requesters kept on it counts for you.")
                )
            else:
                messages.warning(
                    request,
                    gettext("Another person has stated this id. The people who run this site decide."),
                )
            return redirect("site:profile")
    return page(request, "former_id.html", worker=worker, now=clock.now(), form=form, claim=claim)


@require_POST
@never_cache
@for_workers
def export(request: HttpRequest, worker: Worker) -> StreamingHttpResponse:
    """Everything about the worker as one archive, sent while it is made."""
    now = clock.now()
    answer = StreamingHttpResponse(exported(worker, now=now), content_type="application/zip")
    name = f"distillery-{worker.worker_id}-{now:%Y-%m-%d}.zip"
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer
