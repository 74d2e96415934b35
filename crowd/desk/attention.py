"""What needs somebody by the rules of notices, for a project's overview."""

from django.utils import timezone

from crowd.desk.overview import Attention, OverviewPart
from crowd.models import Assignment
from crowd.selectors.cached_figures import is_large_table, kept
from notices.conditions import everything_now
from notices.models import Notice
from projects.models import Project

_LEVELS: dict[str, str] = {Notice.Level.ALARM: "now", Notice.Level.WARNING: "soon"}


def say(project: Project, _: int | None) -> OverviewPart:
    """Alarms and warnings of this project as they are now; news are in the list of notices.

    The rules look at all projects at once. Where that takes long, what they found is kept for a while.
    """
    now = timezone.now()
    large = is_large_table(Assignment)
    found = kept("conditions-now", now, lambda: everything_now(now), large=large)
    return OverviewPart(
        attention=tuple(
            Attention(_LEVELS[each.level], each.sentence, each.address)
            for each in found
            if each.project == project.pk and each.level in _LEVELS
        )
    )
