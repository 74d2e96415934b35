"""Money, times and counts as the desk's templates show them: the library `desk`."""

import json
from datetime import datetime
from typing import Any

from django import template
from django.conf import settings
from django.contrib.auth.models import User
from django.template import Context
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from core.money import dollars, format_amount
from core.projects.models import Project
from core.projects.selectors import projects_of
from crowd import counted_work
from crowd.models import Assignment
from web import nav

register = template.Library()
_UNITS = ((86_400, "day"), (3600, "h"), (60, "min"))
#: After so long a date says more than a number of days.
_RELATIVE_UNTIL = 14 * 86_400
#: Projects in the switcher; the rest are on the page of all.
_SWITCHED = 12


@register.filter
def amount(cents: int, currency: str = "") -> str:
    """Cents with their currency, the installation's unless named: 123456 is "$1,234.56"."""
    return format_amount(cents, currency or settings.MARKETPLACE_CURRENCY)


@register.filter
def plain_amount(cents: int) -> str:
    """Cents as somebody types them: 5000 is "50.00"."""
    return dollars(cents)


@register.filter
def when(moment: datetime | None) -> SafeString | str:
    """How long ago or ahead a moment is, with the exact time in its title; a dash for none."""
    if moment is None:
        return "\N{EN DASH}"
    seconds = (moment - timezone.now()).total_seconds()
    far = abs(seconds) > _RELATIVE_UNTIL
    text = f"{moment:%-d %b %Y}" if far else "just now" if -10 < seconds <= 0 else _relative(seconds)
    exact = moment.replace(microsecond=0)
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        exact.isoformat(),
        f"{exact:%-d %b %Y, %H:%M:%S} UTC",
        text,
    )


def _relative(seconds: float) -> str:
    return f"in {span(seconds)}" if seconds > 0 else f"{span(-seconds)} ago"


@register.filter
def span(seconds: float) -> str:
    """A duration in its largest unit: 5400 is "1 h"; below ten of a unit with the next one, "1 h 30 min"."""
    total = max(0, int(seconds))
    for (size, name), (below, below_name) in zip(_UNITS, (*_UNITS[1:], (1, "s")), strict=True):
        if total >= size:
            count, rest = divmod(total, size)
            plural = "s" if name == "day" and count > 1 else ""
            more = rest // below
            small = f" {more} {below_name}" if more and count < 10 else ""
            return f"{count} {name}{plural}{small}"
    return f"{total} s"


@register.filter
def percent(part: int, total: int) -> int:
    """A share of a whole in percent, 0 to 100."""
    return min(100, max(0, round(100 * part / total))) if total else 0


@register.filter
def in_percent(share: float | None) -> str:
    """A share of 0 to 1 as people read it: 0.933 is "93 %"; a dash for none."""
    return "\N{EN DASH}" if share is None else f"{100 * share:.0f}\N{NO-BREAK SPACE}%"


@register.filter
def as_text(value: Any) -> str:
    """A stored value for people: texts as they are, tables of texts line by line, the rest as JSON."""
    if isinstance(value, dict) and all(isinstance(entry, str | int) for entry in value.values()):
        return "\n".join(f"{name}: {entry}" for name, entry in value.items())
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1)


@register.filter
def get(table: dict[str, Any], key: str) -> Any:
    """An entry of a dictionary, or 0."""
    return table.get(key, 0)


@register.simple_tag(takes_context=True)
def sidebar_groups(context: Context) -> list[nav.NavGroup]:
    """The sidebar of the desk: marked by the page's `sidebar` or `tab`; stages are at Stages."""
    project = context.get("project")
    place = context.get("sidebar") or ("board" if context.get("stage") else context.get("tab"))
    return nav.sidebar_groups(project, place or "projects", context["request"].path)


@register.simple_tag(takes_context=True)
def place_tabs(context: Context) -> list[nav.Tab]:
    """The parts of the place that a page of a project belongs to."""
    return nav.place_tabs(context["project"], context.get("tab") or "")


@register.simple_tag(takes_context=True)
def place_label(context: Context) -> str:
    """What a page of a project is about where it has no title of its own: the place it belongs to."""
    return nav.place_label(context.get("tab") or "") or str(context["project"].title)


@register.simple_tag
def projects_to_switch_to(user: User) -> list[Project]:
    """The newest projects of a user, for the switcher in the bar."""
    return list(projects_of(user).only("slug", "title").order_by("-pk")[:_SWITCHED])


@register.filter
def why_not(work: Assignment) -> str:
    """Why work does not count, in a word or two; nothing where it counts. The work is read with its stage."""
    return counted_work.why_not(work)
