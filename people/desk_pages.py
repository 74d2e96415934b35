"""Pages of study links for the people of their owner: the list, one link live, its class, consent texts.

The desk has them for projects and the requester site for requesters; each gives a `LinkDesk`, which says who
is looking, what they may do, and where the pages are. The permission check comes before.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from core.errors import ActionError
from core.files.cells import csv_text, plain
from core.origin import Owner
from people import consents, links, rosters, selectors
from people.forms import PRESETS, ConsentForm, LinkChangesForm, LinkForm, preset_named
from people.models import ConsentText, Outcome, StudyLink
from people.owners import columns_of, kind_of
from people.targets import all_choices, target_of, titles_of
from people.visits import why_closed
from web.forms import FormError, run_action

_MOST_QUOTA = 1_000_000


class PageRenderer(Protocol):
    """Renders a page of links in the frame of its site."""

    def __call__(self, request: HttpRequest, template: str, *, status: int, **context: Any) -> HttpResponse:
        """The page; `template` is one of the folder `people`."""


@dataclass(frozen=True, slots=True)
class LinkDesk:
    """Somebody at the study links of a project or requester."""

    owner: Owner
    user: User
    #: What the owner is called, and the file names of downloads begin with.
    title: str
    prefix: str
    language: str
    #: May make and change links now; may see what only managers see.
    manages: bool
    manager: bool
    #: The template around the pages, and the pages above them as labels and addresses.
    frame: str
    trail: Sequence[tuple[str, str]]
    #: The template of what is missing where links can lead nowhere, and words of what earns money where.
    nowhere: str
    money_note: str
    address: Callable[..., str]
    render: PageRenderer

    def page(self, request: HttpRequest, template: str, *, status: int = 200, **context: Any) -> HttpResponse:
        """A page in the owner's frame."""
        return self.render(request, template, status=status, link_desk=self, frame=self.frame, **context)


def _link(desk: LinkDesk, pk: int) -> StudyLink:
    rows = StudyLink.objects.select_related("project")
    return get_object_or_404(rows, **columns_of(desk.owner), pk=pk)


def listing(request: HttpRequest, desk: LinkDesk) -> HttpResponse:
    """The links of a project."""
    found: list[Any] = list(selectors.links_of(desk.owner))
    titles = titles_of(found)
    rows = [(each, titles[each.pk], why_closed(each, people=each.people)) for each in found]
    return desk.page(
        request,
        "links.html",
        rows=rows,
        presets=PRESETS,
        text=consents.newest_text(desk.owner),
        leads_somewhere=bool(all_choices(desk.owner)),
    )


def new(request: HttpRequest, desk: LinkDesk) -> HttpResponse:
    """Make a link, beginning with a preset."""
    preset = preset_named(request.POST.get("from") or request.GET.get("from", ""))
    form = LinkForm(
        request.POST or None, owner=desk.owner, preset=preset, target=request.GET.get("target", "")
    )
    if request.method == "POST" and form.is_valid():
        try:
            made = links.make_link(owner=desk.owner, plan=form.plan(), actor=desk.user)
        except ActionError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, "The link is made. Send people its address.")
            return redirect(desk.address("link", made.pk))
    return desk.page(
        request,
        "new_link.html",
        form=form,
        preset=preset,
        presets=PRESETS,
        leads_somewhere=bool(all_choices(desk.owner)),
        status=422 if form.errors else 200,
    )


def link(request: HttpRequest, desk: LinkDesk, *, pk: int) -> HttpResponse:
    """One link: its address, who came, where they are."""
    row = _link(desk, pk)
    address = links.address_of(row) if desk.manages else ""
    return desk.page(
        request,
        "link.html",
        link=row,
        leads_to=target_of(row).title(row),
        granted=kind_of(row.owner).say_grant(row),
        address=address,
        code=links.draw_code(address) if address else "",
        closed=why_closed(row),
        counts=selectors.count_visits(row),
        returns=[(Outcome(name).label, way) for name, way in row.returns.items()],
    )


def edit(request: HttpRequest, desk: LinkDesk, *, pk: int) -> HttpResponse:
    """Change what may change while people come."""
    row = _link(desk, pk)
    form = LinkChangesForm(request.POST or None, link=row)
    if request.method == "POST" and form.is_valid():
        try:
            links.change_link(link=row, changes=form.changes(), actor=desk.user)
        except ActionError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, "The changes are stored, and hold from now on.")
            return redirect(desk.address("link", row.pk))
    return desk.page(request, "edit_link.html", form=form, link=row, status=422 if form.errors else 200)


def live(request: HttpRequest, desk: LinkDesk, *, pk: int) -> HttpResponse:
    """The part of the page that renews itself."""
    row = _link(desk, pk)
    context = {"counts": selectors.count_visits(row), "link": row}
    return render(request, "people/counts.html", context)


def visits_csv(request: HttpRequest, desk: LinkDesk, *, pk: int) -> HttpResponse:
    """Every visit with who agreed to which version, as CSV."""
    row = _link(desk, pk)
    return _csv(f"{desk.prefix}-link-{row.pk}", selectors.VISIT_COLUMNS, selectors.visit_rows(row))


def _csv(name: str, head: Any, rows: Any) -> HttpResponse:
    lines = [list(head), *([plain(value) for value in row] for row in rows)]
    answer = HttpResponse(csv_text(lines), content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{name}.csv"'
    return answer


def close(request: HttpRequest, desk: LinkDesk, *, pk: int) -> HttpResponse:
    """No new people join; those who have begun can finish."""
    row = _link(desk, pk)

    def act() -> str:
        links.close_link(link=row, actor=desk.user)
        return "The link is closed. Who has begun goes on."

    return run_action(request, act, desk.address("link", pk))


def reopen(request: HttpRequest, desk: LinkDesk, *, pk: int) -> HttpResponse:
    """Open again."""
    row = _link(desk, pk)

    def act() -> str:
        links.reopen_link(link=row, actor=desk.user)
        return "The link is open again, under the same address."

    return run_action(request, act, desk.address("link", pk))


def quota(request: HttpRequest, desk: LinkDesk, *, pk: int) -> HttpResponse:
    """More or fewer people."""
    row = _link(desk, pk)

    def act() -> str:
        text = request.POST.get("quota", "").strip()
        if not (text.isascii() and text.isdigit() and 1 <= int(text[:9]) <= _MOST_QUOTA):
            raise FormError("People who may join: a whole number from 1.")
        links.set_quota(link=row, quota=int(text[:9]), actor=desk.user)
        return f"{int(text[:9]):,} people may join."

    return run_action(request, act, desk.address("link", pk))


def roster(request: HttpRequest, desk: LinkDesk, *, pk: int) -> HttpResponse:
    """The class of a link: upload a list, see who has done what."""
    row = _link(desk, pk)
    if request.method == "POST":

        def act() -> str:
            file = request.FILES.get("file")
            if file is None:
                raise FormError("Choose a CSV file with the columns name and email.")
            people = rosters.read_roster_file(file.read(rosters.MOST_BYTES + 1))
            added = rosters.add_people(link=row, people=people, actor=desk.user)
            return f"{added} added, {len(people) - added} were on the list."

        return run_action(request, act, desk.address("roster", pk))
    lines = selectors.roster_of(row)
    return desk.page(
        request,
        "roster.html",
        link=row,
        lines=lines,
        mails=settings.MAIL is not None,
        unsent=sum(line.row.invited_at is None for line in lines),
    )


def roster_csv(request: HttpRequest, desk: LinkDesk, *, pk: int) -> HttpResponse:
    """The list for the lecturer, with personal links for who mails by themselves."""
    row = _link(desk, pk)
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
    return _csv(f"{desk.prefix}-list-{row.pk}", ("name", "email", "done", "credit", "link"), rows)


def mail(request: HttpRequest, desk: LinkDesk, *, pk: int) -> HttpResponse:
    """Personal links, or reminders, by mail."""
    row = _link(desk, pk)
    reminder = request.POST.get("what") == "reminder"
    return run_action(
        request,
        lambda: rosters.plan_mail(link=row, reminder=reminder, actor=desk.user),
        desk.address("roster", pk),
    )


def edit_text(request: HttpRequest, desk: LinkDesk) -> HttpResponse:
    """The consent text of the owner: write, look, save a version; former versions below."""
    rows = ConsentText.objects.filter(**columns_of(desk.owner), kind=ConsentText.Kind.CONSENT)
    shown = rows.filter(pk=_number(request.GET.get("version", ""))).first()
    text = shown or consents.newest_text(desk.owner)
    form = ConsentForm(request.POST or None, text=text, language=desk.language)
    preview = ""
    if request.method == "POST" and form.is_valid():
        if request.POST.get("step") == "preview":
            preview = consents.render_text(form.cleaned_data["body"])
        else:
            saved = consents.save_text(
                owner=desk.owner,
                values=form.values(),
                actor=desk.user,
                language=form.cleaned_data["language"],
            )
            messages.success(request, f"Version {saved.version} ({saved.language}) is what people read now.")
            return redirect(desk.address("consent"))
    return desk.page(
        request,
        "consent_text.html",
        form=form,
        text=text,
        preview=preview,
        versions=rows.order_by("-pk")[:50],
        status=422 if form.errors else 200,
    )


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0
