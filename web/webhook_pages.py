"""Pages of webhooks: the list with a form, one of them with its messages, and what may be done with both.

Desk and requester site have one object of `WebhookPages` each, and views that find out who may see it.
What sends data to another place, or makes and ends secrets, is done by people who lately showed who they are.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.db.models import Count, Exists, Max, OuterRef, Q, QuerySet, Subquery
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone

from core.accounts.confirmation import way_to_confirm
from core.errors import ActionError
from core.origin import Owner
from core.webhooks import services
from core.webhooks.delivery import address_of, payload_of, secrets_of
from core.webhooks.events import TEST, event_types
from core.webhooks.models import Webhook, WebhookAttempt, WebhookMessage
from web import cells
from web.cells import Cell, Link, chip, more, opens, several
from web.forms import read_form, run_action
from web.kit import Button, Empty, FormSection, Note, Own, Page, Table
from web.tables import Choices, Column, Grid, GridRequest, Words

#: Names in the session under which a new secret waits to be shown once.
_NEW = "webhook_secret"
_STATES = {"all": "All", "waiting": "Waiting", "sent": "Sent", "gave_up": "Given up"}
_NO_HOOK = Empty(
    "No webhook yet",
    "A webhook tells a program, a chat or you by e-mail when something happens. Make one with the form.",
)
_KNOWN = (
    "Messages hold ids and addresses, never what people wrote. They are signed, numbered, and tried "
    "again for a day."
)


def _draw_target(cell: Cell) -> object:
    return several(cell.row.get_shape_display(), more(cell.row.host, mono=True))


def _draw_state(hook: Webhook) -> object:
    if hook.state == Webhook.State.DISABLED:
        return chip("disabled", "bad")
    if hook.state == Webhook.State.PAUSED:
        return several(chip("paused"), hook.why_disabled and more("Made by a former member"))
    return chip("failing", "wait") if hook.failing_since else chip("active", "good")


_COLUMNS = (
    Column("host", "Sends to", cell=_draw_target),
    Column("state", "State", cell=lambda cell: _draw_state(cell.row)),
    Column("waiting", "Waiting", lambda hook: hook.waiting or 0, number=True),
    Column("last_sent", "Last sent", cell=cells.moment),
)
MESSAGES = Grid(
    "webhook-messages",
    columns=(
        Column("number", "No.", by="number", down=True, number=True, gaps=True),
        Column("at", "Happened", by="at", down=True),
        Column("type", "Event", by="type"),
        Column("state", "State", by="state"),
        Column("attempts", "Attempts", by="attempts", down=True, number=True),
        Column("status", "Last answer"),
        Column("message_id", "Id", on_page=False),
        Column("note", "Note", on_page=False),
    ),
    filters=(Choices("state", "State", _STATES, tabs=True), Words("q", "Event or id")),
    order="at",
)


class WebhookForm(forms.Form):
    """A new webhook, or another name, address or choice of events of one that is there."""

    name = forms.CharField(
        max_length=80,
        label="What it is for",
        widget=forms.TextInput(attrs={"autocomplete": "off", "dir": "auto"}),
    )
    shape = forms.ChoiceField(choices=Webhook.Shape.choices, label="Sends")
    address = forms.CharField(
        required=False,
        max_length=2048,
        label="Address",
        help_text="A public https address. E-mails go to your own address only: leave this empty then.",
        widget=forms.TextInput(
            attrs={"autocomplete": "off", "inputmode": "url", "placeholder": "https://hooks.example.org/in"}
        ),
    )
    events = forms.MultipleChoiceField(label="Events", widget=forms.CheckboxSelectMultiple)

    def __init__(self, data: Any = None, *, kind: str, hook: Webhook | None = None) -> None:
        initial = {"name": hook.name, "events": hook.events} if hook else {}
        super().__init__(data, label_suffix="", initial=initial)
        events = self.fields["events"]
        assert isinstance(events, forms.MultipleChoiceField)
        events.choices = [(each.name, f"{each.label} ({each.name})") for each in event_types(kind).values()]
        if hook is not None:
            del self.fields["shape"]
            self.fields["address"].label = "Another address"
            self.fields["address"].help_text = "Empty: it stays."


@dataclass(frozen=True)
class WebhookPages:
    """The pages of one site: its namespace of addresses, and how it draws pages."""

    kind: str
    namespace: str
    show: Callable[..., HttpResponse]
    respond: Callable[..., HttpResponseBase]
    #: What a page is given about its place in the frame.
    frame: Mapping[str, Any]
    #: What is above the list, and what is said below it.
    trail: Callable[[Any], list[Link]] = lambda access: []
    notes: Callable[[Any], list[Note]] = lambda access: []

    def listing(self, request: HttpRequest, access: Any, owner: int, slug: str, user: User) -> HttpResponse:
        """The webhooks, and the form for a new one."""
        if request.method == "POST" and (away := way_to_confirm(request)):
            return away
        form = WebhookForm(request.POST if request.method == "POST" else None, kind=self.kind)
        if request.method == "POST" and form.is_valid():
            try:
                new_hook = self._make(form.cleaned_data, owner, user)
            except ActionError as error:
                form.add_error(*_field_of(str(error)))
            else:
                request.session[_NEW] = new_hook.row.pk
                return redirect(f"{self.namespace}:webhook", slug, new_hook.row.pk)
        return self.show(
            request,
            self._describe_list(access, owner, form),
            access,
            status=422 if form.errors else 200,
            **self.frame,
        )

    def _describe_list(self, access: Any, owner: int, form: WebhookForm) -> Page:
        hooks = list(_with_counts(services.webhooks_of(Owner(self.kind, owner))))
        columns = (Column("name", "Name", cell=opens(f"{self.namespace}:webhook", "{}", "pk")), *_COLUMNS)
        table = Table("Table of webhooks", columns, hooks) if hooks else _NO_HOOK
        return Page(
            "Webhooks",
            [table, Note(_KNOWN), *self.notes(access)],
            trail=self.trail(access),
            aside=[
                FormSection(
                    form, [Button("Make it")], heading="New webhook", note=f"At most {services.MOST} at once."
                )
            ],
            aside_label="New webhook",
        )

    def _make(self, cleaned: Mapping[str, Any], owner: int, user: User) -> services.NewWebhook:
        mailed = cleaned["shape"] == Webhook.Shape.EMAIL
        return services.create_webhook(
            owner=Owner(self.kind, owner),
            name=cleaned["name"],
            shape=cleaned["shape"],
            address=(cleaned["address"] or user.email) if mailed else cleaned["address"],
            events=cleaned["events"],
            by=user,
        )

    def page(self, request: HttpRequest, access: Any, owner: int, slug: str, pk: int) -> HttpResponseBase:
        """One webhook: how it is, what it sent, and forms that change it; or its messages as a file."""
        hook = self._hook(owner, pk)
        if request.method == "POST" and (away := way_to_confirm(request)):
            return away
        form = WebhookForm(request.POST if request.method == "POST" else None, kind=self.kind, hook=hook)
        if request.method == "POST" and form.is_valid():
            cleaned = form.cleaned_data
            try:
                services.change_webhook(
                    hook=hook,
                    name=cleaned["name"],
                    address=cleaned["address"] or None,
                    events=cleaned["events"],
                )
            except ActionError as error:
                form.add_error(*_field_of(str(error)))
            else:
                return redirect(f"{self.namespace}:webhook", slug, pk)

        def rows(grid_request: GridRequest) -> QuerySet[WebhookMessage]:
            messages = WebhookMessage.objects.filter(webhook=hook)
            if grid_request["state"] != "all":
                messages = messages.filter(state=grid_request["state"])
            if search := grid_request["q"]:
                messages = messages.filter(Q(type__icontains=search) | Q(message_id=search))
            last = WebhookAttempt.objects.filter(message=OuterRef("pk")).order_by("-pk")
            return messages.annotate(
                status=Subquery(last.values("status")[:1]), note=Subquery(last.values("note")[:1])
            )

        now = timezone.now()
        new = request.method == "GET" and request.session.get(_NEW) == hook.pk
        if new:
            del request.session[_NEW]
        secrets = secrets_of(hook, now) if new else []
        return self.respond(
            request,
            access,
            MESSAGES,
            rows,
            Page(
                hook.name,
                [Own("webhooks/one.html")],
                trail=[*self.trail(access), Link("Webhooks", access.address(f"{self.namespace}:webhooks"))],
                scripts=["copy.js"],
            ),
            complete=_with_payloads,
            file=f"webhook-{hook.pk}-messages",
            status=422 if form.errors else 200,
            hook=hook,
            standing=_draw_state(hook),
            form=form,
            slug=slug,
            now=now,
            address=address_of(hook) if hook.shape == Webhook.Shape.STANDARD else hook.host,
            events=_words_of(hook),
            secret=secrets[0] if secrets else "",
            overlapping=bool(hook.former_secret_sealed and hook.former_until and hook.former_until > now),
            list_url=f"{self.namespace}:webhooks",
            action_url=f"{self.namespace}:webhook_action",
            message_url=f"{self.namespace}:webhook_message",
            **self.frame,
        )

    def act(self, request: HttpRequest, owner: int, slug: str, pk: int, action: str) -> HttpResponse:
        """Test, pause, switch on, exchange the secret, end the former one, or remove."""
        hook = self._hook(owner, pk)
        if action not in _ACTIONS:
            raise Http404("There is no such action.")
        if action in _CONFIRMED and (away := way_to_confirm(request)):
            return away

        def run() -> str:
            sentence = _ACTIONS[action](hook)
            if action == "rotate":
                request.session[_NEW] = hook.pk
            return sentence

        page = reverse(f"{self.namespace}:webhook", args=[slug, pk])
        after = reverse(f"{self.namespace}:webhooks", args=[slug]) if action == "remove" else page
        return run_action(request, run, after, other=page)

    def act_on_message(
        self, request: HttpRequest, owner: int, slug: str, pk: int, message: int
    ) -> HttpResponse:
        """Send a message again, or skip one that waits."""
        hook = self._hook(owner, pk)
        row = WebhookMessage.objects.filter(webhook=hook, pk=message).first()
        if row is None:
            raise Http404("There is no such message.")

        def run() -> str:
            if read_form(_MessageForm(request.POST))["action"] == "skip":
                services.skip(hook=hook, message=row)
                return "It is skipped."
            services.resend(hook=hook, message=row)
            return "It is sent again in a few seconds."

        return run_action(request, run, f"{self.namespace}:webhook", slug, pk)

    def _hook(self, owner: int, pk: int) -> Webhook:
        hook = (
            services.webhooks_of(Owner(self.kind, owner)).select_related("created_by").filter(pk=pk).first()
        )
        if not isinstance(hook, Webhook):
            raise Http404("There is no such webhook.")
        return hook


class _MessageForm(forms.Form):
    """What is done with a message."""

    action = forms.ChoiceField(choices=[("resend", "Send again"), ("skip", "Skip")])


def _test(hook: Webhook) -> str:
    services.send_test(hook=hook)
    return "A test is on its way; it is listed below when it was sent."


def _pause(hook: Webhook) -> str:
    services.pause(hook=hook)
    return "It is paused: nothing is sent, and what happens meanwhile is not kept for it."


def _activate(hook: Webhook) -> str:
    services.activate(hook=hook)
    return "It is on. What waited is sent first."


def _rotate(hook: Webhook) -> str:
    services.rotate_secret(hook=hook)
    return "There is a new secret. Both are valid for a day."


def _end_former(hook: Webhook) -> str:
    services.end_former_secret(hook=hook)
    return "The former secret is no longer used."


def _remove(hook: Webhook) -> str:
    services.remove(hook=hook)
    return f"{hook.name} is removed."


_ACTIONS: Mapping[str, Callable[[Webhook], str]] = {
    "test": _test,
    "pause": _pause,
    "activate": _activate,
    "rotate": _rotate,
    "end-former-secret": _end_former,
    "remove": _remove,
}
#: Actions that ask who it is; a test, a pause and switching on lead nowhere new.
_CONFIRMED = frozenset({"rotate", "end-former-secret", "remove"})


def _field_of(sentence: str) -> tuple[str | None, str]:
    """The field that a refusal of the services begins with, and the rest of its sentence."""
    label, _, rest = sentence.partition(": ")
    field = {"Name": "name", "Address": "address", "Events": "events"}.get(label)
    return (field, rest) if field else (None, sentence)


def _with_counts(hooks: QuerySet[Webhook]) -> QuerySet[Webhook]:
    waiting = WebhookMessage.objects.filter(webhook=OuterRef("pk"), state=WebhookMessage.State.WAITING)
    sent = WebhookMessage.objects.filter(webhook=OuterRef("pk"), state=WebhookMessage.State.SENT)
    counted = waiting.order_by().values("webhook").annotate(n=Count("pk")).values("n")
    last = sent.order_by().values("webhook").annotate(at=Max("ended_at")).values("at")
    return hooks.annotate(
        waiting=Subquery(counted), last_sent=Subquery(last), has_sent=Exists(sent)
    ).order_by("name", "pk")


def _words_of(hook: Webhook) -> list[tuple[str, str]]:
    types = event_types(hook.owner_kind)
    return [(name, types[name].label if name in types else name) for name in hook.events]


def _with_payloads(rows: list[Any]) -> list[Any]:
    """Messages with what was sent and every attempt, in one query."""
    log: dict[int, list[WebhookAttempt]] = {row.pk: [] for row in rows}
    for attempt in WebhookAttempt.objects.filter(message__in=log).order_by("pk"):
        log[attempt.message_id].append(attempt)
    for row in rows:
        row.payload = json.dumps(payload_of(row), indent=2, ensure_ascii=False)
        row.tries = log[row.pk]
        row.is_test = row.type == TEST
    return rows
