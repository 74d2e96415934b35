"""Counts distinct queries in constant memory.

Every record leaves 45 bytes on disk: the 128-bit hash of its query (keyed by the seed, see `sampling`), its
place in the file, its count, its label, and hashes of its id and of what it brings along (passages and
references), by which rows that add to their query are told from identical repeats. They go into buckets by
the first bits of the hash; a bucket is then read whole, sorted and summed up, one at a time. Why so: ten
million texts do not fit into 300 MB, nor does a Python set of their hashes; a database would do the same
sorting with far more writing; and as the buckets are in the order of the hash, so is what comes out of them:
the random order that sampling wants.
With 128 buckets, a hundred million lines are 4.5 GB on disk and about 100 MB in memory.

Two different queries share a hash with a probability below 2^-70 for a hundred million lines.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotation.importing.design import STRATA
from annotation.importing.records import MOST_EXAMPLES, TYPES
from annotation.importing.sampling import Block, Numbers
from core.files.refusals import FileRefusedError

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
        ("label", "u1"),
    ]
)
_ID = np.dtype([("hi", "<u8"), ("lo", "<u8"), ("query", "<u8"), ("ordinal", "<i8")])
_SUM = np.dtype([("ordinal", "<i8"), ("count", "<i8"), ("type", "u1")])
#: A row that adds to its query, and the first row of that query.
_MEMBER = np.dtype([("ordinal", "<i8"), ("first", "<i8")])
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
    ) -> None:
        """Add records, a list a field (of digests the first 16 bytes count); without counts they are 1.

        `brings` are hashes of what a record has beside its query, 0 for nothing.
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
        self._last = max(self._last, int(rows["ordinal"].max()))
        if ids and any(ids):
            self._add_ids(ids, rows)
        self._rows.add(rows)

    def _add_ids(self, ids: Sequence[str], rows: NDArray[np.void]) -> None:
        """Ids by two hashes of this process, which nobody outside can aim at."""
        there = np.array([bool(each) for each in ids])
        first = np.array([hash(each) for each in ids], dtype=np.int64)
        second = np.array([hash(each + "\n") for each in ids], dtype=np.int64)
        found = np.zeros(int(there.sum()), dtype=_ID)
        found["hi"], found["lo"] = first.view(np.uint64)[there], second.view(np.uint64)[there]
        rows["id"][there] = (found["hi"] & np.uint64(2**32 - 1)).astype(np.uint32) | np.uint32(1)
        found["query"], found["ordinal"] = rows["lo"][there], rows["ordinal"][there]
        self._ids.add(found)

    def settle(self) -> None:
        """Find conflicts and sum up; call it once, after the last record."""
        self._find_repeated_ids()
        gone = np.array([ordinal for ordinal, _ in self.repeated_ids], dtype=np.int64)
        for number, rows in enumerate(self._rows):
            left = rows[~np.isin(rows["ordinal"], gone)] if len(gone) else rows
            self._sum_up(number, left)
        self.contradictions.sort()

    def _find_repeated_ids(self) -> None:
        for found in self._ids:
            rows = found[np.lexsort((found["ordinal"], found["lo"], found["hi"]))]
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
        """Which rows add to their query: passages or references, or an id or a label that it had not."""
        sizes = np.diff(np.append(starts, len(rows)))
        groups = np.repeat(np.arange(len(starts)), sizes)
        adds = _first_of(groups, rows["brings"])
        adds[_first_having(groups, rows["label"] & _TYPE_BITS)] = True
        adds[_first_having(groups, rows["label"] & _FLAG_BITS)] = True
        with_id = _first_having(groups, rows["id"])
        adds[with_id] = True
        self._note_other_ids(rows, groups, with_id)
        adds[starts] = False
        members = np.zeros(int(adds.sum()), dtype=_MEMBER)
        members["ordinal"] = rows["ordinal"][adds]
        members["first"] = np.repeat(rows["ordinal"][starts], sizes)[adds]
        self.merged += len(members)
        if len(members):
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

    def members(self, drawn: Numbers) -> Iterator[tuple[int, int]]:
        """Rows that add to one of these queries: (ordinal, ordinal of the query's first row), in order.

        They are sorted on disk, so that memory does not grow with their number.
        """
        drawn = np.sort(drawn)
        parts = self._last // BUCKETS + 1
        for number in range(BUCKETS):
            path = self._room / f"members-{number:03}"
            if not path.exists():
                continue
            found = np.fromfile(path, dtype=_MEMBER)
            found = found[np.isin(found["first"], drawn)]
            where = found["ordinal"] // parts
            for part in np.unique(where).tolist():
                with (self._room / f"ordered-{part:03}").open("ab") as file:
                    file.write(found[where == part].tobytes())
        for part in range(BUCKETS):
            path = self._room / f"ordered-{part:03}"
            if path.exists():
                found = np.fromfile(path, dtype=_MEMBER)
                path.unlink()
                for row in found[np.argsort(found["ordinal"])]:
                    yield int(row["ordinal"]), int(row["first"])

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
