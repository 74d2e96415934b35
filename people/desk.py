"""Pages of study links for a project's managers: the list, one link live, its class, consent texts."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from core.errors import ActionError
from core.files.cells import csv_text, plain
from people import consents, links, rosters, selectors
from people.forms import PRESETS, ConsentForm, LinkForm, preset_named
from people.models import ConsentText, Guest, Outcome, StudyLink
from people.targets import all_choices, target_of
from people.tokens import sign_guest, token_of
from people.visits import why_closed
from web.access import ProjectAccess, Role, on_project
from web.forms import FormError, run_action
from web.pages import show

_FOLDER = "people"
_MOST_QUOTA = 1_000_000


def _link(access: ProjectAccess, pk: int) -> StudyLink:
    return get_object_or_404(StudyLink.objects.select_related("project"), project=access.project, pk=pk)


def _page(request: HttpRequest, template: str, access: ProjectAccess, **context: Any) -> HttpResponse:
    return show(request, template, access, folder=_FOLDER, tab="people", **context)


@require_safe
@on_project()
def listing(request: HttpRequest, access: ProjectAccess) -> HttpResponse:
    """The links of a project."""
    rows = [
        (link, target_of(link).title(link), why_closed(link)) for link in selectors.links_of(access.project)
    ]
    return _page(
        request,
        "links.html",
        access,
        rows=rows,
        presets=PRESETS,
        text=consents.newest_text(access.project),
        leads_somewhere=bool(all_choices(access.project)),
    )


@require_http_methods(["GET", "HEAD", "POST"])
@on_project(Role.MANAGER)
def new(request: HttpRequest, access: ProjectAccess) -> HttpResponse:
    """Make a link, beginning with a preset."""
    preset = preset_named(request.POST.get("from") or request.GET.get("from", ""))
    form = LinkForm(request.POST or None, project=access.project, preset=preset)
    if request.method == "POST" and form.is_valid():
        try:
            made = links.make_link(project=access.project, plan=form.plan(), actor=access.user)
        except ActionError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, "The link is made. Send people its address.")
            return redirect("people:link", access.project.slug, made.pk)
    return _page(
        request,
        "new_link.html",
        access,
        form=form,
        preset=preset,
        presets=PRESETS,
        leads_somewhere=bool(all_choices(access.project)),
        status=422 if form.errors else 200,
    )


@require_safe
@on_project()
def link(request: HttpRequest, access: ProjectAccess, *, pk: int) -> HttpResponse:
    """One link: its address, who came, where they are."""
    row = _link(access, pk)
    address = links.address_of(row) if access.manages else ""
    return _page(
        request,
        "link.html",
        access,
        link=row,
        leads_to=target_of(row).title(row),
        address=address,
        code=links.draw_code(address) if address else "",
        closed=why_closed(row),
        counts=selectors.count_visits(row),
        returns=[(Outcome(name).label, way) for name, way in row.returns.items()],
    )


@require_safe
@on_project()
def live(request: HttpRequest, access: ProjectAccess, *, pk: int) -> HttpResponse:
    """The part of the page that renews itself."""
    row = _link(access, pk)
    context = {"counts": selectors.count_visits(row), "link": row}
    return render(request, "people/counts.html", context)


@require_safe
@on_project(Role.MANAGER)
def visits_csv(request: HttpRequest, access: ProjectAccess, *, pk: int) -> HttpResponse:
    """Every visit with who agreed to which version, as CSV."""
    row = _link(access, pk)
    return _csv(f"{access.project.slug}-link-{row.pk}", selectors.VISIT_COLUMNS, selectors.visit_rows(row))


def _csv(name: str, head: Any, rows: Any) -> HttpResponse:
    lines = [list(head), *([plain(value) for value in row] for row in rows)]
    answer = HttpResponse(csv_text(lines), content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{name}.csv"'
    return answer


@require_POST
@on_project(Role.MANAGER)
def close(request: HttpRequest, access: ProjectAccess, *, pk: int) -> HttpResponse:
    """Nobody new."""
    row = _link(access, pk)

    def act() -> str:
        links.close_link(link=row, actor=access.user)
        return "The link is closed. Who has begun goes on."

    return run_action(request, act, "people:link", access.project.slug, pk)


@require_POST
@on_project(Role.MANAGER)
def reopen(request: HttpRequest, access: ProjectAccess, *, pk: int) -> HttpResponse:
    """Open again."""
    row = _link(access, pk)

    def act() -> str:
        links.reopen_link(link=row, actor=access.user)
        return "The link is open again, under the same address."

    return run_action(request, act, "people:link", access.project.slug, pk)


@require_POST
@on_project(Role.MANAGER)
def quota(request: HttpRequest, access: ProjectAccess, *, pk: int) -> HttpResponse:
    """More or fewer people."""
    row = _link(access, pk)

    def act() -> str:
        text = request.POST.get("quota", "").strip()
        if not (text.isascii() and text.isdigit() and 1 <= int(text[:9]) <= _MOST_QUOTA):
            raise FormError("People who may join: a whole number from 1.")
        links.set_quota(link=row, quota=int(text[:9]), actor=access.user)
        return f"{int(text[:9]):,} people may join."

    return run_action(request, act, "people:link", access.project.slug, pk)


@require_http_methods(["GET", "HEAD", "POST"])
@on_project(Role.MANAGER)
def roster(request: HttpRequest, access: ProjectAccess, *, pk: int) -> HttpResponse:
    """The class of a link: upload a list, see who has done what."""
    row = _link(access, pk)
    if request.method == "POST":

        def act() -> str:
            file = request.FILES.get("file")
            if file is None:
                raise FormError("Choose a CSV file with the columns name and email.")
            people = rosters.read_roster_file(file.read(rosters.MOST_BYTES + 1))
            added = rosters.add_people(link=row, people=people, actor=access.user)
            return f"{added} added, {len(people) - added} were on the list."

        return run_action(request, act, "people:roster", access.project.slug, pk)
    lines = selectors.roster_of(row)
    return _page(
        request,
        "roster.html",
        access,
        link=row,
        lines=lines,
        mails=settings.MAIL is not None,
        unsent=sum(line.row.invited_at is None for line in lines),
    )


@require_safe
@on_project(Role.MANAGER)
def roster_csv(request: HttpRequest, access: ProjectAccess, *, pk: int) -> HttpResponse:
    """The list for the lecturer, with personal links for who mails by themselves."""
    row = _link(access, pk)
    rows = [
        [
            line.row.name,
            line.email,
            line.done,
            "yes" if line.credit else "no",
            rosters.personal_address(row, line.row),
        ]
        for line in selectors.roster_of(row)
    ]
    return _csv(f"{access.project.slug}-list-{row.pk}", ("name", "email", "done", "credit", "link"), rows)


@require_POST
@on_project(Role.MANAGER)
def mail(request: HttpRequest, access: ProjectAccess, *, pk: int) -> HttpResponse:
    """Personal links, or reminders, by mail."""
    row = _link(access, pk)
    reminder = request.POST.get("what") == "reminder"
    return run_action(
        request,
        lambda: rosters.plan_mail(link=row, reminder=reminder, actor=access.user),
        "people:roster",
        access.project.slug,
        pk,
    )


@require_http_methods(["GET", "HEAD", "POST"])
@on_project(Role.MANAGER)
def edit_text(request: HttpRequest, access: ProjectAccess) -> HttpResponse:
    """The consent text of a project: write, look, save a version; former versions below."""
    rows = ConsentText.objects.filter(project=access.project, kind=ConsentText.Kind.CONSENT)
    shown = rows.filter(pk=_number(request.GET.get("version", ""))).first()
    text = shown or consents.newest_text(access.project)
    form = ConsentForm(request.POST or None, text=text, language=access.project.language)
    preview = ""
    if request.method == "POST" and form.is_valid():
        if request.POST.get("step") == "preview":
            preview = consents.render_text(form.cleaned_data["body"])
        else:
            saved = consents.save_text(
                project=access.project,
                values=form.values(),
                actor=access.user,
                language=form.cleaned_data["language"],
            )
            messages.success(request, f"Version {saved.version} ({saved.language}) is what people read now.")
            return redirect("people:consent", access.project.slug)
    return _page(
        request,
        "consent_text.html",
        access,
        form=form,
        text=text,
        preview=preview,
        versions=rows.order_by("-pk")[:50],
        status=422 if form.errors else 200,
    )


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0


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
            saved = consents.save_text(project=None, values={"body": body}, actor=user, kind=kind)
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
