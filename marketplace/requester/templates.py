"""Templates of a requester: pages with ${variables}, and samples to begin with."""

from typing import Any

from django.contrib import messages
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.clickjacking import xframe_options_sameorigin
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from core.revisions import ConflictError
from marketplace.batches import selectors
from marketplace.batches import templates as batch_templates
from marketplace.batches.properties import from_stored
from marketplace.batches.templates import SAMPLES, Sample, change_template, create_template
from marketplace.errors import Refusal
from marketplace.forms.html import SANDBOX, task_document, task_headers
from marketplace.members import Action
from marketplace.models import Template
from marketplace.requester.access import RequesterAccess, for_requester, on_requester, respond, show, trail
from marketplace.requester.batchforms import TemplateForm
from marketplace.site import frames
from web import cells
from web.cells import Cell, Link, opens, phrase
from web.kit import Empty, Listing, Own, Page
from web.tables import Column, Grid, GridRequest, Rows, Words

PLACE = "batches"
BATCHES = ("Batches", "requester:batches")


def _draw_use(cell: Cell) -> object:
    address = f"{cell.address('requester:new_batch')}?template={cell.row.pk}"
    return phrase(Link("New batch", address, f"of {cell.row.name}"))


TEMPLATES = Grid(
    "templates",
    columns=(
        Column("name", "Name", by="name", cell=opens("requester:template", "{}", "pk")),
        Column("changed", "Changed", "updated_at", by="updated_at", down=True, cell=cells.moment),
        Column("made", "Made", "created_at", by="created_at", down=True, cell=cells.moment),
        Column("use", "Use", None, cell=_draw_use),
    ),
    filters=(Words("q", "Name"),),
    order="name",
)


@require_safe
@for_requester
def templates(request: HttpRequest, access: RequesterAccess) -> HttpResponseBase:
    """The list of templates, and the samples."""

    def rows(grid: GridRequest) -> Rows:
        return selectors.templates(access.requester).filter(name__icontains=grid["q"])

    none = Empty("None yet", "Take a sample and change it, or bring one of your own from MTurk as it is.")
    page = Page(
        "Templates",
        [
            Listing("Find a template", "template", "templates", none, heading="Yours"),
            Own("marketplace/requester/samples.html"),
        ],
        lead="Pages with ${variables}, as for MTurk. A batch fills in the values of a row.",
        trail=trail(access, BATCHES),
        primary=[Link("New template", access.address("requester:new_template"))]
        if access.may["manage"]
        else [],
    )
    return respond(request, access, TEMPLATES, rows, page, place=PLACE, samples=SAMPLES)


@require_http_methods(["GET", "HEAD", "POST"])
@frames.may_frame_ours
@on_requester(look=Action.MANAGE, act=Action.MANAGE)
def new(request: HttpRequest, access: RequesterAccess) -> HttpResponse:
    """A template of one's own."""
    form = TemplateForm(request.POST if request.method == "POST" else None, requester=access.requester)
    if request.method == "POST" and form.is_valid():
        try:
            template_row = create_template(requester=access.requester, **_read_fields(form))
        except Refusal as refusal:
            form.add_error("name", refusal.message)
        else:
            messages.success(request, "The template is stored.")
            _warn(request, template_row.html)
            return redirect("requester:template", access.requester.customer_id, template_row.pk)
    status = 422 if form.errors else 200
    return show(request, "template_form.html", access, place=PLACE, form=form, sandbox=SANDBOX, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@frames.may_frame_ours
@for_requester
def template(request: HttpRequest, access: RequesterAccess, *, pk: int) -> HttpResponse:
    """A template, to look at and to change; batches that were made of it stay as they are."""
    row = _own(access, pk)
    posted = request.method == "POST"
    form = TemplateForm(request.POST if posted else None, requester=access.requester, template=row)
    if posted and form.is_valid():
        try:
            change_template(template=row, seen=form.seen, **_read_fields(form))
        except ConflictError:
            row = _own(access, pk)
            form.compare(TemplateForm(requester=access.requester, template=row), request.path)
        except Refusal as refusal:
            form.add_error("name", refusal.message)
        else:
            messages.success(request, "The template is stored.")
            _warn(request, form.cleaned_data["html"])
            return redirect("requester:template", access.requester.customer_id, row.pk)
    return show(
        request,
        "template_form.html",
        access,
        place=PLACE,
        form=form,
        sandbox=SANDBOX,
        task_page=row,
        layout_id=batch_templates.layout_id_of(row),
        variables=batch_templates.parse(row.html).names,
        status=409 if form.conflict else 422 if form.errors else 200,
    )


@require_safe
@frames.may_frame_ours
@for_requester
def look(request: HttpRequest, access: RequesterAccess, *, pk: int) -> HttpResponse:
    """A template in the frame that its tasks will have."""
    row = _own(access, pk)
    variables = "Its variables are still empty places; a batch fills them in."
    if not batch_templates.parse(row.html).names:
        variables = "It has no variables."
    batch = f"{access.address('requester:new_batch')}?template={row.pk}"
    page = Page(
        row.name,
        [Own("marketplace/requester/parts/task_frame.html")],
        title=f"Look at {row.name}",
        trail=[
            *trail(access, BATCHES, ("Templates", "requester:templates")),
            Link(row.name, access.address("requester:template", row.pk)),
        ],
        here="Look",
        primary=[Link("New batch", batch)] if access.may["manage"] else [],
    )
    return show(
        request,
        page,
        access,
        place=PLACE,
        what="The template itself.",
        why=variables,
        title=f"The template {row.name}",
        frame_url=frames.address_of(row),
        frame_height=row.frame_height,
        sandbox=SANDBOX,
    )


#: Characters of a page and of sample rows that a preview takes.
_MOST_PREVIEWED = 1_000_000


@require_POST
@never_cache
@xframe_options_sameorigin
@for_requester
def preview(request: HttpRequest, access: RequesterAccess) -> HttpResponse:
    """A page that is being edited, with a sample row, as workers would get it; or what there is to say of it.

    Nothing is stored. The page has the policy of every task: no origin, no cookie, nothing can be sent.
    """
    html = request.POST.get("html", "")[:_MOST_PREVIEWED].replace("\r\n", "\n").replace("\0", "")
    samples_given = batch_templates.sample_rows(html, request.POST.get("sample", "")[:_MOST_PREVIEWED])
    row_text = request.POST.get("row", "1")
    number = int(row_text) if row_text.isascii() and row_text.isdigit() and len(row_text) < 7 else 1
    number = min(max(number, 1), len(samples_given.rows))
    if "check" not in request.POST:
        page = batch_templates.fill(html, samples_given.rows[number - 1])
        return HttpResponse(task_document(page), headers=task_headers(batch_templates.of_template(html)))
    problems = [
        {"line": each.line, "words": str(each), "wrong": each.wrong}
        for each in batch_templates.find_problems(html)
    ]
    if samples_given.problem:
        problems.append({"line": 0, "words": samples_given.problem, "wrong": False})
    return JsonResponse(
        {
            "problems": problems,
            "variables": batch_templates.parse(html).names[:200],
            "row": number,
            "rows": len(samples_given.rows),
            "made_up": samples_given.made_up,
        }
    )


def _warn(request: HttpRequest, html: str) -> None:
    """What may be wrong with a page that was stored."""
    for problem in batch_templates.find_problems(html):
        messages.warning(request, str(problem))


@require_POST
@for_requester
def delete(request: HttpRequest, access: RequesterAccess, *, pk: int) -> HttpResponse:
    """Throw a template away; batches keep what they were made of."""
    row = _own(access, pk)
    row.delete()
    messages.success(request, "The template is deleted. Batches that were made of it keep their pages.")
    return redirect("requester:templates", access.requester.customer_id)


@require_POST
@for_requester
def copy(request: HttpRequest, access: RequesterAccess, *, pk: int) -> HttpResponse:
    """A template with the same page and properties, to change."""
    row = _own(access, pk)
    duplicate = create_template(
        requester=access.requester,
        name=_free_name(access, f"Copy of {row.name}"[:110]),
        html=row.html,
        properties=from_stored(row.properties),
        frame_height=row.frame_height,
    )
    messages.success(request, "This is the copy. The template that it was made of stays as it is.")
    return redirect("requester:template", access.requester.customer_id, duplicate.pk)


def _free_name(access: RequesterAccess, name: str) -> str:
    """The name, with a number behind it where there is one of it already."""
    names = set(access.requester.templates.values_list("name", flat=True))
    numbered = (f"{name} {number}" for number in range(2, len(names) + 3))
    return name if name not in names else next(each for each in numbered if each not in names)


@require_POST
@for_requester
def use_sample(request: HttpRequest, access: RequesterAccess, *, slug: str) -> HttpResponse:
    """Make a template of a sample."""
    sample = _sample(slug)
    template_row = create_template(
        requester=access.requester,
        name=_free_name(access, f"{sample.name} ({sample.style})"),
        html=sample.html,
        properties=sample.properties,
    )
    messages.success(request, "The template is yours now. Change it, or go on with a table for it.")
    return redirect("requester:template", access.requester.customer_id, template_row.pk)


@require_safe
@for_requester
def sample_table(request: HttpRequest, access: RequesterAccess, *, slug: str) -> FileResponse:
    """Send the CSV that a sample template is tried with."""
    sample = _sample(slug)
    return FileResponse(
        sample.table(), as_attachment=True, filename=f"{slug}.csv", content_type="text/csv; charset=utf-8"
    )


def _sample(slug: str) -> Sample:
    sample = batch_templates.sample_named(slug)
    if sample is None:
        raise Http404("There is no such sample.")
    return sample


def _own(access: RequesterAccess, pk: int) -> Template:
    return get_object_or_404(Template, pk=pk, requester=access.requester)


def _read_fields(form: TemplateForm) -> dict[str, Any]:
    """What a valid form says of its template."""
    cleaned = form.cleaned_data
    return {name: cleaned[name] for name in ("name", "html", "frame_height")} | {
        "properties": form.properties()
    }
