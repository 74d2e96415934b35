"""Pairwise BLEU of candidates with the references of many questions, from tables of reference sets.

Tables hold how often each n-gram of k references occurs in each of them. A candidate's n-grams are looked
up once; the minimum with the table's rows gives the clipped counts with all k references at the same time.
References among each other need no look-up: the minimum of two counts is how many t = 1, 2, … both reach, so
their clipped counts are products of matrices of zeros and ones. One product gives all orders: a one of order
n is written as a power of two so high that the sums of the orders below never reach it.

Tables are made, and candidates looked up, for as many questions at a time as a block holds. As in
`metrics.answers.bleu`, an n-gram is the number of its first n - 1 tokens and that of its last, and one sort
per order of (these two, place) in 64 bits brings equal n-grams together. Nothing is hashed: counts are exact.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, count, pairwise
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from metrics.answers.bleu import Bleu, bleu, run_starts
from metrics.answers.importance import SizedCache
from metrics.texts import Floats
from metrics.tokens import Tokeniser, cut

Counts = npt.NDArray[np.int64]
#: Of few bits: as many as the highest needs.
Small = npt.NDArray[np.integer[Any]]
#: Of hits (…, n), totals (…, n), candidate lengths and reference lengths, as they broadcast: BLEU of each.
Combine = Callable[[Counts, Counts, Counts, Counts], Floats]
#: Cells of clipped counts, tokens of tables to be made, and reference sets, that a block may have.
CELLS = 2**14
TOKENS = 2**15
SETS = 256
#: Cells of matrices that are multiplied at a time; 1 MB.
ONES = 2**17
#: Whole numbers below 2 to this power are exact as floats; bits of a key that is sorted, and of a word in it.
EXACT_BITS = 53
KEY_BITS = 63
WORD_BITS = 32
#: Bytes of tables that are kept: a few thousand questions with 20 references of 20 words.
KEPT = 2**27
#: Words that are numbered before numbers begin again; about 50 MB.
WORDS = 2**19


class Level(NamedTuple):
    """The n-grams of one order of all sets of a block, sorted by `keys`, so by set.

    The key of a word is its set and its number in the vocabulary; that of a longer gram is the place of its
    first n - 1 tokens among those of the order below and the place of its last token among the words.
    Those of set s lie between `bounds[s]` and `bounds[s + 1]`, and `row` is the row of the first of all.
    """

    keys: Counts
    bounds: Counts
    row: int


@dataclass(frozen=True, slots=True, eq=False)
class Tables:
    """n-grams of a block of reference sets, k references each.

    Gram `row` occurs `counts[row, i]` times in reference i of its set. `most` is 0 for a gram that occurs in
    one reference only, and once; for all others it is the highest of its counts. `lengths` (sets, k) are
    numbers of tokens.
    """

    levels: tuple[Level, ...]
    counts: Small
    most: Small
    lengths: Counts

    @property
    def size(self) -> int:
        """Bytes, roughly."""
        return self.counts.nbytes + self.most.nbytes + sum(level.keys.nbytes for level in self.levels)


@dataclass(frozen=True, slots=True, eq=False)
class Vocabulary:
    """Numbers of words, which tables and candidates share."""

    numbers: defaultdict[str, int] = field(default_factory=lambda: defaultdict(count().__next__))
    _lock: Lock = field(default_factory=Lock)

    def numbers_of(self, tokens: Sequence[str]) -> Counts:
        """The number of each word; new words get the next ones."""
        with self._lock:
            return np.fromiter(map(self.numbers.__getitem__, tokens), np.int64, len(tokens))


#: The tables of a set and its place in them.
Place = tuple[Tables, int]


class _Book(NamedTuple):
    """Tables that are kept, by reference set, and the vocabulary of their words."""

    vocabulary: Vocabulary
    places: SizedCache[Place]


def _empty_book() -> _Book:
    return _Book(Vocabulary(), SizedCache(KEPT))


@dataclass(eq=False)
class PairBleu:
    """BLEU of candidates with each of their references alone; tables of reference sets are kept."""

    how: Bleu
    tokeniser: Tokeniser
    _book: _Book = field(default_factory=_empty_book, init=False, repr=False)

    def __call__(self, sets: Sequence[tuple[Sequence[str], Sequence[str]]]) -> list[Floats]:
        """Per set of n candidates and k references a table of values (n, k)."""
        book = self._current()
        values: list[Floats] = [np.zeros(0)] * len(sets)
        for tables, which, places in self._by_tables([tuple(references) for _, references in sets], book):
            texts = split_sets([sets[one][0] for one in which], self.tokeniser, book.vocabulary)
            similar = similarities(tables, places, texts, self.how.n, partial(bleu, how=self.how))
            for one, value in zip(which, similar, strict=True):
                values[one] = value
        return values

    def among(self, sets: Sequence[tuple[str, ...]]) -> list[Floats]:
        """Per set of k references a table of values (k, k): BLEU of each with each of them alone."""
        values: list[Floats] = [np.zeros(0)] * len(sets)
        for tables, which, places in self._by_tables(sets, self._current()):
            own_values = own_similarities(tables, self.how.n, partial(bleu, how=self.how))
            for one, place in zip(which, places, strict=True):
                values[one] = own_values[place]
        return values

    def _current(self) -> _Book:
        if len(self._book.vocabulary.numbers) > WORDS:
            self._book = _empty_book()
        return self._book

    def _by_tables(
        self, sets: Sequence[tuple[str, ...]], book: _Book
    ) -> Iterator[tuple[Tables, list[int], list[int]]]:
        """Tables with the sets that are in them: their places among those given, and in the tables."""
        cached_places = [book.places.get(references) for references in sets]
        new = list(
            dict.fromkeys(one for one, place in zip(sets, cached_places, strict=True) if place is None)
        )
        new.sort(key=len)
        new_places: dict[tuple[str, ...], Place] = {}
        at = 0
        for tables in tables_of(split_sets(new, self.tokeniser, book.vocabulary), self.how.n):
            share = tables.size // len(tables.lengths)
            for place in range(len(tables.lengths)):
                new_places[new[at]] = tables, place
                book.places.put(new[at], (tables, place), share)
                at += 1
        groups: dict[int, tuple[Tables, list[int], list[int]]] = {}
        for one, (references, place_of_set) in enumerate(zip(sets, cached_places, strict=True)):
            tables, place = new_places[references] if place_of_set is None else place_of_set
            _, which, places = groups.setdefault(id(tables), (tables, [], []))
            which.append(one)
            places.append(place)
        yield from groups.values()


@dataclass(frozen=True, slots=True, eq=False)
class TokenSets:
    """Texts of several sets cut into tokens: `widths` texts in each set, of `lengths` tokens each.

    `ids` are the tokens one after another, by their numbers in a vocabulary.
    """

    ids: Counts
    lengths: Counts
    widths: Counts


def split_sets(sets: Sequence[Sequence[str]], tokeniser: Tokeniser, vocabulary: Vocabulary) -> TokenSets:
    """The tokens of each text of each set; all texts are cut at once where the tokeniser can."""
    texts = list(chain.from_iterable(sets))
    widths = np.fromiter(map(len, sets), np.int64, len(sets))
    if tokeniser.runs is None:
        cut_up = [tokeniser.split(text) for text in texts]
        ids = vocabulary.numbers_of([word for text in cut_up for word in text])
        return TokenSets(ids, np.fromiter(map(len, cut_up), np.int64, len(cut_up)), widths)
    word_ids, starts, distinct_words = cut(texts, tokeniser.runs)
    ids = vocabulary.numbers_of(distinct_words[:]).take(word_ids)
    return TokenSets(ids, np.diff(starts).astype(np.int64, copy=False), widths)


def tables_of(sets: TokenSets, order: int) -> Iterator[Tables]:
    """Tables of the sets, block by block in their order; sets of as many references should be together."""
    texts = _bounds(sets.widths)
    tokens = _bounds(sets.lengths).take(texts)
    sizes, widths = np.diff(tokens).tolist(), sets.widths.tolist()
    start, size = 0, 0
    for place in range(len(widths) + 1):
        if place > start and (
            place == len(widths)
            or widths[place] != widths[start]
            or size + sizes[place] > TOKENS
            or place - start >= SETS
        ):
            lengths = sets.lengths[texts[start] : texts[place]].reshape(place - start, -1)
            yield _tables(sets.ids[tokens[start] : tokens[place]], lengths, order)
            start, size = place, 0
        size += sizes[place] if place < len(widths) else 0


def _tables(ids: Counts, lengths: Counts, order: int) -> Tables:
    """The tables of sets of k references with these words and lengths (sets, k)."""
    sets, k = lengths.shape
    texts = np.repeat(np.arange(sets * k), lengths.reshape(-1))
    owners, columns = np.divmod(texts, max(k, 1))
    left = _left(lengths.reshape(-1))
    small = np.min_scalar_type(int(lengths.max(initial=0)))
    levels, all_counts, all_most = [], [], []
    gram_keys = (owners << WORD_BITS) | ids
    single_words, places, bits, row = gram_keys, np.arange(len(ids)), 0, 0
    for n in range(order):
        keys = gram_keys
        if n:
            places = np.flatnonzero(left > n)
            keys = (gram_keys.take(places) << bits) | single_words.take(places + n)
        keys, places = _sorted(keys, places, len(ids).bit_length())
        starts = run_starts(keys)
        keys = keys.take(starts)
        owners = owners.take(keys >> bits) if n else keys >> WORD_BITS
        sizes = np.diff(starts, append=len(places))
        numbers = np.repeat(np.arange(len(keys)), sizes)
        gram_keys[places] = numbers
        if not n:
            single_words, bits = gram_keys.copy(), len(keys).bit_length()
        cells = numbers * k
        cells += columns.take(places)
        counts, most = np.zeros(len(keys) * k, small), (sizes > 1).astype(small)
        counts[cells] = 1
        again = cells.take(np.flatnonzero(cells[1:] == cells[:-1]))
        np.add.at(counts, again, small.type(1))
        np.maximum.at(most, again // max(k, 1), counts.take(again))
        levels.append(Level(keys, np.searchsorted(owners, np.arange(sets + 1)), row))
        all_counts.append(counts.reshape(len(keys), k))
        all_most.append(most)
        row += len(keys)
    most = np.concatenate(all_most)
    small = np.min_scalar_type(int(most.max(initial=1)))
    return Tables(
        tuple(levels), np.concatenate(all_counts, dtype=small, casting="unsafe"), most.astype(small), lengths
    )


def _sorted(keys: Counts, places: Counts, bits: int) -> tuple[Counts, Counts]:
    """Keys with their places, sorted by both; the places, of `bits` bits, are sorted already."""
    if int(keys.max(initial=0)).bit_length() + bits > KEY_BITS:
        order = np.argsort(keys, kind="stable")
        return keys[order], places[order]
    keys = keys << bits
    keys |= places
    keys.sort()
    return keys >> bits, keys & ((1 << bits) - 1)


def own_similarities(tables: Tables, order: int, combine: Combine) -> Floats:
    """Per reference set the BLEU of each of its k references with each of them alone: (sets, k, k)."""
    lengths = tables.lengths
    sets, k = lengths.shape
    values = np.empty((sets, k, k))
    at_once = max(1, CELLS // max(k * k, 1))
    hits = _own_hits(tables, order)
    for start in range(0, sets, at_once):
        block = slice(start, start + at_once)
        values[block] = combine(
            np.moveaxis(hits[:, block], 0, -1),
            _totals(lengths[block, :, None], order),
            lengths[block, :, None],
            lengths[block, None],
        )
    return values


def _totals(lengths: Counts, order: int) -> Counts:
    """Number of n-grams of each order: (…, order)."""
    totals: Counts = np.maximum(lengths[..., None] - np.arange(order), 0)
    return totals


def _own_hits(tables: Tables, order: int) -> Counts:
    """Clipped counts (order, sets, k, k) of the k references of each set with those of their own set."""
    sets, k = tables.lengths.shape
    ones = _ones(tables)
    hits = np.empty((order, sets, k, k), np.int64)
    bits = int(tables.lengths.max(initial=1)).bit_length()
    together = EXACT_BITS // bits
    for lowest in range(0, order, together):
        above = ones.orders - lowest
        powers = np.where((above >= 0) & (above < together), np.ldexp(1.0, bits * above), 0)
        sums = ones.products(tables.counts, powers)
        for table in hits[lowest : lowest + together]:
            np.bitwise_and(sums, (1 << bits) - 1, out=table)
            sums >>= bits
    own = np.arange(k)
    hits[:, :, own, own] = np.moveaxis(_totals(tables.lengths, order), -1, 0)
    return hits


class _Ones(NamedTuple):
    """A matrix of zeros and ones, whether counts of `rows` are above `levels`, with its sets in a row."""

    rows: Counts
    levels: Small
    orders: Counts
    bounds: list[int]

    def products(self, counts: Small, powers: Floats) -> Counts:
        """For each set the sums (k, k) of the powers of rows that have ones in both columns."""
        k = counts.shape[1]
        bounds = self.bounds
        sums = np.zeros((len(bounds) - 1, k, k))
        at_once = max(1, ONES // max(k, 1))
        for start in range(0, len(self.rows), at_once):
            block = slice(start, start + at_once)
            ones = (counts.take(self.rows[block], axis=0) > self.levels[block, None]).astype(np.float64)
            weighed = ones * powers[block, None]
            for place in range(bisect_right(bounds, start) - 1, bisect_left(bounds, start + len(ones))):
                part = slice(max(bounds[place] - start, 0), bounds[place + 1] - start)
                sums[place] += weighed[part].T @ ones[part]
        return sums.astype(np.int64)


def _ones(tables: Tables) -> _Ones:
    parts, sizes = [], []
    for level in tables.levels:
        most = tables.most[level.row : level.row + len(level.keys)]
        # A gram that occurs once says nothing of the other references; most of the longer ones do.
        shared = np.flatnonzero(most)
        times = most.take(shared)
        ends = _bounds(times)
        sizes.append(np.diff(ends.take(np.searchsorted(shared, level.bounds))))
        within = np.arange(ends[-1]) - np.repeat(ends[:-1], times)
        parts.append((np.repeat(shared + level.row, times), within))
    of_set = np.stack(sizes, axis=1)
    bounds = _bounds(of_set.reshape(-1))
    rows, levels, orders = (np.empty(bounds[-1], np.int64) for _ in range(3))
    for n, (shared, within) in enumerate(parts):
        shift = bounds[:-1].reshape(of_set.shape)[:, n] - (np.cumsum(of_set[:, n]) - of_set[:, n])
        at = np.arange(len(shared)) + np.repeat(shift, of_set[:, n])
        rows[at], levels[at], orders[at] = shared, within, n
    every = bounds[:: len(parts)].tolist()
    return _Ones(rows, levels.astype(tables.counts.dtype), orders, every)


def similarities(
    tables: Tables, places: Sequence[int], candidates: TokenSets, order: int, combine: Combine
) -> list[Floats]:
    """The BLEU of each of n candidates with each of k references alone (n, k), for the sets at `places`."""
    owners = np.repeat(np.asarray(places, np.int64), candidates.widths)
    tokens = _bounds(candidates.lengths)
    values = np.empty((len(owners), tables.lengths.shape[1]))
    at_once = max(1, CELLS // max(values.shape[1], 1))
    for start in range(0, len(owners), at_once):
        block = slice(start, start + at_once)
        lengths = candidates.lengths[block]
        ids = candidates.ids[tokens[start] : tokens[start + len(lengths)]]
        values[block] = combine(
            np.moveaxis(_hits(tables, owners[block], ids, lengths, order), 0, -1),
            _totals(lengths[:, None], order),
            lengths[:, None],
            tables.lengths[owners[block]],
        )
    return [values[begin:end] for begin, end in pairwise(_bounds(candidates.widths).tolist())]


def _hits(tables: Tables, owners: Counts, ids: Counts, lengths: Counts, order: int) -> Counts:
    """Clipped counts (order, n, k) of texts of these words and lengths, whose sets are `owners`."""
    hits = np.zeros((order, len(owners), tables.counts.shape[1]), np.int64)
    texts = np.repeat(np.arange(len(lengths)), lengths)
    left = _left(lengths)
    keys = tables.levels[0].keys
    gram_keys, live = _look_up(keys, (owners.take(texts) << WORD_BITS) | ids)
    word_rows, bits = np.full(len(ids) + order, -1), len(keys).bit_length()
    word_rows[live] = gram_keys
    for n, level in enumerate(tables.levels):
        if n:
            on = np.flatnonzero((left.take(live) > n) & (word_rows.take(live + n) >= 0))
            live, gram_keys = live.take(on), gram_keys.take(on)
            gram_keys, on = _look_up(level.keys, (gram_keys << bits) | word_rows.take(live + n))
            live = live.take(on)
        if not len(live):
            break
        row_bits = len(level.keys).bit_length()
        keys = (texts.take(live) << row_bits) | gram_keys
        keys.sort()
        starts = run_starts(keys)
        times = np.diff(starts, append=len(keys))
        keys = keys.take(starts)
        clipped = tables.counts.take((keys & ((1 << row_bits) - 1)) + level.row, axis=0)
        times = np.minimum(times, np.iinfo(clipped.dtype).max).astype(clipped.dtype)
        np.minimum(clipped, times[:, None], out=clipped)
        keys >>= row_bits
        starts = run_starts(keys)
        hits[n, keys.take(starts)] = np.add.reduceat(clipped, starts, axis=0, dtype=np.int64)
    return hits


def _look_up(keys: Counts, sought: Counts) -> tuple[Counts, Counts]:
    """Where among the sorted keys those sought are, and which of these are there."""
    if not len(keys):
        return keys, keys
    places = np.searchsorted(keys, sought)
    present = np.flatnonzero(keys.take(places, mode="clip") == sought)
    return places.take(present), present


def _bounds(sizes: Sequence[int] | Small) -> Counts:
    """Where parts of these sizes begin, and the end of the last."""
    bounds = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=bounds[1:])
    return bounds


def _left(lengths: Counts) -> Counts:
    """How many tokens of its text each token begins: itself and those after it."""
    return np.repeat(np.cumsum(lengths), lengths) - np.arange(int(lengths.sum()))
