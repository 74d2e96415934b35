"""Templates of a requester: pages with ${variables}, and samples to begin with."""

from django.contrib import messages
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from marketplace import clock
from marketplace.batches import frames, hosts, placeholders, samples, selectors
from marketplace.batches.properties import from_stored
from marketplace.batches.samples import SAMPLES, Sample
from marketplace.html.policies import SANDBOX
from marketplace.models import Template
from marketplace.requester.batchforms import TemplateForm, initial_of
from marketplace.requester.doors import Seat, for_requester, respond, show
from tables.grids import Asked, Column, Grid, Rows, Words

PLACE = "batches"
TEMPLATES = Grid(
    "templates",
    columns=(
        Column("name", "Name", lambda row: row.name, by="name"),
        Column("changed", "Changed", lambda row: row.updated_at, by="updated_at", down=True),
        Column("made", "Made", lambda row: row.created_at, by="created_at", down=True),
    ),
    filters=(Words("q", "Name"),),
    order="name",
)


@require_safe
@for_requester
def templates(request: HttpRequest, seat: Seat) -> HttpResponseBase:
    """The list of templates, and the samples."""

    def rows(asked: Asked) -> Rows:
        return selectors.templates(seat.requester).filter(name__icontains=asked["q"])

    return respond(request, seat, TEMPLATES, rows, "templates.html", place=PLACE, samples=SAMPLES)


@require_http_methods(["GET", "HEAD", "POST"])
@for_requester
def new(request: HttpRequest, seat: Seat) -> HttpResponse:
    """A template of one's own."""
    form = _form(request, seat, None)
    if request.method == "POST" and form.is_valid() and _free(form, seat, None):
        made = Template(requester=seat.requester, created_at=clock.now())
        _save(made, form)
        messages.success(request, "The template is stored.")
        return redirect("requester:template", seat.requester.customer_id, made.pk)
    status = 422 if form.errors else 200
    return show(request, "template_form.html", seat, place=PLACE, form=form, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@for_requester
def template(request: HttpRequest, seat: Seat, *, pk: int) -> HttpResponse:
    """A template, to look at and to change; batches that were made of it stay as they are."""
    found = _own(seat, pk)
    form = _form(request, seat, found)
    if request.method == "POST" and form.is_valid() and _free(form, seat, found):
        _save(found, form)
        messages.success(request, "The template is stored.")
        return redirect("requester:template", seat.requester.customer_id, found.pk)
    return show(
        request,
        "template_form.html",
        seat,
        place=PLACE,
        form=form,
        task_page=found,
        variables=placeholders.parse(found.html).names,
        status=422 if form.errors else 200,
    )


@require_safe
@frames.may_frame_ours
@for_requester
def look(request: HttpRequest, seat: Seat, *, pk: int) -> HttpResponse:
    """A template in the frame that its tasks will have."""
    found = _own(seat, pk)
    return show(
        request,
        "template_look.html",
        seat,
        place=PLACE,
        task_page=found,
        variables=placeholders.parse(found.html).names,
        frame_url=frames.address_of(found),
        sandbox=SANDBOX,
    )


@require_POST
@for_requester
def delete(request: HttpRequest, seat: Seat, *, pk: int) -> HttpResponse:
    """Throw a template away; batches keep what they were made of."""
    found = _own(seat, pk)
    found.delete()
    messages.success(request, "The template is gone. Batches that were made of it keep their pages.")
    return redirect("requester:templates", seat.requester.customer_id)


@require_POST
@for_requester
def use_sample(request: HttpRequest, seat: Seat, *, slug: str) -> HttpResponse:
    """Make a template of a sample."""
    sample = _sample(slug)
    taken = set(seat.requester.templates.values_list("name", flat=True))
    name = f"{sample.name} ({sample.style})"
    numbered = (f"{name} {number}" for number in range(2, len(taken) + 3))
    now = clock.now()
    made = Template.objects.create(
        requester=seat.requester,
        name=name if name not in taken else next(each for each in numbered if each not in taken),
        html=sample.html,
        hosts=hosts.of_template(sample.html),
        properties=sample.properties.stored(),
        created_at=now,
        updated_at=now,
    )
    messages.success(request, "The template is yours now. Change it, or go on with a table for it.")
    return redirect("requester:template", seat.requester.customer_id, made.pk)


@require_safe
@for_requester
def sample_table(request: HttpRequest, seat: Seat, *, slug: str) -> FileResponse:
    """The table of a sample."""
    sample = _sample(slug)
    return FileResponse(
        sample.table(), as_attachment=True, filename=f"{slug}.csv", content_type="text/csv; charset=utf-8"
    )


def _sample(slug: str) -> Sample:
    found = samples.named(slug)
    if found is None:
        raise Http404("There is no such sample.")
    return found


def _own(seat: Seat, pk: int) -> Template:
    return get_object_or_404(Template, pk=pk, requester=seat.requester)


def _form(request: HttpRequest, seat: Seat, found: Template | None) -> TemplateForm:
    if request.method == "POST":
        return TemplateForm(request.POST, requester=seat.requester)
    initial = {"reward": "0.10", "duration": 3600, "lifetime": 7 * 86_400, "auto_approval": 3 * 86_400}
    if found:
        initial = initial_of(from_stored(found.properties)) | {
            "name": found.name,
            "html": found.html,
            "frame_height": found.frame_height,
        }
    return TemplateForm(initial=initial, requester=seat.requester)


def _free(form: TemplateForm, seat: Seat, found: Template | None) -> bool:
    same = seat.requester.templates.filter(name=form.cleaned_data["name"]).first()
    if same is not None and same != found:
        form.add_error("name", "You have a template of this name already. Choose another one.")
        return False
    return True


def _save(template: Template, form: TemplateForm) -> None:
    given = form.cleaned_data
    template.name, template.html = given["name"], given["html"]
    template.frame_height = given["frame_height"]
    template.hosts = hosts.of_template(given["html"])
    template.properties = form.properties().stored()
    template.updated_at = clock.now()
    template.save()
