"""Forms about qualifications."""

from typing import Any

from django import forms

from marketplace.batches.sheets import ACCEPTED
from marketplace.models import QualificationType
from marketplace.requester.fields import Form, TextField
from marketplace.services.qualification_tests import QualificationTest
from web.revisions import RevisedForm

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
        help_text="An inactive one can be neither asked for nor given; who holds it keeps it.",
    )
    way = forms.ChoiceField(
        label="How workers get it",
        widget=forms.RadioSelect,
        choices=[
            ("asked", "I give it, or decide when a worker asks"),
            ("everybody", "Everybody gets it who asks"),
            ("test", "By a test"),
        ],
        initial="asked",
    )
    auto_granted_value = forms.IntegerField(
        label="Value that everybody gets", required=False, initial=1, **_INTEGER
    )
    test = TextField(
        most=_XML_MOST,
        rows=8,
        required=False,
        label="Test",
        help_text="QuestionForm XML.",
    )
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
        given = self.cleaned_data
        everybody = given["way"] == "everybody"
        hours = given["retry_hours"]
        retry_s = None if hours is None else hours * HOUR
        if self.kind and self.kind.retry_delay_s is not None and hours == self.kind.retry_delay_s // HOUR:
            retry_s = self.kind.retry_delay_s
        return {
            "description": given["description"],
            "status": given["status"],
            "auto_granted": everybody,
            "auto_granted_value": given["auto_granted_value"] if everybody else 1,
            "retry_delay_s": retry_s,
        }

    def qualification_test(self) -> QualificationTest | None:
        """The test; None where there is none, or it stays as it is."""
        given = self.cleaned_data
        if given["way"] != "test":
            return None
        found = QualificationTest(
            questions=given["test"], answer_key=given["answer_key"], duration_s=given["minutes"] * MINUTE
        )
        same = not {"test", "answer_key", "minutes"} & set(self.changed_data)
        return None if same and self.kind and self.kind.has_test else found


def _initial(kind: QualificationType) -> dict[str, Any]:
    seconds = kind.test_duration_s
    return {
        "name": kind.name,
        "description": kind.description,
        "keywords": kind.keywords,
        "status": kind.status,
        "way": "test" if kind.has_test else "everybody" if kind.auto_granted else "asked",
        "auto_granted_value": kind.auto_granted_value,
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
