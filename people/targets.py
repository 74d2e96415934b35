"""What a link leads to. Apps that have work for people register a `Target` in their extension.

class StageTarget(Target):
    kind = "stage"
    ...

EXTENSION = Extension(StageTarget(), …)
"""

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from core.extensions import parts_of
from core.origin import Owner
from people.errors import PeopleError
from people.models import Guest, Outcome, StudyLink, Visit


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
    def choices(self, owner: Owner) -> list[tuple[int, str]]:
        """What a link of this owner can lead to: ids and titles; nothing for kinds of owners it is not of."""

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


def all_choices(owner: Owner) -> list[tuple[str, str]]:
    """Everything a link of the owner can lead to, as `kind:id` and words."""
    return [
        (f"{target.kind}:{key}", f"{target.label}: {title}")
        for target in parts_of(Target)  # type: ignore[type-abstract]  # asked by its base class
        for key, title in target.choices(owner)
    ]


def titles_of(links: Sequence[StudyLink]) -> dict[int, str]:
    """What each of an owner's links leads to, in words; what no app knows is said so."""
    by_kind: dict[str, list[StudyLink]] = defaultdict(list)
    for link in links:
        by_kind[link.target_kind].append(link)
    found = {link.pk: "Something that is gone" for link in links}
    for target in parts_of(Target):  # type: ignore[type-abstract]  # asked by its base class
        if target.kind in by_kind:
            found |= target.titles(by_kind[target.kind])
    return found
