"""Qualifications: the types, who holds one, giving and taking it, and the file of all of that."""

from collections.abc import Callable

from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from core.files.rowcounts import sum_in_words
from core.revisions import ConflictError
from marketplace import clock
from marketplace.errors import Refusal
from marketplace.models import QualificationType, Worker
from marketplace.requester import grantfile
from marketplace.requester.access import RequesterAccess, for_requester, respond, show
from marketplace.requester.lookup import own_qualification
from marketplace.requester.qualification_forms import FileForm, GiveForm, RevokeForm, TypeForm
from marketplace.requester.selectors import qualifications as selectors
from marketplace.selectors import hit_types_asking_for
from marketplace.services import qualifications
from marketplace.services.bulk_grants import grant_many
from web.forms import read_form, run_action

PLACE = "qualifications"


@require_safe
@for_requester
def listing(request: HttpRequest, access: RequesterAccess) -> HttpResponseBase:
    """The types, with how many hold each and how many wait for a decision."""
    return respond(
        request,
        access,
        selectors.GRID,
        lambda asked: selectors.types(access.requester, status=asked["status"], words=asked["q"]),
        "qualifications.html",
        place=PLACE,
        complete=selectors.count,
        file="qualifications",
        now=clock.now(),
        waiting=selectors.waiting_count(access.requester),
    )


def _address(access: RequesterAccess, kind: QualificationType) -> str:
    return reverse("requester:qualification", args=[access.requester.customer_id, kind.qualification_type_id])


@require_http_methods(["GET", "HEAD", "POST"])
@for_requester
def new(request: HttpRequest, access: RequesterAccess) -> HttpResponse:
    """Make a type."""
    form = TypeForm(request.POST if request.method == "POST" else None)
    if form.is_bound and form.is_valid():
        given = form.cleaned_data
        try:
            kind = qualifications.create_qualification_type(
                requester=access.requester,
                name=given["name"],
                keywords=given["keywords"],
                now=clock.now(),
                test=form.qualification_test(),
                **form.values(),
            )
        except Refusal as refusal:
            form.add_error(None, refusal.message)
        else:
            return redirect(_address(access, kind))
    return _form(request, access, form, None)


@require_http_methods(["GET", "HEAD", "POST"])
@for_requester
def edit(request: HttpRequest, access: RequesterAccess, *, kind: str) -> HttpResponse:
    """Change what may change of a type."""
    row = own_qualification(access.requester, kind)
    form = TypeForm(request.POST if request.method == "POST" else None, kind=row)
    if form.is_bound and form.is_valid():
        try:
            qualifications.update_qualification_type(
                qualification_type=row,
                changes=form.values(),
                test=form.qualification_test(),
                seen=form.seen,
            )
        except ConflictError:
            row = own_qualification(access.requester, kind)
            form.compare(TypeForm(kind=row), request.path)
        except Refusal as refusal:
            form.add_error(None, refusal.message)
        else:
            return redirect(_address(access, row))
    return _form(request, access, form, row)


def _form(
    request: HttpRequest, access: RequesterAccess, form: TypeForm, kind: QualificationType | None
) -> HttpResponse:
    status = 409 if form.conflict else 422 if form.is_bound else 200
    return show(request, "qualification_form.html", access, place=PLACE, form=form, kind=kind, status=status)


@require_safe
@for_requester
def qualification(request: HttpRequest, access: RequesterAccess, *, kind: str) -> HttpResponseBase:
    """What a type is, who holds it, and the forms that give and take it."""
    row = own_qualification(access.requester, kind)
    return respond(
        request,
        access,
        selectors.HOLDERS,
        lambda asked: selectors.holders(row, status=asked["status"], words=asked["q"]),
        "qualification.html",
        place=PLACE,
        file=f"holders-{row.qualification_type_id}",
        now=clock.now(),
        kind=row,
        asking=hit_types_asking_for(row.qualification_type_id).filter(requester=access.requester).count(),
        waiting=selectors.requests(
            access.requester, state="pending", kind=row.qualification_type_id, words=""
        ).count(),
        give_form=GiveForm(auto_id="give_%s"),
        revoke_form=RevokeForm(auto_id="revoke_%s"),
        file_form=FileForm(auto_id="file_%s"),
    )


def _act(
    request: HttpRequest, access: RequesterAccess, kind: str, action: Callable[[QualificationType], str]
) -> HttpResponse:
    row = own_qualification(access.requester, kind)

    def all_of_it() -> str:
        with transaction.atomic():
            return action(row)

    return run_action(request, all_of_it, _address(access, row))


@require_POST
@for_requester
def delete(request: HttpRequest, access: RequesterAccess, *, kind: str) -> HttpResponse:
    """Delete a type for which no HIT asks."""
    row = own_qualification(access.requester, kind)

    def action() -> str:
        with transaction.atomic():
            qualifications.delete_qualification_type(qualification_type=row, now=clock.now())
        return f"“{row.name}” is deleted."

    listing_address = reverse("requester:qualifications", args=[access.requester.customer_id])
    return run_action(request, action, listing_address, other=_address(access, row))


@require_POST
@for_requester
def give(request: HttpRequest, access: RequesterAccess, *, kind: str) -> HttpResponse:
    """Give it to workers by their ids, or change their values: to all of them, or to none."""

    def action(row: QualificationType) -> str:
        given = read_form(GiveForm(request.POST))
        found = {each.worker_id: each for each in Worker.objects.filter(worker_id__in=given["workers"])}
        if unknown := [each for each in given["workers"] if each not in found]:
            raise Refusal(
                "InvalidParameterValue",
                f"There is no worker {unknown[0][:64]!r}. Correct the id; nobody was given anything.",
            )
        for each in found.values():
            qualifications.grant(
                qualification_type=row, worker=each, value=given["value"], notify=given["tell"]
            )
        return f"{len(found)} worker{'s' if len(found) > 1 else ''} hold it with value {given['value']} now."

    return _act(request, access, kind, action)


@require_POST
@for_requester
def revoke(request: HttpRequest, access: RequesterAccess, *, kind: str) -> HttpResponse:
    """Take it back from workers who are ticked."""

    def action(row: QualificationType) -> str:
        reason = read_form(RevokeForm(request.POST))["reason"]
        ids = [each for each in request.POST.getlist("worker")[:100] if "\0" not in each]
        holders = selectors.holders(row, status="Granted", words="").filter(worker__worker_id__in=ids)
        taken = [each.worker for each in holders]
        if not taken:
            raise Refusal("InvalidParameterValue", "Choose who is to lose it: tick holders in the table.")
        for worker in taken:
            qualifications.revoke(qualification_type=row, worker=worker, reason=reason)
        return f"Taken back from {len(taken)} worker{'s' if len(taken) > 1 else ''}."

    return _act(request, access, kind, action)


@require_POST
@for_requester
def upload(request: HttpRequest, access: RequesterAccess, *, kind: str) -> HttpResponse:
    """Give and take as a file says: all of its lines, or none."""

    def action(row: QualificationType) -> str:
        form = FileForm(request.POST, request.FILES)
        file = read_form(form)["file"]
        sheet = grantfile.open_grants(file.name, file.file)
        outcome = grant_many(qualification_type=row, wanted=grantfile.lines(sheet), now=clock.now())
        return (
            f"{outcome.granted:,} given or changed, {outcome.revoked:,} taken back, "
            f"{outcome.same:,} as before: {sum_in_words(outcome.counts().as_json())}. No messages were sent. "
            f"The file was read as {sheet.description}."
        )

    return _act(request, access, kind, action)
