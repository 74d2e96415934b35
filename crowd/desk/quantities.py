"""Money, times and counts as the desk's templates show them: the library `desk`."""

import json
from datetime import datetime
from typing import Any

from django import template
from django.contrib.auth.models import User
from django.template import Context
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_noop

from core.money import dollars
from core.projects.models import Project
from core.projects.selectors import projects_of
from crowd import counted_work
from crowd.desk.overview import following_step
from crowd.models import Assignment
from web import durations, nav
from web.cells import amount, chip
from web.languages import name_of

register = template.Library()
#: Projects in the switcher; the rest are on the page of all.
_SWITCHED = 12


register.filter(amount)


@register.filter
def plain_amount(cents: int) -> str:
    """Cents as somebody types them: 5000 is "50.00"."""
    return dollars(cents)


register.filter(durations.span)
register.filter("language_name", name_of)


@register.filter
def when(moment: datetime | None) -> SafeString | str:
    """How long ago or ahead a moment is, with the exact time in its title; a dash for none."""
    now = timezone.now()
    if moment is None:
        return "\N{EN DASH}"
    return durations.ahead(moment, now) if moment > now else durations.ago(moment, now)


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


#: Levels of the states of stages, work and operations.
_LEVELS = {
    gettext_noop("draft"): "",
    gettext_noop("open"): "good",
    gettext_noop("approved"): "good",
    gettext_noop("confirmed"): "good",
    gettext_noop("closed"): "",
    gettext_noop("rejected"): "bad",
    gettext_noop("refused"): "bad",
    gettext_noop("quarantined"): "bad",
    gettext_noop("unknown"): "bad",
    gettext_noop("paused"): "wait",
    gettext_noop("submitted"): "wait",
    gettext_noop("stored"): "wait",
    gettext_noop("planned"): "wait",
    gettext_noop("claimed"): "wait",
    gettext_noop("sent"): "wait",
}


@register.filter
def state_chip(state: str) -> SafeString:
    """A state of a stage, of work or of an operation."""
    return chip(gettext(state), _LEVELS.get(state, ""))


@register.simple_tag
def next_step(project: Project) -> SafeString:
    """A button to what a project needs next; nothing for one that does its work."""
    step = following_step(project)
    if step is None:
        return SafeString("")
    label = gettext("Next: %s") % step.step.label
    return format_html('<a class="button" href="{}">{}</a>', step.address, label)


@register.filter
def why_not(work: Assignment) -> str:
    """Why work does not count, in a word or two; nothing where it counts. The work is read with its stage."""
    return counted_work.why_not(work)
