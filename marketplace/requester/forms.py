"""Forms about HITs, work and workers."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from django import forms

from marketplace.models import QualificationType
from marketplace.requester.fields import Form, OnceForm, TextField
from web.forms import MoneyField

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

    feedback = TextField(
        most=FEEDBACK_MOST, rows=2, required=False, label="Words for the worker, if you like"
    )


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
