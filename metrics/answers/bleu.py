"""BLEU, and how many n-grams candidates share with their references, for all orders, exactly.

A text is a row of numbers. The tokens of candidates and of their references are laid out one after another,
with a gap after each text. An n-gram at a place is the (n - 1)-gram there and the one a place further, and
an n-gram can only match where both of these do. So from order to order only what matched goes on, under the
number of its (n - 1)-gram, and one sort of (number here, number a place further, place) in 64 bits brings
equal n-grams of a candidate and its references together. Nothing is hashed: counts are exact.

BLEU (Papineni et al. 2002), of a sentence and of a corpus:

    p_n  = sum over n-grams of min(count in the candidate, highest count in one reference)
           / number of n-grams of the candidate
    BP   = 1 if c >= r, else exp(1 - r / c); c tokens in the candidate, r in the reference closest in length
    BLEU = BP * exp(mean over n = 1..N of log p_n)

In a corpus the numerators, the denominators, c and r are summed first. What a smoothing does to a p_n of 0 is
that of sacrebleu (Chen and Cherry 2014, methods 1 to 3).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from metrics.errors import MetricError
from metrics.profiles import Profile
from metrics.texts import (
    Chunk,
    ChunkValues,
    Floats,
    Ids,
    Metric,
    Places,
    Tokens,
    best,
    closest,
    measured,
    owners,
    signature,
)
from metrics.tokens import Tokeniser, tokeniser_named

# Clipped n-gram matches of pairs of short texts: every token of one compared with every token of the other.
#
# Twenty tokens against twenty are four hundred comparisons, which a processor does 64 at a time where pairs
# of about the same lengths lie next to each other: sorting the forty tokens takes longer. A gram of n tokens
# matches where n matches follow each other on a diagonal. What a candidate repeats counts only as often as
# the reference has it; repeats are few, so they are kept as places and not as a matrix.

Ints = npt.NDArray[np.int64]
Numbers = npt.NDArray[Any]

#: Tokens of the longest text; from about here on sorting is quicker.
LONGEST = 48
#: Pairs whose lengths differ by less lie together: a wider step compares more gaps, a narrower one has fewer
#: pairs at once.
STEP = 12
#: Cells of a block of matrices: bytes that stay in the cache of a core.
CELLS = 1 << 19


def count_matches(ids: Ids, starts: Places, candidates: Places, references: Places, orders: int) -> Ints:
    """Clipped matches (orders, P) of pairs of texts of at most `LONGEST` tokens.

    Text k is `ids[starts[k]:starts[k + 1]]`; pair p are the texts `candidates[p]` and `references[p]`.
    """
    matches = np.zeros((orders, len(candidates)), np.int64)
    few = int(ids.max(initial=0)) < np.iinfo(np.uint16).max - 2
    numbers = ids.astype(np.uint16 if few else np.uint32)  # half the bytes to compare
    lengths = np.diff(starts)
    for pairs in _alike(lengths[candidates], lengths[references]):
        matches[:, pairs] = _count_block(numbers, starts, candidates[pairs], references[pairs], orders)
    return matches


def _alike(ours: Places, theirs: Places) -> Iterator[Places]:
    """Pairs by their lengths, as many at a time as a block holds; those with an empty text are in none."""
    kind = -(-ours // STEP) * (LONGEST + 1) - (-theirs // STEP)
    order = np.argsort(kind, kind="stable")
    order = order[(ours[order] > 0) & (theirs[order] > 0)]
    bounds = np.flatnonzero(np.diff(kind[order], prepend=-1, append=-1)).tolist()
    for begin, end in pairwise(bounds):
        pairs = order[begin:end]
        width, height = int(ours[pairs].max()), int(theirs[pairs].max())
        most = max(1, CELLS // (width * max(width, height)))
        for at in range(0, len(pairs), most):
            yield pairs[at : at + most]


def _count_block(
    ids: Numbers,
    starts: Places,
    candidates: Places,
    references: Places,
    orders: int,
) -> npt.NDArray[np.uint8]:
    """Matches (orders, P) of pairs whose matrices fit into one block."""
    gaps = np.iinfo(ids.dtype).max - np.arange(3)  # numbers that no token has: no gap equals another
    ours, theirs = _columns(ids, starts, candidates, gaps[0]), _columns(ids, starts, references, gaps[1])
    same = theirs[:, None] == ours[None]
    repeats = _Repeats(ours, np.where(ours == gaps[0], ours.dtype.type(gaps[2]), ours))
    matches = np.zeros((orders, len(candidates)), np.uint8)
    for order in range(orders):
        if order:
            if min(same.shape[:2]) == 1:
                break
            same = same[:-1, :-1] & same[1:, 1:]
        times = np.add.reduce(same.view(np.uint8), axis=0, dtype=np.uint8)
        counted = times > repeats.count_before(order, times.shape)
        np.add.reduce(counted.view(np.uint8), axis=0, dtype=np.uint8, out=matches[order])
    return matches


def _columns(ids: Numbers, starts: Places, texts: Places, gap: int) -> Numbers:
    """The tokens of each text as a column, with gaps below the shorter ones."""
    begins: Numbers = starts[texts].astype(np.int32 if len(ids) < np.iinfo(np.int32).max // 2 else np.int64)
    sizes = (starts[texts + 1] - starts[texts]).astype(begins.dtype)
    rows = np.arange(int(sizes.max()), dtype=begins.dtype)[:, None]
    columns: Numbers = ids.take(begins + rows, mode="clip")
    columns[rows >= sizes] = gap
    return columns


class _Repeats:
    """How often candidates have a gram before each of its places; `first` and `second` differ in gaps."""

    def __init__(self, first: Numbers, second: Numbers) -> None:
        width, self._columns = first.shape
        earlier = np.tri(width, k=-1, dtype=np.bool_)[:, :, None]
        same = first[:, None] == second[None]
        same &= earlier
        self._row = width * self._columns
        self._single = self._places = np.flatnonzero(same)

    def count_before(self, order: int, shape: tuple[int, ...]) -> npt.NDArray[np.uint8] | int:
        """For each place (row, column) of grams of `order` + 1 tokens; asked for one order after another."""
        if order and len(self._places):
            further = self._places + order * (self._row + self._columns)
            at = np.searchsorted(self._single, further)
            at[at == len(self._single)] = 0
            self._places = self._places[self._single[at] == further]
        if not len(self._places):
            return 0
        cells = self._places // self._row * self._columns + self._places % self._columns
        times = np.bincount(cells, minlength=shape[0] * shape[1])
        return times[: shape[0] * shape[1]].astype(np.uint8).reshape(shape)


#: The orders that BLEU asks for, which cost little more than the first alone where pairs are compared.
ORDERS = 4
#: Places laid out at a time: what fits into the cache of a core.
BLOCK = 1 << 15
_KEY_BITS = 63


def spread(starts: Places, which: Places) -> tuple[Places, Places]:
    """Where the texts `which` lie in a row of texts, one after another with a gap after each.

    -> (place in the row, or -1 for a gap; start of each text in what is returned, and the end).
    """
    sizes = starts[which + 1] - starts[which] + 1
    begins = np.zeros(len(which) + 1, np.intp)
    np.cumsum(sizes, out=begins[1:])
    places = np.arange(begins[-1])
    places += np.repeat(starts[which] - begins[:-1], sizes)
    places[begins[1:] - 1] = -1
    return places, begins


def run_starts(row: Ints) -> Ints:
    """Where runs of equal numbers begin."""
    new = np.empty(len(row), np.bool_)
    new[:1] = True
    np.not_equal(row[1:], row[:-1], out=new[1:])
    return np.flatnonzero(new)


@dataclass(eq=False)
class _Block:
    """Some candidates with their references, laid out: all candidates first.

    `gram_at` has the number of the n-gram that begins at a place, -1 where none does that matched, and `live`
    are the places of those that did. References lie from place `own` on. `candidate_of` (all places) and
    `pair_of` (those of references) count within the block. `alone`: every candidate has one reference.
    """

    candidates: slice
    pairs: slice
    own: int
    candidate_of: Ids
    pair_of: Ids
    alone: bool
    bits: int
    gram_at: Ints
    live: Ints
    order: int = 0

    def next_order(self) -> tuple[Ints, Ints]:
        """Matches of the next order by pair, and by candidate, clipped by its references together."""
        self.order += 1
        places, keys = self._sorted()
        firsts = run_starts(keys)
        sizes = np.diff(firsts, append=len(keys))
        shared = places[firsts] < self.own
        shared &= places[firsts + sizes - 1] >= self.own
        self.live = places = places[np.repeat(shared, sizes)]
        sizes = sizes[shared]
        number = np.repeat(np.arange(len(sizes)), sizes)
        self.gram_at[places] = number
        return self._counted(places, number, sizes)

    def _sorted(self) -> tuple[Ints, Ints]:
        """The places where an n-gram can match, and what is there, sorted by that and then by place."""
        gram_at, live = self.gram_at, self.live
        if self.order == 1:
            keys = gram_at[live]
        else:
            after = gram_at[live + 1]
            goes_on = np.flatnonzero(after >= 0)
            live = live[goes_on]
            keys = gram_at[live]
            keys <<= self.bits
            keys |= after[goes_on]
        gram_at[self.live] = -1
        keys <<= self.bits
        keys |= live
        keys.sort()
        places = keys & ((1 << self.bits) - 1)
        keys >>= self.bits
        return places, keys

    def _counted(self, places: Ints, number: Ints, sizes: Ints) -> tuple[Ints, Ints]:
        """Counts of n-grams at `places`, sorted by `number` and place, so by pair within a number."""
        candidate = self.candidate_of[places[np.cumsum(sizes) - sizes]]
        of_reference = np.flatnonzero(places >= self.own)
        numbers = number[of_reference]
        in_references = np.bincount(numbers, minlength=len(sizes))
        in_candidate = sizes - in_references
        if self.alone:
            matched = np.minimum(in_candidate, in_references)
            counts = _summed(candidate, matched, self.candidates)
            return counts, counts
        pair = self.pair_of[places[of_reference] - self.own]
        firsts = run_starts(numbers * (self.pairs.stop - self.pairs.start) + pair)
        numbers = numbers[firsts]
        matched = np.minimum(np.diff(firsts, append=len(pair)), in_candidate[numbers])
        most = np.maximum.reduceat(matched, run_starts(numbers)) if len(matched) else matched
        return _summed(pair[firsts], matched, self.pairs), _summed(candidate, most, self.candidates)


def _summed(places: npt.NDArray[np.integer], counts: Ints, of: slice) -> Ints:
    return np.bincount(places, weights=counts, minlength=of.stop - of.start).astype(np.int64)


@dataclass(eq=False)
class Overlap:
    """Clipped n-gram matches of a chunk's candidates with their references.

    Orders are found as they are asked for. Candidate i has the text `candidates[i]` of `ids`/`starts`, pair
    p the reference text `references[p]`, and the pairs of candidate i are `pairs[i]:pairs[i + 1]`. Where each
    candidate has one reference, short texts are compared token by token, unless `sorts`.
    """

    ids: Ids
    starts: Places
    candidates: Places
    references: Places
    pairs: Places
    sorts: bool = False
    _blocks: list[_Block] | None = None
    _by_pair: list[Ints] = field(default_factory=list)
    _clipped: list[Ints] = field(default_factory=list)

    def by_pair(self, n: int) -> Ints:
        """For each pair the sum over n-grams of min(count in the candidate, count in that reference)."""
        self.reach(n)
        return self._by_pair[n - 1]

    def clipped(self, n: int) -> Ints:
        """For each candidate the sum over n-grams of min(own count, highest count in one reference).

        Papineni et al. 2002, section 2.1.
        """
        self.reach(n)
        return self._clipped[n - 1]

    def reach(self, n: int) -> None:
        """Find all orders up to n; to ask for the highest first is quicker than one after another."""
        reached = len(self._by_pair)
        if n <= reached:
            return
        if (
            not self.sorts
            and len(self.references) == len(self.candidates)
            and (np.diff(self.pairs) == 1).all()
        ):
            self._by_pair = self._clipped = list(self._of_lone_pairs(max(n, ORDERS)))
            return
        for _ in range(reached, n):
            self._by_pair.append(np.zeros(len(self.references), np.int64))
            self._clipped.append(np.zeros(len(self.candidates), np.int64))
        blocks = self._laid_out() if self._blocks is None else iter(self._blocks)
        self._blocks = []
        for block in blocks:
            for order in range(reached, n):
                by_pair, clipped = block.next_order()
                self._by_pair[order][block.pairs] = by_pair
                self._clipped[order][block.candidates] = clipped
            self._blocks.append(block)

    def _of_lone_pairs(self, n: int) -> Ints:
        """All orders up to n by pair; with one reference each, a candidate's clipped counts are the same."""
        lengths = np.diff(self.starts)
        long = np.maximum(lengths[self.candidates], lengths[self.references]) > LONGEST
        if not long.any():
            return count_matches(self.ids, self.starts, self.candidates, self.references, n)
        counts = np.zeros((n, len(self.candidates)), np.int64)
        pair_numbers = np.flatnonzero(~long)
        counts[:, pair_numbers] = count_matches(
            self.ids, self.starts, self.candidates[pair_numbers], self.references[pair_numbers], n
        )
        pair_numbers = np.flatnonzero(long)
        rest = Overlap(
            self.ids,
            self.starts,
            self.candidates[pair_numbers],
            self.references[pair_numbers],
            np.arange(len(pair_numbers) + 1),
            True,
        )
        rest.reach(n)
        counts[:, pair_numbers] = rest._by_pair
        return counts

    def _laid_out(self) -> Iterator[_Block]:
        lengths = np.diff(self.starts) + 1
        before = np.concatenate(([0], np.cumsum(lengths[self.references])))[self.pairs]
        ends = np.cumsum(lengths[self.candidates] + np.diff(before))
        first = 0
        while first < len(self.candidates):
            begun = int(ends[first - 1]) if first else 0
            last = max(first + 1, int(np.searchsorted(ends, begun + BLOCK, side="right")))
            yield self._block(first, last)
            first = last

    def _block(self, first: int, last: int) -> _Block:
        n, pairs = last - first, slice(int(self.pairs[first]), int(self.pairs[last]))
        counts = np.diff(self.pairs[first : last + 1])
        texts = np.concatenate((self.candidates[first:last], self.references[pairs]))
        places, begins = spread(self.starts, texts)
        bits, width = len(places).bit_length(), int(self.ids.max(initial=0)).bit_length()
        if max(n.bit_length() + width + bits, 3 * bits) > _KEY_BITS:
            raise MetricError(
                f"An answer and its references have {len(places):,} tokens together; at most 1,000,000 can "
                "be compared. Shorten the text, or look whether a file ended up in one cell."
            )
        sizes = np.diff(begins)
        numbers = np.arange(n, dtype=np.int32)
        candidate_of = np.repeat(np.concatenate((numbers, np.repeat(numbers, counts))), sizes)
        live = np.flatnonzero(places >= 0)
        gram_at = np.full(len(places) + 1, -1, np.int64)
        gram_at[live] = (candidate_of[live].astype(np.int64) << width) | self.ids[places[live]]
        return _Block(
            candidates=slice(first, last),
            pairs=pairs,
            own=int(begins[n]),
            candidate_of=candidate_of,
            pair_of=np.repeat(np.arange(len(texts) - n, dtype=np.int32), sizes[n:]),
            alone=bool((counts == 1).all()),
            bits=bits,
            gram_at=gram_at,
            live=live,
        )


def overlap(chunk: Chunk, tokeniser: Tokeniser) -> Overlap:
    """The matches of a chunk under a tokeniser, shared by all metrics that count n-grams."""
    return chunk.once(("overlap", tokeniser.name), lambda: overlap_of(chunk, chunk.tokens(tokeniser)))


def overlap_of(chunk: Chunk, tokens: Tokens) -> Overlap:
    """The matches of a chunk whose distinct texts have these tokens."""
    return Overlap(tokens.ids, tokens.starts, chunk.candidates, chunk.references, chunk.starts)


#: What a smoothing is given when nothing is said.
SMOOTHINGS: dict[str, float] = {"none": 0.0, "floor": 0.1, "add-k": 1.0, "exp": 0.0, "kpqa": 0.0}
REFERENCES = {"clip": "clipped by the maximum over references, closest length", "max": "best reference alone"}
_TINY, _SMALL = 1e-15, 1e-9


@dataclass(frozen=True, slots=True)
class Bleu:
    """The parameters of BLEU.

    `smoothing`: `none` (0 as soon as one order has no match), `floor` (a numerator of 0 is `value`), `add-k`
    (`value` is added to numerator and denominator of orders above 1), `exp` (the k-th numerator of 0 is
    2^-k), or `kpqa`, coco-caption's p_n = (h + 1e-15) / (t + 1e-9) with the length ratio (c + 1e-15) / (r +
    1e-9) (KPQA, Lee et al. 2021), which is never 0 for a candidate with tokens. `effective`: a candidate
    that is too short for an order is judged by the lower ones. `refs`: `clip` (all references at once, as
    Papineni et al. have it) or `max` (each alone, the best counts).
    """

    n: int = 4
    smoothing: str = "exp"
    value: float | None = None
    effective: bool = True
    refs: str = "clip"

    def __post_init__(self) -> None:
        if self.smoothing not in SMOOTHINGS:
            raise MetricError(f"BLEU has no smoothing {self.smoothing!r}; it has {', '.join(SMOOTHINGS)}.")
        if self.refs not in REFERENCES:
            raise MetricError(f"BLEU takes references as {' or '.join(REFERENCES)}, not as {self.refs!r}.")

    def as_json(self) -> dict[str, object]:
        """The parameters as a signature names them."""
        value = SMOOTHINGS[self.smoothing] if self.value is None else self.value
        return {
            "n": self.n,
            "smooth": f"{self.smoothing}[{value:g}]" if value else self.smoothing,
            "eff": "yes" if self.effective and self.smoothing != "kpqa" else "no",
            "refs": self.refs,
        }


def bleu(
    hits: npt.ArrayLike,
    totals: npt.ArrayLike,
    lengths: npt.ArrayLike,
    reference_lengths: npt.ArrayLike,
    how: Bleu,
) -> Floats:
    """BLEU of counts: hits and totals (…, N), lengths c and r (…) -> values (…), of sentences or of sums.

    Totals and lengths may be such that they broadcast to the shape of the hits. A candidate without tokens,
    or without a match, has 0.
    """
    # Each order lies in one piece, which is how numpy is quick.
    hits, totals = (
        np.array(np.moveaxis(np.asarray(counts), -1, 0), np.float64, order="C") for counts in (hits, totals)
    )
    c, r = np.asarray(lengths, np.float64), np.asarray(reference_lengths, np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        if how.smoothing == "kpqa":
            return _kpqa(hits, totals, c, r)
        matched = (hits[: how.n] != 0).any(axis=0) & (c > 0)
        scores = np.exp(_mean_log(hits, totals, how))
        short = c < r
        if short.any():
            scores *= np.where(short, np.exp(1 - r / c), 1.0)
        return np.where(matched, scores, 0.0)


def _mean_log(hits: Floats, totals: Floats, how: Bleu) -> Floats:
    """Mean logarithm of the smoothed precisions of counts (N, …), whose hits it may change.

    The mean is over the orders that count.
    """
    value = SMOOTHINGS[how.smoothing] if how.value is None else how.value
    summed, missed = np.zeros(hits.shape[1:]), np.zeros(hits.shape[1:])
    orders, alive = np.zeros(totals.shape[1:]), np.ones(totals.shape[1:], np.bool_)
    for n in range(how.n):
        hit, total = hits[n], totals[n]
        if how.smoothing == "add-k" and n:
            hit, total = hit + value, total + value
        alive &= total > 0
        orders += alive
        if how.smoothing in ("exp", "floor"):
            none = hit == 0
            if none.any():
                missed += none
                hit[none] = np.exp2(-missed[none]) if how.smoothing == "exp" else value
        logs = hit / total
        np.log(np.maximum(logs, 0, out=logs) if value < 0 else logs, out=logs)
        if not alive.all():
            logs = np.where(alive, logs, 0.0 if how.effective else -np.inf)
        summed += logs
    if not how.effective:
        return summed / how.n
    return summed / orders if orders.all() else np.where(orders > 0, summed / orders, -np.inf)


def _kpqa(hits: Floats, totals: Floats, c: Floats, r: Floats) -> Floats:
    """As coco-caption multiplies it up, to the last bits: Spearman of BLEU-4 lives on its tiny values."""
    product = np.ones(hits.shape[1:])
    for hit, total in zip(hits, totals, strict=True):
        product *= (hit + _TINY) / (total + _SMALL)
    ratio = (c + _TINY) / (r + _SMALL)
    scores = product ** (1 / len(hits))
    return np.where(ratio < 1, scores * np.exp(1 - 1 / np.minimum(ratio, 1)), scores)


def totals_of(lengths: Numbers, n: int) -> Numbers:
    """Number of n-grams of each order 1..n in texts of these lengths: (m, n)."""
    totals: Numbers = np.maximum(lengths[:, None] - np.arange(n), 0)
    return totals


def _measure(chunk: Chunk, _: Any, how: Bleu, tokeniser: Tokeniser) -> ChunkValues:
    shared = overlap(chunk, tokeniser)
    shared.reach(how.n)
    every = chunk.tokens(tokeniser).lengths
    lengths, references = every[chunk.candidates], every[chunk.references]
    totals = totals_of(lengths, how.n)
    rows = np.zeros((len(chunk), 2 * how.n + 3))
    if how.refs == "max":
        hits = np.stack([shared.by_pair(n + 1) for n in range(how.n)], axis=1)
        of = owners(chunk.starts)
        alone = bleu(hits, totals[of], lengths[of], references, how)
        values, pairs = best(alone, chunk.starts)
        scored = np.flatnonzero(pairs >= 0)
        hits, r = hits[pairs[scored]], references[pairs[scored]]
    else:
        scored = np.flatnonzero(np.diff(chunk.starts))
        hits = np.stack([shared.clipped(n + 1)[scored] for n in range(how.n)], axis=1)
        r = closest(lengths, references, chunk.starts)[scored]
        values = np.full(len(chunk), np.nan)
        values[scored] = bleu(hits, totals[scored], lengths[scored], r, how)
    rows[scored] = np.column_stack((hits, totals[scored], lengths[scored], r, np.ones(len(scored))))
    return measured(values, chunk.starts, rows)


def _corpus(sums: Floats, how: Bleu) -> float | None:
    """BLEU of the summed counts; None where nothing had a reference.

    With an effective order, as in sacrebleu, orders that no candidate is long enough for do not count.
    """
    n = how.n
    c, r, counted = sums[2 * n :]
    if not counted:
        return None
    return float(bleu(sums[None, :n], sums[None, n : 2 * n], [c], [r], how)[0])


def make(name: str, profile: Profile) -> Metric:
    """`bleu-N` for N = 1..4, as the profile's `bleu` settings (fields of `Bleu`, `tokeniser`) have it."""
    options = profile.options("bleu")
    how = Bleu(**{**options, "n": int(name.rpartition("-")[2])})
    tokeniser = tokeniser_named(profile.tokeniser_for("bleu"))
    return Metric(
        name=name,
        title=f"BLEU-{how.n}",
        signature=signature(name, 1, tok=tokeniser.label, **how.as_json()),
        measure=partial(_measure, how=how, tokeniser=tokeniser),
        corpus=partial(_corpus, how=how),
    )
