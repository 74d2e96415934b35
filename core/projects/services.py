"""What happens to projects: making them, members, budgets, and the record of it all."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils import timezone

from core.accounts import security
from core.errors import ActionError, NameTakenError
from core.extensions import parts_of
from core.jobs.spans import current_request_id
from core.origin import Owner, current_via
from core.projects.models import Event, Membership, Project
from core.projects.selectors import may_make_projects
from core.revisions import ShownColumns
from core.webhooks.events import emit_action
from core.webhooks.services import pause_webhooks_of

#: Actions of projects and of work; the event log also knows those of apps.
_ACTIONS = {
    "project.created": "made the project",
    "project.changed": "changed the project",
    "project.closed": "closed the project",
    "project.reopened": "reopened the project",
    "project.budget": "set the project's budget",
    "member.set": "set a member's role",
    "member.removed": "removed a member",
    "owner.changed": "handed the project over",
    "stage.created": "made a stage",
    "stage.changed": "changed a stage",
    "stage.opened": "opened a stage",
    "stage.paused": "paused a stage",
    "stage.closed": "closed a stage",
    "stage.reopened": "reopened a stage",
    "stage.topped_up": "topped up a stage",
    "stage.budget_reached": "reached the end of a budget",
    "stage.settled": "settled a stage",
    "hit.extended": "extended a HIT",
    "hit.expired": "expired a HIT",
    "assignment.approved": "approved work",
    "assignment.rejected": "rejected work",
    "assignment.overridden": "approved rejected work",
    "assignment.released": "let held work go on",
    "bonus.planned": "planned a bonus",
    "panel.terms": "said what a study at a panel pays beside whole rewards",
    "panel.charged": "noted what a panel charged in fees",
    "panel.screen_outs": "raised how many screen-outs a study at a panel pays",
    "participant.messaged": "wrote to participants of a panel",
    "submission.amount_stated": "said what a panel paid in part",
    "submission.paid_in_part": "paid a part of a reward",
    "submission.return_asked": "asked a participant to return a submission",
    "worker.excluded": "excluded a worker",
    "worker.messaged": "wrote to workers",
    "worker.readmitted": "let an excluded worker work again",
    "operation.refused": "was refused by the marketplace",
    "operation.resolved": "said what became of an operation",
    "webhook.made": "made a webhook",
    "webhook.changed": "changed a webhook",
    "webhook.removed": "removed a webhook",
    "picture.added": "added a picture of instructions",
    "picture.removed": "removed a picture of instructions",
    "endpoint.recovered": "compared a marketplace with a restored database",
}


@dataclass(frozen=True, slots=True)
class EventActions:
    """Actions that an app writes into the event log, with their words for people; part of its extension."""

    labels: Mapping[str, str]


@cache
def event_actions() -> Mapping[str, str]:
    """Every action that the event log knows, with its words for people."""
    labels = dict(_ACTIONS)
    for app in parts_of(EventActions):
        labels.update(app.labels)
    return labels


class UnknownActionError(ValueError):
    """An action that is not registered: a spelling mistake in the code."""


@transaction.atomic
def record(
    *,
    project: Project,
    action: str,
    subject: str = "",
    actor: Any = None,
    details: dict[str, Any] | None = None,
) -> Event:
    """Add an event to the project's log; `actor` None is the system itself.

    By which way, from which address and with which key or token it came is known from the border. Webhooks
    that ask for the event get a message in the same transaction.
    """
    if action not in event_actions():
        raise UnknownActionError(action)
    who = security.actor()
    event = Event.objects.create(
        project=project,
        at=timezone.now(),
        actor=actor,
        action=action,
        subject=subject[:200],
        details=details or {},
        address=who.address,
        via=current_via(),
        credential=who.access_key[:64],
        request_id=current_request_id()[:64],
    )
    emit_action(project.pk, project.slug, action, event.subject, event.details)
    return event


def note_webhook(hook: Any, what: str) -> None:
    """Note in a project's log that a webhook of it was made or changed, and by whom."""
    project = Project.objects.filter(pk=hook.owner_id).first()
    if project is not None:
        record(
            project=project,
            action=f"webhook.{what if what in ('made', 'removed') else 'changed'}",
            subject=hook.name,
            actor=security.actor().user,
            details={"webhook": hook.pk, "host": hook.host, "what": what},
        )


class ProjectError(ActionError):
    """Something that cannot be done with a project, in words."""


class ProjectNameTakenError(NameTakenError, ProjectError):
    """There is a project of this short name."""


class ProjectRightError(ProjectError):
    """Who acts may not make projects."""


def why_read_only(project: Project) -> str:
    """Why nothing is collected or changed in a project, as a sentence; empty where it is an ordinary one."""
    if not project.read_only:
        return ""
    return (
        f"The project {project.slug!r} is read-only: its data come from elsewhere and stay as they are. "
        "Make another project to collect or change anything."
    )


@transaction.atomic
def create_project(
    *,
    slug: str,
    title: str,
    owner: Any = None,
    budget_cents: int = 0,
    wage_floor_cents: int = 1000,
    language: str = "en",
    licence: str = "",
    read_only: bool = False,
    actor: Any = None,
) -> Project:
    """A new project; `owner` may do everything in it. `actor` makes it, the owner unless named.

    In a `read_only` one nothing is collected or changed, ever: its data come from elsewhere. Raises
    ProjectRightError for a person at a page or of a token who may not make projects.
    """
    person = security.actor().user
    if person is not None and not may_make_projects(person):
        raise ProjectRightError(
            "You have no right to make projects. An administrator gives it with "
            f"`manage.py crowd makers add {person.get_username()}`, or as the permission “Can add project”."
        )
    try:
        with transaction.atomic():
            project = Project.objects.create(
                slug=slug,
                title=title,
                language=language,
                licence=licence,
                read_only=read_only,
                budget_cents=budget_cents,
                wage_floor_cents=wage_floor_cents,
                created_at=timezone.now(),
            )
    except IntegrityError as error:
        raise ProjectNameTakenError(f"There is already a project {slug!r}.") from error
    record(project=project, action="project.created", subject=slug, actor=actor or owner)
    if owner is not None:
        set_role(project=project, user=owner, role=Membership.Role.OWNER, actor=actor or owner)
    return project


@transaction.atomic
def edit_project(
    *, project: Project, changes: dict[str, Any], budget_cents: int, seen: ShownColumns, actor: Any = None
) -> Project:
    """Save the form of a project, all of it or nothing; ConflictError where the project is not as `seen`.

    Where it holds these values already, nothing is done.
    """
    row = Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    columns = {**changes, "budget_cents": budget_cents}
    if any(getattr(row, name) != value for name, value in columns.items()):
        seen.check(row)
    change_project(project=row, changes=changes, actor=actor)
    if row.budget_cents != budget_cents:
        set_budget(project=row, budget_cents=budget_cents, actor=actor)
    return row


@transaction.atomic
def change_project(*, project: Project, changes: dict[str, Any], actor: Any = None) -> Project:
    """Change title, language, licence or wage floor; the budget has `set_budget`, the slug never changes.

    What describes a read-only project can be put right: its title, language and licence.
    """
    unknown = set(changes) - {"title", "language", "licence", "wage_floor_cents"}
    if unknown:
        raise ProjectError(f"These cannot be changed: {', '.join(sorted(unknown))}.")
    changes = {name: value for name, value in changes.items() if getattr(project, name) != value}
    if "wage_floor_cents" in changes and (why := why_read_only(project)):
        raise ProjectError(why)
    if not changes:
        return project
    for name, value in changes.items():
        setattr(project, name, value)
    try:
        project.clean_fields()
    except ValidationError as error:
        project.refresh_from_db()
        name, messages = next(iter(error.message_dict.items()))
        raise ProjectError(f"{name}: {messages[0]}") from error
    project.save(update_fields=list(changes))
    record(
        project=project, action="project.changed", subject=project.slug, actor=actor, details=dict(changes)
    )
    return project


@transaction.atomic
def set_role(
    *, project: Project, user: Any, role: str, actor: Any = None, seen: ShownColumns | None = None
) -> Membership:
    """Give somebody a role; the last owner stays one.

    With `seen`, ConflictError where the person has another role than the form showed.
    """
    if role not in Membership.Role.values:
        raise ProjectError(f"There is no role {role!r}; there are {', '.join(Membership.Role.values)}.")
    # Whoever changes roles waits for the project, so that two owners cannot take the role from each other.
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    membership = Membership.objects.filter(project=project, user=user).first()
    if seen is not None and membership is not None and membership.role != role:
        seen.check(membership)
    if role != Membership.Role.OWNER:
        _keep_an_owner(project, user)
    member, _ = Membership.objects.update_or_create(project=project, user=user, defaults={"role": role})
    record(
        project=project,
        action="member.set",
        subject=user.get_username(),
        actor=actor,
        details={"role": role},
    )
    security.log("member.set", project=project.slug, subject=user.get_username(), role=role)
    return member


@transaction.atomic
def remove_member(*, project: Project, user: Any, actor: Any = None) -> None:
    """Take somebody out of a project; the last owner stays."""
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    _keep_an_owner(project, user)
    if Membership.objects.filter(project=project, user=user).delete()[0]:
        pause_webhooks_of(Owner(Owner.Kind.PROJECT, project.pk), user)
        record(project=project, action="member.removed", subject=user.get_username(), actor=actor)
        security.log("member.removed", project=project.slug, subject=user.get_username())


@transaction.atomic
def hand_over(*, project: Project, before: Any, after: Any) -> None:
    """Make a member the owner in place of another, who becomes a manager. The member said yes to it."""
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    owners = Membership.objects.filter(project=project, user=before, role=Membership.Role.OWNER)
    if not before.is_superuser and not owners.exists():
        raise ProjectError(f"{before.get_username()} does not own this project any more.")
    Membership.objects.update_or_create(project=project, user=after, defaults={"role": Membership.Role.OWNER})
    owners.update(role=Membership.Role.MANAGER)
    record(
        project=project,
        action="owner.changed",
        subject=after.get_username(),
        actor=before,
        details={"from": before.get_username()},
    )
    security.log("owner.changed", project=project.slug, subject=after.get_username())


def _keep_an_owner(project: Project, user: Any) -> None:
    owners = set(
        Membership.objects.filter(project=project, role=Membership.Role.OWNER).values_list(
            "user_id", flat=True
        )
    )
    if owners == {user.pk}:
        raise ProjectError("A project keeps at least one owner; name another one first.")


@transaction.atomic
def set_budget(*, project: Project, budget_cents: int, actor: Any = None) -> None:
    """Change the cap; it cannot go below what is spent or reserved."""
    if why := why_read_only(project):
        raise ProjectError(why)
    try:
        with transaction.atomic():
            Project.objects.filter(pk=project.pk).update(budget_cents=budget_cents)
    except IntegrityError as error:
        raise ProjectError("More than that is already spent or reserved.") from error
    record(
        project=project,
        action="project.budget",
        subject=project.slug,
        actor=actor,
        details={"cents": budget_cents},
    )
