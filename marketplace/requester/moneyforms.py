"""Forms of the Money pages."""

import uuid
from datetime import UTC, datetime, time, timedelta
from typing import Any

from django import forms

from marketplace.services.invoice_records import LONGEST_ADDRESS
from marketplace.services.people import MOST_CENTS
from web.forms import MoneyField


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
        help_text="Name and address, as they are to stand on the invoice.",
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
