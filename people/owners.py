"""Whose study links are, a project's or a requester's of the marketplace, and what they lead to.

Rules of links are the same for both. What differs an app says with one `OwnerKind` in its extension, and
apps that have work for people with a `Target`:

    EXTENSION = Extension(RequesterLinks(), StageTarget(), …)
"""

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User

from core.extensions import parts_of
from core.notices.services import raise_notice
from core.origin import Owner
from core.projects.models import Project
from core.projects.services import record, why_read_only
from people.errors import PeopleError
from people.models import Guest, Outcome, OwnedRow, StudyLink, Visit


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


# What a link leads to


@dataclass(frozen=True, slots=True)
class LinkChoice:
    """Something that a link can lead to: its row's key, the name or number that people see, and its title."""

    pk: int
    name: str
    title: str


@dataclass(frozen=True, slots=True)
class NextTask:
    """There is work: the address of its page, ready to open."""

    address: str


class Target(ABC):
    """One kind of thing that people can be led to."""

    #: What `StudyLink.target_kind` says.
    kind: str
    #: For the form of links.
    label: str

    @abstractmethod
    def choices(self, owner: Owner) -> list[LinkChoice]:
        """What a link of this owner can lead to; nothing for kinds of owners it is not of."""

    def welcome(self, link: StudyLink, guest: Guest) -> None:  # noqa: B027  # nothing is granted by default
        """Somebody joined: give them what the link grants. In the transaction in which they agreed."""

    @abstractmethod
    def begin(self, visit: Visit, back: str) -> NextTask | Outcome:
        """The open or the next task of the visit's guest, or why there is none.

        The task page sends the browser to `back` when the work is stored.
        """

    @abstractmethod
    def finished(self, link: StudyLink, worker_ids: list[str]) -> dict[str, int]:
        """Tasks that each of these people has finished; who has none may be missing."""

    def remarks(self, link: StudyLink, guest: Guest) -> list[str]:
        """What the person reads of their work beside how much is finished."""
        return []

    def plan_rehearsal(self, link: StudyLink, *, people: int) -> None:
        """Let so many simulated people come by the link, by a job. PeopleError where they cannot."""
        raise PeopleError("Simulated people come only by links that lead to a project's stages.")

    def has_work_for_others(self, link: StudyLink) -> bool:
        """Whether there is work left, which somebody who is done may not do."""
        return False

    @abstractmethod
    def title(self, link: StudyLink) -> str:
        """What the link leads to, in words."""

    def titles(self, links: Sequence[StudyLink]) -> dict[int, str]:
        """The same of several links of one owner, by their keys."""
        return {link.pk: self.title(link) for link in links}


def target_of(link: StudyLink) -> Target:
    """Who knows the link's kind of target. Raises PeopleError where no app does."""
    for target in parts_of(Target):  # type: ignore[type-abstract]  # asked by its base class
        if target.kind == link.target_kind:
            return target
    raise PeopleError(f"Nothing here knows targets of the kind {link.target_kind!r}.")


def all_choices(owner: Owner) -> dict[str, tuple[str, int, str]]:
    """Everything a link of the owner can lead to, by `kind:name`: its kind, its row's key, and words.

    The name is the one that people see: a stage's short name, the number of a batch.
    """
    return {
        f"{target.kind}:{each.name}": (target.kind, each.pk, f"{target.label}: {each.title}")
        for target in parts_of(Target)  # type: ignore[type-abstract]  # asked by its base class
        for each in target.choices(owner)
    }


def choice_labels(owner: Owner) -> list[tuple[str, str]]:
    """The same for a form."""
    return [(key, label) for key, (_, _, label) in all_choices(owner).items()]


def titles_of(links: Sequence[StudyLink]) -> dict[int, str]:
    """What each of an owner's links leads to, in words; what no app knows is said so."""
    by_kind: dict[str, list[StudyLink]] = defaultdict(list)
    for link in links:
        by_kind[link.target_kind].append(link)
    titles = {link.pk: "Something that is gone" for link in links}
    for target in parts_of(Target):  # type: ignore[type-abstract]  # asked by its base class
        if target.kind in by_kind:
            titles |= target.titles(by_kind[target.kind])
    return titles
