"""CIDEr-D (Vedantam, Zitnick and Parikh 2015, 3 and 5), as coco-caption computes it.

    g_n(s)     = for each n-gram of s: its count in s * (log N - log max(1, df))
    CIDEr_n    = mean over references r of exp(-(l(c) - l(r))^2 / (2 sigma^2))
                 * sum over n-grams of min(g_n(c), g_n(r)) * g_n(r) / (|g_n(c)| |g_n(r)|)
    CIDEr-D    = 10 * mean over n = 1..4 of CIDEr_n

N is the number of sets of references (one per candidate), df the number of those with the n-gram; both come
from a first pass over the data set. So the value of an answer depends on which other answers are scored with
it. With a single set of references log N = 0, and no value says anything: none is given. l counts bigrams, as
coco-caption does.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from metrics.errors import MetricError
from metrics.profiles import Profile
from metrics.texts import (
    Chunk,
    ChunkValues,
    Floats,
    Metric,
    Places,
    Survey,
    Tokens,
    best,
    measured,
    owners,
    signature,
)
from metrics.tokens import Tokeniser, tokeniser_named

Hashes = npt.NDArray[np.uint64]
Counts = npt.NDArray[np.int64]
_FACTOR = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, slots=True, eq=False)
class Grams:
    """n-grams of texts: entry e says that text `texts[e]` has `counts[e]` times the n-gram `grams[e]`.

    Sorted by text and n-gram; the entries of text t are `starts[t]:starts[t + 1]`. `hashes` and `orders` (0
    for single tokens) are those of the n-grams, sorted by hash.
    """

    texts: Places
    grams: Places
    counts: Counts
    starts: Places
    hashes: Hashes
    orders: Places


def grams_of(tokens: Tokens, highest: int) -> Grams:
    """All n-grams of the texts, n = 1..`highest`, under a hash of 64 bits that is the same everywhere."""
    ids, starts = tokens.ids, tokens.starts
    n = len(starts) - 1
    hashes_of_words = np.fromiter(map(_hash, tokens.vocabulary), np.uint64, len(tokens.vocabulary))
    of = np.repeat(np.arange(n), np.diff(starts))
    left = starts[1:][of] - np.arange(len(ids))
    own = hashes_of_words[ids] if len(ids) else np.zeros(0, np.uint64)
    hash_parts, places, orders = [own], [of], [np.zeros(len(ids), np.intp)]
    running = own
    for order in range(1, highest):
        running = (running[:-1] ^ (running[:-1] >> np.uint64(29))) * _FACTOR + own[order:]
        complete = left[: len(running)] > order
        hash_parts.append(running[complete])
        places.append(of[: len(running)][complete])
        orders.append(np.full(int(complete.sum()), order, np.intp))
    hashes, first, number = np.unique(np.concatenate(hash_parts), return_index=True, return_inverse=True)
    width = max(len(hashes), 1)
    keys, counts = np.unique(np.concatenate(places) * width + number, return_counts=True)
    texts = keys // width
    return Grams(
        texts,
        keys % width,
        counts.astype(np.int64),
        np.searchsorted(texts, np.arange(n + 1)).astype(np.intp),
        hashes,
        np.concatenate(orders)[first],
    )


@lru_cache(1 << 17)
def _hash(word: str) -> int:
    return int.from_bytes(blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


@dataclass(slots=True, eq=False)
class Frequencies:
    """Numbers of documents with each n-gram, among `documents`; adding two takes little time however many."""

    documents: int = 0
    _heaps: list[tuple[Hashes, Counts]] = field(default_factory=list)

    @classmethod
    def of(cls, documents: int, hashes: Hashes) -> "Frequencies":
        """Of some documents whose n-grams, each once per document, are given one after another."""
        return cls(documents, [_counted(hashes, np.ones(len(hashes), np.int64))])

    def add(self, other: "Frequencies") -> "Frequencies":
        """Take in what was found in other documents."""
        self.documents += other.documents
        self._heaps += other._heaps
        while len(self._heaps) > 1 and len(self._heaps[-1][0]) * 2 > len(self._heaps[-2][0]):
            self._merge_last()
        return self

    def weights(self, hashes: Hashes) -> npt.NDArray[np.float64]:
        """log(documents) - log(documents with it) of each n-gram; one in no document counts as in one."""
        while len(self._heaps) > 1:
            self._merge_last()
        frequency = np.ones(len(hashes), np.int64)
        if self._heaps and len(self._heaps[0][0]):
            known_hashes, counts = self._heaps[0]
            place = np.minimum(np.searchsorted(known_hashes, hashes), len(known_hashes) - 1)
            frequency = np.where(known_hashes[place] == hashes, counts[place], 1)
        weights: npt.NDArray[np.float64] = np.log(float(max(self.documents, 1))) - np.log(frequency)
        return weights

    @property
    def tell_nothing(self) -> bool:
        """Each n-gram is in every document, so that none weighs anything: one question, or the same again."""
        while len(self._heaps) > 1:
            self._merge_last()
        return self.documents > 0 and all(bool((counts == self.documents).all()) for _, counts in self._heaps)

    def _merge_last(self) -> None:
        (hashes, counts), (others, more) = self._heaps.pop(), self._heaps.pop()
        self._heaps.append(_counted(np.concatenate((hashes, others)), np.concatenate((counts, more))))


def _counted(hashes: Hashes, counts: Counts) -> tuple[Hashes, Counts]:
    order = np.argsort(hashes, kind="stable")
    hashes = hashes[order]
    firsts = np.flatnonzero(np.concatenate(([True], hashes[1:] != hashes[:-1]))) if len(hashes) else order
    return hashes[firsts], np.add.reduceat(counts[order], firsts) if len(firsts) else counts


def merged(first: Sequence[Frequencies], second: Sequence[Frequencies]) -> list[Frequencies]:
    """Frequencies of the k-th references of all, for each k."""
    longer, shorter = (first, second) if len(first) >= len(second) else (second, first)
    sums = list(longer)
    for place, other in enumerate(shorter):
        sums[place] = sums[place].add(other)
    return sums


VERSION = 1
REFERENCES = {"mean": "mean over references", "max": "best reference alone, each with the others' k-th"}
#: Values are rounded so that what is equal on paper is equal, whatever was summed up first.
DECIMALS = 12
#: A word weighs log N - log of the questions with it, which is 0 for each word where N is 1.
ONE_QUESTION = "CIDEr compares how rare words are among questions, and all references are those of one"
#: Entries of pairs that are compared at a time.
_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class Cider:
    """The parameters of CIDEr-D.

    `refs`: `mean` over the references of a candidate, or `max`, each reference alone, with document
    frequencies among the references that stand at the same place (KPQA, Lee et al. 2021).
    """

    n: int = 4
    sigma: float = 6.0
    refs: str = "mean"

    def __post_init__(self) -> None:
        if self.n < 1 or not self.sigma > 0:
            raise MetricError("CIDEr takes n from 1 on and a sigma above 0.")
        if self.refs not in REFERENCES:
            raise MetricError(f"CIDEr takes references as {' or '.join(REFERENCES)}, not as {self.refs!r}.")


def make(name: str, profile: Profile) -> Metric:
    """`cider` as the profile's `cider` settings (fields of `Cider`, `tokeniser`) have it."""
    how = Cider(**profile.options("cider"))
    tokeniser = tokeniser_named(profile.tokeniser_for("cider"))
    parts = {"n": how.n, "sigma": f"{how.sigma:g}", "df": "references", "refs": how.refs}
    return Metric(
        name=name,
        title="CIDEr-D",
        signature=signature(name, VERSION, tok=tokeniser.label, **parts),
        measure=partial(_measure, how=how, tokeniser=tokeniser),
        high=10.0,
        survey=Survey(partial(_survey, how=how, tokeniser=tokeniser), merged),
    )


def _grams(chunk: Chunk, how: Cider, tokeniser: Tokeniser) -> Grams:
    key = ("grams", tokeniser.name, how.n)
    return chunk.once(key, lambda: grams_of(chunk.tokens(tokeniser), how.n))


def _columns(chunk: Chunk, how: Cider) -> list[Places]:
    """Pairs whose references are weighed by the same frequencies: all, or the k-th reference of each."""
    if how.refs == "mean":
        return [np.arange(len(chunk.references))]
    place = np.arange(len(chunk.references)) - chunk.starts[:-1][owners(chunk.starts)]
    return [np.flatnonzero(place == k) for k in range(int(place.max(initial=-1)) + 1)]


def _survey(chunk: Chunk, how: Cider, tokeniser: Tokeniser) -> list[Frequencies]:
    grams = _grams(chunk, how, tokeniser)
    of = owners(chunk.starts)
    frequencies = []
    for pairs in _columns(chunk, how):
        document, gram = _entries(grams, chunk.references[pairs], of[pairs])
        width = max(len(grams.hashes), 1)
        once = np.unique(document * width + gram) % width
        frequencies.append(Frequencies.of(len(np.unique(of[pairs])), grams.hashes[once]))
    return frequencies


def _entries(grams: Grams, texts: Places, owner: Places) -> tuple[Places, Places]:
    """The n-grams of texts one after another: (owner of the text, n-gram)."""
    entries, sizes = _spread(grams, texts)
    return np.repeat(owner, sizes), grams.grams[entries]


def _spread(grams: Grams, texts: Places) -> tuple[Places, Places]:
    """Entries of texts one after another, and how many each has."""
    firsts = grams.starts[texts]
    sizes = grams.starts[texts + 1] - firsts
    begins = np.cumsum(sizes) - sizes
    return np.arange(int(sizes.sum())) + np.repeat(firsts - begins, sizes), sizes


def _measure(chunk: Chunk, surveyed: list[Frequencies], how: Cider, tokeniser: Tokeniser) -> ChunkValues:
    if surveyed and all(frequencies.tell_nothing for frequencies in surveyed):
        return ChunkValues(np.full(len(chunk), np.nan), why={ONE_QUESTION: len(chunk)})
    grams = _grams(chunk, how, tokeniser)
    lengths = np.maximum(chunk.tokens(tokeniser).lengths - 1, 0)
    of = owners(chunk.starts)
    values = np.zeros(len(of))
    for pairs, frequencies in zip(_columns(chunk, how), surveyed, strict=False):
        candidates, references = chunk.candidates[of[pairs]], chunk.references[pairs]
        near = np.exp(-((lengths[candidates] - lengths[references]) ** 2.0) / (2 * how.sigma**2))
        weighed = _WeightedCounts(grams, frequencies.weights(grams.hashes), how.n)
        values[pairs] = np.round(10 * near * weighed.similar(candidates, references), DECIMALS)
    if how.refs == "max":
        return measured(best(values, chunk.starts)[0], chunk.starts)
    counts = np.diff(chunk.starts)
    sums = np.bincount(of, weights=values, minlength=len(chunk)).astype(np.float64)
    return measured(np.divide(sums, counts, out=np.full(len(chunk), np.nan), where=counts > 0), chunk.starts)


class _WeightedCounts:
    """Vectors of counts times weights, and how alike two of them are."""

    def __init__(self, grams: Grams, weights: Floats, n: int) -> None:
        self.grams, self.n = grams, n
        self.orders = grams.orders[grams.grams] if len(grams.grams) else grams.grams
        self.vectors = grams.counts * weights[grams.grams]
        texts = len(grams.starts) - 1
        squares = np.bincount(grams.texts * n + self.orders, self.vectors**2, minlength=texts * n)
        self.norms = np.sqrt(squares.astype(np.float64)).reshape(texts, n)

    def similar(self, candidates: Places, references: Places) -> Floats:
        """Mean over n of the clipped cosine of each pair of texts."""
        sizes = np.diff(self.grams.starts)
        ends = np.cumsum(sizes[candidates] + sizes[references])
        cuts = np.searchsorted(ends, np.arange(_BLOCK, ends[-1] if len(ends) else 0, _BLOCK))
        parts = [
            self._similar(candidates[block], references[block])
            for block in np.split(np.arange(len(candidates)), np.unique(cuts))
        ]
        return np.concatenate(parts) if parts else np.zeros(0)

    def _similar(self, candidates: Places, references: Places) -> Floats:
        m, width = len(candidates), max(len(self.grams.hashes), 1)
        sides = [_spread(self.grams, texts) for texts in (candidates, references)]
        keys = [
            np.repeat(np.arange(m), sizes) * width + self.grams.grams[entries] for entries, sizes in sides
        ]
        mine, theirs = _shared(*keys)
        ours, other = sides[0][0][mine], sides[1][0][theirs]
        products = np.minimum(self.vectors[ours], self.vectors[other]) * self.vectors[other]
        cells = keys[0][mine] // width * self.n + self.orders[ours]
        sums = np.bincount(cells, products, minlength=m * self.n).reshape(m, self.n).astype(np.float64)
        below = self.norms[candidates] * self.norms[references]
        similarity: Floats = np.divide(sums, below, out=sums, where=below > 0).mean(axis=1)
        return similarity


def _shared(first: Places, second: Places) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Places of keys that are in both; each is sorted and has no doubles."""
    if not len(first) or not len(second):
        return np.zeros(0, np.intp), np.zeros(0, np.intp)
    place = np.minimum(np.searchsorted(second, first), len(second) - 1)
    mine = np.flatnonzero(second[place] == first)
    return mine, place[mine]
