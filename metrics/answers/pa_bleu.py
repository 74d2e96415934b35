"""Pairwise BLEU of many candidates with the references of many questions, from one table per reference set.

A table holds how often each n-gram of k references stands in each of them. A candidate's n-grams are looked up
once; the minimum with the table's rows gives the clipped counts with all k references at the same time. Tables
are made, and candidates looked up, for as many questions at a time as a block holds.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import numpy.typing as npt

from metrics.metric import Floats

Counts = npt.NDArray[np.int64]
#: Of hits (m, n), totals (m, n), candidate lengths (m) and reference lengths (m): BLEU of each (m).
Combine = Callable[[Counts, Counts, Counts, Counts], Floats]
Words = Sequence[str]
#: Codes of a block must lie below this.
MOST = 2**62
#: Cells of clipped counts, and reference sets, that a block may have; a few MB.
CELLS = 2**16
SETS = 256


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """n-grams of k references: gram `row`, of `orders[row] + 1` tokens, stands `counts[row, i]` times in i.

    A gram's code writes its tokens as digits to the base `len(words) + 1`; the digit of a token is its number
    in `words`, from 1. No digit is 0, so longer grams have the greater codes. `codes` are sorted.
    """

    words: dict[str, int]
    codes: Counts
    orders: npt.NDArray[np.uint8]
    counts: npt.NDArray[np.unsignedinteger]
    lengths: Counts


def fits(references: Sequence[Words], order: int) -> bool:
    """Whether codes of the n-grams of these references have room in 62 bits (55,000 words for n = 4)."""
    return (len(set(chain.from_iterable(references))) + 1) ** order < MOST


def tables_of(sets: Sequence[Sequence[Words]], order: int) -> list[Table]:
    """The table of each reference set; references are split into tokens, and each set `fits`."""
    vocabularies = [_numbered(references) for references in sets]
    made: list[Table] = []
    spans = [(len(words) + 1) ** order for words in vocabularies]
    for block in _blocks(spans, [1] * len(sets)):
        made += _tables(sets[block], vocabularies[block], spans[block], order)
    return made


def similarities(
    tables: Sequence[Table], candidates: Sequence[Sequence[Words]], order: int, combine: Combine
) -> list[Floats]:
    """Per reference set the BLEU of each of its n candidates with each of its k references alone (n, k)."""
    spans = [(len(table.words) + 1) ** order for table in tables]
    cells = [len(given) * len(table.lengths) for table, given in zip(tables, candidates, strict=True)]
    values: list[Floats] = []
    for block in _blocks(spans, cells):
        values += _similarities(tables[block], candidates[block], spans[block], order, combine)
    return values


def _numbered(references: Sequence[Words]) -> dict[str, int]:
    return {word: number for number, word in enumerate(dict.fromkeys(chain.from_iterable(references)), 1)}


def _blocks(spans: Sequence[int], cells: Sequence[int]) -> Iterator[slice]:
    """Runs of sets whose codes and cells have room together."""
    start, span, size = 0, 0, 0
    for place, (more, cell) in enumerate(zip(spans, cells, strict=True)):
        if place > start and (span + more >= MOST or size + cell > CELLS or place - start >= SETS):
            yield slice(start, place)
            start, span, size = place, 0, 0
        span, size = span + more, size + cell
    if start < len(spans):
        yield slice(start, len(spans))


def _tables(
    sets: Sequence[Sequence[Words]], vocabularies: Sequence[dict[str, int]], spans: Sequence[int], order: int
) -> list[Table]:
    texts = [text for references in sets for text in references]
    owners = np.repeat(np.arange(len(sets)), [len(references) for references in sets])
    ids = [vocabularies[owner][word] for owner, text in zip(owners, texts, strict=True) for word in text]
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    offsets = _before(spans)
    grams = _grams(ids, lengths, _bases(vocabularies)[owners], order)
    codes, rows = np.unique(grams.codes + offsets[owners[grams.texts]], return_inverse=True)
    orders = np.zeros(len(codes), np.uint8)
    orders[rows] = grams.orders
    firsts = _before([len(references) for references in sets])
    bounds = np.searchsorted(codes, [*offsets, offsets[-1] + spans[-1]])
    widths = np.fromiter(map(len, sets), np.int64, len(sets))
    cells = np.repeat(widths, np.diff(bounds))
    starts = _before(cells)
    counts = np.bincount(
        starts[rows] + grams.texts - firsts[owners[grams.texts]], minlength=int(cells.sum())
    )
    counts = counts.astype(np.min_scalar_type(counts.max(initial=0)))
    made = []
    for place, (words, width) in enumerate(zip(vocabularies, widths, strict=True)):
        part = slice(bounds[place], bounds[place + 1])
        first = starts[bounds[place]] if bounds[place] < len(starts) else 0
        block = counts[first : first + (bounds[place + 1] - bounds[place]) * width]
        made.append(
            Table(
                words,
                codes[part] - offsets[place],
                orders[part].copy(),
                block.reshape(-1, width).copy(),
                lengths[firsts[place] : firsts[place] + width].copy(),
            )
        )
    return made


def _similarities(
    tables: Sequence[Table],
    candidates: Sequence[Sequence[Words]],
    spans: Sequence[int],
    order: int,
    combine: Combine,
) -> list[Floats]:
    sizes = [len(given) for given in candidates]
    owners = np.repeat(np.arange(len(tables)), sizes)
    n, k = len(owners), max(len(table.lengths) for table in tables)
    lengths = np.fromiter((len(text) for given in candidates for text in given), np.int64, n)
    references = np.ones((len(tables), k), np.int64)
    for place, table in enumerate(tables):
        references[place, : len(table.lengths)] = table.lengths
    hits = _hits(tables, candidates, owners, lengths, spans, order, k)
    totals = np.maximum(lengths[:, None] - np.arange(order), 0)
    values = combine(
        hits.reshape(n * k, order),
        np.repeat(totals, k, axis=0),
        np.repeat(lengths, k),
        references[owners].reshape(n * k),
    ).reshape(n, k)
    ends = np.cumsum(sizes)
    return [
        values[end - size : end, : len(table.lengths)]
        for table, size, end in zip(tables, sizes, ends, strict=True)
    ]


def _hits(
    tables: Sequence[Table],
    candidates: Sequence[Sequence[Words]],
    owners: Counts,
    lengths: Counts,
    spans: Sequence[int],
    order: int,
    k: int,
) -> Counts:
    """Clipped counts (n, k, order) of the candidates of all tables."""
    hits = np.zeros((len(owners), order, k), np.int64)
    codes = np.concatenate(
        [table.codes + offset for table, offset in zip(tables, _before(spans), strict=True)]
    )
    ids: list[int] = []
    for table, given in zip(tables, candidates, strict=True):
        known = table.words.get
        ids += [known(word, 0) for text in given for word in text]
    grams = _grams(ids, lengths, _bases([table.words for table in tables])[owners], order)
    sought = grams.codes + _before(spans)[owners[grams.texts]]
    if not len(codes) or not len(sought):
        return hits.swapaxes(1, 2)
    rows = np.minimum(np.searchsorted(codes, sought), len(codes) - 1)
    found = codes[rows] == sought
    keys, times = np.unique(grams.texts[found] * len(codes) + rows[found], return_counts=True)
    if not len(keys):
        return hits.swapaxes(1, 2)
    texts, rows = np.divmod(keys, len(codes))
    kind = np.result_type(*{table.counts.dtype for table in tables})
    counts = np.zeros((len(codes), k), kind)
    start = 0
    for table in tables:
        counts[start : start + len(table.codes), : table.counts.shape[1]] = table.counts
        start += len(table.codes)
    clip = np.minimum(times, np.iinfo(kind).max).astype(kind)
    clipped = np.minimum(counts[rows], clip[:, None])
    cells = texts * order + np.concatenate([table.orders for table in tables])[rows]
    begins = np.flatnonzero(np.diff(cells, prepend=-1))
    hits.reshape(-1, k)[cells[begins]] = np.add.reduceat(clipped, begins, axis=0, dtype=np.int64)
    return hits.swapaxes(1, 2)


@dataclass(frozen=True, slots=True, eq=False)
class _Grams:
    """n-grams of known tokens: the text each stands in, its number of tokens less one, and its code."""

    texts: Counts
    orders: npt.NDArray[np.uint8]
    codes: Counts


def _grams(ids: Sequence[int], lengths: Counts, bases: Counts, order: int) -> _Grams:
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
