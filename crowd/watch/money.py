"""Budgets that come to their end while stages are open."""

from collections.abc import Iterator
from datetime import datetime

from django.db.models import Exists, F, OuterRef, Q
from django.urls import reverse

from core.money.amounts import dollars
from core.notices.conditions import Condition
from core.notices.models import Notice
from core.projects.models import Project
from crowd.models import Stage
from crowd.watch.stages import at, last_action

_OPEN = Stage.Status.OPEN


def low_or_reached(now: datetime) -> Iterator[Condition]:
    """Less than a tenth is left of a project or unspent in a stage; or publishing stopped for want of money.

    A stage whose places are all on offer has its money set aside, and that is no trouble; so for a stage it
    is what was spent that counts.
    """
    yield from _projects()
    short = Q(budget_cents__gt=10 * (F("budget_cents") - F("reserved_cents") - F("spent_cents")))
    stages = (
        Stage.objects.filter(short, status=_OPEN, budget_cents__gt=0)
        .select_related("project", "endpoint")
        .annotate(last=last_action())
        .order_by("pk")
    )
    for stage in stages:
        unspent = stage.budget_cents - stage.spent_cents
        if stage.last == "stage.budget_reached":
            yield Condition(
                stage.project_id,
                "budget_reached",
                f"budget_reached:stage:{stage.pk}",
                Notice.Level.ALARM,
                f"{stage.title} asks no one else: its budget of {_money(stage.budget_cents, stage)} or the "
                "project's is used up or set aside.",
                at("stage", stage),
            )
        elif unspent * 10 < stage.budget_cents:
            yield Condition(
                stage.project_id,
                "budget_low",
                f"budget_low:stage:{stage.pk}",
                Notice.Level.WARNING,
                f"Less than a tenth of the budget of {stage.title} is unspent: {_money(unspent, stage)} of "
                f"{_money(stage.budget_cents, stage)}.",
                at("stage", stage),
            )


def _projects() -> Iterator[Condition]:
    open_stage = Stage.objects.filter(project=OuterRef("pk"), status=_OPEN)
    rows = Project.objects.filter(
        Exists(open_stage),
        budget_cents__gt=10 * (F("budget_cents") - F("reserved_cents") - F("spent_cents")),
    ).order_by("pk")
    for project in rows:
        left = project.budget_cents - project.reserved_cents - project.spent_cents
        yield Condition(
            project.pk,
            "budget_low",
            "budget_low:project",
            Notice.Level.WARNING,
            f"Less than a tenth of the project's budget is left: {dollars(left)} of "
            f"{dollars(project.budget_cents)} is neither spent nor set aside.",
            reverse("desk:project", args=[project.slug]),
        )


def _money(cents: int, stage: Stage) -> str:
    return f"{dollars(cents)} {stage.endpoint.currency}"
