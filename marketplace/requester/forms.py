"""Forms about HITs, work, workers and money."""

import re
import uuid
from collections.abc import Iterable
from datetime import UTC, datetime, time, timedelta
from typing import Any

from django import forms

from marketplace.models import QualificationType
from marketplace.money.deposits import MOST_CENTS
from marketplace.money.finance import LONGEST_ADDRESS
from web.forms import MoneyField

# Fields that several forms of the requester site have.

#: Control characters that no text of the protocol may have; line breaks and tabs are none of them.
CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")


class Form(forms.Form):
    """A form without colons behind its labels."""

    def __init__(self, data: Any = None, **options: Any) -> None:
        super().__init__(data, label_suffix="", **options)


class OnceForm(Form):
    """A form that does its work once, however often it is sent: it carries a number of its own."""

    once = forms.UUIDField(widget=forms.HiddenInput, initial=uuid.uuid4)


class TextField(forms.CharField):
    """Text of several lines, with the line breaks of Unix and without control characters."""

    def __init__(self, *, most: int, rows: int = 3, **options: Any) -> None:
        super().__init__(
            max_length=most, widget=forms.Textarea(attrs={"rows": rows, "dir": "auto"}), **options
        )

    def to_python(self, value: Any) -> str:
        """Without carriage returns, so that a text is as long as it looks."""
        return str(super().to_python(value) or "").replace("\r\n", "\n").replace("\r", "\n")

    def validate(self, value: Any) -> None:
        """Refuse what the protocol refuses."""
        super().validate(value)
        if CONTROL.search(value):
            raise forms.ValidationError("There is a control character in this text; type it without.")


# Forms of the Money pages.


class DepositForm(forms.Form):
    """Money that comes in; sent twice, it books once."""

    amount = MoneyField(
        least=1,
        most=MOST_CENTS,
        refusal="An amount is between 0.01 and {most}.",
        label="Amount",
        help_text="Such as 250.00.",
    )
    reference = forms.CharField(
        required=False,
        max_length=120,
        label="Reference",
        help_text="What your books call it: the number of an order or a transfer.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "dir": "auto"}),
    )
    note = forms.CharField(
        required=False,
        max_length=500,
        label="Note",
        widget=forms.Textarea(attrs={"rows": 3, "dir": "auto"}),
    )
    once = forms.UUIDField(widget=forms.HiddenInput, initial=uuid.uuid4)

    def __init__(self, data: Any = None, **options: Any) -> None:
        super().__init__(data, label_suffix="", **options)


class PayableForm(forms.Form):
    """Which payments a new report takes."""

    day = forms.DateField(
        required=False,
        label="Payments before",
        help_text="The day, in UTC. Empty: all until now.",
        widget=forms.DateInput(attrs={"type": "date"}),
    )
    simulated = forms.BooleanField(required=False, label="With those to simulated workers")

    def __init__(self, data: Any = None, **options: Any) -> None:
        super().__init__(data, label_suffix="", **options)

    @property
    def until(self) -> datetime | None:
        """The beginning of the day; None for now."""
        day = self.cleaned_data["day"]
        return datetime.combine(day, time.min, tzinfo=UTC) if day else None


class InvoiceForm(forms.Form):
    """A period by its first and last day, and whom the invoice is for. It proposes the month before."""

    begins_on = forms.DateField(
        label="First day", widget=forms.DateInput(attrs={"type": "date"}), help_text="Days are UTC."
    )
    ends_on = forms.DateField(label="Last day", widget=forms.DateInput(attrs={"type": "date"}))
    address = forms.CharField(
        required=False,
        max_length=LONGEST_ADDRESS,
        label="Whom it is for",
        help_text="Name and address, as the invoice should have them.",
        widget=forms.Textarea(attrs={"rows": 4, "dir": "auto"}),
    )

    def __init__(self, data: Any = None, *, now: datetime, **options: Any) -> None:
        last = now.date().replace(day=1) - timedelta(days=1)
        initial = {"begins_on": last.replace(day=1).isoformat(), "ends_on": last.isoformat()}
        super().__init__(data, label_suffix="", initial=initial, **options)

    def clean(self) -> dict[str, Any]:
        """A period begins before it ends."""
        cleaned = super().clean() or self.cleaned_data
        first, last = cleaned.get("begins_on"), cleaned.get("ends_on")
        if first and last and last < first:
            self.add_error("ends_on", "The last day is before the first one.")
        if last and last.year > 9000:
            self.add_error("ends_on", "Choose a day in the past.")
        return cleaned

    @property
    def begins(self) -> datetime:
        """The beginning of the first day."""
        return datetime.combine(self.cleaned_data["begins_on"], time.min, tzinfo=UTC)

    @property
    def ends(self) -> datetime:
        """The end of the last day, which is the beginning of the next."""
        return datetime.combine(self.cleaned_data["ends_on"] + timedelta(days=1), time.min, tzinfo=UTC)


FEEDBACK_MOST = 1024
BONUS_MOST_CENTS = 10_000_00
_HOURS_OF_A_YEAR = 8_760
#: 1 January 2200, in seconds.
_LATEST = 7_258_118_400


class MoreTimeForm(Form):
    """How much longer a HIT stays on offer: from now, or from when it would have expired.

    It carries the moment from which it counts, so that sent twice it asks for the same.
    """

    hours = forms.IntegerField(
        min_value=1,
        max_value=_HOURS_OF_A_YEAR,
        label="Hours more",
        help_text="Counted from the end it has now, or from now where it has expired.",
        widget=forms.NumberInput(attrs={"size": 6}),
    )
    since = forms.IntegerField(widget=forms.HiddenInput)

    def until(self) -> datetime:
        """The new end."""
        data = self.cleaned_data
        since = datetime.fromtimestamp(data["since"], tz=UTC)
        return since + timedelta(hours=data["hours"])

    def clean_since(self) -> int:
        """Seconds of a time that there is."""
        since = int(self.cleaned_data["since"])
        if not 0 <= since <= _LATEST:
            raise forms.ValidationError("This page was not ours. Open the HIT again.")
        return since


class MorePlacesForm(OnceForm):
    """More people for a HIT."""

    places = forms.IntegerField(
        min_value=1,
        max_value=1_000_000,
        label="Places more",
        widget=forms.NumberInput(attrs={"size": 6}),
    )


class ApproveForm(Form):
    """An approval; words for the worker may go with it."""

    feedback = TextField(most=FEEDBACK_MOST, rows=2, required=False, label="Note for the worker (optional)")


class RejectForm(Form):
    """A rejection, with its reason."""

    feedback = TextField(most=FEEDBACK_MOST, label="Reason", help_text="The worker reads this.")


class BonusForm(OnceForm):
    """A payment on top."""

    amount = MoneyField(
        least=1,
        most=BONUS_MOST_CENTS,
        refusal="Write an amount between 0.01 and {most}.",
        label="Amount",
    )
    reason = TextField(most=900, rows=2, label="Reason", help_text="The worker reads this.")


class InvitationForm(forms.Form):
    """A link by which people sign up as workers."""

    label = forms.CharField(label="What it is for", max_length=120)
    uses = forms.IntegerField(label="People who may sign up", min_value=1, max_value=100_000, initial=40)
    days = forms.IntegerField(
        label="Days until it ends",
        min_value=1,
        max_value=365,
        required=False,
        initial=30,
        help_text="Empty: until it is used up.",
    )


class MessageForm(OnceForm):
    """A message into the inboxes of workers."""

    subject = forms.CharField(max_length=200, widget=forms.TextInput(attrs={"dir": "auto"}))
    body = TextField(most=4096, rows=8, label="Message")


class BlockForm(Form):
    """Keeping a worker out."""

    reason = TextField(most=2000, rows=2, label="Reason", help_text="For you. The worker does not see it.")


class GrantForm(Form):
    """A qualification for a worker."""

    kind = forms.ChoiceField(label="Qualification")
    value = forms.IntegerField(
        min_value=-2_147_483_648,
        max_value=2_147_483_647,
        initial=1,
        widget=forms.NumberInput(attrs={"size": 8}),
    )
    tell = forms.BooleanField(required=False, label="Tell the worker")

    def __init__(self, data: Any = None, *, kinds: Iterable[QualificationType] = (), **options: Any) -> None:
        super().__init__(data, **options)
        choices = [(kind.qualification_type_id, kind.name) for kind in kinds]
        self.fields["kind"].choices = choices  # type: ignore[attr-defined]
