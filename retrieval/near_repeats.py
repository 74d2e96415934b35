"""Passages that nearly repeat an earlier one: found by MinHash and bands, then compared for sure.

Of each passage 128 least hashes of its word triples are kept by bands (locality-sensitive hashing; Broder
1997, Indyk & Motwani 1998; datasketch chooses how many bands of how many hashes). What shares a band is
compared triple by triple, so nothing is a repetition by chance; at the share that is asked for about 2 in
1,000 are overlooked, and fewer above it. Bands lie in a file, so memory stays the same.

Passages of one page are compared by their regions first: the share of characters that both have in common.
"""

import re
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from retrieval.tokens import UNSPACED, primary

Hashes = NDArray[np.uint64]
_WORD = re.compile(r"[^\W_]+")
_CHARACTER = re.compile(r"[^\W_]")
#: Odd constants that spread the hashes of three words over 64 bits (Knuth's multiplicative hashing).
_SPREAD = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9], dtype=np.uint64)
_SHINGLE = 3


class _Words(dict[str, int]):
    """Hashes of words, from 1; each is worked out once."""

    def __missing__(self, word: str) -> int:
        number = self[word] = crc32(word.encode("utf-8", "surrogatepass")) + 1
        return number


class Shingler:
    """Turns texts of one language into hashes of their word triples; remembers the words it has met."""

    #: Words that are remembered; then it begins again, so that memory stays the same.
    _MOST_WORDS = 1_000_000

    def __init__(self, language: str) -> None:
        self._pattern = _CHARACTER if primary(language) in UNSPACED else _WORD
        self._known = _Words()

    def triples(self, texts: Sequence[str]) -> tuple[Hashes, NDArray[np.int64]]:
        """Hashes of all triples, one text after the other, and where each text begins, with the end.

        A text of fewer words than three has one: of the words there are, so that none is empty.
        """
        if len(self._known) > self._MOST_WORDS:
            self._known.clear()
        numbers = self._known
        word_numbers: list[int] = []
        begins = [0]
        for text in texts:
            own = [numbers[word] for word in self._pattern.findall(text.lower())]
            word_numbers += own + [0] * (_SHINGLE - len(own))
            begins.append(len(word_numbers))
        flat = np.array(word_numbers, dtype=np.uint64)
        mixed = sum(
            (flat[at : len(flat) - 2 + at] * _SPREAD[at] for at in range(_SHINGLE)), start=np.uint64()
        )
        spread = np.asarray(mixed ^ (mixed >> np.uint64(29)), dtype=np.uint64)
        edges = np.array(begins, dtype=np.int64)
        inside = np.ones(len(flat), dtype=bool)
        for back in (1, 2):
            inside[edges[1:] - back] = False
        return spread[inside[: len(spread)]], edges - 2 * np.arange(len(edges))


def jaccard(first: Hashes, second: Hashes) -> float:
    """Share of the different triples of both that are in both."""
    one, other = set(first.tolist()), set(second.tolist())
    return len(one & other) / len(one | other)


_PERMUTATIONS = 128
_SEED = 1
#: Bands are chosen for a share this much lower, so that little is overlooked at the share itself.
_MARGIN = 0.1
_OVERLOOKING_WEIGHS = (0.1, 0.9)
_PARAMETERS = 500
#: Earlier passages that a passage is compared with at most.
_COMPARED = 3


class Candidate(NamedTuple):
    """A passage as it is compared."""

    key: str
    text: str
    page: str = ""
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True)
class NearRepeat:
    """Which earlier passage is nearly repeated, by what (`text` or `region`), and the share in common."""

    key: str
    by: str
    share: float


class NearRepeats:
    """Passages seen so far, in a file of its own. `texts_of` gives texts of earlier ones by their keys."""

    def __init__(
        self,
        path: Path,
        language: str,
        share: float,
        texts_of: Callable[[Sequence[str]], Mapping[str, str]],
    ) -> None:
        self._share, self._texts_of, self._shingler = share, texts_of, Shingler(language)
        self._bands, self._rows = bands_for(share)
        draw = np.random.default_rng(_SEED)
        self._factors = draw.integers(1, 2**63, size=_PERMUTATIONS, dtype=np.uint64) * 2 + 1
        self._shifts = draw.integers(0, 2**63, size=_PERMUTATIONS, dtype=np.uint64)
        self._store = sqlite3.connect(path, isolation_level=None)
        for statement in (
            "PRAGMA journal_mode=OFF",
            "PRAGMA synchronous=OFF",
            "PRAGMA cache_size=-32768",
            "CREATE TABLE band (hash INTEGER PRIMARY KEY, key TEXT)",
            "CREATE TABLE region (page TEXT, first INTEGER, last INTEGER, key TEXT)",
            "CREATE INDEX region_page ON region (page)",
        ):
            self._store.execute(statement)

    def close(self) -> None:
        """Close the file; who made its folder removes it."""
        self._store.close()

    def register(self, candidates: Sequence[Candidate]) -> None:
        """Passages that are there already, and are not compared."""
        triples, begins = self._shingler.triples([each.text for each in candidates])
        self._keep(zip(candidates, self._hashed(triples, begins).tolist(), strict=True))

    def repeats(self, candidates: Sequence[Candidate]) -> list[NearRepeat | None]:
        """For each passage, in order, the earlier one that it nearly repeats. The others are registered."""
        if not candidates:
            return []
        triples, begins = self._shingler.triples([each.text for each in candidates])
        hashed = self._hashed(triples, begins).tolist()
        own = [triples[begin:end] for begin, end in pairwise(begins)]
        band = self._known_bands(hashed)
        regions = self._known_regions(candidates)
        earlier = self._triples_of({key for hashes in hashed for key in _likeliest(hashes, band)})
        repeats: list[NearRepeat | None] = []
        unrepeated = []
        for candidate, hashes, mine in zip(candidates, hashed, own, strict=True):
            near = _nearest_region(candidate, regions[candidate.page], self._share)
            if near is None:
                near = self._nearest(mine, _likeliest(hashes, band), earlier)
            repeats.append(near)
            if near is None:
                unrepeated.append((candidate, hashes))
                earlier[candidate.key] = mine
                regions[candidate.page].append(candidate)
                for each in hashes:
                    band.setdefault(each, candidate.key)
        self._keep(unrepeated)
        return repeats

    def _nearest(self, mine: Hashes, keys: Iterable[str], earlier: Mapping[str, Hashes]) -> NearRepeat | None:
        shares = ((jaccard(mine, earlier[key]), key) for key in keys if key in earlier)
        near = max(((share, key) for share, key in shares if share >= self._share), default=None)
        return NearRepeat(near[1], "text", near[0]) if near else None

    def _hashed(self, triples: Hashes, begins: NDArray[np.int64]) -> NDArray[np.int64]:
        """(passages, bands): one number for the hashes of each band."""
        least = np.empty((_PERMUTATIONS, len(begins) - 1), dtype=np.uint64)
        if not len(triples):
            return np.zeros((0, self._bands), dtype=np.int64)
        room = np.empty_like(triples)
        for row, factor, shift in zip(least, self._factors, self._shifts, strict=True):
            np.multiply(triples, factor, out=room)
            room += shift
            room >>= np.uint64(32)
            np.minimum.reduceat(room, begins[:-1], out=row)
        used = least[: self._bands * self._rows].reshape(self._bands, self._rows, -1)
        mixed = np.zeros((self._bands, used.shape[2]), dtype=np.uint64)
        for place in range(self._rows):
            mixed = (mixed ^ used[:, place]) * self._factors[place]
            mixed ^= mixed >> np.uint64(31)
        mixed = (mixed + np.arange(self._bands, dtype=np.uint64)[:, None]) * self._factors[-1]
        bands: NDArray[np.int64] = mixed.T.astype(np.int64)
        return bands

    def _known_bands(self, hashed: Sequence[Sequence[int]]) -> dict[int, str]:
        distinct = list({each for hashes in hashed for each in hashes})
        return dict(self._among("SELECT hash, key FROM band WHERE hash IN", distinct))

    def _known_regions(self, candidates: Iterable[Candidate]) -> defaultdict[str, list[Candidate]]:
        pages = list({each.page for each in candidates if each.page and each.start is not None})
        by_page = defaultdict(list)
        for page, start, end, key in self._among(
            "SELECT page, first, last, key FROM region WHERE page IN", pages
        ):
            by_page[page].append(Candidate(key, "", page, start, end))
        return by_page

    def _among(self, query: str, values: Sequence[object]) -> Iterable[Any]:  # rows of SQLite
        for at in range(0, len(values), _PARAMETERS):
            batch = values[at : at + _PARAMETERS]
            yield from self._store.execute(f"{query} ({', '.join('?' * len(batch))})", batch)

    def _triples_of(self, keys: set[str]) -> dict[str, Hashes]:
        texts = self._texts_of(sorted(keys))
        if not texts:
            return {}
        triples, begins = self._shingler.triples(list(texts.values()))
        spans = pairwise(begins)
        return {key: triples[begin:end] for key, (begin, end) in zip(texts, spans, strict=True)}

    def _keep(self, candidates: Iterable[tuple[Candidate, Sequence[int]]]) -> None:
        """The first passage of a band stands for all that share it: a common phrase costs once."""
        bands, regions = [], []
        for each, hashes in candidates:
            bands += [(number, each.key) for number in hashes]
            if each.page and each.start is not None:
                regions.append((each.page, each.start, each.end, each.key))
        self._store.execute("BEGIN")
        self._store.executemany("INSERT OR IGNORE INTO band VALUES (?, ?)", sorted(bands))
        self._store.executemany("INSERT INTO region VALUES (?, ?, ?, ?)", regions)
        self._store.execute("COMMIT")


def _likeliest(hashes: Iterable[int], band: Mapping[int, str]) -> list[str]:
    """The passages that share most bands; the others of a common phrase are not worth their comparison."""
    shared = Counter(key for each in hashes if (key := band.get(each)))
    return [key for key, _ in shared.most_common(_COMPARED)]


def bands_for(share: float) -> tuple[int, int]:
    """How many bands of how many hashes, for passages that have at least this share in common."""
    from datasketch import MinHashLSH  # heavy

    lsh = MinHashLSH(
        threshold=max(share - _MARGIN, _MARGIN), num_perm=_PERMUTATIONS, weights=_OVERLOOKING_WEIGHS
    )
    return lsh.b, lsh.r


def _nearest_region(candidate: Candidate, others: Iterable[Candidate], share: float) -> NearRepeat | None:
    """Of the same page, the region that has the largest share of characters in common, if it is enough."""
    if not candidate.page or candidate.start is None or candidate.end is None:
        return None
    near: NearRepeat | None = None
    for other in others:
        if other.start is None or other.end is None:
            continue
        common = min(candidate.end, other.end) - max(candidate.start, other.start)
        union = max(candidate.end, other.end) - min(candidate.start, other.start)
        if common > 0 and common / union >= max(share, near.share if near else 0):
            near = NearRepeat(other.key, "region", common / union)
    return near
