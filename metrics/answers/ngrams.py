"""How many n-grams candidates share with their references, for all orders, exactly.

A text is a row of numbers. The tokens of a candidate and of its references are laid out one after another, with
a gap after each text. An n-gram at a place is the (n - 1)-gram there and the one a place further, and an
n-gram can only match where both of these do. So from order to order only what matched goes on, under the
number of its (n - 1)-gram, and one sort of (number here, number a place further, place) in 64 bits brings equal
n-grams of a candidate and its references together. Nothing is hashed: counts are exact.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from metrics.errors import MetricError
from metrics.texts import Chunk, Ids, Places, Tokens
from metrics.tokens.tokeniser import Tokeniser

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

#: Places laid out at a time: what fits into the cache of a core.
BLOCK = 1 << 15
_KEY_BITS = 63


def spread(starts: Places, which: Places, gap: int = 0) -> tuple[Places, Places]:
    """Where the texts `which` lie in a row of texts, one after another with `gap` places after each.

    -> (place in the row, or -1 for a gap; start of each text in what is returned, and its end).
    """
    lengths = starts[which + 1] - starts[which]
    begins = np.concatenate(([0], np.cumsum(lengths + gap)))
    places = np.arange(begins[-1]) + np.repeat(starts[which] - begins[:-1], lengths + gap)
    if gap:
        ends = begins[1:] - gap
        for step in range(gap):
            places[ends + step] = -1
    return places, begins


@dataclass(eq=False)
class _Block:
    """Some candidates with their references, laid out: candidates first.

    `here` has the number of the n-gram that begins at a place, -1 where none does that matched; `live` are the
    places of those that did.
    """

    first: int
    last: int
    n_candidates: int
    candidate_of: Places
    pair_of: Places
    bits: int
    here: Ints
    live: Ints
    order: int = 0


@dataclass(eq=False)
class Overlap:
    """Clipped n-gram matches of a chunk's candidates with their references, order by order as they are asked for.

    Candidate i has the text `candidates[i]` of `ids`/`starts`, pair p the reference text `references[p]`, and
    the pairs of candidate i are `pairs[i]:pairs[i + 1]`.
    """

    ids: Ids
    starts: Places
    candidates: Places
    references: Places
    pairs: Places
    _blocks: list[_Block] | None = None
    _by_pair: list[Ints] = field(default_factory=list)
    _clipped: list[Ints] = field(default_factory=list)

    def by_pair(self, n: int) -> Ints:
        """For each pair the sum over n-grams of min(count in the candidate, count in that reference)."""
        self._reach(n)
        return self._by_pair[n - 1]

    def clipped(self, n: int) -> Ints:
        """For each candidate the sum over n-grams of min(own count, highest count in one reference).

        Papineni et al. 2002, section 2.1.
        """
        self._reach(n)
        return self._clipped[n - 1]

    def _reach(self, n: int) -> None:
        if self._blocks is None:
            self._blocks = list(self._laid_out())
        while len(self._by_pair) < n:
            by_pair = np.zeros(len(self.references), np.int64)
            clipped = np.zeros(len(self.candidates), np.int64)
            for block in self._blocks:
                _next_order(block, by_pair, clipped, self.pairs)
            self._by_pair.append(by_pair)
            self._clipped.append(clipped)

    def _laid_out(self) -> Iterator[_Block]:
        lengths = np.diff(self.starts) + 1
        before = np.concatenate(([0], np.cumsum(lengths[self.references])))[self.pairs]
        sizes = lengths[self.candidates] + np.diff(before)
        ends = np.cumsum(sizes)
        first = 0
        while first < len(self.candidates):
            begun = int(ends[first - 1]) if first else 0
            last = max(first + 1, int(np.searchsorted(ends, begun + BLOCK, side="right")))
            yield self._block(first, last)
            first = last

    def _block(self, first: int, last: int) -> _Block:
        a, b = int(self.pairs[first]), int(self.pairs[last])
        texts = np.concatenate((self.candidates[first:last], self.references[a:b]))
        places, begins = spread(self.starts, texts, gap=1)
        sizes = np.diff(begins)
        pair = np.repeat(np.arange(a, b), sizes[last - first :])
        group_of_text = np.concatenate(
            (
                np.arange(last - first),
                np.repeat(np.arange(last - first), np.diff(self.pairs[first : last + 1])),
            )
        )
        group = np.repeat(group_of_text, sizes)
        live = np.flatnonzero(places >= 0)
        here = np.full(len(places) + 1, -1, np.int64)
        width = int(self.ids.max(initial=0)).bit_length()
        here[live] = (group[live] << width) | self.ids[places[live]]
        bits = len(places).bit_length()
        if bits + width + (last - first).bit_length() > _KEY_BITS or 3 * bits > _KEY_BITS:
            raise MetricError(
                f"An answer and its references have {len(places):,} tokens together; at most 1,000,000 can be "
                "compared. Shorten the text, or look whether a file ended up in one cell."
            )
        n_candidates = int(begins[last - first])
        return _Block(first, last, n_candidates, group + first, pair, bits, here, live)


def _next_order(block: _Block, by_pair: Ints, clipped: Ints, pairs: Places) -> None:
    """Find the matches of the next order in a block and add them to the counts."""
    block.order += 1
    here, live = block.here, block.live
    if block.order == 1:
        keys = here[live]
    else:
        after = here[live + 1]
        goes_on = after >= 0
        live = live[goes_on]
        keys = (here[live] << block.bits) | after[goes_on]
        here[block.live] = -1
    if not len(live):
        block.live = live
        return
    keys <<= block.bits
    keys |= live
    keys.sort()
    places = keys & ((1 << block.bits) - 1)
    keys >>= block.bits
    firsts = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1])))
    sizes = np.diff(np.append(firsts, len(keys)))
    shared = (places[firsts] < block.n_candidates) & (places[firsts + sizes - 1] >= block.n_candidates)
    if block.order == 1:
        here[block.live] = -1
    block.live = places = places[np.repeat(shared, sizes)]
    sizes = sizes[shared]
    number = np.repeat(np.arange(len(sizes)), sizes)
    here[places] = number
    _count(block, places, number, sizes, by_pair, clipped, pairs)


def _count(
    block: _Block,
    places: Ints,
    number: Ints,
    sizes: Ints,
    by_pair: Ints,
    clipped: Ints,
    pairs: Places,
) -> None:
    """Counts of the n-grams `number` at `places`, sorted by number and place, so by pair within a number."""
    if not len(places):
        return
    of_reference = np.flatnonzero(places >= block.n_candidates)
    numbers = number[of_reference]
    in_candidate = sizes - np.bincount(numbers, minlength=len(sizes))
    pair = block.pair_of[places[of_reference] - block.n_candidates]
    new = np.empty(len(pair), np.bool_)
    new[0] = True
    np.not_equal(pair[1:], pair[:-1], out=new[1:])
    new[1:] |= numbers[1:] != numbers[:-1]
    firsts = np.flatnonzero(new)
    counts = np.diff(np.append(firsts, len(pair)))
    matched = np.minimum(counts, in_candidate[numbers[firsts]])
    a, b = int(pairs[block.first]), int(pairs[block.last])
    found = np.bincount(pair[firsts] - a, weights=matched, minlength=b - a)
    by_pair[a:b] += found.astype(np.int64)
    if b - a == block.last - block.first and len(firsts) == len(sizes):
        most = matched
    else:
        starts = np.flatnonzero(np.concatenate(([True], np.diff(numbers[firsts]) != 0)))
        most = np.maximum.reduceat(matched, starts)
    candidate = block.candidate_of[places[np.cumsum(sizes) - sizes]] - block.first
    found = np.bincount(candidate, weights=most, minlength=block.last - block.first)
    clipped[block.first : block.last] += found.astype(np.int64)


def overlap(chunk: Chunk, tokeniser: Tokeniser) -> Overlap:
    """The matches of a chunk under a tokeniser, shared by all metrics that count n-grams."""
    return chunk.once(("overlap", tokeniser.name), lambda: overlap_of(chunk, chunk.tokens(tokeniser)))


def overlap_of(chunk: Chunk, tokens: Tokens) -> Overlap:
    """The matches of a chunk whose distinct texts have these tokens."""
    return Overlap(tokens.ids, tokens.starts, chunk.candidates, chunk.references, chunk.starts)
