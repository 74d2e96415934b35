"""Pages of study links on the desk, with their addresses: of projects, and texts of the installation."""

from collections.abc import Callable
from functools import partial
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from people import consents, desk_pages
from people.desk_pages import LinkDesk
from people.models import ConsentText, Guest, StudyLink
from people.owners import project_owner
from people.tokens import sign_guest, token_of
from web.access import ProjectAccess, Role, on_project
from web.pages import show

_FOLDER = "people"


def _desk(access: ProjectAccess) -> LinkDesk:
    project = access.project

    def address(page: str, *parts: Any) -> str:
        return reverse(f"people:{page}", args=[project.slug, *parts])

    return LinkDesk(
        owner=project_owner(project),
        user=access.user,
        title=project.title,
        prefix=project.slug,
        language=project.language,
        manages=access.manages,
        manager=access.manager,
        frame="people/desk_base.html",
        trail=[(project.title, reverse("desk:project", args=[project.slug])), ("People", address("links"))],
        nowhere="people/no_stage.html",
        money_note="",
        address=address,
        render=partial(_render, access),
    )


def _render(access: ProjectAccess, request: HttpRequest, template: str, **context: Any) -> HttpResponse:
    return show(request, template, access, folder=_FOLDER, tab="people", **context)


def _of_project(
    page: Callable[..., HttpResponse], least: str = Role.VIEWER
) -> Callable[..., HttpResponseBase]:
    """The page of study links for people with this role in a project."""

    @on_project(least)
    def view(request: HttpRequest, access: ProjectAccess, **parts: Any) -> HttpResponse:
        return page(request, _desk(access), **parts)

    return view


_on_form = require_http_methods(["GET", "HEAD", "POST"])
listing = require_safe(_of_project(desk_pages.listing))
link = require_safe(_of_project(desk_pages.link))
live = require_safe(_of_project(desk_pages.live))
visits_csv = require_safe(_of_project(desk_pages.visits_csv, Role.MANAGER))
roster_csv = require_safe(_of_project(desk_pages.roster_csv, Role.MANAGER))
new = _on_form(_of_project(desk_pages.new, Role.MANAGER))
edit = _on_form(_of_project(desk_pages.edit, Role.MANAGER))
edit_text = _on_form(_of_project(desk_pages.edit_text, Role.MANAGER))
roster = _on_form(_of_project(desk_pages.roster, Role.MANAGER))
close = require_POST(_of_project(desk_pages.close, Role.MANAGER))
reopen = require_POST(_of_project(desk_pages.reopen, Role.MANAGER))
quota = require_POST(_of_project(desk_pages.quota, Role.MANAGER))
rehearse = require_POST(_of_project(desk_pages.rehearse, Role.MANAGER))
mail = require_POST(_of_project(desk_pages.mail, Role.MANAGER))


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def own_texts(request: HttpRequest) -> HttpResponse:
    """Terms and privacy of the installation, for staff."""
    user = request.user
    if not isinstance(user, User) or not user.is_staff:
        raise Http404("The texts of the installation are for staff.")
    kinds = (ConsentText.Kind.TERMS, ConsentText.Kind.PRIVACY)
    if request.method == "POST":
        kind, body = request.POST.get("kind", ""), request.POST.get("body", "").replace("\r\n", "\n").strip()
        if kind in kinds and 0 < len(body) <= 50_000:
            saved = consents.save_text(owner=None, values={"body": body}, actor=user, kind=kind)
            messages.success(
                request, f"{ConsentText.Kind(kind).label}: version {saved.version} is shown now."
            )
        else:
            messages.error(request, "Write a text of at most 50,000 characters.")
        return redirect("people:own_texts")
    texts = [(kind, consents.newest_text(None, kind)) for kind in kinds]
    return show(request, "own_texts.html", folder=_FOLDER, texts=texts)


@require_safe
@login_required
def own(request: HttpRequest) -> HttpResponse:
    """Studies of a person who made an account of their guest: the way back to each."""
    rows = []
    for guest in Guest.objects.filter(user=request.user.pk).select_related("project"):
        seen = StudyLink.objects.filter(visits__guest=guest).distinct().order_by("-pk")
        rows += [(guest, each, token_of(each), sign_guest(guest, each)) for each in seen]
    return render(request, "people/own.html", {"rows": rows, "now": timezone.now()})


app_name = "people"
_P = "projects/<slug:project>/people/"
urlpatterns = [
    path("my-studies/", own, name="own"),
    path("texts/", own_texts, name="own_texts"),
    path(_P, listing, name="links"),
    path(f"{_P}new/", new, name="new_link"),
    path(f"{_P}consent/", edit_text, name="consent"),
    path(f"{_P}<int:pk>/", link, name="link"),
    path(f"{_P}<int:pk>/edit/", edit, name="edit_link"),
    path(f"{_P}<int:pk>/live/", live, name="live"),
    path(f"{_P}<int:pk>/visits.csv", visits_csv, name="visits"),
    path(f"{_P}<int:pk>/close/", close, name="close_link"),
    path(f"{_P}<int:pk>/reopen/", reopen, name="reopen_link"),
    path(f"{_P}<int:pk>/quota/", quota, name="quota"),
    path(f"{_P}<int:pk>/rehearse/", rehearse, name="rehearse"),
    path(f"{_P}<int:pk>/list/", roster, name="roster"),
    path(f"{_P}<int:pk>/list.csv", roster_csv, name="roster_csv"),
    path(f"{_P}<int:pk>/list/mail/", mail, name="mail"),
]
