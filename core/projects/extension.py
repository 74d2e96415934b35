"""What projects add to other apps: their events to the audit log, their roles to accounts."""

from typing import Any

from django.contrib.auth.models import User
from django.urls import reverse

from core.accounts.confirmation import Trust
from core.accounts.memberships import Membership as ShownMembership
from core.accounts.memberships import MembershipKind
from core.audit.chain import AuditSource, moment
from core.extensions import Extension
from core.origin import Owner
from core.projects import services
from core.projects.models import Event, Membership, Project
from core.webhooks.delivery import OwnerMembers

# Roles in projects as accounts know them: for invitations, groups of providers, and second factors.

Role = Membership.Role


def _title(slug: str) -> str | None:
    return Project.objects.filter(slug=slug).values_list("title", flat=True).first()


def _role_of(user: User, slug: str) -> str:
    return (
        Membership.objects.filter(project__slug=slug, user=user).values_list("role", flat=True).first() or ""
    )


def _owns(user: User, slug: str) -> bool:
    return user.is_superuser or _role_of(user, slug) == Role.OWNER


def _grant(user: User, slug: str, role: str) -> None:
    services.set_role(project=_project(slug), user=user, role=role)


def _revoke(user: User, slug: str) -> None:
    services.remove_member(project=_project(slug), user=user)


def _hand_over(before: User, after: User, slug: str) -> None:
    services.hand_over(project=_project(slug), before=before, after=after)


def _project(slug: str) -> Project:
    project = Project.objects.filter(slug=slug).first()
    if project is None:
        raise services.ProjectError(f"There is no project {slug!r}.")
    return project


def _address(slug: str) -> str:
    return reverse("desk:members", args=[slug])


def _memberships(user: User) -> list[ShownMembership]:
    rows = Membership.objects.filter(user=user).select_related("project").order_by("project__title")
    return [
        ShownMembership(row.project.title, row.role, reverse("desk:project", args=[row.project.slug]))
        for row in rows
    ]


def _is_owner(user: User) -> bool:
    return Membership.objects.filter(user=user, role=Role.OWNER).exists()


ACCOUNT_PARTS = (
    Trust(_is_owner),
    MembershipKind(
        kind="project",
        roles=(Role.OWNER, Role.MANAGER, Role.VIEWER),
        title=_title,
        may_invite=_owns,
        owns=_owns,
        role_of=_role_of,
        grant=_grant,
        revoke=_revoke,
        hand_over=_hand_over,
        address=_address,
        memberships=_memberships,
    ),
)


def _record(event: Event) -> dict[str, Any]:
    return {
        "log": Owner.Kind.PROJECT,
        "owner": event.project_id,
        "row": event.pk,
        "at": moment(event.at),
        "actor": event.actor_id,
        "action": event.action,
        "subject": event.subject,
        "details": event.details,
        "address": event.address,
        "via": event.via,
        "credential": event.credential,
        "request_id": event.request_id,
    }


def _describe(event: Event) -> dict[str, Any]:
    from core.projects.services import event_actions  # noqa: PLC0415  # it reads all extensions

    return {
        "who": event.actor.get_username() if event.actor else "",
        "what": event_actions().get(event.action, event.action),
    }


def _is_member(project: int, user: User) -> bool:
    return user.is_superuser or Membership.objects.filter(project=project, user=user).exists()


EXTENSION = Extension(
    OwnerMembers(Owner.Kind.PROJECT, _is_member),
    AuditSource(Owner.Kind.PROJECT, Event, "project_id", _record, _describe, related=("actor",)),
    *ACCOUNT_PARTS,
)
