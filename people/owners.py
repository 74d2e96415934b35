"""Whose study links are: a project's, or a requester's of the marketplace.

Rules of links are the same for both. What differs an app says with one `OwnerKind` in its extension:

    EXTENSION = Extension(RequesterLinks(), …)
"""

from abc import ABC, abstractmethod
from typing import Any

from django.contrib.auth.models import User

from core.extensions import parts_of
from core.notices.services import raise_notice
from core.origin import Owner
from core.projects.models import Project
from core.projects.services import record, why_read_only
from people.errors import PeopleError
from people.models import Guest, OwnedRow, StudyLink


class OwnerKind(ABC):
    """What one kind of owner does with what happens at its links; `pk` is the owner's key."""

    #: One of `Owner.Kind`.
    kind: str

    @abstractmethod
    def language(self, pk: int) -> str:
        """Language of texts where a link names none."""

    @abstractmethod
    def why_read_only(self, pk: int) -> str:
        """Why nothing can be changed; empty: it can."""

    @abstractmethod
    def lock(self, pk: int) -> None:
        """Lock the owner's row: versions of its texts are numbered one after the other."""

    @abstractmethod
    def record(self, pk: int, *, action: str, subject: str, actor: Any, details: dict[str, Any]) -> None:
        """Write into the owner's log."""

    @abstractmethod
    def notify(self, link: StudyLink, *, kind: str, key: str, level: str, sentence: str) -> None:
        """Tell the owner's people of something that they may want to look at."""

    def grants(self, pk: int) -> list[tuple[str, str]] | None:
        """What joining can grant, as values and labels; None: a group of any name."""
        return None

    def say_grant(self, link: StudyLink) -> str:
        """What joining by this link grants, in words; empty: nothing."""
        return link.granted

    def adopt(self, guest: Guest, user: User) -> None:  # noqa: B027  # most owners keep no account of their own
        """The guest is an account by now. In the transaction in which it was made."""

    def let_go(self, guest: Guest) -> None:  # noqa: B027  # most owners have nothing to take back
        """The guest withdrew. In the transaction in which they did."""


class ProjectLinks(OwnerKind):
    """Links of a project: its event log, its notices."""

    kind = Owner.Kind.PROJECT

    def language(self, pk: int) -> str:
        """The project's."""
        return _project(pk).language

    def why_read_only(self, pk: int) -> str:
        """A project whose data come from elsewhere."""
        return why_read_only(_project(pk))

    def lock(self, pk: int) -> None:
        """The project's row."""
        Project.objects.select_for_update(no_key=True).get(pk=pk)

    def record(self, pk: int, *, action: str, subject: str, actor: Any, details: dict[str, Any]) -> None:
        """Into the project's events."""
        record(project=_project(pk), action=action, subject=subject, actor=actor, details=details)

    def notify(self, link: StudyLink, *, kind: str, key: str, level: str, sentence: str) -> None:
        """A notice for the project's members."""
        assert link.project is not None
        address = f"/desk/projects/{link.project.slug}/people/{link.pk}/"
        raise_notice(
            project=link.project, kind=kind, key=key, level=level, sentence=sentence, address=address
        )


def _project(pk: int) -> Project:
    return Project.objects.get(pk=pk)


def kind_of(owner: Owner) -> OwnerKind:
    """What this kind of owner does. Raises PeopleError where no app knows it."""
    for part in parts_of(OwnerKind):  # type: ignore[type-abstract]  # asked by its base class
        if part.kind == owner.kind:
            return part
    raise PeopleError(f"Nothing here knows owners of the kind {owner.kind!r}.")


def columns_of(owner: Owner | None) -> dict[str, int | None]:
    """Values of an owned row's columns, to find or make it; None is the installation itself."""
    project = owner.pk if owner is not None and owner.kind == Owner.Kind.PROJECT else None
    requester = owner.pk if owner is not None and owner.kind == Owner.Kind.REQUESTER else None
    return {"project_id": project, "requester_id": requester}


def project_owner(project: Project) -> Owner:
    """A project as the owner of links."""
    return Owner(Owner.Kind.PROJECT, project.pk)


def language_of(row: OwnedRow) -> str:
    """Language of the row's owner."""
    return row.project.language if row.project else kind_of(row.owner).language(row.owner.pk)


def record_at(row: OwnedRow | Owner, action: str, subject: str, *, actor: Any = None, **details: Any) -> None:
    """Write into the log of a row's owner."""
    owner = row if isinstance(row, Owner) else row.owner
    kind_of(owner).record(owner.pk, action=action, subject=subject, actor=actor, details=details)
