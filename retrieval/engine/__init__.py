"""Search engines behind one small interface: what the app asks of an index, whichever engine keeps it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol, overload


class ScoredPassage(NamedTuple):
    """A passage found: its key in the database, and its BM25 score, comparable within one corpus only."""

    pk: int
    score: float


class ScoredPassages(Sequence[ScoredPassage]):
    """Passages found, best first, as two columns; a passage is made when somebody looks at it."""

    __slots__ = ("pks", "scores")

    def __init__(self, pks: Sequence[int], scores: Sequence[float]) -> None:
        self.pks, self.scores = pks, scores

    def __len__(self) -> int:
        return len(self.pks)

    def __iter__(self) -> Iterator[ScoredPassage]:
        return map(ScoredPassage, self.pks, self.scores)

    @overload
    def __getitem__(self, place: int) -> ScoredPassage: ...

    @overload
    def __getitem__(self, place: slice) -> "ScoredPassages": ...

    def __getitem__(self, place: int | slice) -> "ScoredPassage | ScoredPassages":
        if isinstance(place, slice):
            return ScoredPassages(self.pks[place], self.scores[place])
        return ScoredPassage(self.pks[place], self.scores[place])


class Engine(Protocol):
    """The index of one corpus. It knows passages by their number and never gives their text back.

    Writing methods may raise BusyError (somebody else writes), reading ones NotIndexedError and
    IndexBrokenError.
    """

    def index(self, passages: Iterable[tuple[int, str]]) -> int:
        """Add passages, in rising order of number, to what is there; how many. A kill loses only the tail."""

    def rebuild(self, passages: Iterable[tuple[int, str]]) -> int:
        """Make a new generation of these alone and swap it in at once; the old one answers until then."""

    def delete(self, ids: Sequence[int]) -> None:
        """Forget passages; unknown numbers are no error."""

    def terms(self, text: str) -> list[str]:
        """Words of a query as the index knows them, each once, in their order; see `analysis`."""

    def search(self, weights: Mapping[str, float], k: int) -> ScoredPassages:
        """Best passages for terms with weights above 0, by falling score, then number."""

    def count(self) -> int:
        """How many passages it holds."""

    def highest(self) -> int:
        """Highest number that it holds; 0 for none. All lower ones given to it are in it or were deleted."""

    def generation(self) -> int:
        """How often it was built again; 0 where it never was."""

    def drop(self) -> None:
        """Remove everything of it."""


__all__ = ["Engine", "ScoredPassage", "ScoredPassages"]
