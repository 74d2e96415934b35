"""What can be ranked, and what a ranking says."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from retrieval.crown.passages import Evidence, Passages
from retrieval.engine.base import Engine


class Collection(Protocol):
    """Passages that are searched together: a corpus of a project, or a folder of files."""

    @property
    def name(self) -> str:
        """Slug of the corpus, or name of the folder."""

    @property
    def language(self) -> str:
        """BCP 47 tag."""

    @property
    def engine(self) -> Engine:
        """Its index."""

    @property
    def evidence(self) -> Evidence | None:
        """Its word proximity network; None where none has been built."""

    @property
    def generation(self) -> Mapping[str, Any]:
        """What tells later which state answered: {"index": 3, "network": 2, "chain": …}."""

    def columns(self, pks: Sequence[int], *, numbers: bool) -> Passages:
        """Tokens of passages in this order, from the stored ones where there are any."""

    def texts(self, pks: Sequence[int]) -> Mapping[int, str]:
        """What is searched of them: title and text. Passages that are not there any more are left out."""


@dataclass(frozen=True)
class RankedPassage:
    """One passage of a ranking.

    rank: from 1. score: bigger is better. parts: what the score is made of, by name, made comparable between
    candidates. raw: the same before that, and other figures worth keeping. found_at: its rank among the
    engine's candidates.
    """

    rank: int
    score: float
    collection: str
    pk: int
    parts: Mapping[str, float] = field(default_factory=dict)
    raw: Mapping[str, float] = field(default_factory=dict)
    found_at: int | None = None


@dataclass(frozen=True)
class Ranking:
    """A ranking, and everything needed to say later how it came about."""

    ranker: str
    parameters: Mapping[str, Any]
    generations: Mapping[str, Mapping[str, Any]]
    terms: Mapping[str, float]
    results: Sequence[RankedPassage]
    notes: Sequence[str] = ()


class Ranker(Protocol):
    """Something that ranks. `turns` are those of a conversation, oldest first; the last is the question."""

    @property
    def name(self) -> str:
        """bm25, crown-2020, balanced, rrf(bm25+balanced), …"""

    def rank(self, collections: Sequence[Collection], turns: Sequence[str], k: int) -> Ranking:
        """The best k passages. EmptyQueryError where the last turn has no word."""
