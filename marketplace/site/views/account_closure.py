"""The end of an account: a worker's own data as a file, closing it."""

from typing import Any

from django import forms
from django.contrib.auth import authenticate, logout
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from marketplace import clock
from marketplace.archive import exported
from marketplace.errors import Refusal
from marketplace.models import Worker
from marketplace.services import account_closure
from marketplace.services.account_closure import receipt
from marketplace.services.payees import payee_of
from marketplace.site.access import for_workers, page
from marketplace.site.fresh import settle_worker
from marketplace.site.selectors.records import standing


class CloseForm(forms.Form):
    """The worker id, typed, and the password: nobody closes by mistake, or at somebody's open browser."""

    worker_id = forms.CharField(
        label="Type your worker id",
        max_length=64,
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "characters"}),
    )
    password = forms.CharField(
        label="Your password",
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )

    keep_payment_note = forms.BooleanField(
        required=False,
        initial=True,
        label="Keep how I want to be paid until I am",
        help_text="It is deleted on the day after everything is paid out. Without it, show your receipt.",
    )

    def __init__(
        self, *arguments: Any, request: HttpRequest, worker: Worker, ask_about_payment: bool
    ) -> None:
        super().__init__(*arguments)
        self._request, self._worker = request, worker
        if not ask_about_payment:
            del self.fields["keep_payment_note"]

    def clean_worker_id(self) -> str:
        """It has to be this worker's."""
        typed = str(self.cleaned_data["worker_id"]).strip().upper()
        if typed != self._worker.worker_id:
            raise forms.ValidationError(f"Type {self._worker.worker_id}, your worker id.")
        return typed

    def clean_password(self) -> str:
        """Checked as at log-in, so that tries are counted and end after a few."""
        password = str(self.cleaned_data["password"])
        user = self._worker.user
        assert user is not None
        if authenticate(self._request, username=user.get_username(), password=password) != user:
            raise forms.ValidationError("This is not your password.")
        return password


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


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@sensitive_post_parameters("password")
@for_workers
def close(request: HttpRequest, worker: Worker) -> HttpResponse:
    """What stays and what goes, what is still due, and the form that closes the account."""
    now = clock.now()
    settle_worker(worker, now)
    due = standing(worker)
    ask = due.real and bool(worker.payment_note_sealed or payee_of(worker))
    form = CloseForm(request.POST or None, request=request, worker=worker, ask_about_payment=ask)
    if form.is_valid():
        try:
            keep = bool(form.cleaned_data.get("keep_payment_note"))
            closed = account_closure.close(worker=worker, keep_payment_note=keep)
        except Refusal as refusal:
            form.add_error(None, refusal.message)
        else:
            return _gone(request, worker, closed)
    stays = account_closure.login_stays(worker)
    return page(request, "close.html", worker=worker, now=now, form=form, due=due, login_stays=stays)


def _gone(request: HttpRequest, worker: Worker, closed: account_closure.ClosedAccount) -> HttpResponse:
    if not closed.login_stays:
        logout(request)
    return page(
        request,
        "account_closed.html",
        worker=None,
        now=clock.now(),
        worker_id=worker.worker_id,
        receipt=receipt(worker.worker_id),
        due=standing(worker),
        closed=closed,
    )
