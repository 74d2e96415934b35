"""Forms of templates and batches."""

import re
import uuid
from collections.abc import Mapping
from datetime import time
from typing import Any

from django import forms
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.db.models import QuerySet
from django.utils.html import format_html
from django.utils.safestring import SafeString

from core.money import AmountError, dollars, entered_cents
from marketplace.batches import properties as limits
from marketplace.batches.extensions import Wish, parse_ordinals
from marketplace.batches.properties import DAY, HOUR, MINUTE, Properties, from_stored
from marketplace.batches.templates import find_problems, of_template
from marketplace.countries import fault_of_place
from marketplace.errors import Refusal
from marketplace.forms.html import is_origin
from marketplace.forms.questions import MAX_TEMPLATE_BYTES
from marketplace.forms.sheets import ACCEPTED, ENCODINGS
from marketplace.lifecycle.hours import DAY_NAMES, Hours, zone_names
from marketplace.models import Batch, QualificationType, Requester, Template
from marketplace.money.amounts import money
from marketplace.qualifications.eligibility import (
    ADULT,
    LOCALE,
    MAX_LOCALES,
    NUMBER_HITS_APPROVED,
    PERCENT_APPROVED,
    Requirement,
    normalise,
)
from web.forms import RevisedForm

UNITS = {str(MINUTE): "minutes", str(HOUR): "hours", str(DAY): "days"}


class Duration(forms.MultiWidget):
    """A number and its unit."""

    use_fieldset = False

    def __init__(self) -> None:
        super().__init__(
            [
                forms.NumberInput(attrs={"min": 0, "size": 6}),
                forms.Select(choices=list(UNITS.items()), attrs={"aria-label": "Unit"}),
            ]
        )

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        """Both side by side."""
        both = super().render(name, value, attrs, renderer)
        return format_html('<span class="duration" id="{}">{}</span>', (attrs or {}).get("id", name), both)

    def id_for_label(self, id_: str) -> str:
        """The number."""
        return f"{id_}_0"

    def decompress(self, value: int | None) -> list[Any]:
        """Seconds in the largest unit that fits."""
        if value is None:
            return [None, str(MINUTE)]
        unit = next(size for size in (DAY, HOUR, MINUTE) if value % size == 0 or size == MINUTE)
        return [value // unit, str(unit)]


class DurationField(forms.MultiValueField):
    """A duration in seconds, between two limits."""

    widget = Duration

    def __init__(self, *, least: int, most: int, **options: Any) -> None:
        self.least, self.most = least, most
        parts = (
            forms.IntegerField(min_value=0, max_value=10**6),
            forms.ChoiceField(choices=list(UNITS.items())),
        )
        super().__init__(parts, require_all_fields=True, **options)

    def compress(self, data_list: list[Any]) -> int | None:
        """Seconds."""
        if not data_list:
            return None
        seconds = int(data_list[0]) * int(data_list[1])
        if not self.least <= seconds <= self.most:
            raise forms.ValidationError(
                f"Between {_format_seconds(self.least)} and {_format_seconds(self.most)}; "
                f"this is {_format_seconds(seconds)}."
            )
        return seconds


def _format_seconds(seconds: int) -> str:
    unit = next(size for size in (DAY, HOUR, MINUTE) if seconds % size == 0 or size == MINUTE)
    return f"{seconds // unit:,} {UNITS[str(unit)]}"


COMPARATORS = {
    "Exists": "is held",
    "DoesNotExist": "is not held",
    "EqualTo": "is exactly",
    "GreaterThanOrEqualTo": "is at least",
    "LessThanOrEqualTo": "is at most",
    "NotEqualTo": "is other than",
}
_NO_VALUE = ("Exists", "DoesNotExist")
GUARDS = {
    "Accept": "see and preview the tasks, and not accept them",
    "PreviewAndAccept": "see that there are tasks, and not preview them",
    "DiscoverPreviewAndAccept": "not even see that there are tasks",
}
#: What a new template begins with.
_FIRST = {"reward": "0.10", "duration": 3600, "lifetime": 7 * 86_400, "auto_approval": 3 * 86_400}
#: Qualifications of the requester's own that one batch can ask for.
OWN = 3
_LOCATION = re.compile(r"([A-Z]{2})(?:-([A-Z0-9]{2}))?")
_OF_A_WORKBOOK = "Of a workbook: the sheet's name. Empty: the first one with data."
#: A line break in a title would tear it apart in lists, mails and files.
_CONTROLS = re.compile("[\x00-\x1f\x7f]")


class AmountField(forms.CharField):
    """An amount of money; whole cents."""

    def __init__(self, **options: Any) -> None:
        super().__init__(
            max_length=20, widget=forms.TextInput(attrs={"inputmode": "decimal", "size": 10}), **options
        )

    def clean(self, value: Any) -> int | None:
        """Cents, or None where nothing is given and nothing has to be."""
        text = super().clean(value)
        if not text:
            return None
        try:
            return entered_cents(text, settings.MARKETPLACE_CURRENCY)
        except AmountError as error:
            raise forms.ValidationError(str(error)) from error


class PropertiesForm(RevisedForm, forms.Form):
    """What the HITs of a batch have in common."""

    title = forms.CharField(
        max_length=128, help_text="What workers see in the list. Say what is to be done.", strip=True
    )
    description = forms.CharField(
        max_length=2000, widget=forms.Textarea(attrs={"rows": 3}), help_text="One or two sentences more."
    )
    keywords = forms.CharField(
        max_length=1000, required=False, help_text="Separated by commas; workers search by them."
    )
    reward = AmountField(label="Reward per assignment")
    places = forms.IntegerField(
        min_value=1,
        max_value=limits.MAX_PLACES,
        initial=1,
        label="Assignments per task",
        help_text="How many different people answer each task.",
        widget=forms.NumberInput(attrs={"size": 6}),
    )
    duration = DurationField(
        least=MINUTE,
        most=limits.MAX_LIFETIME_S,
        label="Time allotted per assignment",
        help_text="Workers lose the task when it is over. Be generous.",
    )
    lifetime = DurationField(
        least=MINUTE,
        most=limits.MAX_LIFETIME_S,
        label="Batch expires after",
        help_text="Counted from publishing.",
    )
    auto_approval = DurationField(
        least=0,
        most=limits.MAX_AUTO_APPROVAL_S,
        label="Work is approved automatically after",
        help_text="If you have not decided before. 0 pays at once.",
    )
    locations = forms.CharField(
        required=False,
        max_length=400,
        label="Only in these places",
        help_text="Countries as two letters, states after a hyphen: US, CA, US-PA. Empty: anywhere.",
    )
    approval_rate = forms.IntegerField(
        required=False,
        min_value=0,
        max_value=100,
        label="Approval rate at least, in %",
        help_text="It counts as 100 % until a worker has submitted 100 assignments.",
        widget=forms.NumberInput(attrs={"size": 6}),
    )
    approved_count = forms.IntegerField(
        required=False,
        min_value=0,
        max_value=10**6,
        label="Approved HITs at least",
        widget=forms.NumberInput(attrs={"size": 6}),
    )
    adult = forms.BooleanField(
        required=False,
        label="The tasks contain adult or offensive content",
        help_text="Only people who agreed to see such content get them.",
    )
    guard = forms.ChoiceField(
        choices=list(GUARDS.items()), label="Who does not qualify can", initial="Accept", required=False
    )

    def __init__(self, *arguments: Any, requester: Requester, **named: Any) -> None:
        named.setdefault("label_suffix", "")
        super().__init__(*arguments, **named)
        self._own = own_qualifications(requester)
        choices = [("", "none"), *((each.qualification_type_id, each.name[:80]) for each in self._own)]
        for number in range(1, OWN + 1) if self._own else ():
            self.fields[f"own_{number}"] = forms.ChoiceField(
                choices=choices, required=False, label=f"Your qualification {number}"
            )
            self.fields[f"own_{number}_is"] = forms.ChoiceField(
                choices=list(COMPARATORS.items()), required=False, label="Condition"
            )
            self.fields[f"own_{number}_value"] = forms.IntegerField(
                required=False, label="Value", widget=forms.NumberInput(attrs={"size": 6})
            )

    def what(self) -> list[Any]:
        """Fields that say what is to be done."""
        return [self[name] for name in ("title", "description", "keywords")]

    def terms(self) -> list[Any]:
        """Fields about pay and time."""
        return [self[name] for name in ("reward", "places", "duration", "lifetime", "auto_approval")]

    def people(self) -> list[Any]:
        """Fields about who may work."""
        return [self[name] for name in ("locations", "approval_rate", "approved_count", "adult", "guard")]

    def own(self) -> list[tuple[Any, Any, Any]]:
        """Qualifications of the requester's own: which, condition, value."""
        numbers = range(1, OWN + 1) if self._own else ()
        return [(self[f"own_{n}"], self[f"own_{n}_is"], self[f"own_{n}_value"]) for n in numbers]

    def clean_title(self) -> str:
        """One line."""
        return _CONTROLS.sub(" ", str(self.cleaned_data["title"]))

    def clean_reward(self) -> int:
        """At most what the protocol takes."""
        reward = int(self.cleaned_data["reward"])
        if reward > limits.MAX_REWARD_CENTS:
            raise forms.ValidationError(f"At most {money(limits.MAX_REWARD_CENTS)}.")
        return reward

    def clean_locations(self) -> list[dict[str, str]]:
        """Locales of the protocol."""
        locales = []
        for word in re.split(r"[,;\s]+", str(self.cleaned_data["locations"]).upper().strip()):
            if not word:
                continue
            match = _LOCATION.fullmatch(word)
            fault = fault_of_place(*match.groups("")) if match else fault_of_place(word)
            if match is None or fault:
                raise forms.ValidationError(fault)
            locales.append({"Country": match[1]} | ({"Subdivision": match[2]} if match[2] else {}))
        if len(locales) > MAX_LOCALES:
            raise forms.ValidationError(f"At most {MAX_LOCALES} places.")
        return locales

    def clean(self) -> dict[str, Any]:
        """Make the requirements, by the protocol's own rules."""
        cleaned = super().clean() or self.cleaned_data
        for number in range(1, OWN + 1) if self._own else ():
            condition = cleaned.get(f"own_{number}_is") or "Exists"
            value = cleaned.get(f"own_{number}_value")
            if cleaned.get(f"own_{number}") and condition not in _NO_VALUE and value is None:
                self.add_error(f"own_{number}_value", f"“{COMPARATORS[condition]}” needs a value.")
        # The rules need all values; beside other errors they would only say those once more.
        if not self.errors:
            try:
                cleaned["requirements"] = normalise(list(self._requirements(cleaned)))
            except Refusal as refusal:
                self.add_error(None, refusal.message)
        return cleaned

    def _requirements(self, cleaned: Mapping[str, Any]) -> list[dict[str, Any]]:
        requirements: list[dict[str, Any]] = []
        if cleaned["locations"]:
            requirements.append(_make_requirement(LOCALE, "In", LocaleValues=cleaned["locations"]))
        for name, kind in (("approval_rate", PERCENT_APPROVED), ("approved_count", NUMBER_HITS_APPROVED)):
            if cleaned.get(name) is not None:
                requirements.append(
                    _make_requirement(kind, "GreaterThanOrEqualTo", IntegerValues=[cleaned[name]])
                )
        if cleaned["adult"]:
            requirements.append(_make_requirement(ADULT, "EqualTo", IntegerValues=[1]))
        for number in range(1, OWN + 1) if self._own else ():
            if own := cleaned.get(f"own_{number}"):
                condition = cleaned.get(f"own_{number}_is") or "Exists"
                integer = cleaned.get(f"own_{number}_value")
                integers = {} if condition in _NO_VALUE else {"IntegerValues": [integer]}
                requirements.append(_make_requirement(own, condition, **integers))
        guard = cleaned.get("guard") or "Accept"
        return [each | {"ActionsGuarded": guard} for each in requirements]

    def properties(self) -> Properties:
        """The form's values."""
        cleaned = self.cleaned_data
        return Properties(
            title=cleaned["title"],
            description=cleaned["description"],
            keywords=cleaned["keywords"],
            reward_cents=cleaned["reward"],
            places=cleaned["places"],
            duration_s=cleaned["duration"],
            lifetime_s=cleaned["lifetime"],
            auto_approval_s=cleaned["auto_approval"],
            requirements=cleaned["requirements"],
        )


def _make_requirement(kind: str, comparator: str, **values: Any) -> dict[str, Any]:
    return {"QualificationTypeId": kind, "Comparator": comparator, **values}


def own_qualifications(requester: Requester) -> list[QualificationType]:
    """What a batch of this requester can ask for, beside the system's qualifications."""
    rows: QuerySet[QualificationType] = requester.qualification_types.filter(deleted_at=None)
    return list(rows.order_by("name")[:500])


def initial_of(properties: Properties) -> dict[str, Any]:
    """A form's values for these properties."""
    values: dict[str, Any] = {
        "title": properties.title,
        "description": properties.description,
        "keywords": properties.keywords,
        "reward": dollars(properties.reward_cents),
        "places": properties.places,
        "duration": properties.duration_s,
        "lifetime": properties.lifetime_s,
        "auto_approval": properties.auto_approval_s,
    }
    own = 0
    for each in properties.requirements:
        # The form has one guard for all requirements, as it wrote them.
        values["guard"] = each["ActionsGuarded"]
        own += _put(values, each, own + 1)
    return values


def _put(values: dict[str, Any], each: Requirement, number: int) -> int:
    """Put a requirement into the field it came from; 1 if that is one of the requester's own."""
    kind, integers = each["QualificationTypeId"], each.get("IntegerValues", [])
    if kind == LOCALE:
        places = [(at["Country"], at.get("Subdivision", "")) for at in each.get("LocaleValues", [])]
        codes = ["-".join(filter(None, place)) for place in places]
        values["locations"] = ", ".join(codes)
    elif kind == PERCENT_APPROVED:
        values["approval_rate"] = integers[0]
    elif kind == NUMBER_HITS_APPROVED:
        values["approved_count"] = integers[0]
    elif kind == ADULT:
        values["adult"] = True
    else:
        values[f"own_{number}"] = kind
        values[f"own_{number}_is"] = each["Comparator"]
        values[f"own_{number}_value"] = integers[0] if integers else None
        return 1
    return 0


class TemplateForm(PropertiesForm):
    """A task page, and the properties that its batches begin with; `template` is the one that changes."""

    name = forms.CharField(max_length=120, help_text="For you alone.")
    html = forms.CharField(
        label="Task page",
        strip=False,
        widget=forms.Textarea(attrs={"rows": 24, "spellcheck": "false", "dir": "ltr", "class": "code-area"}),
        help_text="HTML with ${variables}, as for MTurk. Forms, crowd-* elements, scripts and styles work.",
    )
    frame_height = forms.IntegerField(
        min_value=0,
        max_value=10_000,
        initial=0,
        label="Height of the frame, in pixels",
        help_text="0 fits the window.",
        widget=forms.NumberInput(attrs={"size": 6}),
    )

    def __init__(self, data: Any = None, *, requester: Requester, template: Template | None = None) -> None:
        initial: dict[str, Any] = dict(_FIRST)
        if template:
            initial = initial_of(from_stored(template.properties))
            initial |= {name: getattr(template, name) for name in ("name", "html", "frame_height")}
        super().__init__(data, initial=initial, requester=requester)
        self.shows(template, ("name", "html", "frame_height", "properties"))

    def page(self) -> list[Any]:
        """Fields of the page itself."""
        return [self[name] for name in ("name", "html", "frame_height")]

    def clean_html(self) -> str:
        """A page has a text, and not more of it than a question can have."""
        # Browsers send \r\n for a line break, and PostgreSQL stores no NUL.
        html = str(self.cleaned_data["html"]).replace("\r\n", "\n").replace("\0", "")
        if not html.strip():
            raise forms.ValidationError("The page is empty.")
        if (size := len(html.encode())) > MAX_TEMPLATE_BYTES:
            raise forms.ValidationError(
                f"The page has {size:,} bytes; at most {MAX_TEMPLATE_BYTES:,} are taken. Load long scripts, "
                "styles and pictures from a server."
            )
        if wrong := [str(problem) for problem in find_problems(html) if problem.wrong]:
            raise forms.ValidationError(wrong)
        return html


class BatchForm(forms.Form):
    """A template and a table."""

    template = forms.ModelChoiceField(queryset=Template.objects.none(), empty_label=None)
    file = forms.FileField(
        label="Table",
        help_text="CSV or a workbook; its first line names the columns, every line below becomes a task.",
        widget=forms.ClearableFileInput(attrs={"accept": ACCEPTED}),
    )
    encoding = forms.ChoiceField(choices=list(ENCODINGS.items()), initial="auto")
    sheet = forms.CharField(max_length=200, required=False, label="Sheet", help_text=_OF_A_WORKBOOK)
    name = forms.CharField(
        max_length=120, required=False, label="Name", help_text="For you alone. Empty: template and file."
    )

    def __init__(self, *arguments: Any, requester: Requester, **named: Any) -> None:
        super().__init__(*arguments, **named)
        field = self.fields["template"]
        assert isinstance(field, forms.ModelChoiceField)
        field.queryset = requester.templates.order_by("name")

    def upload(self) -> "UploadedFile[bytes]":
        """The file."""
        file: UploadedFile[bytes] = self.cleaned_data["file"]
        return file


class RowsForm(forms.Form):
    """A table of more rows for a batch."""

    file = forms.FileField(
        label="Table",
        help_text="CSV or a workbook with the columns of the batch, in any order; every line becomes a task.",
        widget=forms.ClearableFileInput(attrs={"accept": ACCEPTED}),
    )
    encoding = forms.ChoiceField(choices=list(ENCODINGS.items()), initial="auto")
    sheet = forms.CharField(max_length=200, required=False, label="Sheet", help_text=_OF_A_WORKBOOK)
    leave_out = forms.BooleanField(
        required=False,
        initial=True,
        label="Leave out rows that the batch or the table has already",
        help_text="Rows with the same value in every column. The page that follows says how many there are.",
    )

    def upload(self) -> "UploadedFile[bytes]":
        """The file."""
        file: UploadedFile[bytes] = self.cleaned_data["file"]
        return file


class ExtendForm(forms.Form):
    """More places and more time for the HITs of a batch, and the amount, typed once it is shown."""

    places = forms.IntegerField(
        min_value=0,
        max_value=limits.MAX_PLACES,
        initial=0,
        label="Places more for each HIT",
        widget=forms.NumberInput(attrs={"size": 6}),
    )
    time = DurationField(
        least=0,
        most=limits.MAX_LIFETIME_S,
        initial=0,
        label="More time",
        help_text="Counted from the end that a HIT has now, or from now where it has expired.",
    )
    tasks = forms.CharField(
        required=False,
        max_length=2000,
        label="Only these tasks",
        help_text="Their numbers, such as 1-20, 35. Empty: all.",
    )
    amount = AmountField(label="Type the total to go on", help_text="So much is put on hold.", required=False)
    # Comes back with the form: sent twice, it is one extension.
    once = forms.UUIDField(widget=forms.HiddenInput, initial=uuid.uuid4)

    def __init__(self, data: Any = None, *, batch: Batch) -> None:
        super().__init__(data, label_suffix="")
        self._most = batch.task_count

    def clean_tasks(self) -> tuple[int, ...] | None:
        """Numbers of tasks."""
        try:
            return parse_ordinals(str(self.cleaned_data["tasks"]), self._most)
        except ValueError as error:
            raise forms.ValidationError(str(error)) from error

    def clean(self) -> dict[str, Any]:
        """Something has to be more."""
        cleaned = super().clean() or self.cleaned_data
        if not self.errors and not cleaned["places"] and not cleaned["time"]:
            self.add_error("places", "Ask for more places, for more time, or for both.")
        return cleaned

    def wish(self) -> Wish:
        """What is asked for."""
        cleaned = self.cleaned_data
        return Wish(places=cleaned["places"], seconds=cleaned["time"], ordinals=cleaned["tasks"])

    def confirms(self, total: int) -> bool:
        """Whether the total was typed; a wrong one is an error, and none asks to be shown the cost."""
        amount = self.cleaned_data["amount"]
        if amount is not None and amount != total:
            self.add_error("amount", f"The total is {money(total)}, not {money(amount)}.")
        return bool(amount == total)


class MomentField(forms.DateTimeField):
    """A day and a time in UTC."""

    def __init__(self, **options: Any) -> None:
        widget = forms.DateTimeInput(attrs={"type": "datetime-local", "step": 60}, format="%Y-%m-%dT%H:%M")
        super().__init__(
            widget=widget,
            input_formats=["%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M:%S"],
            required=False,
            **options,
        )


class ScheduleForm(forms.Form):
    """When a batch is published and ended; a draft's needs its total, typed."""

    publish_at = MomentField(label="Publish at", help_text="In UTC. Empty: not by itself.")
    end_at = MomentField(
        label="End at", help_text="In UTC: then the batch is cancelled. Empty: when its HITs expire."
    )
    amount = AmountField(
        label="Type the total to schedule", help_text="So much is put on hold then.", required=False
    )

    def __init__(self, data: Any = None, *, batch: Batch) -> None:
        initial = {"publish_at": batch.publish_at, "end_at": batch.end_at}
        super().__init__(data, initial=initial, label_suffix="")
        if batch.state != Batch.State.DRAFT:
            del self.fields["publish_at"], self.fields["amount"]
        elif batch.extends_id:
            # Added rows end with the batch that they are for.
            del self.fields["end_at"]


class ClockTimeField(forms.TimeField):
    """A time of day in hours and minutes: seconds would be cut off when the hours are stored."""

    default_error_messages = {"invalid": "Write hours and minutes, such as 09:00 or 17:30, without seconds."}
    input_formats = ["%H:%M"]
    widget = forms.TimeInput(attrs={"type": "time"}, format="%H:%M")


class HoursForm(forms.Form):
    """When HITs of a batch can be taken: days and times by the clock of a time zone."""

    days = forms.TypedMultipleChoiceField(
        label="Days",
        coerce=int,
        choices=list(enumerate(DAY_NAMES)),
        widget=forms.CheckboxSelectMultiple,
        help_text="None: at any time.",
        required=False,
    )
    opens = ClockTimeField(label="From", required=False)
    closes = ClockTimeField(
        label="Until", help_text="A time that is not later than the first is on the next day.", required=False
    )
    zone = forms.ChoiceField(label="Time zone", help_text="Summer time is followed.", required=False)

    def __init__(self, data: Any = None, *, batch: Batch) -> None:
        hours = Hours.of(batch.hours) if batch.hours else None
        initial = (
            {"days": hours.days, "opens": hours.opens, "closes": hours.closes, "zone": hours.zone}
            if hours
            else {"opens": time(9), "closes": time(17), "zone": "UTC"}
        )
        super().__init__(data, initial=initial, prefix="hours", label_suffix="")
        self.fields["zone"].choices = [(name, name) for name in zone_names()]  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        """Times and a zone where there are days."""
        cleaned: dict[str, Any] = super().clean() or {}
        if cleaned.get("days") and not self.errors:
            for name in ("opens", "closes", "zone"):
                if cleaned.get(name) in (None, ""):
                    self.add_error(name, "Say this, too, or choose no days.")
            if cleaned.get("opens") is not None and cleaned.get("opens") == cleaned.get("closes"):
                self.add_error("closes", "It closes when it opens. Choose another time; 00:00 is midnight.")
        return cleaned

    def hours(self) -> Hours | None:
        """What was chosen; None for at any time."""
        cleaned = self.cleaned_data
        if not cleaned["days"]:
            return None
        return Hours(
            cleaned["zone"], tuple(sorted(set(cleaned["days"]))), cleaned["opens"], cleaned["closes"]
        )


class BatchPropertiesForm(PropertiesForm):
    """What a draft's HITs have in common, and its name."""

    name = forms.CharField(max_length=120, label="Name of the batch", help_text="For you alone.")

    def __init__(self, data: Any = None, *, requester: Requester, batch: Batch) -> None:
        initial = initial_of(from_stored(batch.properties)) | {"name": batch.name}
        super().__init__(data, initial=initial, requester=requester)
        self.shows(batch, ("name", "properties"))


class PublishForm(forms.Form):
    """The amount, typed."""

    amount = AmountField(label="Type the total to publish", help_text="So much is put on hold.")

    def __init__(self, *arguments: Any, total: int, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._total = total

    def clean_amount(self) -> int:
        """It must be the total."""
        amount = int(self.cleaned_data["amount"])
        if amount != self._total:
            raise forms.ValidationError(f"The total is {money(self._total)}, not {money(amount)}.")
        return amount


class CancelForm(forms.Form):
    """The batch's number, typed: all of its HITs expire at once."""

    number = forms.IntegerField(
        label="Type the number of the batch to cancel it",
        widget=forms.TextInput(attrs={"inputmode": "numeric", "autocomplete": "off"}),
    )

    def __init__(self, data: Any = None, *, batch: Batch) -> None:
        super().__init__(data, label_suffix="")
        self._batch = batch

    def clean_number(self) -> int:
        """It must be this batch's."""
        number = int(self.cleaned_data["number"])
        if number != self._batch.number:
            raise forms.ValidationError(f"This is batch {self._batch.number}, not {number}.")
        return number


class ReviewForm(forms.Form):
    """A results file with decisions in it."""

    file = forms.FileField(
        label="Reviewed results",
        help_text="The results file with an x under Approve, or a reason under Reject.",
        widget=forms.ClearableFileInput(attrs={"accept": ACCEPTED}),
    )
    encoding = forms.ChoiceField(choices=list(ENCODINGS.items()), initial="auto")
    sheet = forms.CharField(max_length=200, required=False, label="Sheet", help_text=_OF_A_WORKBOOK)
    override = forms.BooleanField(
        required=False,
        label="Also turn rejections into approvals",
        help_text="Where the file has an x for work that you rejected before.",
    )
    once = forms.UUIDField(widget=forms.HiddenInput, initial=uuid.uuid4)

    def upload(self) -> "UploadedFile[bytes]":
        """The file."""
        file: UploadedFile[bytes] = self.cleaned_data["file"]
        return file


class ApproveWaitingForm(forms.Form):
    """The button that approves everything: what had come in when it was shown."""

    seen = forms.DateTimeField()
    once = forms.UUIDField(initial=uuid.uuid4)


class HostsForm(RevisedForm, forms.Form):
    """Where a draft's tasks may load from: hosts of its template, of its cells, and others."""

    hosts_named = forms.MultipleChoiceField(
        required=False, label="Load from", widget=forms.CheckboxSelectMultiple
    )
    more = forms.CharField(
        required=False,
        max_length=2000,
        label="Other hosts",
        help_text="Separated by spaces, such as https://cdn.example.org.",
    )

    def __init__(self, *arguments: Any, batch: Batch, **named: Any) -> None:
        own = of_template(batch.html)
        hosts = list(dict.fromkeys([*own, *batch.hosts_of_cells, *batch.hosts]))
        named["initial"] = {"hosts_named": batch.hosts}
        super().__init__(*arguments, **named)
        self.shows(batch, ("hosts",))
        choices = [(host, f"{host} ({_from(host, own, batch)})") for host in hosts]
        field = self.fields["hosts_named"]
        assert isinstance(field, forms.MultipleChoiceField)
        field.choices = choices

    def clean_more(self) -> list[str]:
        """Origins."""
        hosts = str(self.cleaned_data["more"]).lower().split()
        for word in hosts:
            if not is_origin(word.rstrip("/")):
                raise forms.ValidationError(f"{word[:80]} is no host. Write it as https://cdn.example.org.")
        return [word.rstrip("/") for word in hosts]

    def hosts(self) -> list[str]:
        """What was chosen."""
        return [*self.cleaned_data["hosts_named"], *self.cleaned_data["more"]]


def _from(host: str, own: list[str], batch: Batch) -> str:
    if host in own:
        return "named by the template"
    return "named by the table" if host in batch.hosts_of_cells else "added by you"
