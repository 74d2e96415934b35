"""Making a requester in the browser."""

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from marketplace.errors import Refusal
from marketplace.requester.accountforms import RequesterForm
from marketplace.requester.views.keys import show_secret_once
from marketplace.services import people
from marketplace.site.access import for_researchers


@require_http_methods(["GET", "HEAD", "POST"])
@for_researchers
def new(request: HttpRequest, user: User) -> HttpResponse:
    """Staff name a requester and its owner; its Keys page then shows the first secret, once."""
    if not user.is_staff:
        raise Http404("Staff make requesters.")
    form = RequesterForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data
        try:
            requester, key = people.create_requester(
                name=data["name"],
                fee_profile=data["fee_profile"],
                owner=data["owner"],
                real_money=data["real_money"],
                by=user,
            )
        except Refusal as refusal:
            form.add_error("name", refusal.message)
        else:
            show_secret_once(request, key.row)
            messages.success(request, f"{requester.name} is there. Its account is empty: deposit next.")
            return redirect("requester:keys", requester.customer_id)
    status = 422 if form.errors else 200
    return render(request, "marketplace/requester/new.html", {"form": form}, status=status)
