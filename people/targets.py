"""What a link leads to. Apps that have work for people register a `Target` in their extension.

class StageTarget(Target):
    kind = "stage"
    ...

EXTENSION = Extension(StageTarget(), …)
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

from core.extensions import parts_of
from core.projects.models import Project
from people.errors import PeopleError
from people.models import Guest, Outcome, StudyLink


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
    def choices(self, project: Project) -> list[tuple[int, str]]:
        """What a link of this project can lead to: ids and titles."""

    def welcome(self, link: StudyLink, guest: Guest) -> None:  # noqa: B027  # nothing is granted by default
        """Somebody joined: give them what the link grants. In the transaction in which they agreed."""

    @abstractmethod
    def begin(self, link: StudyLink, guest: Guest, back: str) -> NextTask | Outcome:
        """The open or the next task of this person, or why there is none.

        The task page sends the browser to `back` when the work is stored.
        """

    @abstractmethod
    def finished(self, link: StudyLink, worker_ids: list[str]) -> dict[str, int]:
        """Tasks that each of these people has finished; who has none may be missing."""

    @abstractmethod
    def title(self, link: StudyLink) -> str:
        """What the link leads to, in words."""


def target_of(link: StudyLink) -> Target:
    """Who knows the link's kind of target. Raises PeopleError where no app does."""
    for target in parts_of(Target):  # type: ignore[type-abstract]  # asked by its base class
        if target.kind == link.target_kind:
            return target
    raise PeopleError(f"Nothing here knows targets of the kind {link.target_kind!r}.")


def all_choices(project: Project) -> list[tuple[str, str]]:
    """Everything a link of the project can lead to, as `kind:id` and words."""
    return [
        (f"{target.kind}:{key}", f"{target.label}: {title}")
        for target in parts_of(Target)  # type: ignore[type-abstract]  # asked by its base class
        for key, title in target.choices(project)
    ]
