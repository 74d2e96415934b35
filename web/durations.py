"""Times and durations of templates, the exact ones in the title: the library `marketplace_time`."""

from datetime import datetime

from django import template
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.timezone import localtime
from django.utils.translation import gettext, ngettext

register = template.Library()
MINUTE, HOUR, DAY = 60, 3600, 86_400
#: After so long a date says more than a number of days.
RELATIVE_UNTIL = 14 * DAY


@register.filter
def span(seconds: float) -> str:
    """A duration in its two largest units: 5400 is "1 h 30 min"."""
    rounded = max(0, int(seconds))
    if rounded < MINUTE:
        return _seconds(rounded)
    if rounded < HOUR:
        minutes, rest = divmod(rounded, MINUTE)
        return _both(_minutes(minutes), _seconds(rest) if rest and minutes < 10 else "")
    if rounded < DAY:
        hours, rest = divmod(rounded, HOUR)
        return _both(_hours(hours), _minutes(rest // MINUTE) if rest >= MINUTE else "")
    days, rest = divmod(rounded, DAY)
    return _both(_days(days), _hours(rest // HOUR) if rest >= HOUR and days < 7 else "")


@register.filter
def lasted(end: datetime | None, begin: datetime) -> str:
    """How long something lasted that has ended; nothing where it has not."""
    return span((end - begin).total_seconds()) if end else ""


def _both(larger: str, smaller: str) -> str:
    return f"{larger} {smaller}" if smaller else larger


def _seconds(count: int) -> str:
    return gettext("%(n)s s") % {"n": count}


def _minutes(count: int) -> str:
    return gettext("%(n)s min") % {"n": count}


def _hours(count: int) -> str:
    return gettext("%(n)s h") % {"n": count}


def _days(count: int) -> str:
    return ngettext("%(n)s day", "%(n)s days", count) % {"n": count}


@register.filter
def ago(moment: datetime, now: datetime) -> SafeString:
    """How long before `now` it was, or the date where that is long ago."""
    seconds = (now - moment).total_seconds()
    if seconds > RELATIVE_UNTIL:
        return _time(moment, date_format(localtime(moment), "SHORT_DATE_FORMAT"))
    words = gettext("just now") if seconds < 10 else gettext("%(time)s ago") % {"time": _one(seconds)}
    return _time(moment, words)


@register.filter
def ahead(moment: datetime, now: datetime) -> SafeString:
    """How long after `now` it will be, or the date where that is far away."""
    seconds = (moment - now).total_seconds()
    if seconds > RELATIVE_UNTIL:
        day = date_format(localtime(moment), "SHORT_DATE_FORMAT")
        return _time(moment, gettext("on %(day)s") % {"day": day})
    if seconds > DAY - HOUR / 2:
        seconds += HOUR / 2  # "in 7 days" for a whole week less a minute
    return _time(moment, gettext("now") if seconds <= 0 else gettext("in %(time)s") % {"time": _one(seconds)})


@register.filter
def clock(moment: datetime) -> SafeString:
    """The time of day, for moments that are near."""
    return _time(moment, f"{localtime(moment):%H:%M %Z}")


@register.filter
def moment(moment: datetime) -> SafeString:
    """Date and time."""
    local = localtime(moment)
    return _time(moment, f"{date_format(local, 'SHORT_DATETIME_FORMAT')} {local:%Z}")


def _one(seconds: float) -> str:
    for size, words in ((DAY, _days), (HOUR, _hours), (MINUTE, _minutes)):
        if seconds >= size:
            return words(int(seconds // size))
    return _seconds(max(0, int(seconds)))


def _time(moment: datetime, label: str) -> SafeString:
    exact = moment.replace(microsecond=0)
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        exact.isoformat(),
        f"{date_format(localtime(exact), 'SHORT_DATE_FORMAT')}, {localtime(exact):%H:%M:%S %Z}",
        label,
    )
