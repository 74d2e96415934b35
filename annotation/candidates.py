"""How candidate passages of a query are found, which of them repeat each other, and which overlap.

Pure decisions over options, texts and offsets; what is stored is the business of `services.candidates`.
"""

import random
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

# How candidate passages of a query are found: the options of a stage or of a command, as one value. Pure.

#: Passages that are shown of each query, unless a number is given.
SHOWN = 10
#: Passages that the index is asked for and that are ranked, unless a number is given.
FETCHED = 100
#: Passages looked at for each that is shown, so that folded ones leave no gap.
_SPARE = 3
#: What a stage may choose, with the system of `retrieval.ranking.systems` that it means.
RANKERS = {
    "balanced": "balanced:{model}:candidates={fetched}",
    "crown-2020": "crown-2020:{model}:candidates={fetched}",
    "bm25": "bm25:{model}",
    "pool": "rrf(bm25:{model}+balanced:{model}:candidates={fetched}):depth={fetched}",
}
QUERY_MODELS = ("cq2", "cq1", "cq3", "current")


@dataclass(frozen=True)
class Recipe:
    """Ranker, conversational query, and how many passages are fetched, shown, and drawn from below the cut.

    `ranker` is one of `RANKERS`, or the name of any other system, which brings its own options.
    """

    shown_count: int = SHOWN
    ranker: str = "balanced"
    query_model: str = "cq2"
    fetched: int = FETCHED
    below: int = 0

    @property
    def system(self) -> str:
        """The name that `retrieval.ranking.systems` knows."""
        return RANKERS.get(self.ranker, self.ranker).format(model=self.query_model, fetched=self._fetched)

    @property
    def depth(self) -> int:
        """How far down the ranking is looked at: all of it where something is drawn from below the cut."""
        return self._fetched if self.below else min(self._fetched, self.shown_count * _SPARE)

    @property
    def _fetched(self) -> int:
        return max(self.fetched, self.shown_count + self.below)


def drawn_below(retrieval: Any) -> tuple[int, int] | None:
    """Of a candidate from below the cut: how many were drawn of the query's, of how many; else None."""
    below = retrieval.get("below") if isinstance(retrieval, dict) else None
    if not isinstance(below, dict):
        return None
    return int(below["drawn"]), int(below["of"])


#: Passages are near-duplicates from this share of common word triples on (Jaccard index).
REPEATS_FROM = 0.9
_SHINGLE = 3
#: Words in a row that two passages of one page have in common when they overlap; twice as many characters
#: where writing has no spaces. Shorter passages: all of it, from five words on.
COMMON_RUN = 15
_LEAST_RUN = 5

_UNSPACED = "\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_TOKEN = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+")


def tokens(text: str) -> tuple[str, ...]:
    """Words without case and punctuation; single characters of writing without spaces."""
    return tuple(_TOKEN.findall(unicodedata.normalize("NFKC", text).lower()))


@dataclass(frozen=True)
class Region:
    """A passage as far as these decisions need it; `page` empty where it is not known."""

    key: str
    text: str
    page: str = ""
    start: int | None = None
    end: int | None = None
    rank: int = 0
    #: Chosen already, by whoever made the file: never folded.
    is_selected: bool = False

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        """Its words."""
        return tokens(self.text)

    @cached_property
    def shingles(self) -> frozenset[tuple[str, ...]]:
        """Its word triples; the text itself where there are fewer words."""
        return _runs(self.tokens, _SHINGLE) or frozenset([self.tokens or (self.text.strip(),)])


@dataclass(frozen=True)
class Choice:
    """A candidate in its order, and the place of the better one that it repeats, if it does."""

    region: Region
    folded_into: int | None = None
    reason: str = ""


def choose(ranked: Sequence[Region], k: int) -> list[Choice]:
    """The first k that do not repeat a better one, with the repetitions among them folded.

    The best one is never folded, and folds lead to one that is shown, never to another fold.
    """
    choices: list[Choice] = []
    shown_count = 0
    for region in ranked:
        if shown_count == k:
            break
        into, reason = _repeated(region, choices)
        shown_count += into is None
        choices.append(Choice(region, into, reason))
    return choices


def draw_below(
    ranked: Sequence[Region], choices: Sequence[Choice], n: int, seed: str
) -> tuple[list[int], int]:
    """Places of n passages from below the cut, in random order, and how many there were to draw from.

    A simple random sample without replacement of those after the last that `choose` looked at, without
    repetitions of what is shown and of one another; `seed` decides it. With it, what editors choose of them
    times (how many / n) estimates what they would have chosen below the cut.
    """
    unfolded = [choice for choice in choices if choice.folded_into is None]
    pool: list[int] = []
    for place in range(len(choices), len(ranked)):
        if _repeated(ranked[place], unfolded)[0] is None:
            pool.append(place)
            unfolded.append(Choice(ranked[place]))
    sample = random.Random(seed).sample(pool, min(n, len(pool)))
    return sample, len(pool)


def _repeated(region: Region, choices: Sequence[Choice]) -> tuple[int | None, str]:
    if region.is_selected:
        return None, ""
    for place, earlier in enumerate(choices):
        if earlier.folded_into is None and (share := similarity(region, earlier.region)) >= REPEATS_FROM:
            return place, fold_reason(
                share, earlier.region.rank or place + 1, region.tokens == earlier.region.tokens
            )
    return None, ""


def fold_reason(share: float, rank: int, same: bool) -> str:
    """Why a candidate is not shown, in words."""
    if same:
        return f"The same text as number {rank}."
    return f"{share:.0%} of its word triples and those of number {rank} are common to both."


def similarity(one: Region, other: Region) -> float:
    """Jaccard index of word triples: 1 for the same words in the same order, 0 for nothing in common."""
    common = len(one.shingles & other.shingles)
    return common / (len(one.shingles) + len(other.shingles) - common)


def overlap(one: Region, other: Region) -> bool:
    """Whether two passages are of one page and have a part of it in common.

    By their offsets where both have them; otherwise by a long run of words that is in both.
    """
    if not one.page or one.page != other.page:
        return False
    if one.start is not None and one.end is not None and other.start is not None and other.end is not None:
        return one.start < other.end and other.start < one.end
    length = min(_run_length(one), _run_length(other), len(one.tokens), len(other.tokens))
    return length >= _LEAST_RUN and not _runs(one.tokens, length).isdisjoint(_runs(other.tokens, length))


def overlaps(regions: Sequence[Region]) -> list[tuple[int, ...]]:
    """For each region the places of those that it overlaps with."""
    neighbours: list[list[int]] = [[] for _ in regions]
    for at, region in enumerate(regions):
        for before in range(at):
            if overlap(region, regions[before]):
                neighbours[at].append(before)
                neighbours[before].append(at)
    return [tuple(sorted(places)) for places in neighbours]


def _run_length(region: Region) -> int:
    single = sum(len(token) == 1 for token in region.tokens)
    return COMMON_RUN * 2 if single * 2 > len(region.tokens) else COMMON_RUN


def _runs(folded_tokens: tuple[str, ...], length: int) -> frozenset[tuple[str, ...]]:
    return frozenset(folded_tokens[at : at + length] for at in range(len(folded_tokens) - length + 1))
