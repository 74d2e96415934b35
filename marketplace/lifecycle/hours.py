"""Hours of the week in which HITs of a batch can be taken, by the clock on the wall of a time zone."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from typing import Any, Self
from zoneinfo import ZoneInfo, available_timezones

from django.utils.formats import date_format
from django.utils.translation import gettext

from marketplace.errors import Refusal
from marketplace.models import Batch

DAY_NAMES = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
DAYS = tuple(name[:3] for name in DAY_NAMES)


@dataclass(frozen=True, slots=True)
class Hours:
    """Open on `days` from `opens` to `closes`; a `closes` that is not later is on the next day."""

    zone: str
    days: tuple[int, ...]
    opens: time
    closes: time

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> Self:
        """As a batch keeps them."""
        return cls(
            stored["zone"],
            tuple(stored["days"]),
            time.fromisoformat(stored["opens"]),
            time.fromisoformat(stored["closes"]),
        )

    def stored(self) -> dict[str, Any]:
        """As JSON, for the batch."""
        opens, closes = (each.isoformat("minutes") for each in (self.opens, self.closes))
        return {"zone": self.zone, "days": list(self.days), "opens": opens, "closes": closes}

    @classmethod
    def parse(cls, text: str) -> Self:
        """From text such as `Mon-Fri 09:00-17:00 Europe/Berlin`; raises Refusal for anything else."""
        match = _WRITTEN.fullmatch(text.strip())
        if match is None:
            message = f"{text[:60]!r} is not a range of hours. Write it like {_EXAMPLE}."
            raise Refusal("InvalidParameterValue", message)
        opens, closes = (_time(match[name]) for name in ("opens", "closes"))
        hours = cls(match["zone"], _days(match["days"]), opens, closes)
        hours.check()
        return hours

    def check(self) -> None:
        """Raise Refusal for no or unknown days, no duration, and an unknown time zone."""
        if not self.days or not set(self.days) <= set(range(len(DAYS))):
            raise Refusal("InvalidParameterValue", f"Name at least one day of {', '.join(DAYS)}.")
        if self.opens == self.closes:
            message = "It closes when it opens. Choose another time; 00:00 is midnight."
            raise Refusal("InvalidParameterValue", message)
        if self.zone not in zone_names():
            message = (
                f"{self.zone[:60]!r} is no time zone that this installation knows, such as Europe/Berlin."
            )
            raise Refusal("InvalidParameterValue", message)

    def is_open(self, now: datetime) -> bool:
        """Whether something can be taken at this moment."""
        return any(start <= now < end for start, end in self._spans(now))

    def next_opening(self, now: datetime) -> datetime:
        """When that begins again, in the time of the zone; now where it is open."""
        if self.is_open(now):
            return now
        return min(start for start, _ in self._spans(now) if start > now).astimezone(_zone(self.zone))

    def _spans(self, now: datetime) -> Iterable[tuple[datetime, datetime]]:
        """Beginning and end on the days around, in UTC.

        Where clocks are set back, both hours of one name belong to a span that has that hour; where they are
        set forward, a time that does not exist is the one an hour later.
        """
        today = now.astimezone(_zone(self.zone)).date()
        for day in (today + timedelta(days=number) for number in range(-1, 9)):
            if day.weekday() in self.days:
                last = day if self.closes > self.opens else day + timedelta(days=1)
                first, *_ = self._moments(day, self.opens)
                yield first, max(self._moments(last, self.closes))

    def _moments(self, day: date, at: time) -> list[datetime]:
        """The moments at which clocks on that day show `at`: two where they are set back."""
        zone = _zone(self.zone)
        return [datetime.combine(day, at.replace(fold=fold), zone).astimezone(UTC) for fold in (0, 1)]

    def __str__(self) -> str:
        return f"{_days_in_words(self.days, DAYS)} {self.opens:%H:%M}-{self.closes:%H:%M} {self.zone}"

    @property
    def words(self) -> str:
        """The same for whoever reads it, with days in their language; it cannot be read back."""
        monday = date(2024, 1, 1)
        names = [date_format(monday + timedelta(days=day), "D") for day in range(len(DAYS))]
        days = _days_in_words(self.days, names, gettext("Every day"))
        return f"{days} {self.opens:%H:%M}-{self.closes:%H:%M} {self.zone}"


_EXAMPLE = "Mon-Fri 09:00-17:00 Europe/Berlin, or Every day 08:00-00:00 UTC"
_WRITTEN = re.compile(
    r"(?P<days>[A-Za-z, -]+?)\s+(?P<opens>\d\d:\d\d)\s*-\s*(?P<closes>\d\d:\d\d)\s+(?P<zone>\S+)"
)


def _time(text: str) -> time:
    try:
        return time.fromisoformat(text)
    except ValueError as error:
        message = f"{text} is not a time of day. Write hours and minutes, such as 09:00 or 17:30."
        raise Refusal("InvalidParameterValue", message) from error


def _days(text: str) -> tuple[int, ...]:
    """Numbers of the days in a text such as `Mon-Wed, Sat`."""
    if text.casefold() == "every day":
        return tuple(range(len(DAYS)))
    days: set[int] = set()
    for part in text.split(","):
        first, _, last = (word.strip() for word in part.partition("-"))
        begin, end = _day(first), _day(last or first)
        days |= {(begin + step) % len(DAYS) for step in range((end - begin) % len(DAYS) + 1)}
    return tuple(sorted(days))


def _day(text: str) -> int:
    """Number of the day that a text names with three letters or more."""
    for number, name in enumerate(DAY_NAMES):
        if len(text) >= 3 and name.casefold().startswith(text.casefold()):
            return number
    raise Refusal("InvalidParameterValue", f"{text[:60]!r} is not a day. Days are {', '.join(DAYS)}.")


@lru_cache(maxsize=64)
def _zone(name: str) -> ZoneInfo:
    return ZoneInfo(name)


@lru_cache(maxsize=1)
def zone_names() -> tuple[str, ...]:
    """The time zones that this system knows."""
    return tuple(sorted(name for name in available_timezones() if "/" in name or name == "UTC"))


def _days_in_words(days: Sequence[int], names: Sequence[str], all_days: str = "Every day") -> str:
    """Mon-Fri for days in a row, Mon, Wed for others."""
    if len(days) == len(DAYS):
        return all_days
    if len(days) > 2 and days[-1] - days[0] == len(days) - 1:
        return f"{names[days[0]]}-{names[days[-1]]}"
    return ", ".join(names[day] for day in days)


def closed_batches(requester_pk: int, now: datetime) -> dict[int, Hours]:
    """Batches of a requester of which nothing can be taken at this moment, with their hours."""
    batches = Batch.objects.filter(requester=requester_pk, hours__isnull=False).values_list("pk", "hours")
    hours_of = {pk: Hours.of(stored) for pk, stored in batches if stored}
    return {pk: hours for pk, hours in hours_of.items() if not hours.is_open(now)}


def outside_hours(hours: Hours, now: datetime) -> Refusal:
    """The refusal of accepting outside of them, which says when that is possible again."""
    again = date_format(hours.next_opening(now), "D j M, H:i")
    return Refusal(
        "OutsideHours",
        gettext("This work can be accepted %(hours)s. It opens again %(again)s (%(zone)s).")
        % {"hours": hours.words, "again": again, "zone": hours.zone},
    )
