"""How many n-grams candidates share with their references, for all orders, exactly.

A text is a row of numbers. The tokens of candidates and of their references are laid out one after another,
with a gap after each text. An n-gram at a place is the (n - 1)-gram there and the one a place further, and
an n-gram can only match where both of these do. So from order to order only what matched goes on, under the
number of its (n - 1)-gram, and one sort of (number here, number a place further, place) in 64 bits brings
equal n-grams of a candidate and its references together. Nothing is hashed: counts are exact.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from metrics.answers.match_matrices import LONGEST, count_matches
from metrics.errors import MetricError
from metrics.texts import Chunk, Ids, Places, Tokens
from metrics.tokens.tokeniser import Tokeniser

Ints = npt.NDArray[np.int64]

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


def _firsts(row: Ints) -> Ints:
    """Where runs of equal numbers begin."""
    new = np.empty(len(row), np.bool_)
    new[:1] = True
    np.not_equal(row[1:], row[:-1], out=new[1:])
    return np.flatnonzero(new)


@dataclass(eq=False)
class _Block:
    """Some candidates with their references, laid out: all candidates first.

    `here` has the number of the n-gram that begins at a place, -1 where none does that matched, and `live`
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
    here: Ints
    live: Ints
    order: int = 0

    def next_order(self) -> tuple[Ints, Ints]:
        """Matches of the next order by pair, and by candidate, clipped by its references together."""
        self.order += 1
        places, keys = self._sorted()
        firsts = _firsts(keys)
        sizes = np.diff(firsts, append=len(keys))
        shared = places[firsts] < self.own
        shared &= places[firsts + sizes - 1] >= self.own
        self.live = places = places[np.repeat(shared, sizes)]
        sizes = sizes[shared]
        number = np.repeat(np.arange(len(sizes)), sizes)
        self.here[places] = number
        return self._counted(places, number, sizes)

    def _sorted(self) -> tuple[Ints, Ints]:
        """The places where an n-gram can match, and what stands there, sorted by that and then by place."""
        here, live = self.here, self.live
        if self.order == 1:
            keys = here[live]
        else:
            after = here[live + 1]
            goes_on = np.flatnonzero(after >= 0)
            live = live[goes_on]
            keys = here[live]
            keys <<= self.bits
            keys |= after[goes_on]
        here[self.live] = -1
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
            found = _summed(candidate, matched, self.candidates)
            return found, found
        pair = self.pair_of[places[of_reference] - self.own]
        firsts = _firsts(numbers * (self.pairs.stop - self.pairs.start) + pair)
        numbers = numbers[firsts]
        matched = np.minimum(np.diff(firsts, append=len(pair)), in_candidate[numbers])
        most = np.maximum.reduceat(matched, _firsts(numbers)) if len(matched) else matched
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
        known = len(self._by_pair)
        if n <= known:
            return
        if (
            not self.sorts
            and len(self.references) == len(self.candidates)
            and (np.diff(self.pairs) == 1).all()
        ):
            self._by_pair = self._clipped = list(self._of_lone_pairs(max(n, ORDERS)))
            return
        for _ in range(known, n):
            self._by_pair.append(np.zeros(len(self.references), np.int64))
            self._clipped.append(np.zeros(len(self.candidates), np.int64))
        blocks = self._laid_out() if self._blocks is None else iter(self._blocks)
        self._blocks = []
        for block in blocks:
            for order in range(known, n):
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
        found = np.zeros((n, len(self.candidates)), np.int64)
        some = np.flatnonzero(~long)
        found[:, some] = count_matches(self.ids, self.starts, self.candidates[some], self.references[some], n)
        some = np.flatnonzero(long)
        rest = Overlap(
            self.ids,
            self.starts,
            self.candidates[some],
            self.references[some],
            np.arange(len(some) + 1),
            True,
        )
        rest.reach(n)
        found[:, some] = rest._by_pair
        return found

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
        here = np.full(len(places) + 1, -1, np.int64)
        here[live] = (candidate_of[live].astype(np.int64) << width) | self.ids[places[live]]
        return _Block(
            candidates=slice(first, last),
            pairs=pairs,
            own=int(begins[n]),
            candidate_of=candidate_of,
            pair_of=np.repeat(np.arange(len(texts) - n, dtype=np.int32), sizes[n:]),
            alone=bool((counts == 1).all()),
            bits=bits,
            here=here,
            live=live,
        )


def overlap(chunk: Chunk, tokeniser: Tokeniser) -> Overlap:
    """The matches of a chunk under a tokeniser, shared by all metrics that count n-grams."""
    return chunk.once(("overlap", tokeniser.name), lambda: overlap_of(chunk, chunk.tokens(tokeniser)))


def overlap_of(chunk: Chunk, tokens: Tokens) -> Overlap:
    """The matches of a chunk whose distinct texts have these tokens."""
    return Overlap(tokens.ids, tokens.starts, chunk.candidates, chunk.references, chunk.starts)
