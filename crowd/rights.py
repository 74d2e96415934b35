"""Who may commit money at an endpoint, or write to its people: asked at that moment, by every service.

A row (`EndpointSpender`) names a project, whose members may as far as their roles go, or a person, who may in
each project that they work in. Staff of the installation may everywhere, and so may its operator, who needs
no account for a command. What goes on by itself, such as topping up, has the right of the person who
opened the stage, as it is now: once they and the project have lost it, no more is spent.
"""

from collections.abc import Iterable
from typing import Any

from django.db.models import Q, QuerySet

from core.accounts import security
from core.projects.models import Membership, Project
from core.projects.selectors import projects_of
from crowd.errors import SpendingRightError
from crowd.models import Endpoint, EndpointSpender, MarketOperation, Stage
from crowd.sources import is_closed, stages_at

Kind = MarketOperation.Kind
#: Operations that commit money, keep it committed or write to people. Deciding about submitted work is none
#: of them: its money is set aside, and people are paid for it after a right has ended. To approve after a
#: rejection takes new money.
GUARDED = frozenset(
    {
        Kind.PUBLISH,
        Kind.EXTEND,
        Kind.DEADLINE,
        Kind.BONUS,
        Kind.UNREJECT,
        Kind.STUDY,
        Kind.PLACES,
        Kind.PARTIAL,
        Kind.RETURN,
        Kind.MESSAGE,
    }
)


def acting_person(actor: Any = None) -> Any:
    """Who acts: the person that a service was given, or whom page or API know; None for the operator."""
    return actor or security.actor().user


def may_spend(endpoint: Endpoint, project: Project, person: Any) -> bool:
    """Whether a person may commit the endpoint's money for a project; None, the operator, may."""
    if person is None:
        return True
    if person.is_active and (person.is_staff or person.is_superuser):
        return True
    rows = EndpointSpender.objects.filter(endpoint=endpoint)
    if rows.filter(project=project).exists():
        return True
    roles = (Membership.Role.OWNER, Membership.Role.MANAGER)
    works_there = Membership.objects.filter(project=project, user=person, role__in=roles)
    return bool(person.is_active) and rows.filter(user=person).exists() and works_there.exists()


def is_operator() -> bool:
    """Whether who acts is staff of the installation, or its operator by a command."""
    person = acting_person()
    return person is None or bool(person.is_staff)


def refuse_unless_operator() -> None:
    """SpendingRightError for people at a page or of a token who are no staff of the installation."""
    if not is_operator():
        raise SpendingRightError(
            "Marketplaces are for administrators to add, change and give. Ask one of them."
        )


def refuse_spending(endpoint: Endpoint, stage: Stage, actor: Any = None) -> None:
    """SpendingRightError where who acts may not spend from this endpoint for the stage's project."""
    if not may_spend(endpoint, stage.project, acting_person(actor) or stage.opened_by):
        raise SpendingRightError(
            f"Neither you nor the project {stage.project.slug!r} may spend from {endpoint.label}. An "
            "administrator gives the project that right in the settings, under Marketplaces and panels, or "
            f"by `manage.py crowd endpoint allow {endpoint.name} --project {stage.project.slug}`."
        )


def refuse_stage(stage: Stage, actor: Any = None) -> None:
    """The same for all endpoints from which a stage takes people now."""
    for source_stage in stages_at(stage):
        if not is_closed(source_stage):
            refuse_spending(source_stage.endpoint, stage, actor)


def why_unentitled(stage: Stage) -> str:
    """Why a stage may not go on by itself, in words; empty where it may."""
    lacking = [
        source_stage.endpoint.label
        for source_stage in stages_at(stage)
        if not is_closed(source_stage)
        and not may_spend(source_stage.endpoint, stage.project, stage.opened_by)
    ]
    if not lacking:
        return ""
    return (
        f"Neither the project nor {stage.opened_by}, who opened the stage, may spend from "
        f"{', '.join(lacking)} any more."
    )


def usable_endpoints(
    projects: Iterable[Project] | None = None, *, used_by: Stage | None = None
) -> "QuerySet[Endpoint]":
    """Endpoints from which who acts may spend in one of these projects, by default in any of theirs.

    Also those that the stage `used_by` has already.
    """
    person = acting_person()
    if person is None or person.is_staff or person.is_superuser:
        return Endpoint.objects.all()
    mine = projects_of(person) if projects is None else list(projects)
    rows = EndpointSpender.objects.filter(Q(user=person) | Q(project__in=mine))
    usable = Q(pk__in=rows.values("endpoint"))
    if used_by is not None:
        usable |= Q(pk=used_by.endpoint_id) | Q(pk__in=used_by.sources.values("endpoint"))
    return Endpoint.objects.filter(usable)
