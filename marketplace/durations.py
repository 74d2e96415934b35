"""Times and durations of templates, the exact ones in the title: the library `marketplace_time`."""

from datetime import datetime

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.timezone import localtime

register = template.Library()
MINUTE, HOUR, DAY = 60, 3600, 86_400
#: After so long a date says more than a number of days.
RELATIVE_UNTIL = 14 * DAY


@register.filter
def span(seconds: float) -> str:
    """A duration in its two largest units: 5400 is "1 h 30 min"."""
    rounded = max(0, int(seconds))
    if rounded < MINUTE:
        return f"{rounded} s"
    if rounded < HOUR:
        return _two(rounded, MINUTE, "min", 1, "s") if rounded < 10 * MINUTE else f"{rounded // MINUTE} min"
    if rounded < DAY:
        return _two(rounded, HOUR, "h", MINUTE, "min")
    days, rest = divmod(rounded, DAY)
    day_text = "1 day" if days == 1 else f"{days} days"
    hours = rest // HOUR
    return f"{day_text} {hours} h" if hours and days < 7 else day_text


@register.filter
def lasted(end: datetime | None, begin: datetime) -> str:
    """How long something lasted that has ended; nothing where it has not."""
    return span((end - begin).total_seconds()) if end else ""


def _two(seconds: int, large: int, large_name: str, small: int, small_name: str) -> str:
    first, rest = divmod(seconds, large)
    second = rest // small
    return f"{first} {large_name} {second} {small_name}" if second else f"{first} {large_name}"


@register.filter
def ago(moment: datetime, now: datetime) -> SafeString:
    """How long before `now` it was, or the date where that is long ago."""
    seconds = (now - moment).total_seconds()
    if seconds > RELATIVE_UNTIL:
        return _time(moment, f"{localtime(moment):%-d %b %Y}")
    return _time(moment, "just now" if seconds < 10 else f"{_one(seconds)} ago")


@register.filter
def ahead(moment: datetime, now: datetime) -> SafeString:
    """How long after `now` it will be, or the date where that is far away."""
    seconds = (moment - now).total_seconds()
    if seconds > RELATIVE_UNTIL:
        return _time(moment, f"on {localtime(moment):%-d %b %Y}")
    if seconds > DAY - HOUR / 2:
        seconds += HOUR / 2  # "in 7 days" for a whole week less a minute
    return _time(moment, "now" if seconds <= 0 else f"in {_one(seconds)}")


@register.filter
def clock(moment: datetime) -> SafeString:
    """The time of day, for moments that are near."""
    return _time(moment, f"{localtime(moment):%H:%M %Z}")


@register.filter
def moment(moment: datetime) -> SafeString:
    """Date and time."""
    return _time(moment, f"{localtime(moment):%-d %b %Y, %H:%M %Z}")


def _one(seconds: float) -> str:
    for size, name in ((DAY, "day"), (HOUR, "h"), (MINUTE, "min")):
        if seconds >= size:
            count = int(seconds // size)
            return f"{count} {name}{'s' if name == 'day' and count > 1 else ''}"
    return f"{max(0, int(seconds))} s"


def _time(moment: datetime, label: str) -> SafeString:
    exact = moment.replace(microsecond=0)
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        exact.isoformat(),
        f"{localtime(exact):%-d %b %Y, %H:%M:%S %Z}",
        label,
    )
