"""Pages and forms of study links for the people of their owner: the list, one link, its class, texts.

The desk has them for projects and the requester site for requesters; each gives a `LinkDesk`, which says
who is looking, what they may do, and where the pages are. The permission check comes before.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time
from typing import Any, BinaryIO, Protocol, cast

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import ngettext

from core.errors import ActionError
from core.files.cells import csv_text, plain
from core.origin import Owner
from people import consents, links, rosters, selectors
from people.links import LinkChanges, LinkPlan
from people.models import ConsentText, Outcome, StudyLink
from people.owners import all_choices, choice_labels, columns_of, kind_of, target_of, titles_of
from people.visits import why_closed
from web.forms import FormError, run_action
from web.languages import LANGUAGES, first_language, name_of

_MOST_NAMES = 20
#: Outcomes of which the form asks for a code and an address; who withdraws is told nothing new.
RETURNS = (
    Outcome.COMPLETED,
    Outcome.SCREENED_OUT,
    Outcome.FAILED_CHECKS,
    Outcome.NO_CONSENT,
    Outcome.NOTHING_LEFT,
)
_PROLIFIC = "https://app.prolific.com/submissions/complete?cc={code}"


@dataclass(frozen=True, slots=True)
class Preset:
    """A beginning for the form of a link."""

    name: str
    label: str
    what: str
    values: Mapping[str, Any]


PRESETS = (
    Preset(
        "class",
        "Class or colleagues",
        "People without a panel: one link for all, or personal links by mail from a list.",
        {"compensation": "credit", "quota": 50},
    ),
    Preset(
        "prolific",
        "Prolific by link",
        "A study that you make at Prolific by hand, with this address. Ids and sessions are kept.",
        {
            "compensation": "panel",
            "id_parameters": "PROLIFIC_PID",
            "kept_parameters": "STUDY_ID, SESSION_ID",
            "id_required": True,
            "returns_at_once": True,
            "address_completed": _PROLIFIC,
            "address_screened_out": _PROLIFIC,
            "address_failed_checks": _PROLIFIC,
            "address_no_consent": _PROLIFIC,
            "address_nothing_left": _PROLIFIC,
        },
    ),
    Preset(
        "sona",
        "SONA",
        "Course credit by SONA: the address ends with ?id=%SURVEY_CODE%; paste SONA's completion URL below.",
        {
            "compensation": "credit",
            "id_parameters": "id, survey_code, SONA_ID",
            "id_required": True,
            "returns_at_once": True,
        },
    ),
    Preset(
        "panel",
        "Any panel",
        "Another panel that sends its id in the address and wants a completion code or an address back.",
        {
            "compensation": "panel",
            "id_parameters": "participantId, worker_id, pid",
            "id_required": True,
        },
    ),
)


def preset_named(name: str) -> Preset | None:
    """The preset of this name."""
    return next((each for each in PRESETS if each.name == name), None)


class NamesField(forms.CharField):
    """Names separated by commas, each once."""

    def to_python(self, value: Any) -> Any:
        """A list."""
        text = super().to_python(value) or ""
        names = list(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
        if len(names) > _MOST_NAMES or any(len(name) > 60 or not name.isprintable() for name in names):
            raise forms.ValidationError("At most 20 names of at most 60 characters, separated by commas.")
        return names


class ReturnsForm(forms.Form):
    """How people leave a link: codes and addresses by outcome."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        for outcome in RETURNS:
            self.fields[f"code_{outcome}"] = forms.CharField(
                max_length=100, required=False, label=f"{outcome.label}: code"
            )
            self.fields[f"address_{outcome}"] = forms.CharField(
                max_length=1000, required=False, label=f"{outcome.label}: return address"
            )
        self.fields["returns_at_once"] = forms.BooleanField(
            required=False, label="Go back to the panel without a click"
        )

    @property
    def ways_back(self) -> list[Any]:
        """Codes and addresses, by outcome."""
        fields = [self[f"{part}_{outcome}"] for outcome in RETURNS for part in ("code", "address")]
        return [*fields, self["returns_at_once"]]

    def plain_values(self) -> dict[str, Any]:
        """What was given as columns of a link: ways back in one, an end of the last day, no number as 0."""
        values = dict(self.cleaned_data)
        day = values.pop("last_day")
        returns = {
            outcome.value: {
                "code": values.pop(f"code_{outcome}"),
                "address": values.pop(f"address_{outcome}"),
            }
            for outcome in RETURNS
        }
        for way in returns.values():
            if "{code}" in way["address"] and not way["code"]:  # a preset's address that nobody completed
                way["address"] = ""
        for name in ("most_tasks", "most_per_address"):
            values[name] = values[name] or 0
        values["expires_at"] = datetime.combine(day, time.max, tzinfo=UTC) if day else None
        values["returns"] = {outcome: way for outcome, way in returns.items() if any(way.values())}
        return values


class LinkForm(ReturnsForm):
    """A study link."""

    title = forms.CharField(max_length=200, label="Title", help_text="People see it on the first page.")
    target = forms.ChoiceField(label="Leads to")
    quota = forms.IntegerField(min_value=1, max_value=1_000_000, initial=100, label="People who may join")
    last_day = forms.DateField(
        required=False,
        label="Last day (UTC)",
        widget=forms.DateInput(attrs={"type": "date"}),
        help_text="Empty: until you close it.",
    )
    most_tasks = forms.IntegerField(
        min_value=0,
        max_value=100_000,
        initial=0,
        required=False,
        label="Tasks per person",
        help_text="0: as many as there are.",
    )
    compensation = forms.ChoiceField(choices=StudyLink.Compensation.choices, label="People get")
    code_word = forms.CharField(
        max_length=100, required=False, label="Code word", help_text="Asked on the first page. Empty: none."
    )
    languages = NamesField(
        required=False,
        max_length=400,
        label="Languages",
        help_text="Of your consent texts, such as en, de. Empty: all that there are.",
    )
    granted: forms.Field = forms.RegexField(
        r"^[A-Za-z0-9_-]*$",
        max_length=60,
        required=False,
        label="Granted on joining",
        help_text="A group, by a name of letters, digits and dashes. Stages ask for it by the rule group.",
    )
    granted_value = forms.IntegerField(
        min_value=-(2**31),
        max_value=2**31 - 1,
        initial=1,
        required=False,
        label="Value of the qualification",
    )
    id_parameters = NamesField(
        required=False,
        max_length=400,
        label="Parameters that name the person",
        help_text="In this order; the first one present counts. Empty: people have no id elsewhere.",
    )
    id_source = forms.RegexField(
        r"^[A-Za-z0-9_.-]*$",
        max_length=40,
        required=False,
        label="Whose ids they are",
        help_text="A panel or workspace, of letters, digits and dashes. The same id is one person at "
        "links with the same word here, and two people at links with two.",
    )
    id_required = forms.BooleanField(required=False, label="Refuse addresses without such a parameter")
    kept_parameters = NamesField(required=False, max_length=400, label="Further parameters to keep")
    secret = forms.CharField(
        max_length=200,
        min_length=16,
        required=False,
        label="Secret of signatures",
        help_text="Where your panel signs addresses (HMAC-SHA256, parameters sig and exp). Empty: none.",
    )
    most_per_address = forms.IntegerField(
        min_value=0,
        max_value=100_000,
        initial=0,
        required=False,
        label="People per network address",
        help_text="0: no limit. A class often shares one address.",
    )

    def __init__(
        self,
        data: Any = None,
        *,
        owner: Owner,
        title: str = "",
        preset: Preset | None = None,
        target: str = "",
    ) -> None:
        first = {"title": title} | (dict(preset.values) if preset else {})
        first |= {"target": target} if target else {}
        super().__init__(data, initial=first, label_suffix="")
        choices = self.fields["target"]
        assert isinstance(choices, forms.ChoiceField)
        choices.choices = choice_labels(owner)
        grants = kind_of(owner).grants(owner.pk)
        if grants is None:
            del self.fields["granted_value"]
        else:
            self.fields["granted"] = forms.ChoiceField(
                choices=[("", "Nothing"), *grants],
                required=False,
                label="Granted on joining",
                help_text="A qualification of yours. HITs that ask for it are open to these people, and "
                "closed to others.",
            )

    @property
    def basic(self) -> list[Any]:
        """What everybody fills in."""
        names = ("title", "target", "quota", "last_day", "most_tasks", "compensation")
        return [self[name] for name in names]

    @property
    def entrance(self) -> list[Any]:
        """Who may come, and as whom."""
        names = (
            "id_parameters",
            "id_source",
            "id_required",
            "kept_parameters",
            "code_word",
            "languages",
            "granted",
            "granted_value",
            "most_per_address",
            "secret",
        )
        return [self[name] for name in names if name in self.fields]

    def plan(self) -> LinkPlan:
        """What is asked for."""
        values = self.plain_values()
        if "granted_value" in values and values["granted_value"] is None:
            values["granted_value"] = 1
        return LinkPlan(**values)


class LinkChangesForm(ReturnsForm):
    """What may change on a link while people come."""

    def __init__(self, data: Any = None, *, link: StudyLink) -> None:
        names = ("title", "quota", "most_tasks", "most_per_address", "returns_at_once")
        first: dict[str, Any] = {name: getattr(link, name) for name in names}
        first["last_day"] = link.expires_at.date() if link.expires_at else None
        for outcome, way in link.returns.items():
            first |= {f"{part}_{outcome}": text for part, text in way.items()}
        super().__init__(data, initial=first, label_suffix="")

    title = LinkForm.base_fields["title"]
    quota = LinkForm.base_fields["quota"]
    last_day = LinkForm.base_fields["last_day"]
    most_tasks = LinkForm.base_fields["most_tasks"]
    most_per_address = LinkForm.base_fields["most_per_address"]

    @property
    def basic(self) -> list[Any]:
        """All but the ways back."""
        return [self[name] for name in ("title", "quota", "last_day", "most_tasks", "most_per_address")]

    def changes(self) -> LinkChanges:
        """What is asked for."""
        return LinkChanges(**self.plain_values())


def _short_text() -> forms.Textarea:
    return forms.Textarea(attrs={"rows": 6, "dir": "auto"})


class ConsentForm(forms.Form):
    """A consent text; saving makes a new version."""

    language = forms.CharField(max_length=35, label="Language", help_text="Such as en or de.")
    body = forms.CharField(
        max_length=50_000,
        label="Text",
        help_text="Markdown: # headings, **bold**, lists, links.",
        widget=forms.Textarea(attrs={"rows": 14, "dir": "auto"}),
    )
    what_is_kept = forms.CharField(
        max_length=5_000, required=False, label="What is kept", widget=_short_text()
    )
    right_to_withdraw = forms.CharField(
        max_length=5_000, required=False, label="Withdrawing", widget=_short_text()
    )
    protocol_number = forms.CharField(max_length=100, required=False, label="Protocol number")
    contact = forms.CharField(max_length=300, required=False, label="Contact")
    minimum_age = forms.IntegerField(min_value=0, max_value=120, initial=18, label="Least age")

    def __init__(self, data: Any = None, *, text: ConsentText | None = None, language: str = "en") -> None:
        names = ("body", "what_is_kept", "right_to_withdraw", "protocol_number", "contact", "minimum_age")
        first: dict[str, Any] = {"language": language, **consents.first_values(language)}
        if text is not None:
            first = {"language": text.language} | {name: getattr(text, name) for name in names}
        super().__init__(data, initial=first, label_suffix="")

    def values(self) -> dict[str, Any]:
        """The columns of the text."""
        return {name: value for name, value in self.cleaned_data.items() if name != "language"}


# Pages

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
    links_of_owner: list[Any] = list(selectors.links_of(desk.owner))
    titles = titles_of(links_of_owner)
    rows = [(each, titles[each.pk], why_closed(each, people=each.people)) for each in links_of_owner]
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
        request.POST or None,
        owner=desk.owner,
        title=desk.title,
        preset=preset,
        target=request.GET.get("target", ""),
    )
    if request.method == "POST" and form.is_valid():
        try:
            new_link = links.make_link(owner=desk.owner, plan=form.plan(), actor=desk.user)
        except ActionError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, "The link is made. Send people its address.")
            return redirect(desk.address("link", new_link.pk))
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
        rehearses=desk.owner.kind == Owner.Kind.PROJECT,
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
            messages.success(request, "The changes are saved, and apply from now on.")
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
        return "The link is closed. People who have begun can finish."

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
        quota = int(text[:9])
        links.set_quota(link=row, quota=quota, actor=desk.user)
        return ngettext("1 person may join.", "{:,} people may join.", quota).format(quota)

    return run_action(request, act, desk.address("link", pk))


def rehearse(request: HttpRequest, desk: LinkDesk, *, pk: int) -> HttpResponse:
    """Simulated people come by the link."""
    row = _link(desk, pk)

    def act() -> str:
        count = _number(request.POST.get("people", "").strip())
        links.plan_rehearsal(link=row, people=count, actor=desk.user)
        people = ngettext("1 simulated person comes", "{:,} simulated people come", count).format(count)
        return f"{people} by the link now. What they do is marked as simulated for ever."

    return run_action(request, act, desk.address("link", pk))


def roster(request: HttpRequest, desk: LinkDesk, *, pk: int) -> HttpResponse:
    """The class of a link: upload a list, see who has done what."""
    row = _link(desk, pk)
    if request.method == "POST":

        def act() -> str:
            file = request.FILES.get("file")
            if file is None:
                raise FormError("Choose a table with the columns name and email.")
            roster_file = rosters.read_roster_file(cast("BinaryIO", file.file), file.name or "The file")
            added = rosters.add_people(link=row, people=roster_file.people, actor=desk.user)
            listed_already = len(roster_file.people) - added
            return " ".join([f"{added} added, {listed_already} were on the list.", *roster_file.sentences])

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
    old_version = rows.filter(pk=_number(request.GET.get("version", ""))).first()
    texts = consents.texts_of(desk.owner)
    asked = request.GET.get("language", "")
    text = old_version or (texts.get(asked) if asked else consents.newest_text(desk.owner))
    form = ConsentForm(request.POST or None, text=text, language=asked[:35] or desk.language)
    preview = ""
    if request.method == "POST" and form.is_valid():
        if request.POST.get("step") == "preview":
            preview = consents.render_text(form.cleaned_data["body"])
        elif saved := _save_text(form, desk):
            messages.success(request, f"Version {saved.version} ({saved.language}) is what people read now.")
            return redirect(desk.address("consent"))
    return desk.page(
        request,
        "consent_text.html",
        form=form,
        text=text,
        preview=preview,
        versions=rows.order_by("-pk")[:50],
        present=[(tag, name_of(tag)) for tag in texts],
        further=[(code, name) for code, name in LANGUAGES if not first_language([code], [*texts])],
        status=422 if form.errors else 200,
    )


def _save_text(form: ConsentForm, desk: LinkDesk) -> ConsentText | None:
    try:
        return consents.save_text(
            owner=desk.owner, values=form.values(), actor=desk.user, language=form.cleaned_data["language"]
        )
    except ActionError as error:
        form.add_error(None, str(error))
        return None


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0
