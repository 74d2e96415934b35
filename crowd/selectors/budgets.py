"""What the stages of a project may spend together, beside what the project has."""

from django.db.models import Sum

from core.money.amounts import dollars
from core.projects.models import Project
from crowd.models import Stage


def allotted_cents(project: Project, *, without: Stage | None = None) -> int:
    """The budgets of a project's stages together, or of all but one."""
    rows = Stage.objects.filter(project=project)
    if without is not None:
        rows = rows.exclude(pk=without.pk)
    return rows.aggregate(cents=Sum("budget_cents"))["cents"] or 0


def over_budget(project: Project, *, stage: Stage | None = None, budget_cents: int = 0) -> str:
    """A caution where all stages exceed the project's budget with this one at this budget; else nothing."""
    others = allotted_cents(project, without=stage)
    together = others + budget_cents
    if together <= project.budget_cents:
        return ""
    return (
        f"The stages' budgets are {dollars(together)} together, more than the project's "
        f"{dollars(project.budget_cents)}, which ends them early. Raise it, or lower theirs."
    )
