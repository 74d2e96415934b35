"""Qualifications: the types, who holds one, giving and taking it, its file, and workers' requests."""

from collections.abc import Callable
from operator import attrgetter
from typing import Any

from django import forms
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from core.revisions import ConflictError
from marketplace import clock
from marketplace.errors import Refusal
from marketplace.forms.questions import fields_of
from marketplace.forms.sheets import ACCEPTED
from marketplace.members import Action
from marketplace.models import QualificationRequest, QualificationType, Worker
from marketplace.qualifications import grants
from marketplace.qualifications.eligibility import hit_types_asking_for
from marketplace.qualifications.grants import QualificationTest
from marketplace.requester import selectors
from marketplace.requester.access import RequesterAccess, for_requester, on_requester, respond, show, trail
from marketplace.requester.forms import Form, TextField
from marketplace.requester.lookup import own_qualification, own_request
from metrics.figure import counted
from web.cells import Code, Link, chip, isolated, phrase, short
from web.durations import lasted, span
from web.forms import RevisedForm, read_form, run_action
from web.kit import Button, Empty, Facts, FormSection, Listing, Note, Own, Page, Ticks

# Forms about qualifications.

_INTEGER: dict[str, Any] = {
    "min_value": -2_147_483_648,
    "max_value": 2_147_483_647,
    "widget": forms.NumberInput(attrs={"size": 10}),
}
HOUR, MINUTE = 3600, 60
_HUNDRED_YEARS_H = 876_000
_XML_MOST = 65_535
MOST_AT_ONCE = 100
#: Columns of a type that its form can change.
_CHANGEABLE = (
    *("description", "status", "auto_granted", "auto_granted_value", "retry_delay_s"),
    *("test", "answer_key", "test_duration_s"),
)


class TypeForm(RevisedForm, Form):
    """A qualification type: how people get it, and what it is."""

    name = forms.CharField(
        max_length=200, help_text="Workers read it.", widget=forms.TextInput(attrs={"dir": "auto"})
    )
    description = TextField(most=2000, help_text="Workers read it: what it shows, and how to get it.")
    keywords = forms.CharField(max_length=1000, required=False, widget=forms.TextInput(attrs={"dir": "auto"}))
    status = forms.ChoiceField(
        choices=[(each.value, each.label) for each in QualificationType.Status],
        help_text="An inactive one can be neither asked for nor given; its holders keep it.",
    )
    way = forms.ChoiceField(
        label="How workers get it",
        widget=forms.RadioSelect,
        choices=[
            ("asked", "I give it, or decide when a worker asks"),
            ("everybody", "Everyone who asks gets it"),
            ("test", "By a test"),
        ],
        initial="asked",
    )
    auto_granted_value = forms.IntegerField(
        label="Value that everybody gets", required=False, initial=1, **_INTEGER
    )
    test = TextField(most=_XML_MOST, rows=8, required=False, label="Test", help_text="QuestionForm XML.")
    answer_key = TextField(
        most=_XML_MOST,
        rows=5,
        required=False,
        label="Answer key",
        help_text="AnswerKey XML; the score becomes the value. Empty: you read the answers and decide.",
    )
    minutes = forms.IntegerField(
        label="Minutes for the test",
        required=False,
        min_value=1,
        max_value=525_600,
        widget=forms.NumberInput(attrs={"size": 8}),
    )
    retry_hours = forms.IntegerField(
        label="Hours until a worker may ask again",
        required=False,
        min_value=0,
        max_value=_HUNDRED_YEARS_H,
        help_text="Empty: everybody may ask once. It cannot be emptied later.",
        widget=forms.NumberInput(attrs={"size": 8}),
    )

    def __init__(self, data: Any = None, *, kind: QualificationType | None = None) -> None:
        super().__init__(data, initial=_initial(kind) if kind else None)
        self.kind = kind
        self.shows(kind, _CHANGEABLE)
        if kind:
            self.fields["name"].disabled = self.fields["keywords"].disabled = True
            if kind.has_test:
                self.fields["way"].choices = [("test", "By a test")]  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        """What belongs together."""
        cleaned = super().clean() or {}
        if cleaned.get("way") == "test":
            if not cleaned.get("test"):
                self.add_error("test", "A test needs its questions.")
            if not cleaned.get("minutes"):
                self.add_error("minutes", "A test needs a time.")
        if cleaned.get("way") == "everybody" and cleaned.get("auto_granted_value") is None:
            self.add_error("auto_granted_value", "Write the value that everybody gets.")
        if self.kind and self.kind.retry_delay_s is not None and cleaned.get("retry_hours") is None:
            self.add_error("retry_hours", "Once people may ask again, that cannot be taken back.")
        return cleaned

    def values(self) -> dict[str, Any]:
        """Fields of the type that can change later, too."""
        cleaned = self.cleaned_data
        everybody = cleaned["way"] == "everybody"
        hours = cleaned["retry_hours"]
        retry_s = None if hours is None else hours * HOUR
        # A script may have set seconds that are no whole hours; a form that shows them as hours keeps them.
        if self.kind and self.kind.retry_delay_s is not None and hours == self.kind.retry_delay_s // HOUR:
            retry_s = self.kind.retry_delay_s
        return {
            "description": cleaned["description"],
            "status": cleaned["status"],
            "auto_granted": everybody,
            "auto_granted_value": cleaned["auto_granted_value"] if everybody else 1,
            "retry_delay_s": retry_s,
        }

    def qualification_test(self) -> QualificationTest | None:
        """The test; None where there is none, or it stays as it is."""
        cleaned = self.cleaned_data
        if cleaned["way"] != "test":
            return None
        test = QualificationTest(
            questions=cleaned["test"],
            answer_key=cleaned["answer_key"],
            duration_s=cleaned["minutes"] * MINUTE,
        )
        same = not {"test", "answer_key", "minutes"} & set(self.changed_data)
        return None if same and self.kind and self.kind.has_test else test


def _initial(kind: QualificationType) -> dict[str, Any]:
    seconds = kind.test_duration_s
    return {
        "name": kind.name,
        "description": kind.description,
        "keywords": kind.keywords,
        "status": kind.status,
        "way": "test" if kind.has_test else "everybody" if kind.auto_granted else "asked",
        "auto_granted_value": kind.auto_granted_value,
        # As the field cleans what a browser sends back: a test that was not touched counts as unchanged.
        "test": kind.test.replace("\r\n", "\n").strip(),
        "answer_key": kind.answer_key.replace("\r\n", "\n").strip(),
        "minutes": None if seconds is None else max(1, round(seconds / MINUTE)),
        "retry_hours": None if kind.retry_delay_s is None else kind.retry_delay_s // HOUR,
    }


class GiveForm(Form):
    """The qualification for workers by their ids."""

    workers = forms.CharField(
        max_length=10_000,
        label="Worker ids",
        help_text="One, or several with commas or spaces between them.",
        widget=forms.Textarea(attrs={"rows": 2}),
    )
    value = forms.IntegerField(initial=1, **_INTEGER)
    tell = forms.BooleanField(required=False, label="Tell them")

    def clean_workers(self) -> list[str]:
        """The ids, each once."""
        ids = list(dict.fromkeys(self.cleaned_data["workers"].replace(",", " ").split()))
        if not ids:
            raise forms.ValidationError("Write at least one id.")
        if len(ids) > MOST_AT_ONCE:
            raise forms.ValidationError(f"At most {MOST_AT_ONCE} at a time; use a file for more.")
        return ids


class RevokeForm(Form):
    """Taking it back."""

    reason = TextField(most=1024, rows=2, required=False, label="Reason", help_text="The worker reads this.")


class FileForm(forms.Form):
    """Grants as a file."""

    file = forms.FileField(label="Table", widget=forms.ClearableFileInput(attrs={"accept": ACCEPTED}))


class AcceptForm(Form):
    """Granting a request."""

    value = forms.IntegerField(initial=1, **_INTEGER)


# Workers who ask for a qualification: the table of their requests, and the decision on one.

PLACE = "qualifications"
QUALIFICATIONS = ("Qualifications", "requester:qualifications")
_NO_REQUEST = Empty(
    "No requests",
    (
        "Workers ask on the page of a qualification, or with its test where there is one. What needs your "
        "decision appears here. ",
        Link("Show all requests", "?state=all"),
    ),
)
State = QualificationRequest.State


@require_safe
@for_requester
def list_requests(request: HttpRequest, access: RequesterAccess) -> HttpResponseBase:
    """The requests, those to decide first."""
    return respond(
        request,
        access,
        selectors.REQUESTS,
        lambda grid: selectors.requests(
            access.requester, state=grid["state"], kind=grid["type"], query=grid["q"]
        ),
        Page(
            "Requests for qualifications",
            [Listing("Find a request", "request", "requests", _NO_REQUEST, _NO_REQUEST)],
            trail=trail(access, QUALIFICATIONS),
            here="Requests",
        ),
        place=PLACE,
        file="qualification-requests",
    )


@require_safe
@for_requester
def show_request(request: HttpRequest, access: RequesterAccess, *, asking: str) -> HttpResponse:
    """One request, with what was answered in the test."""
    row = own_request(access.requester, asking)
    kind, worker = row.qualification_type, row.worker
    none = Note("There is no test: the worker only asked.")
    address = access.address("requester:worker", worker.worker_id)
    page = Page(
        f"Request of {worker.worker_id}",
        [Own("marketplace/requester/parts/fields.html") if row.test else none, _list_times(row)],
        lead=(
            chip(*selectors.OF_REQUEST.get(row.state, (row.state, ""))),
            *(" for ", Link(isolated(kind.name, most=80), address_of_qualification(access, kind)), " · "),
            *(row.submitted_at, " · ", Link("the worker", address)),
        ),
        trail=trail(access, QUALIFICATIONS, ("Requests", "requester:qualification_requests")),
        here=worker.worker_id,
        aside=_list_decisions(access, row),
        aside_label="Decide",
    )
    return show(request, page, access, place=PLACE, fields=fields_of(row.answer))


def _list_times(row: QualificationRequest) -> Facts:
    pairs = [
        ("Began" if row.test else "Asked", phrase(row.started_at)),
        row.test and ("Took", lasted(row.submitted_at, row.started_at)),
        row.score is not None and ("Score", row.score),
        row.decided_at and ("Decided", phrase(row.decided_at)),
        row.reason and ("Reason", isolated(row.reason)),
    ]
    return Facts([each for each in pairs if isinstance(each, tuple)], heading="Times")


def _list_decisions(access: RequesterAccess, row: QualificationRequest) -> list[object]:
    if row.state != State.PENDING:
        return [Empty("Decided", "To give or take the qualification anyway, go to its page.")]
    if not access.may["review"]:
        return []
    accept_at = access.address("requester:accept_request", row.request_id)
    reject_at = access.address("requester:reject_request", row.request_id)
    no = [Button("Reject", danger=True)]
    return [
        FormSection(AcceptForm(auto_id="accept_%s"), [Button("Grant it")], accept_at, heading="Grant"),
        FormSection(RevokeForm(auto_id="reject_%s"), no, reject_at, heading="Reject"),
    ]


def _decide(
    request: HttpRequest,
    access: RequesterAccess,
    asking: str,
    target_state: QualificationRequest.State,
    action: Callable[[QualificationRequest], str],
) -> HttpResponse:
    row = own_request(access.requester, asking)

    def once() -> str:
        try:
            return action(row)
        except Refusal as refusal:
            row.refresh_from_db(fields=["state"])
            if refusal.code != "InvalidQualificationRequestState":
                raise
            # Sent twice, or another reviewer was faster; in both cases the next request follows.
            if row.state == target_state:
                raise Refusal("DuplicateRequest", f"It was {row.state} already.") from refusal
            raise Refusal(refusal.code, f"It was {row.state} meanwhile.") from refusal

    customer = access.requester.customer_id
    following = (
        selectors.requests(access.requester, state=State.PENDING, kind="", query="")
        .exclude(pk=row.pk)
        .order_by("submitted_at", "pk")
        .first()
    )
    if following:
        then = reverse("requester:qualification_request", args=[customer, following.request_id])
    else:
        then = reverse("requester:qualification_requests", args=[customer])
    request_url = reverse("requester:qualification_request", args=[customer, asking])
    return run_action(request, once, then, other=request_url)


@require_POST
@on_requester(act=Action.REVIEW)
def accept(request: HttpRequest, access: RequesterAccess, *, asking: str) -> HttpResponse:
    """Grant it, with a value."""

    def action(row: QualificationRequest) -> str:
        value = read_form(AcceptForm(request.POST))["value"]
        grants.accept(request=row, value=value)
        return f"{row.worker.worker_id} holds “{row.qualification_type.name}” now, value {value}."

    return _decide(request, access, asking, State.GRANTED, action)


@require_POST
@on_requester(act=Action.REVIEW)
def reject(request: HttpRequest, access: RequesterAccess, *, asking: str) -> HttpResponse:
    """Refuse a worker a qualification, with a reason that the worker reads."""

    def action(row: QualificationRequest) -> str:
        reason = read_form(RevokeForm(request.POST))["reason"]
        grants.reject(request=row, reason=reason)
        return f"{row.worker.worker_id} does not get it."

    return _decide(request, access, asking, State.REJECTED, action)


@require_safe
@for_requester
def listing(request: HttpRequest, access: RequesterAccess) -> HttpResponseBase:
    """The types, with how many hold each and how many wait for a decision."""
    return respond(
        request,
        access,
        selectors.TYPES,
        lambda grid: selectors.types(access.requester, status=grid["status"], query=grid["q"]),
        _describe_list(access),
        place=PLACE,
        complete=selectors.count_holders,
        file="qualifications",
    )


def _describe_list(access: RequesterAccess) -> Page:
    waiting = selectors.count_waiting_requests(access.requester)
    requests = access.address("requester:qualification_requests")
    said = [Link(f"{counted(waiting, 'request')} to decide", requests)]
    none = ["No request waits for a decision. ", Link("All requests", f"{requests}?state=all")]
    make = [Link("New qualification", access.address("requester:new_qualification"))]
    kinds = "for a test they passed, for a course, for what they did before. HITs can ask for it."
    empty = Empty("No qualification yet", f"A qualification is a number that workers hold: {kinds}")
    return Page(
        "Qualifications",
        [Listing("Find a qualification", "qualification", "qualifications", empty)],
        lead=said if waiting else none,
        primary=make if access.may["manage"] else [],
    )


def address_of_qualification(access: RequesterAccess, kind: QualificationType) -> str:
    """Its page."""
    return reverse("requester:qualification", args=[access.requester.customer_id, kind.qualification_type_id])


@require_http_methods(["GET", "HEAD", "POST"])
@on_requester(look=Action.MANAGE, act=Action.MANAGE)
def new(request: HttpRequest, access: RequesterAccess) -> HttpResponse:
    """Make a type."""
    form = TypeForm(request.POST if request.method == "POST" else None)
    if form.is_bound and form.is_valid():
        fields = form.cleaned_data
        try:
            kind = grants.create_qualification_type(
                requester=access.requester,
                name=fields["name"],
                keywords=fields["keywords"],
                now=clock.now(),
                test=form.qualification_test(),
                **form.values(),
            )
        except Refusal as refusal:
            form.add_error(None, refusal.message)
        else:
            return redirect(address_of_qualification(access, kind))
    return _form(request, access, form, None)


@require_http_methods(["GET", "HEAD", "POST"])
@on_requester(look=Action.MANAGE, act=Action.MANAGE)
def edit(request: HttpRequest, access: RequesterAccess, *, kind: str) -> HttpResponse:
    """Change what may change of a type."""
    row = own_qualification(access.requester, kind)
    form = TypeForm(request.POST if request.method == "POST" else None, kind=row)
    if form.is_bound and form.is_valid():
        try:
            grants.update_qualification_type(
                qualification_type=row, changes=form.values(), test=form.qualification_test(), seen=form.seen
            )
        except ConflictError:
            row = own_qualification(access.requester, kind)
            form.compare(TypeForm(kind=row), request.path)
        except Refusal as refusal:
            form.add_error(None, refusal.message)
        else:
            return redirect(address_of_qualification(access, row))
    return _form(request, access, form, row)


def _form(
    request: HttpRequest, access: RequesterAccess, form: TypeForm, kind: QualificationType | None
) -> HttpResponse:
    status = 409 if form.conflict else 422 if form.is_bound else 200
    has_test = kind is not None and kind.has_test
    page = Page(
        f"Change “{kind.name}”" if kind else "New qualification",
        [
            FormSection(
                form,
                [Button("Save" if kind else "Make it")],
                groups=(
                    ("What it is", ("name", "description", "keywords", "status")),
                    ("How workers get it", _WAYS_WITH_TEST if has_test else _WAYS),
                    ("The test, if there is one", ("test", "minutes", "answer_key")),
                ),
                note=_FIXED if has_test else kind and "Name and keywords cannot change.",
            )
        ],
        trail=[
            *trail(access, QUALIFICATIONS),
            *([Link(kind.name, address_of_qualification(access, kind))] if kind else []),
        ],
        here="Change" if kind else "New",
    )
    return show(request, page, access, place=PLACE, status=status)


_WAYS = ("way", "auto_granted_value", "retry_hours")
_WAYS_WITH_TEST = ("way", "retry_hours")
_FIXED = (
    "Name and keywords cannot change. A test can be replaced, but not removed. Workers who have begun it "
    "finish the old one."
)


@require_safe
@for_requester
def qualification(request: HttpRequest, access: RequesterAccess, *, kind: str) -> HttpResponseBase:
    """What a type is, who holds it, and the forms that give and take it."""
    row = own_qualification(access.requester, kind)
    return respond(
        request,
        access,
        selectors.HOLDERS,
        lambda grid: selectors.holders(row, status=grid["status"], query=grid["q"]),
        _describe_type(access, row),
        place=PLACE,
        file=f"holders-{row.qualification_type_id}",
    )


def _describe_type(access: RequesterAccess, row: QualificationType) -> Page:
    name = row.qualification_type_id
    waiting = selectors.requests(access.requester, state="pending", kind=name, query="").count()
    requests = f"{access.address('requester:qualification_requests')}?type={name}"
    empty = Empty("None yet", "Give it to workers by their ids, or from a file; or let them ask for it.")
    ticks = Ticks(
        "worker",
        lambda grant: grant.worker.worker_id if grant.status == "Granted" else None,
        attrgetter("worker.worker_id"),
        access.address("requester:revoke_qualification", name),
        [Button("Take it back from the chosen", danger=True)],
        form=RevokeForm(auto_id="revoke_%s"),
    )
    holders = Listing("Find a holder", "worker", "workers", empty, heading="Who holds it", ticks=ticks)
    return Page(
        row.name,
        [holders, _list_facts(access, row)],
        lead=(
            chip(row.wire_status, "good" if row.status == "Active" else ""),
            " ",
            Code(name),
            " ",
            short(row.description, 400),
        ),
        trail=trail(access, QUALIFICATIONS),
        here=short(row.name, 40),
        primary=[
            *([Link(f"Decide {counted(waiting, 'request')}", requests)] if waiting else []),
            Link("Change it", access.address("requester:edit_qualification", name), plain=True),
        ],
        aside=_list_actions(access, row),
        aside_label="Actions",
    )


def _list_facts(access: RequesterAccess, row: QualificationType) -> Facts:
    how = "from you"
    if row.has_test:
        scored = "scored by its key" if row.answer_key else "which you decide on"
        how = f"by a test of {span(row.test_duration_s or 0)}, {scored}"
    elif row.auto_granted:
        how = f"everybody who asks, value {row.auto_granted_value}"
    again = "not possible" if row.retry_delay_s is None else f"after {span(row.retry_delay_s)}"
    asking = hit_types_asking_for(row.qualification_type_id).filter(requester=access.requester).count()
    pairs = [
        ("How workers get it", how),
        ("Asking again", again),
        ("HIT types that ask for it", f"{asking:,}"),
        ("Made", phrase(row.created_at)),
    ]
    keywords = [("Keywords", isolated(row.keywords, most=200))] if row.keywords else []
    return Facts([*pairs, *keywords], heading="Properties")


_COLUMNS = (
    *(
        "CSV or a workbook (.xlsx, .ods) with the columns ",
        Code("worker"),
        ", and optionally ",
        Code("value"),
    ),
    *(" and ", Code("status"), " (Granted or Revoked). What “Download as CSV” gives can be edited and sent "),
    "back. All lines count, or none.",
)


def _list_actions(access: RequesterAccess, row: QualificationType) -> list[object]:
    """The forms beside a type; those of a person who may not change it are left out."""

    def act(heading: str, form: forms.Form, name: str, *buttons: Button, **more: Any) -> FormSection:
        action = access.address(f"requester:{name}", row.qualification_type_id)
        return FormSection(form, buttons, action, heading=heading, **more)

    inactive = "It can be neither asked for nor given. Make it active to change that."
    sections: list[object] = [] if row.status == "Active" else [Empty("Inactive", inactive)]
    if not access.may["manage"]:
        return sections
    upload = (Button("Preview", "preview", "1", plain=True), Button("Upload", plain=True))
    if row.status == "Active":
        give = Button("Give it", plain=True)
        sections.append(act("Give it", GiveForm(auto_id="give_%s"), "give_qualification", give))
        file = FileForm(auto_id="file_%s")
        sections.append(act("From a file", file, "upload_grants", *upload, note=_COLUMNS))
    effect = "Takes effect once all HITs that ask for it are deleted. Waiting requests are rejected."
    delete_it = Button("Delete it", danger=True)
    return [*sections, act("Delete", forms.Form(), "delete_qualification", delete_it, note=effect)]


def act_on_qualification(
    request: HttpRequest, access: RequesterAccess, kind: str, action: Callable[[QualificationType], str]
) -> HttpResponse:
    """Change a type of the caller's in one transaction, and say what was done."""
    row = own_qualification(access.requester, kind)

    def all_of_it() -> str:
        with transaction.atomic():
            return action(row)

    return run_action(request, all_of_it, address_of_qualification(access, row))


@require_POST
@for_requester
def delete(request: HttpRequest, access: RequesterAccess, *, kind: str) -> HttpResponse:
    """Delete a type, at once or when no HIT asks for it any more."""
    row = own_qualification(access.requester, kind)

    def action() -> str:
        with transaction.atomic():
            grants.delete_qualification_type(qualification_type=row, now=clock.now())
        if row.deleted_at:
            return f"“{row.name}” is deleted."
        return f"“{row.name}” will be deleted as soon as no HIT asks for it."

    listing_address = reverse("requester:qualifications", args=[access.requester.customer_id])
    return run_action(request, action, listing_address, other=address_of_qualification(access, row))


@require_POST
@for_requester
def give(request: HttpRequest, access: RequesterAccess, *, kind: str) -> HttpResponse:
    """Give it to workers by their ids, or change their values: to all of them, or to none."""

    def action(row: QualificationType) -> str:
        values = read_form(GiveForm(request.POST))
        workers = {each.worker_id: each for each in Worker.objects.filter(worker_id__in=values["workers"])}
        if unknown := [each for each in values["workers"] if each not in workers]:
            raise Refusal(
                "InvalidParameterValue",
                f"There is no worker {unknown[0][:64]!r}. Correct the id; no worker was given anything.",
            )
        for each in workers.values():
            grants.grant(qualification_type=row, worker=each, value=values["value"], notify=values["tell"])
        have = ngettext("%d worker has it", "%d workers have it", len(workers)) % len(workers)
        return f"{have} with value {values['value']} now."

    return act_on_qualification(request, access, kind, action)


@require_POST
@for_requester
def revoke(request: HttpRequest, access: RequesterAccess, *, kind: str) -> HttpResponse:
    """Take it back from workers who are ticked."""

    def action(row: QualificationType) -> str:
        reason = read_form(RevokeForm(request.POST))["reason"]
        ids = [each for each in request.POST.getlist("worker")[:100] if "\0" not in each]
        holders = selectors.holders(row, status="Granted", query="").filter(worker__worker_id__in=ids)
        workers = [each.worker for each in holders]
        if not workers:
            raise Refusal("InvalidParameterValue", "Choose holders first: tick them in the table.")
        for worker in workers:
            grants.revoke(qualification_type=row, worker=worker, reason=reason)
        return f"Taken back from {len(workers)} worker{'s' if len(workers) > 1 else ''}."

    return act_on_qualification(request, access, kind, action)
