"""Pairwise BLEU of candidates with the references of many questions, from one table per reference set.

A table holds how often each n-gram of k references stands in each of them. A candidate's n-grams are looked
up once; the minimum with the table's rows gives the clipped counts with all k references at the same time.
References among each other need no look-up: the minimum of two counts is how many t = 1, 2, … both reach, so
their clipped counts are products of matrices of zeros and ones.
Tables are made, and candidates looked up, for as many questions at a time as a block holds.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from metrics.answers.bleu import Bleu, bleu
from metrics.answers.importance import SizedCache
from metrics.errors import MetricError
from metrics.texts import Floats
from metrics.tokens import Tokeniser, cut

Counts = npt.NDArray[np.int64]
Hits = Counts | Floats
#: Of hits (m, n), totals (m, n), candidate lengths (m) and reference lengths (m): BLEU of each (m).
Combine = Callable[[Hits, Counts, Counts, Counts], Floats]
Words = Sequence[str]
#: Codes of a block must lie below this.
MOST = 2**62
#: Cells of clipped counts, and reference sets, that a block may have; a few MB.
CELLS = 2**16
SETS = 256
#: Zeros and ones that are multiplied at a time; 8 MB.
ONES = 2**20
#: Bytes of tables that are kept: a few thousand questions with 20 references of 20 words.
KEPT = 2**27


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """n-grams of k references: gram `row`, of `orders[row] + 1` tokens, stands `counts[row, i]` times in i.

    A gram's code writes its tokens as digits to the base `len(words) + 1`; the digit of a token is its number
    in `words`, from 1. No digit is 0, so longer grams have the greater codes. `codes` are sorted. `repeated`
    are the grams that occur more than once.
    """

    words: dict[str, int]
    codes: Counts
    orders: npt.NDArray[np.uint8]
    counts: npt.NDArray[np.integer[Any]]
    repeated: npt.NDArray[np.bool_]
    lengths: Counts

    @property
    def size(self) -> int:
        """Bytes, roughly."""
        return self.counts.nbytes + 10 * len(self.codes) + 100 * len(self.words)


@dataclass(frozen=True, slots=True, eq=False)
class PairBleu:
    """BLEU of candidates with each of their references alone; tables of reference sets are kept."""

    how: Bleu
    tokeniser: Tokeniser
    kept: SizedCache[Table] = field(default_factory=lambda: SizedCache(KEPT))

    def __call__(self, sets: Sequence[tuple[Sequence[str], Sequence[str]]]) -> list[Floats]:
        """Per set of n candidates and k references a table of values (n, k)."""
        tables = self._tables([tuple(references) for _, references in sets])
        candidates = _split_words([texts for texts, _ in sets], self.tokeniser)
        return similarities(tables, candidates, self.how.n, partial(bleu, how=self.how))

    def among(self, sets: Sequence[tuple[str, ...]]) -> list[Floats]:
        """Per set of k references a table of values (k, k): BLEU of each with each of them alone."""
        return own_similarities(self._tables(sets), self.how.n, partial(bleu, how=self.how))

    def _tables(self, sets: Sequence[tuple[str, ...]]) -> list[Table]:
        known = {references: self.kept.get(references) for references in sets}
        tables = {references: table for references, table in known.items() if table is not None}
        new = [references for references in known if references not in tables]
        made = tables_of(split_sets(new, self.tokeniser), self.how.n)
        for references, table in zip(new, made, strict=True):
            self.kept.put(references, table, table.size)
            tables[references] = table
        return [tables[references] for references in sets]


@dataclass(frozen=True, slots=True, eq=False)
class TokenSets:
    """Texts of several sets cut into tokens: `widths` texts in each set, of `lengths` tokens each.

    `ids` are the tokens one after another, by their numbers in `words`.
    """

    ids: Counts
    lengths: Counts
    widths: Counts
    words: Sequence[str]


def split_sets(sets: Sequence[Sequence[str]], tokeniser: Tokeniser) -> TokenSets:
    """The tokens of each text of each set; all texts are cut at once where the tokeniser can."""
    texts = [text for every in sets for text in every]
    widths = np.fromiter(map(len, sets), np.int64, len(sets))
    if tokeniser.runs is None:
        cut_up = [tokeniser.split(text) for text in texts]
        numbers: dict[str, int] = {}
        ids = [numbers.setdefault(word, len(numbers)) for text in cut_up for word in text]
        lengths = np.fromiter(map(len, cut_up), np.int64, len(cut_up))
        return TokenSets(np.asarray(ids, np.int64), lengths, widths, list(numbers))
    found, starts, words = cut(texts, tokeniser.runs)
    return TokenSets(found.astype(np.int64), np.diff(starts).astype(np.int64), widths, words)


def tables_of(sets: TokenSets, order: int) -> list[Table]:
    """The table of each reference set."""
    owners = np.repeat(np.repeat(np.arange(len(sets.widths)), sets.widths), sets.lengths)
    # Each set numbers its own words from 1, so that a gram of four of them fits into 62 bits.
    keys, places = np.unique(owners * len(sets.words) + sets.ids, return_inverse=True)
    firsts = np.searchsorted(keys, np.arange(len(sets.widths) + 1) * len(sets.words))
    ids = places - firsts[owners] + 1
    names = list(map(sets.words[:].__getitem__, (keys % max(len(sets.words), 1)).tolist()))
    vocabularies = [
        dict(zip(names[begin:end], range(1, end - begin + 1), strict=True))
        for begin, end in pairwise(firsts.tolist())
    ]
    spans = [(len(words) + 1) ** order for words in vocabularies]
    if max(spans, default=0) >= MOST:
        raise MetricError(
            f"The references of a question have {max(map(len, vocabularies)):,} different words together; at "
            f"most {int(MOST ** (1 / order)):,} can be compared. Look whether a file ended up in one cell."
        )
    texts = np.concatenate(([0], np.cumsum(sets.widths)))
    tokens = np.concatenate(([0], np.cumsum(sets.lengths)))[texts]
    made: list[Table] = []
    for block in _blocks(spans, [1] * len(spans)):
        begin, end = block.start, block.stop
        made += _tables(
            ids[tokens[begin] : tokens[end]],
            sets.lengths[texts[begin] : texts[end]],
            sets.widths[block],
            vocabularies[block],
            order,
        )
    return made


def _split_words(sets: Sequence[Sequence[str]], tokeniser: Tokeniser) -> list[list[Words]]:
    """The tokens of each text of each set as they are, to be looked up among those of its references."""
    split = split_sets(sets, tokeniser)
    tokens = list(map(split.words[:].__getitem__, split.ids.tolist()))
    bounds = np.concatenate(([0], np.cumsum(split.lengths))).tolist()
    texts = iter([tokens[begin:end] for begin, end in pairwise(bounds)])
    return [list(islice(texts, len(every))) for every in sets]


def similarities(
    tables: Sequence[Table], candidates: Sequence[Sequence[Words]], order: int, combine: Combine
) -> list[Floats]:
    """Per reference set the BLEU of each of its n candidates with each of its k references alone (n, k)."""
    parts = [
        (place, given[at : at + most])
        for place, (table, given) in enumerate(zip(tables, candidates, strict=True))
        for most in [max(CELLS // max(len(table.lengths), 1), 1)]
        for at in range(0, len(given), most)
    ]
    used = [tables[place] for place, _ in parts]
    spans = [(len(table.words) + 1) ** order for table in used]
    cells = [len(given) * len(table.lengths) for table, (_, given) in zip(used, parts, strict=True)]
    values: list[list[Floats]] = [[np.zeros((0, len(table.lengths)))] for table in tables]
    for block in _blocks(spans, cells):
        found = _similarities(used[block], [given for _, given in parts[block]], order, combine)
        for (place, _), part in zip(parts[block], found, strict=True):
            values[place].append(part)
    return [np.concatenate(every) if len(every) > 2 else every[-1] for every in values]


def own_similarities(tables: Sequence[Table], order: int, combine: Combine) -> list[Floats]:
    """Per reference set the BLEU of each of its k references with each of them alone (k, k)."""
    spans = [0] * len(tables)
    cells = [table.counts.size for table in tables]
    values: list[Floats] = []
    for block in _blocks(spans, cells, ONES):
        used = tables[block]
        sizes = [len(table.lengths) for table in used]
        owners = np.repeat(np.arange(len(used)), sizes)
        lengths = np.concatenate([table.lengths for table in used])
        values += _values(used, owners, lengths, _own_hits(used, order), combine)
    return values


def _blocks(spans: Sequence[int], cells: Sequence[int], most: int = CELLS) -> Iterator[slice]:
    """Runs of sets whose codes and cells have room together."""
    start, span, size = 0, 0, 0
    for place, (more, cell) in enumerate(zip(spans, cells, strict=True)):
        if place > start and (span + more >= MOST or size + cell > most or place - start >= SETS):
            yield slice(start, place)
            start, span, size = place, 0, 0
        span, size = span + more, size + cell
    if start < len(spans):
        yield slice(start, len(spans))


def _tables(
    ids: Counts, lengths: Counts, widths: Counts, vocabularies: Sequence[dict[str, int]], order: int
) -> list[Table]:
    owners = np.repeat(np.arange(len(widths)), widths)
    spans = [(len(words) + 1) ** order for words in vocabularies]
    offsets = _before(spans)
    grams = _grams(ids, lengths, _bases(vocabularies)[owners], order)
    owner = owners[grams.texts]
    codes, rows = np.unique(grams.codes + offsets[owner], return_inverse=True)
    orders = np.zeros(len(codes), np.uint8)
    orders[rows] = grams.orders
    repeated = np.bincount(rows, minlength=len(codes)) > 1
    firsts = _before(widths)
    bounds = np.searchsorted(codes, [*offsets.tolist(), sum(spans)])
    starts = np.concatenate(([0], np.cumsum(np.repeat(widths, np.diff(bounds)))))
    cells = starts[rows] + grams.texts - firsts[owner]
    counts = np.bincount(cells, minlength=int(starts[-1]))
    counts = counts.astype(np.min_scalar_type(counts.max(initial=0)))
    return [
        Table(
            words,
            codes[begin:end] - offset,
            orders[begin:end].copy(),
            counts[starts[begin] : starts[end]].reshape(end - begin, width).copy(),
            repeated[begin:end].copy(),
            lengths[first : first + width].copy(),
        )
        for words, begin, end, offset, first, width in zip(
            vocabularies, bounds[:-1], bounds[1:], offsets, firsts, widths, strict=True
        )
    ]


def _similarities(
    tables: Sequence[Table], candidates: Sequence[Sequence[Words]], order: int, combine: Combine
) -> list[Floats]:
    sizes = [len(given) for given in candidates]
    owners = np.repeat(np.arange(len(tables)), sizes)
    lengths = np.fromiter((len(text) for given in candidates for text in given), np.int64, len(owners))
    ids = [
        table.words.get(word, 0)
        for table, given in zip(tables, candidates, strict=True)
        for text in given
        for word in text
    ]
    grams = _grams(ids, lengths, _bases([table.words for table in tables])[owners], order)
    return _values(tables, owners, lengths, _hits(tables, owners, grams, order), combine)


def _values(
    tables: Sequence[Table], owners: Counts, lengths: Counts, hits: Hits, combine: Combine
) -> list[Floats]:
    """Per table the values of its texts from their clipped counts (n, k, order); `owners` are sorted."""
    n, k, order = hits.shape
    references = np.ones((len(tables), k), np.int64)
    for place, table in enumerate(tables):
        references[place, : len(table.lengths)] = table.lengths
    values = combine(
        hits.reshape(n * k, order),
        np.repeat(np.maximum(lengths[:, None] - np.arange(order), 0), k, axis=0),
        np.repeat(lengths, k),
        references[owners].reshape(n * k),
    ).reshape(n, k)
    bounds = np.searchsorted(owners, np.arange(len(tables) + 1)).tolist()
    return [
        values[begin:end, : len(table.lengths)]
        for table, (begin, end) in zip(tables, pairwise(bounds), strict=True)
    ]


def _own_hits(tables: Sequence[Table], order: int) -> Floats:
    """Clipped counts (n, k, order) of all references with those of their own table."""
    sizes = [len(table.lengths) for table in tables]
    firsts = _before(sizes).tolist()
    counts = _counts(tables, max(sizes))
    cells = np.concatenate([table.orders + np.intp(place * order) for place, table in enumerate(tables)])
    # A gram that occurs once says nothing of the other references; most of the longer ones do.
    shared = np.flatnonzero(np.concatenate([table.repeated for table in tables]))
    counts, cells = counts[shared], cells[shared]
    hits = np.zeros((sum(sizes), order, counts.shape[1]))
    at_once = max(1, ONES // counts.shape[1])
    for times in range(1, int(counts.max(initial=0)) + 1):
        if times > 1:  # few n-grams are that often in one text
            left = np.unique(np.flatnonzero(counts >= times) // counts.shape[1])
            counts, cells = counts[left], cells[left]
        for start in range(0, len(counts), at_once):
            block = slice(start, start + at_once)
            ones = (counts[block] >= times).astype(np.float32)  # whole numbers below 2**24 are exact
            begins = np.searchsorted(cells[block], np.arange(len(tables) * order + 1)).tolist()
            for cell, (begin, end) in enumerate(pairwise(begins)):
                if begin < end:
                    place, n = divmod(cell, order)
                    first, size = firsts[place], sizes[place]
                    part = ones[begin:end, :size]
                    hits[first : first + size, n, :size] += part.T @ part
    lengths = np.concatenate([table.lengths for table in tables])
    own = np.arange(len(lengths)) - np.repeat(firsts, sizes)
    hits[np.arange(len(lengths)), :, own] = np.maximum(lengths[:, None] - np.arange(order), 0)
    return hits.swapaxes(1, 2)


def _hits(tables: Sequence[Table], owners: Counts, grams: "_Grams", order: int) -> Counts:
    """Clipped counts (n, k, order) of candidates, whose tables are `owners`."""
    k = max(len(table.lengths) for table in tables)
    hits = np.zeros((len(owners), order, k), np.int64)
    offsets = _before([(len(table.words) + 1) ** order for table in tables])
    codes = np.concatenate([table.codes + offset for table, offset in zip(tables, offsets, strict=True)])
    texts, rows, times = _found(codes, grams.codes + offsets[owners[grams.texts]], grams.texts)
    if len(rows):
        clipped = _counts(tables, k)[rows]
        most = np.minimum(times, np.iinfo(clipped.dtype).max).astype(clipped.dtype)
        np.minimum(clipped, most[:, None], out=clipped)
        cells = texts * order + np.concatenate([table.orders for table in tables])[rows]
        begins = np.flatnonzero(np.diff(cells, prepend=-1))
        hits.reshape(-1, k)[cells[begins]] = np.add.reduceat(clipped, begins, axis=0, dtype=np.int64)
    return hits.swapaxes(1, 2)


def _found(codes: Counts, sought: Counts, texts: Counts) -> tuple[Counts, Counts, Counts]:
    """Grams that are in the tables: text, row, and how often the text has it; sorted by text, then row."""
    if not len(codes):
        return codes, codes, codes
    rows = np.minimum(np.searchsorted(codes, sought), len(codes) - 1)
    found = codes[rows] == sought
    keys, times = np.unique(texts[found] * len(codes) + rows[found], return_counts=True)
    return keys // len(codes), keys % len(codes), times


def _counts(tables: Sequence[Table], k: int) -> npt.NDArray[Any]:
    """The counts of all tables under each other, 0 where one has fewer than k references."""
    if all(table.counts.shape[1] == k for table in tables):
        return np.concatenate([table.counts for table in tables])
    kind = np.result_type(*{table.counts.dtype for table in tables})
    counts = np.zeros((sum(len(table.codes) for table in tables), k), kind)
    start = 0
    for table in tables:
        rows, width = table.counts.shape
        counts[start : start + rows, :width] = table.counts
        start += rows
    return counts


@dataclass(frozen=True, slots=True, eq=False)
class _Grams:
    """n-grams of known tokens: the text each stands in, its number of tokens less one, and its code."""

    texts: Counts
    orders: npt.NDArray[np.uint8]
    codes: Counts


def _grams(ids: Sequence[int] | Counts, lengths: Counts, bases: Counts, order: int) -> _Grams:
    """Every n-gram that holds no 0, which is a token that the references do not have."""
    numbers = np.asarray(ids, np.int64)
    owner = np.repeat(np.arange(len(lengths)), lengths)
    base = bases[owner]
    known = numbers > 0
    texts, codes, orders = [owner[known]], [numbers[known]], [np.zeros(known.sum(), np.uint8)]
    code, whole = numbers, known
    for n in range(1, order):
        code = code[:-1] * base[n:] + numbers[n:]
        whole = whole[:-1] & known[n:] & (owner[: len(code)] == owner[n:])
        texts.append(owner[: len(code)][whole])
        codes.append(code[whole])
        orders.append(np.full(len(codes[-1]), n, np.uint8))
    return _Grams(np.concatenate(texts), np.concatenate(orders), np.concatenate(codes))


def _bases(vocabularies: Sequence[dict[str, int]]) -> Counts:
    return np.fromiter((len(words) + 1 for words in vocabularies), np.int64, len(vocabularies))


def _before(sizes: Sequence[int] | Counts) -> Counts:
    """Sum of those before each."""
    return np.concatenate(([0], np.cumsum(np.asarray(sizes, np.int64))[:-1]))
