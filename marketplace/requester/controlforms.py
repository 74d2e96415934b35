"""Forms of the chaos panel."""

from typing import Any

from django import forms

from marketplace.models import Chaos
from web.revisions import RevisedForm

MOST_CALLS, MOST_DELAY_S = 1_000_000, 86_400
_HOUR, _DAY = 3600, 86_400
#: Faults that stay until somebody changes them; the others are counted down by the calls that meet them.
_KEPT = ("throttle_rate", "error_rate", "visibility_delay_s", "duplicate_events")


class FaultsForm(RevisedForm, forms.Form):
    """Faults of one requester; what is left empty is off."""

    lose_response_after_commit = forms.IntegerField(
        required=False,
        min_value=0,
        max_value=MOST_CALLS,
        label="Lose answers",
        help_text="So many coming calls that change something are done, and then lose their answer.",
    )
    throttle_next = forms.IntegerField(
        required=False,
        min_value=0,
        max_value=MOST_CALLS,
        label="Throttle the next calls",
        help_text="So many coming calls are refused with ThrottlingException.",
    )
    throttle_rate = forms.FloatField(
        required=False,
        min_value=0,
        max_value=1,
        label="Throttle by chance",
        help_text="Share of all calls, from 0 to 1.",
    )
    error_rate = forms.FloatField(
        required=False,
        min_value=0,
        max_value=1,
        label="Fail inside by chance",
        help_text="Share of all calls, from 0 to 1: they break off in the middle, and are undone.",
    )
    visibility_delay_s = forms.FloatField(
        required=False,
        min_value=0,
        max_value=MOST_DELAY_S,
        label="Show submitted work later",
        help_text="Seconds until an assignment can be listed and reviewed.",
    )
    duplicate_events = forms.BooleanField(required=False, label="Send every event twice")

    def __init__(self, data: Any = None, *, chaos: Chaos | None = None) -> None:
        initial = {name: getattr(chaos, name) for name in self.base_fields} if chaos else None
        super().__init__(data, label_suffix="", initial=initial)
        self.shows(chaos, _KEPT)

    @property
    def faults(self) -> dict[str, float | bool]:
        """Every fault by its name."""
        return {name: value or 0 for name, value in self.cleaned_data.items()} | {
            "duplicate_events": bool(self.cleaned_data["duplicate_events"])
        }


class AdvanceForm(forms.Form):
    """How far the marketplace's clock moves on."""

    by = forms.ChoiceField(
        label="Move the clock on by",
        choices=[
            (str(_HOUR), "an hour"),
            (str(_DAY), "a day"),
            (str(7 * _DAY), "a week"),
            (str(30 * _DAY), "30 days"),
        ],
        help_text="For everybody on this installation. It cannot go back, but for a reset by the test token.",
    )

    def __init__(self, data: Any = None, **options: Any) -> None:
        super().__init__(data, label_suffix="", **options)

    @property
    def seconds(self) -> int:
        """The same in seconds."""
        return int(self.cleaned_data["by"])
