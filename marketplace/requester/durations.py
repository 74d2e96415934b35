"""A form's field for a duration: a number and its unit."""

from typing import Any

from django import forms
from django.utils.html import format_html
from django.utils.safestring import SafeString

from marketplace.batches.properties import DAY, HOUR, MINUTE

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
