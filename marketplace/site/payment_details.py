"""How a worker is paid: a form by method, the link in an e-mail that confirms a change, and deleting it."""

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext, gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from core.accounts.confirmation import confirmed_without_factor
from marketplace import clock
from marketplace.errors import Refusal
from marketplace.models import PayeeDetails, PayMethod, Worker
from marketplace.money import payees
from marketplace.money.finance import LONGEST_NOTE, payment_note, set_payment_note
from marketplace.site.access import current_worker, for_workers, page


class NoteForm(forms.Form):
    """How a worker wants to be paid, in their own words: for those who said so before there were methods."""

    note = forms.CharField(
        label=gettext_lazy("In your own words"),
        required=False,
        max_length=LONGEST_NOTE,
        widget=forms.Textarea(attrs={"rows": 4, "dir": "auto"}),
        help_text=gettext_lazy(
            "Written before there was the form above, which is better: it cannot be misread. "
            "Leave it empty to delete it."
        ),
    )


class PayeeForm(forms.Form):
    """What one method asks for. What is wrong is said beside its field."""

    def __init__(self, data: Any, *, method: str, initial: dict[str, str]) -> None:
        super().__init__(data, initial=initial, label_suffix="")
        self.method = method
        for each in payees.FIELDS[method]:
            attributes = {"autocomplete": each.autocomplete, "dir": "auto"}
            kind = forms.EmailInput if each.name == "email" else forms.TextInput
            self.fields[each.name] = forms.CharField(
                label=each.label
                if each.needed
                else gettext("%(label)s (if there is one)") % {"label": each.label},
                help_text=each.help,
                required=False,
                max_length=each.longest,
                widget=kind(attrs=attributes),
            )

    def clean(self) -> dict[str, Any]:
        """As the service wants it, with its sentences."""
        try:
            entries = {name: str(self.cleaned_data.get(name, "")) for name in self.fields}
            payees.checked_details(self.method, entries)
        except payees.DetailsError as error:
            for name, why in error.faults.items():
                if name not in self.errors:
                    self.add_error(name if name in self.fields else None, why)
        return dict(self.cleaned_data)


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@sensitive_post_parameters()
@confirmed_without_factor
@for_workers
def payment(request: HttpRequest, worker: Worker) -> HttpResponse:
    """How the worker is paid now, what waits for a link, and the form of the method that they choose."""
    row = payees.payee_of(worker)
    note_form = NoteForm(
        request.POST if "note" in request.POST else None, initial={"note": payment_note(worker)}
    )
    if note_form.is_valid():
        set_payment_note(worker=worker, note=note_form.cleaned_data["note"])
        messages.success(
            request, gettext("It is kept.") if worker.payment_note_sealed else gettext("It is deleted.")
        )
        return redirect("site:profile")
    method = _method(request, row)
    form = _form(request, row, method)
    if form is not None and form.is_valid() and _save(request, worker, form):
        return redirect("site:payment")
    return page(
        request,
        "payment.html",
        worker=worker,
        now=clock.now(),
        row=row,
        form=form,
        method=method,
        methods=[(each, PayMethod(each).label) for each in payees.offered_methods()],
        note_form=note_form if worker.payment_note_sealed or note_form.is_bound else None,
        by_mail=settings.NOTICES_BY_EMAIL,
    )


def _method(request: HttpRequest, row: PayeeDetails | None) -> str:
    method = request.POST.get("method") or request.GET.get("method") or (row.method if row else "")
    return method if method in payees.offered_methods() else ""


def _form(request: HttpRequest, row: PayeeDetails | None, method: str) -> PayeeForm | None:
    if not method:
        return None
    details = (payees.opened(row.details_sealed) or {}) if row and row.method == method else {}
    sent = request.method == "POST" and "note" not in request.POST
    return PayeeForm(request.POST if sent else None, method=method, initial=details)


def _save(request: HttpRequest, worker: Worker, form: PayeeForm) -> bool:
    base = settings.PUBLIC_URL or f"{request.scheme}://{request.get_host()}"
    entries = {name: str(form.cleaned_data[name]) for name in form.fields}
    try:
        change = payees.set_payee(worker=worker, method=form.method, entries=entries, base=base)
    except Refusal as refusal:
        form.add_error(None, refusal.message)
        return False
    if change.waiting:
        messages.success(
            request,
            gettext("Open the link in the e-mail to %(sent_to)s to confirm the change.")
            % {"sent_to": change.sent_to},
        )
    else:
        messages.success(request, gettext("It is kept."))
    return True


@require_POST
@never_cache
@for_workers
def forget_payment(request: HttpRequest, worker: Worker) -> HttpResponse:
    """Delete how the worker is paid, or with `change` only the change that waits."""
    if request.POST.get("what") == "change":
        payees.drop_change(worker=worker)
        messages.success(request, gettext("You are paid as before."))
    else:
        payees.forget_payee(worker=worker)
        messages.success(request, gettext("It is deleted. Nothing is paid to you until you say how."))
    return redirect("site:payment")


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def confirm_payment(request: HttpRequest, token: str) -> HttpResponse:
    """The link in the e-mail: a page with a button, because programs that check mail open links as well."""
    worker = current_worker(request)
    waiting = payees.waiting_change(token)
    if waiting is not None and request.method == "POST":
        label = PayMethod(waiting.waiting_method).label
        if payees.confirm_change(token) is not None:
            messages.success(
                request,
                gettext("Confirmed. You are paid in this way from now on: %(label)s.") % {"label": label},
            )
            return redirect("site:payment" if worker else "site:groups")
        waiting = None
    return page(
        request,
        "payment_confirm.html",
        worker=worker,
        now=clock.now(),
        status=200 if waiting else 404,
        waiting=waiting,
        label=PayMethod(waiting.waiting_method).label if waiting else "",
    )
