"""Pages of notices: of one project and of all."""

from typing import Any

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext
from django.views.decorators.http import require_POST, require_safe

from core.notices import selectors, services
from core.notices.letters import last_sent, post_office
from core.notices.models import Notice, Wish
from core.revisions import ConflictError
from crowd.desk import tables
from crowd.desk.forms import WishForm
from web.access import ProjectAccess, for_members, on_project
from web.cells import Post
from web.forms import run_action
from web.kit import Own, Page
from web.pages import show, show_conflict
from web.tables import page_of

FOLDER = "notices"


@require_safe
@for_members
def list_notices(request: HttpRequest, user: User) -> HttpResponse:
    """Notices of all my projects."""
    context = _rows(request, selectors.notices_of(user), user)
    unread = context["notices"].object_list and context["state"].chosen != "over"
    page = Page(
        gettext("Notices"),
        [Own("notices/parts_list.html")],
        lead=gettext("What needs attention in your projects. E-mail is chosen in each project."),
        primary=[Post(gettext("Mark all as read"), reverse("desk:see_notices"))] if unread else [],
    )
    return show(request, page, **context)


@require_safe
@on_project()
def project_notices(request: HttpRequest, access: ProjectAccess) -> HttpResponse:
    """Notices of one project, and which of them I want by e-mail."""
    rows = selectors.notices_of(access.user, access.project)
    return show(
        request,
        "project.html",
        access,
        folder=FOLDER,
        tab="notices",
        wish=selectors.wish_of(access.user, access.project),
        wishes=Wish.Post.choices,
        wish_form=_wish_form(access),
        post=post_office(),
        last=last_sent(access.user),
        **_rows(request, rows, access.user),
    )


def _rows(request: HttpRequest, rows: QuerySet[Notice], user: User) -> dict[str, Any]:
    state = tables.choice(request, "state", selectors.STATES)
    return {"state": state, "notices": page_of(selectors.in_state(rows, user, state.chosen), request)}


@require_POST
@for_members
def read_notice(request: HttpRequest, user: User, *, pk: int) -> HttpResponse:
    """I have read one."""
    notice = selectors.notices_of(user).filter(pk=pk).first()
    if notice is None:
        raise Http404("There is no such notice.")
    services.see(user=user, notices=[notice])
    return _back(request)


@require_POST
@for_members
def read_all_notices(request: HttpRequest, user: User) -> HttpResponse:
    """I have read everything that is open in my projects."""
    services.see(user=user, notices=selectors.waiting(selectors.notices_of(user), user))
    return _back(request)


@require_POST
@on_project()
def read_project_notices(request: HttpRequest, access: ProjectAccess) -> HttpResponse:
    """I have read everything that is open in this project."""
    rows = selectors.waiting(selectors.notices_of(access.user, access.project), access.user)
    services.see(user=access.user, notices=rows)
    return redirect("desk:project_notices", access.project.slug)


@require_POST
@on_project()
def set_notice_mail(request: HttpRequest, access: ProjectAccess) -> HttpResponse:
    """Which notices of this project I want by e-mail."""
    form = _wish_form(access, request.POST)

    def action() -> str:
        post = request.POST.get("post", "")
        services.wish(user=access.user, project=access.project, post=post, seen=form.seen)
        return "Saved. This is for you alone."

    try:
        return run_action(request, action, "desk:project_notices", access.project.slug)
    except ConflictError:
        back = reverse("desk:project_notices", args=[access.project.slug])
        return show_conflict(request, access, form, _wish_form(access), back)


def _wish_form(access: ProjectAccess, data: Any = None) -> WishForm:
    return WishForm(data, wish=Wish.objects.filter(user=access.user, project=access.project).first())


def _back(request: HttpRequest) -> HttpResponse:
    """To the list that the button stood on."""
    then = request.POST.get("then", "")
    ours = url_has_allowed_host_and_scheme(then, allowed_hosts=None) and then.startswith("/desk/")
    return redirect(then if ours else "desk:notices")
