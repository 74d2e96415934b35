"""HITs of a stage: the table, one of them, and longer, more or less of it."""

from datetime import timedelta

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from crowd.desk import tables
from crowd.desk.access import StageAccess, on_stage
from crowd.desk.forms import HoursForm, OnceForm, PlacesForm
from crowd.desk.tables import HITS
from crowd.errors import StageStateError
from crowd.kinds import kind_of
from crowd.models import Assignment, Hit, HitUnit, MarketOperation
from crowd.services import stages
from web.access import Role
from web.forms import read_form, run_action
from web.pages import show
from web.table_pages import respond


@require_safe
@on_stage()
def listing(request: HttpRequest, access: StageAccess) -> HttpResponseBase:
    """The table; sorted, filtered and paged by the address."""
    return respond(
        request,
        access,
        HITS,
        lambda asked: tables.hits(access.stage, asked["state"], asked["q"]),
        "hits.html",
        file=f"{access.stage.slug}-hits",
        rows_as="hits",
        tab="hits",
    )


def _hit(access: StageAccess, number: int) -> Hit:
    hit: Hit = get_object_or_404(Hit, stage=access.stage, ordinal=number)
    hit.stage = access.stage
    return hit


@require_safe
@on_stage()
def hit(request: HttpRequest, access: StageAccess, *, number: int) -> HttpResponse:
    """What is in a HIT, who took it, and what was asked of the marketplace about it."""
    row = _hit(access, number)
    work = list(Assignment.objects.filter(hit=row).select_related("worker", "hit").order_by("pk")[:100])
    return show(
        request,
        "hit.html",
        access,
        tab="hits",
        hit=row,
        units=_units(row),
        assignments=work,
        operations=MarketOperation.objects.filter(hit=row).order_by("-planned_at", "-pk")[:50],
        hours_form=HoursForm(),
        places_form=PlacesForm(),
        expire_form=OnceForm(auto_id="expire_%s"),
    )


def _units(row: Hit) -> list[tuple[HitUnit, str]]:
    """What is in a HIT, in its order, each with the kind's words for it."""
    units = list(row.units.order_by("position"))
    words = kind_of(row.stage).wording(row.stage, [unit.unit for unit in units])
    return [(unit, words.get(unit.unit, unit.unit)) for unit in units]


@require_POST
@on_stage(Role.MANAGER)
def more_time(request: HttpRequest, access: StageAccess, *, number: int) -> HttpResponse:
    """Keep it on offer longer."""
    row = _hit(access, number)

    def action() -> str:
        hours = read_form(HoursForm(request.POST))["hours"]
        until = max(row.expires_at or timezone.now(), timezone.now()) + timedelta(hours=hours)
        _on_offer_once(row)
        stages.extend_hit_time(hit=row, until=until.replace(microsecond=0))
        return f"It is asked to stay on offer until {until:%-d %b %Y, %H:%M} UTC."

    return run_action(request, action, "desk:hit", access.project.slug, access.stage.slug, number)


def _on_offer_once(row: Hit) -> None:
    if row.state == Hit.State.PLANNED or not row.external_id:
        raise StageStateError("The HIT is not published yet.")


@require_POST
@on_stage(Role.MANAGER, spends=True)
def more_places(request: HttpRequest, access: StageAccess, *, number: int) -> HttpResponse:
    """More people for it."""
    row = _hit(access, number)

    def action() -> str:
        form = PlacesForm(request.POST)
        places = read_form(form)["places"]
        stages.extend_hit_places(hit=row, places=places, purpose=form.purpose())
        return f"{places} more places are asked for."

    return run_action(request, action, "desk:hit", access.project.slug, access.stage.slug, number)


@require_POST
@on_stage(Role.MANAGER)
def expire(request: HttpRequest, access: StageAccess, *, number: int) -> HttpResponse:
    """Plan the end of a HIT; who works on it may still submit."""
    row = _hit(access, number)

    def action() -> str:
        form = OnceForm(request.POST)
        read_form(form)
        _on_offer_once(row)
        stages.expire_hit(hit=row, purpose=form.purpose())
        return "It expires now. Work that people have begun may still come in."

    return run_action(request, action, "desk:hit", access.project.slug, access.stage.slug, number)
