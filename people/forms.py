"""Forms of the desk: a link with presets, a consent text."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, time
from typing import Any

from django import forms

from core.origin import Owner
from people import consents
from people.links import LinkChanges, LinkPlan
from people.models import ConsentText, Outcome, StudyLink
from people.owners import kind_of
from people.targets import all_choices

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
        help_text="Of your consent texts, such as en, de. Empty: the project's, or English.",
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
        self, data: Any = None, *, owner: Owner, preset: Preset | None = None, target: str = ""
    ) -> None:
        first = (dict(preset.values) if preset else {}) | ({"target": target} if target else {})
        super().__init__(data, initial=first, label_suffix="")
        choices = self.fields["target"]
        assert isinstance(choices, forms.ChoiceField)
        choices.choices = all_choices(owner)
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


class ConsentForm(forms.Form):
    """A consent text; saving makes a new version."""

    language = forms.CharField(max_length=35, label="Language", help_text="Such as en or de.")
    body = forms.CharField(
        max_length=50_000,
        label="Text",
        help_text="Markdown: # headings, **bold**, lists, links.",
        widget=forms.Textarea(attrs={"rows": 14}),
    )
    what_is_kept = forms.CharField(
        max_length=5_000, required=False, label="What is kept", widget=forms.Textarea(attrs={"rows": 6})
    )
    right_to_withdraw = forms.CharField(
        max_length=5_000, required=False, label="Withdrawing", widget=forms.Textarea(attrs={"rows": 6})
    )
    protocol_number = forms.CharField(max_length=100, required=False, label="Protocol number")
    contact = forms.CharField(max_length=300, required=False, label="Contact")
    minimum_age = forms.IntegerField(min_value=0, max_value=120, initial=18, label="Least age")

    def __init__(self, data: Any = None, *, text: ConsentText | None = None, language: str = "en") -> None:
        names = ("body", "what_is_kept", "right_to_withdraw", "protocol_number", "contact", "minimum_age")
        first: dict[str, Any] = {"language": language, **consents.first_values()}
        if text is not None:
            first = {"language": text.language} | {name: getattr(text, name) for name in names}
        super().__init__(data, initial=first, label_suffix="")

    def values(self) -> dict[str, Any]:
        """The columns of the text."""
        return {name: value for name, value in self.cleaned_data.items() if name != "language"}
