"""What needs somebody by the rules of notices, for a project's overview."""

from django.utils import timezone

from core.notices.conditions import everything_now
from core.notices.models import Notice
from core.projects.models import Project
from crowd.desk.overview import Attention, OverviewPart
from crowd.models import Assignment
from web.cache import cached, is_large_table

_LEVELS: dict[str, str] = {Notice.Level.ALARM: "now", Notice.Level.WARNING: "soon"}


def say(project: Project, _: int | None) -> OverviewPart:
    """Alarms and warnings of this project as they are now; news are in the list of notices.

    The rules look at all projects at once. Where that takes long, what they found is cached for a while.
    """
    now = timezone.now()
    large = is_large_table(Assignment)
    found = cached("conditions-now", now, lambda: everything_now(now), large=large)
    return OverviewPart(
        attention=tuple(
            Attention(_LEVELS[each.level], each.sentence, each.address)
            for each in found
            if each.project == project.pk and each.level in _LEVELS
        )
    )
