"""The first pass over a file of queries: normalised, screened and counted in constant memory; samples drawn.

Most queries of a log are plain words and small numbers. A batch is made into one text, in which one
substitution blanks all others; so case, spaces, lengths and patterns cost no Python code per query. What is
left has only the word list to pass; what was blanked goes through all rules.

Every record leaves 49 bytes on disk: the 128-bit hash of its query (of `records.identity` in plain form,
keyed by the seed), its place in the file, its count, its label, and hashes of its id, of its spelling and of
what it brings along (passages and references), by which rows that add to their query are told from identical
repeats. They go into buckets by the first bits of the hash; a bucket is then read whole, sorted and summed
up, one at a time. Why so: ten million texts do not fit into 300 MB, nor does a Python set of their hashes; a
database would do the same sorting with far more writing; and as the buckets are in the order of the hash, so
is what comes out of them: the random order that sampling wants. With 128 buckets, a hundred million lines are
4.9 GB on disk and about 100 MB in memory. Two different queries share a hash with a probability below 2^-70
for a hundred million lines.

That order depends on the seed and the texts alone, not on the order of the file, the number of its duplicates
or the size of its chunks. All designs sample without replacement and walk down it once:

- `uniform`: the first n. Simple random sampling; every query is in the sample with probability n / N.
- `count`: systematic sampling proportional to size with a random order and a random start (Madow 1949;
  Särndal, Swensson & Wretman 1992, section 3.6.2). The probability is exactly n · count / total. Queries
  whose share is so great that it would be 1 or more are in the sample with certainty, and the rest of the
  sample is drawn from the rest. All of it is integer arithmetic.
- `strata`: the first n_h of each stratum, probability n_h / N_h.

A query's weight is 1 / probability, so that a weighted sum over the sample estimates the sum over all
distinct queries without bias (Horvitz & Thompson 1952).
"""

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from heapq import heappush, heappushpop
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotation.importing.formats import Batch, Reader
from annotation.importing.records import MOST_EXAMPLES, TYPES, identity, normal, plain_form
from annotation.importing.selection import LONGEST_EVER, MOST, STRATA, Design, SampledQuery, Screen, key_of
from core.files.refusals import FileRefusedError, Refusals

Numbers = NDArray[np.int64]
#: Different counts that are kept apart to find where the head ends.
_MOST_COUNTS = 2_000_000


@dataclass(frozen=True, slots=True)
class Block:
    """Some distinct queries in the order of their keys: the first record of each, its count and its type."""

    ordinals: Numbers
    counts: Numbers
    types: NDArray[np.uint8]  # number of the type in STRATA["type"]


Blocks = Callable[[], Iterator[Block]]


def draw(blocks: Blocks, design: Design) -> list[SampledQuery]:
    """The sample; FileRefusedError where there is too much for one import."""
    design.check()
    if design.by == "count":
        return _by_count(blocks, design)
    if design.by == "strata":
        return _by_strata(blocks, design)
    return _uniform(blocks, design)


def _uniform(blocks: Blocks, design: Design) -> list[SampledQuery]:
    total = sum(len(block.counts) for block in blocks())
    size = total if design.by == "all" else min(design.size, total)
    if size > MOST:
        raise FileRefusedError(
            f"There are {total:,} different queries, and one import takes {MOST:,} at most: draw a sample."
        )
    weight = total / size if size else 1.0
    sample: list[SampledQuery] = []
    for block in blocks():
        left = size - len(sample)
        if not left:
            break
        pairs = zip(block.ordinals[:left].tolist(), block.counts[:left].tolist(), strict=True)
        sample += [SampledQuery(ordinal, count, weight) for ordinal, count in pairs]
    return sample


def _by_count(blocks: Blocks, design: Design) -> list[SampledQuery]:
    total, distinct, largest = 0, 0, list[int]()
    for block in blocks():
        total += int(block.counts.sum())
        distinct += len(block.counts)
        _keep_largest(largest, block.counts, design.size)
    if distinct <= design.size:
        return _uniform(blocks, Design(by="all"))
    certain_from, left, rest = _certain(sorted(largest, reverse=True), design.size, total)
    start = int.from_bytes(hashlib.blake2b(b"start" + key_of(design.seed)).digest(), "big") % max(rest, 1)
    points = np.array([(k * rest + start) // left for k in range(left)], dtype=np.int64)
    sample: list[SampledQuery] = []
    passed = 0
    for block in blocks():
        sure = block.counts >= certain_from
        sizes = np.where(sure, 0, block.counts)
        ends = passed + np.cumsum(sizes)
        hit = np.searchsorted(points, ends, side="left") > np.searchsorted(points, ends - sizes, side="left")
        for at in np.flatnonzero(sure | hit).tolist():
            count = int(block.counts[at])
            weight = 1.0 if sure[at] else rest / (left * count)
            sample.append(SampledQuery(int(block.ordinals[at]), count, weight))
        passed = int(ends[-1]) if len(ends) else passed
    return sample


def _keep_largest(heap: list[int], counts: Numbers, size: int) -> None:
    """Keep the `size` largest counts in a heap."""
    if len(counts) > size:
        counts = np.partition(counts, len(counts) - size)[len(counts) - size :]
    if len(heap) == size:
        counts = counts[counts > heap[0]]
    for count in counts.tolist():
        if len(heap) < size:
            heappush(heap, count)
        else:
            heappushpop(heap, count)


def _certain(largest: Iterable[int], size: int, total: int) -> tuple[int, int, int]:
    """Least count that is in the sample with certainty, how many are left to draw, and from what total."""
    bound = 2**62
    for count in largest:
        if not size or count * size < total:
            break
        bound, size, total = count, size - 1, total - count
    return bound, size, total


def _by_strata(blocks: Blocks, design: Design) -> list[SampledQuery]:
    names = STRATA[design.strata]
    stratum_of = _types if design.strata == "type" else _by_frequency(blocks, design)
    sizes = np.zeros(len(names), dtype=np.int64)
    for block in blocks():
        sizes += np.bincount(stratum_of(block), minlength=len(names))
    quotas = [min(quota, int(size)) for quota, size in zip(_quotas(design, sizes), sizes, strict=True)]
    if sum(quotas) > MOST:
        raise FileRefusedError(f"One import takes {MOST:,} queries at most.")
    sample: list[SampledQuery] = []
    left = list(quotas)
    for block in blocks():
        strata = stratum_of(block)
        for number, name in enumerate(names):
            if not left[number]:
                continue
            places = np.flatnonzero(strata == number)[: left[number]]
            left[number] -= len(places)
            weight = float(sizes[number]) / quotas[number]
            sample += [
                SampledQuery(int(block.ordinals[at]), int(block.counts[at]), weight, name)
                for at in places.tolist()
            ]
        if not any(left):
            break
    return sample


def _types(block: Block) -> NDArray[np.uint8]:
    return block.types


def _quotas(design: Design, sizes: Numbers) -> list[int]:
    """What each stratum gives: its quota, or an equal part of the size where there are none."""
    names = STRATA[design.strata]
    if design.quotas:
        return [design.quotas.get(name, 0) for name in names]
    filled = [number for number in range(len(names)) if sizes[number]]
    quotas = [0] * len(names)
    # Small strata are taken whole; what they leave over goes to the others.
    left = design.size
    for place, number in enumerate(sorted(filled, key=lambda each: (int(sizes[each]), each))):
        part = -(-left // (len(filled) - place)) if left else 0
        quotas[number] = min(part, int(sizes[number]))
        left -= quotas[number]
    return quotas


def _by_frequency(blocks: Blocks, design: Design) -> Callable[[Block], NDArray[np.uint8]]:
    head, torso = design.head_from, design.torso_from
    if head is None or torso is None:
        head, torso = _thirds(blocks)

    def stratum(block: Block) -> NDArray[np.uint8]:
        return np.where(block.counts >= head, 0, np.where(block.counts >= torso, 1, 2)).astype(np.uint8)

    return stratum


def _thirds(blocks: Blocks) -> tuple[int, int]:
    """Least counts of the head and of the torso."""
    seen: dict[int, int] = {}
    for block in blocks():
        values, numbers = np.unique(block.counts, return_counts=True)
        for value, number in zip(values.tolist(), numbers.tolist(), strict=True):
            seen[value] = seen.get(value, 0) + number
        if len(seen) > _MOST_COUNTS:
            raise FileRefusedError(
                "The counts are too different for thirds: give --head-from and --torso-from."
            )
    total = sum(value * number for value, number in seen.items())
    bounds: list[int] = []
    passed = 0
    for value in sorted(seen, reverse=True):
        # A query belongs to the part in which the first line of its count lies.
        while len(bounds) < 2 and passed * 3 >= total * (len(bounds) + 1):
            bounds.append(value + 1)
        passed += value * seen[value]
    bounds += [1] * (2 - len(bounds))
    return bounds[0], bounds[1]


BUCKETS = 128
_HOLD = 200_000
_ROW = np.dtype(
    [
        ("hi", "<u8"),
        ("lo", "<u8"),
        ("ordinal", "<i8"),
        ("count", "<i8"),
        ("brings", "<u8"),
        ("id", "<u4"),
        ("spelling", "<u4"),
        ("label", "u1"),
    ]
)
_ID = np.dtype([("hi", "<u8"), ("lo", "<u8"), ("query", "<u8"), ("ordinal", "<i8")])
_SUM = np.dtype([("ordinal", "<i8"), ("count", "<i8"), ("type", "u1")])
#: A row that adds to its query or spells it, and the first row of that query.
_MEMBER = np.dtype([("ordinal", "<i8"), ("first", "<i8"), ("adds", "?"), ("spells", "?")])
#: Type and yes-no flag in one byte: the type's number from 1, and 16 for yes, 32 for no.
_NUMBER_OF = {"": 0} | {name: number for number, name in enumerate(TYPES, 1)}
_TYPE_BITS, _FLAG_BITS = 15, 48
#: More refused records than this, and the column is not what it was taken for.
_MOST_CONFLICTS = 1_000_000
Label = tuple[str, bool | None]
_FLAGS = {None: 0, True: 16, False: 32}


class Buckets:
    """Rows on disk, divided by the first bits of their hash."""

    def __init__(self, room: Path, name: str, row: np.dtype[np.void]) -> None:
        self.row = row
        self._paths = [room / f"{name}-{number:03}" for number in range(BUCKETS)]
        self._held: list[NDArray[np.void]] = []
        self._count = 0

    def add(self, rows: NDArray[np.void]) -> None:
        """Add rows; they reach the disk some 200,000 at a time."""
        self._held.append(rows)
        self._count += len(rows)
        if self._count >= _HOLD:
            self.flush()

    def flush(self) -> None:
        """Write what is held."""
        if not self._held:
            return
        rows = np.concatenate(self._held)
        bucket = (rows["hi"] >> np.uint64(57)).astype(np.uint8)
        order = np.argsort(bucket, kind="stable")
        ends = np.cumsum(np.bincount(bucket, minlength=BUCKETS))
        rows = rows[order]
        for number, end in enumerate(ends.tolist()):
            begin = int(ends[number - 1]) if number else 0
            if end > begin:
                with self._paths[number].open("ab") as file:
                    file.write(rows[begin:end].tobytes())
        self._held, self._count = [], 0

    def __iter__(self) -> Iterator[NDArray[np.void]]:
        """Each bucket whole, in the order of the hash; empty ones are left out."""
        self.flush()
        for path in self._paths:
            if path.exists():
                yield np.fromfile(path, dtype=self.row)


class Tally:
    """Takes records, finds conflicts between them, and gives distinct queries in the order of their keys."""

    def __init__(self, room: Path) -> None:
        self._room = room
        self._rows = Buckets(room, "rows", _ROW)
        self._ids = Buckets(room, "ids", _ID)
        self.distinct = 0
        self.total = 0
        self.duplicates = 0
        #: Those of the duplicates that add something to their query.
        self.merged = 0
        #: Whether any row adds to a query, or spells it otherwise than its first row.
        self.has_members = False
        #: Rows with another id than their query, of how many queries; some as (ordinal, that of the id).
        self.other_ids = self.other_id_queries = 0
        self.some_other_ids: list[tuple[int, int]] = []
        self._last = 0
        #: Records that contradict an earlier one: (ordinal, ordinal of the other), sorted.
        self.repeated_ids: list[tuple[int, int]] = []
        self.contradictions: list[tuple[int, int]] = []

    def add(
        self,
        digests: Sequence[bytes],
        ordinals: Numbers,
        counts: Numbers,
        ids: Sequence[str] = (),
        *,
        labels: Sequence[Label] = (),
        brings: Sequence[int] = (),
        texts: Sequence[str] = (),
    ) -> None:
        """Add records, a list a field (of digests the first 16 bytes count); without counts they are 1.

        `brings` are hashes of what a record has beside its query, 0 for nothing; `texts` are its spellings.
        """
        if not digests:
            return
        keys = np.frombuffer(b"".join(digests), dtype=">u8").reshape(len(digests), -1)
        rows = np.zeros(len(digests), dtype=_ROW)
        rows["hi"], rows["lo"] = keys[:, 0], keys[:, 1]
        rows["ordinal"] = ordinals
        rows["count"] = counts if len(counts) else 1
        if labels:
            rows["label"] = [_NUMBER_OF[kind] | _FLAGS[flag] for kind, flag in labels]
        if brings:
            rows["brings"] = np.array(brings, dtype=np.uint64)
        if texts:
            rows["spelling"] = np.fromiter(map(hash, texts), np.int64, len(texts)).astype(np.uint32)
        self._last = max(self._last, int(rows["ordinal"].max()))
        if ids and any(ids):
            self._add_ids(ids, rows)
        self._rows.add(rows)

    def _add_ids(self, ids: Sequence[str], rows: NDArray[np.void]) -> None:
        """Ids by two hashes of this process, which nobody outside can aim at."""
        has_id = np.array([bool(each) for each in ids])
        first = np.array([hash(each) for each in ids], dtype=np.int64)
        second = np.array([hash(each + "\n") for each in ids], dtype=np.int64)
        id_rows = np.zeros(int(has_id.sum()), dtype=_ID)
        id_rows["hi"], id_rows["lo"] = first.view(np.uint64)[has_id], second.view(np.uint64)[has_id]
        rows["id"][has_id] = (id_rows["hi"] & np.uint64(2**32 - 1)).astype(np.uint32) | np.uint32(1)
        id_rows["query"], id_rows["ordinal"] = rows["lo"][has_id], rows["ordinal"][has_id]
        self._ids.add(id_rows)

    def settle(self) -> None:
        """Find conflicts and sum up; call it once, after the last record."""
        self._find_repeated_ids()
        gone = np.array([ordinal for ordinal, _ in self.repeated_ids], dtype=np.int64)
        for number, rows in enumerate(self._rows):
            left = rows[~np.isin(rows["ordinal"], gone)] if len(gone) else rows
            self._sum_up(number, left)
        self.contradictions.sort()

    def _find_repeated_ids(self) -> None:
        for id_rows in self._ids:
            rows = id_rows[np.lexsort((id_rows["ordinal"], id_rows["lo"], id_rows["hi"]))]
            starts = _starts(rows)
            groups = np.cumsum(starts) - 1
            first = rows[starts][groups]
            for at in np.flatnonzero(rows["query"] != first["query"]).tolist():
                self.repeated_ids.append((int(rows["ordinal"][at]), int(first["ordinal"][at])))
            if len(self.repeated_ids) > _MOST_CONFLICTS:
                raise FileRefusedError(
                    f"More than {_MOST_CONFLICTS:,} lines have an id that another query has: the column of "
                    "ids holds something else. Switch it off with --column id= ."
                )
        self.repeated_ids.sort()

    def _sum_up(self, number: int, rows: NDArray[np.void]) -> None:
        rows = rows[np.lexsort((rows["ordinal"], rows["lo"], rows["hi"]))]
        if rows["label"].any():
            rows = self._without_contradictions(rows)
        if not len(rows):
            return
        starts = np.flatnonzero(_starts(rows))
        sums = np.zeros(len(starts), dtype=_SUM)
        sums["ordinal"] = rows["ordinal"][starts]
        # Rows of a long table are parts of their query, not occurrences of it.
        is_long = np.bitwise_or.reduceat(rows["brings"], starts) != 0
        sums["count"] = np.where(is_long, rows["count"][starts], np.add.reduceat(rows["count"], starts))
        sums["type"] = _stratum(np.bitwise_or.reduceat(rows["label"], starts))
        self.distinct += len(sums)
        self.duplicates += len(rows) - len(sums)
        self.total += int(sums["count"].sum())
        if len(sums) < len(rows):
            self._find_members(number, rows, starts)
        (self._room / f"sums-{number:03}").write_bytes(sums.tobytes())

    def _find_members(self, number: int, rows: NDArray[np.void], starts: NDArray[np.int64]) -> None:
        """Which rows add to their query: passages or references, or an id or a label that it had not.

        And the first row of its most frequent spelling, where that is not the spelling of its first row.
        """
        sizes = np.diff(np.append(starts, len(rows)))
        groups = np.repeat(np.arange(len(starts)), sizes)
        adds = _first_of(groups, rows["brings"])
        adds[_first_having(groups, rows["label"] & _TYPE_BITS)] = True
        adds[_first_having(groups, rows["label"] & _FLAG_BITS)] = True
        with_id = _first_having(groups, rows["id"])
        adds[with_id] = True
        self._note_other_ids(rows, groups, with_id)
        spells = _most_frequent_spellings(groups, rows)
        adds[starts] = spells[starts] = False
        either = adds | spells
        members = np.zeros(int(either.sum()), dtype=_MEMBER)
        members["ordinal"] = rows["ordinal"][either]
        members["first"] = np.repeat(rows["ordinal"][starts], sizes)[either]
        members["adds"], members["spells"] = adds[either], spells[either]
        self.merged += int(adds.sum())
        if len(members):
            self.has_members = True
            (self._room / f"members-{number:03}").write_bytes(members.tobytes())

    def _note_other_ids(
        self, rows: NDArray[np.void], groups: NDArray[np.int64], with_id: NDArray[np.int64]
    ) -> None:
        """Rows with an id that is not the first one of their query, which is kept."""
        if not len(with_id):
            return
        holder = np.full(int(groups[-1]) + 1, -1, dtype=np.int64)
        holder[groups[with_id]] = with_id
        having = np.flatnonzero(rows["id"])
        others = having[rows["id"][having] != rows["id"][holder[groups[having]]]]
        self.other_ids += len(others)
        self.other_id_queries += len(np.unique(groups[others]))
        room = MOST_EXAMPLES - len(self.some_other_ids)
        self.some_other_ids += [
            (int(rows["ordinal"][at]), int(rows["ordinal"][holder[groups[at]]]))
            for at in others[: max(room, 0)].tolist()
        ]

    def members(self, ordinals: Numbers) -> Iterator[tuple[int, int, bool, bool]]:
        """Rows that add to one of these queries, or spell it: in order, each with the query's first row.

        (ordinal, ordinal of the first row, whether it adds, whether it has the most frequent spelling.)

        They are sorted on disk, so that memory does not grow with their number.
        """
        ordinals = np.sort(ordinals)
        parts = self._last // BUCKETS + 1
        for number in range(BUCKETS):
            path = self._room / f"members-{number:03}"
            if not path.exists():
                continue
            member_rows = np.fromfile(path, dtype=_MEMBER)
            member_rows = member_rows[np.isin(member_rows["first"], ordinals)]
            where = member_rows["ordinal"] // parts
            for part in np.unique(where).tolist():
                with (self._room / f"ordered-{part:03}").open("ab") as file:
                    file.write(member_rows[where == part].tobytes())
        for part in range(BUCKETS):
            path = self._room / f"ordered-{part:03}"
            if path.exists():
                member_rows = np.fromfile(path, dtype=_MEMBER)
                path.unlink()
                for row in member_rows[np.argsort(member_rows["ordinal"])]:
                    yield int(row["ordinal"]), int(row["first"]), bool(row["adds"]), bool(row["spells"])

    def _without_contradictions(self, rows: NDArray[np.void]) -> NDArray[np.void]:
        """Leave out rows whose label is not that of an earlier row of the same query."""
        starts = _starts(rows)
        begins = np.flatnonzero(starts)
        keep = np.ones(len(rows), dtype=bool)
        for bits in (_TYPE_BITS, _FLAG_BITS):
            part = rows["label"] & bits
            most = np.maximum.reduceat(part, begins)
            least = np.minimum.reduceat(np.where(part == 0, 255, part), begins)
            for group in np.flatnonzero((least != 255) & (most != least)).tolist():
                end = int(begins[group + 1]) if group + 1 < len(begins) else len(rows)
                places = [at for at in range(int(begins[group]), end) if part[at]]
                for at in places[1:]:
                    if part[at] != part[places[0]] and keep[at]:
                        keep[at] = False
                        self.contradictions.append(
                            (int(rows["ordinal"][at]), int(rows["ordinal"][places[0]]))
                        )
        return rows[keep]

    def blocks(self) -> Iterator[Block]:
        """Distinct queries in the order of their keys."""
        for number in range(BUCKETS):
            path = self._room / f"sums-{number:03}"
            if path.exists():
                sums = np.fromfile(path, dtype=_SUM)
                yield Block(_numbers(sums["ordinal"]), _numbers(sums["count"]), sums["type"])


def _numbers(column: NDArray[np.int64]) -> Numbers:
    return np.ascontiguousarray(column, dtype=np.int64)


def _starts(rows: NDArray[np.void]) -> NDArray[np.bool_]:
    """Where a new hash begins, in sorted rows."""
    starts = np.ones(len(rows), dtype=bool)
    if len(rows):
        starts[1:] = (rows["hi"][1:] != rows["hi"][:-1]) | (rows["lo"][1:] != rows["lo"][:-1])
    return starts


def _first_of(groups: NDArray[np.int64], values: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Rows that are the first of their group with their value; rows without a value are not."""
    order = np.lexsort((np.arange(len(values)), values, groups))
    new = np.ones(len(values), dtype=bool)
    new[1:] = (groups[order][1:] != groups[order][:-1]) | (values[order][1:] != values[order][:-1])
    first: NDArray[np.bool_] = np.zeros(len(values), dtype=bool)
    first[order[new]] = values[order[new]] != 0
    return first


def _most_frequent_spellings(groups: NDArray[np.int64], rows: NDArray[np.void]) -> NDArray[np.bool_]:
    """The first row of each group's most frequent spelling; of equally frequent ones the earliest."""
    spelling = rows["spelling"]
    order = np.lexsort((np.arange(len(rows)), spelling, groups))
    new = np.ones(len(rows), dtype=bool)
    new[1:] = (groups[order][1:] != groups[order][:-1]) | (spelling[order][1:] != spelling[order][:-1])
    first = order[new]
    counts = np.add.reduceat(rows["count"][order], np.flatnonzero(new))
    best = first[np.lexsort((first, -counts, groups[first]))]
    is_most_frequent: NDArray[np.bool_] = np.zeros(len(rows), dtype=bool)
    is_most_frequent[best[np.unique(groups[best], return_index=True)[1]]] = True
    return is_most_frequent


def _first_having(groups: NDArray[np.int64], values: NDArray[Any]) -> NDArray[np.int64]:
    """The first row of each group that has a value at all."""
    having = np.flatnonzero(values)
    return having[np.unique(groups[having], return_index=True)[1]]


def _stratum(labels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Number of the stratum by type: the type, else yes-no, else none."""
    kinds = labels & _TYPE_BITS
    names = STRATA["type"]
    others = np.where(labels & _FLAGS[True], names.index("YES_NO"), names.index("NONE"))
    return np.where(kinds > 0, kinds - 1, others).astype(np.uint8)


EXAMPLES = 20
_LONGEST_EXAMPLE = 200
_SPACES = re.compile(r"[ \t]{2,}|\t")
_NUMBERS = ("card", "national-id", "phone")
_SHOWN_DIGITS = 3
_ACCOUNT = re.compile("([^\\s@\uff20])[^\\s@\uff20]*\\s?[@\uff20]")


class FirstPass:
    """What the first pass finds."""

    def __init__(self, screen: Screen, tally: Tally, refusals: Refusals, seed: int) -> None:
        self._screen, self._tally, self._refusals = screen, tally, refusals
        self._key = key_of(seed)
        self._clean = frozenset(word.encode() for word in screen.first_words).isdisjoint
        most = screen.most if screen.most <= LONGEST_EVER else ""
        # Lines of more than letters, five digits and a question mark at the end, or too short or too long.
        self._odd = re.compile(
            rf"^(?!(?=.{{{max(1, screen.least)},{most}}}$)[a-z ]*+(?:[0-9][a-z ]*+){{0,5}}+\??$).+$",
            re.MULTILINE,
        )
        self.records = self.unreadable = 0
        self.dropped: Counter[str] = Counter()
        self.examples: dict[str, list[tuple[int, str]]] = {}

    def run(self, reader: Reader) -> None:
        """Count everything that the reader gives."""
        for batch in reader.batches(self._unread):
            self.records += len(batch.texts)
            if batch.contexts and any(batch.contexts):
                self._with_contexts(batch)
            else:
                self._alone(batch)
        self._tally.settle()

    def _unread(self, line: int, reason: str, /, field: str = "") -> None:
        """A line of which the reader makes no record."""
        self.unreadable += 1
        self._refusals(line, reason, field)

    def _alone(self, batch: Batch) -> None:
        lines = self._plain_lines(batch.texts)
        clean, key, hashed = self._clean, self._key, blake2b
        gone: list[int] = []
        for place in [at for at, line in enumerate(lines) if not line or not clean(line.split())]:
            full_text = normal(batch.texts[place])
            if self._dropped(batch, place, full_text, []):
                gone.append(place)
            else:
                lines[place] = plain_form(full_text).encode()
        if gone:
            out = set(gone)
            lines = [line for at, line in enumerate(lines) if at not in out]
        self._add(batch, [hashed(key + line).digest() for line in lines], gone)

    def _plain_lines(self, texts: list[str]) -> list[bytes]:
        """Identities of queries that no rule but the word list can drop; the others' are empty."""
        text = "\n".join(texts).lower()
        if "  " in text or "\t" in text:
            text = _SPACES.sub(" ", text)
        if " \n" in text or "\n " in text or text[:1] == " " or text[-1:] == " ":
            text = text.replace(" \n", "\n").replace("\n ", "\n").strip(" ")
        lines = self._odd.sub("", text).encode().split(b"\n")
        # A query with a newline in it: none of the batch is where it should be.
        return lines if len(lines) == len(texts) else [b""] * len(texts)

    def _with_contexts(self, batch: Batch) -> None:
        digests: list[bytes] = []
        gone: list[int] = []
        for place, (text, context) in enumerate(zip(batch.texts, batch.contexts, strict=True)):
            full_text, before = normal(text), [normal(each) for each in context]
            if self._dropped(batch, place, full_text, before):
                gone.append(place)
                continue
            merged_by = identity(full_text, before, plain_form)
            digests.append(blake2b(self._key + merged_by.encode()).digest())
        self._add(batch, digests, gone)

    def _dropped(self, batch: Batch, place: int, text: str, context: list[str]) -> bool:
        """Whether a normalised query stays out: it is empty, or a rule drops it."""
        if not text:
            self._refusals(batch.lines[place], "The query has no text.")
            return True
        rule = self._screen.rule_for(text, context)
        if not rule:
            return False
        self.dropped[rule] += 1
        examples = self.examples.setdefault(rule, [])
        if len(examples) < EXAMPLES:
            examples.append((batch.lines[place], masked(rule, text)))
        return True

    def _add(self, batch: Batch, digests: list[bytes], gone: list[int]) -> None:
        ordinals = np.asarray(batch.ordinals, dtype=np.int64)
        counts = np.asarray(batch.counts, dtype=np.int64)
        ids, labels, brings, texts = batch.ids, batch.labels, batch.brings, batch.texts
        if gone:
            out = set(gone)
            ordinals = np.delete(ordinals, gone)
            counts = np.delete(counts, gone) if len(counts) else counts
            ids = [each for place, each in enumerate(ids) if place not in out]
            labels = [each for place, each in enumerate(labels) if place not in out]
            brings = [each for place, each in enumerate(brings) if place not in out]
            texts = [each for place, each in enumerate(texts) if place not in out]
        self._tally.add(digests, ordinals, counts, ids, labels=labels, brings=brings, texts=texts)


def masked(rule: str, text: str) -> str:
    """A dropped query as an example: enough to judge the rule by, without the number or the address."""
    if rule == "email":
        text = _ACCOUNT.sub(r"\1…@", text)
    elif rule in _NUMBERS:
        digits = iter(range(len(text)))
        text = re.sub(r"\d", lambda match: match[0] if next(digits) < _SHOWN_DIGITS else "•", text)
    return text if len(text) <= _LONGEST_EXAMPLE else text[: _LONGEST_EXAMPLE - 1] + "…"
