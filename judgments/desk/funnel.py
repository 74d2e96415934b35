"""What this app says on a project's overview: queries all of whose answers are judged."""

from django.urls import reverse

from core.projects.models import Project
from crowd.desk.overview import Count, OverviewPart, Step
from judgments.selectors.funnel import judged


def say(project: Project, entered: int | None) -> OverviewPart:
    """The step "judged". Queries without an answer of a system wait for somebody to import one."""
    found = judged(project)
    if found is None:
        return OverviewPart()
    systems = reverse("judgments:systems", args=[project.slug])
    came = max(entered or 0, found.queries)
    step = Step(
        "Judged: all answers of systems scored",
        came,
        (
            Count("passed", "came through", found.judged, systems),
            Count("waiting", "waiting", found.queries - found.judged, systems),
            Count("undecided", "without an answer of a system", came - found.queries, systems),
        ),
    )
    return OverviewPart((step,))
