"""Passages that repeat others of their corpus, in words or in id: reported, kept, numbered or left out.

`keep` looks for none. `report` and `skip` find passages of the same words as an earlier one, by the digest
(without case, punctuation and space) that every passage then has, and with a share in `near` those that
nearly repeat one too. Earlier is what is in the corpus, and further up in the file.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from django.db import connection, transaction

from retrieval.copies import folder_of
from retrieval.models import Corpus, Passage
from retrieval.passage_files import MOST_FAULTS, PassageFile, Row

if TYPE_CHECKING:
    from retrieval.near_repeats import NearRepeats


def _is_unseen(character: str) -> bool:
    """Punctuation, separators, controls and format characters (Unicode's general categories)."""
    category = unicodedata.category(character)
    return category[0] in "PZ" or category in ("Cc", "Cf")


_ASCII = bytes(code for code in range(128) if _is_unseen(chr(code)))


def digest_of(text: str) -> str:
    """32 hexadecimal digits, the same for texts that differ in case, punctuation and white space only."""
    if text.isascii():
        seen = text.lower().encode("ascii").translate(None, _ASCII)
    else:
        plain = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
        seen = _unseen().sub("", plain).encode("utf-8", "surrogatepass")
    return blake2b(seen or text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


@cache
def _unseen() -> re.Pattern[str]:
    """Of the basic plane: with characters beyond it the class would be tried one by one, and be slow."""
    return re.compile(f"[{re.escape(''.join(filter(_is_unseen, map(chr, range(0x10000)))))}]+")


POLICIES = ("keep", "report", "skip")
#: Least and largest share of common word triples that makes sense.
NEAR = (0.3, 1.0)
#: Examples that are kept in memory and shown.
EXAMPLES = 5
_AT_ONCE = 5_000
_KEYS = 500
_UPDATE = f'UPDATE "{Passage._meta.db_table}" SET "digest" = %s WHERE "id" = %s'  # noqa: S608  # our own names


class Repeat(NamedTuple):
    """A passage that repeats another: `by` same words, nearly the same `text`, or the same `region`."""

    line: int
    key: str
    of: str
    by: str
    share: float

    def __str__(self) -> str:
        how = {"words": "has the words of", "text": "is nearly", "region": "is the region of"}[self.by]
        share = "" if self.by == "words" else f" ({self.share:.0%} in common)"
        return f"{self.key} {how} {self.of}{share}"


@dataclass
class Repeats:
    """What was found: how many by each way, and the first examples."""

    counts: Counter[str] = field(default_factory=Counter)
    examples: list[Repeat] = field(default_factory=list)

    @property
    def total(self) -> int:
        """Passages that repeat another."""
        return self.counts.total()

    def note(self, repeat: Repeat) -> None:
        """One more."""
        self.counts[repeat.by] += 1
        if len(self.examples) < EXAMPLES:
            self.examples.append(repeat)


class Watch:
    """Looks at rows before they go into a corpus."""

    def __init__(
        self, corpus: Corpus, policy: str, near: "NearRepeats | None", report_repeat: Callable[[Repeat], None]
    ) -> None:
        self._corpus, self._policy, self._near, self._told = corpus, policy, near, report_repeat
        self.found = Repeats()

    def passed(self, batch: Sequence[Row]) -> list[tuple[Row, str]]:
        """Rows that go in, with their digests: all of them, unless repetitions are left out."""
        if self._policy == "keep":
            return [(row, "") for row in batch]
        digests = [digest_of(row.text) for row in batch]
        repeats = self._same(batch, digests)
        self._nearly(batch, repeats)
        for place in sorted(repeats):
            self.found.note(repeats[place])
            self._told(repeats[place])
        left_out = repeats if self._policy == "skip" else ()
        rows = enumerate(zip(batch, digests, strict=True))
        return [row for place, row in rows if place not in left_out]

    def _same(self, batch: Sequence[Row], digests: Sequence[str]) -> dict[int, Repeat]:
        """Repetitions word for word, by place in the batch."""
        first = dict(_holders(self._corpus, list(dict.fromkeys(digests))))
        by_place: dict[int, Repeat] = {}
        for place, (row, digest) in enumerate(zip(batch, digests, strict=True)):
            of = first.setdefault(digest, row.key)
            if of is not row.key:
                by_place[place] = Repeat(row.line, row.key, of, "words", 1.0)
        return by_place

    def _nearly(self, batch: Sequence[Row], repeats: dict[int, Repeat]) -> None:
        if self._near is None:
            return
        from retrieval.near_repeats import Candidate  # noqa: PLC0415  # numpy

        rows = [(place, row) for place, row in enumerate(batch) if place not in repeats]
        candidates = [Candidate(row.key, row.text, row.page, row.start, row.end) for _, row in rows]
        for (place, row), near in zip(rows, self._near.repeats(candidates), strict=True):
            if near is not None:
                repeats[place] = Repeat(row.line, row.key, near.key, near.by, near.share)


@contextmanager
def watching(
    corpus: Corpus,
    policy: str,
    near: float | None,
    report_repeat: Callable[[Repeat], None] = lambda repeat: None,
) -> Iterator[Watch]:
    """A watch over one addition; what is in the corpus already is looked through first."""
    if policy != "keep":
        _fill_digests(corpus)
    if policy == "keep" or near is None:
        yield Watch(corpus, policy, None, report_repeat)
        return
    from retrieval.near_repeats import Candidate, NearRepeats  # noqa: PLC0415  # numpy

    seen = seen_file(corpus)
    seen.unlink(missing_ok=True)  # of an addition that was killed
    repeats = NearRepeats(seen, corpus.language, near, lambda keys: _texts(corpus, keys))
    try:
        for batch in _batches(corpus, "key", "text", "page", "start", "end"):
            repeats.register([Candidate(*row) for _, *row in batch])
        yield Watch(corpus, policy, repeats, report_repeat)
    finally:
        repeats.close()
        seen.unlink(missing_ok=True)


def seen_file(corpus: Corpus) -> Path:
    """What has been seen while near-repetitions are looked for; it lies beside the index."""
    return folder_of(corpus.index) / "seen"


def _fill_digests(corpus: Corpus) -> None:
    """Digests of passages that were added without anybody asking for them."""
    while batch := list(
        Passage.objects.filter(corpus=corpus, digest="").values_list("pk", "text")[:_AT_ONCE]
    ):
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.executemany(_UPDATE, [(digest_of(text), pk) for pk, text in batch])


def _holders(corpus: Corpus, digests: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Digests that passages of the corpus have, and the id of the first that does, last."""
    for at in range(0, len(digests), _KEYS):
        passages = Passage.objects.filter(corpus=corpus, digest__in=digests[at : at + _KEYS])
        # Sorted here: a database that is asked to do so may walk through the whole corpus in that order.
        ordered = sorted(passages.values_list("pk", "digest", "key"), reverse=True)
        yield from ((digest, key) for _, digest, key in ordered)


def _texts(corpus: Corpus, keys: Sequence[str]) -> Mapping[str, str]:
    by_key: dict[str, str] = {}
    for at in range(0, len(keys), _KEYS):
        passages = Passage.objects.filter(corpus=corpus, key__in=keys[at : at + _KEYS])
        by_key |= dict(passages.values_list("key", "text"))
    return by_key


def _batches(corpus: Corpus, *columns: str) -> Iterator[list[Any]]:  # rows of these columns
    rows, after = Passage.objects.filter(corpus=corpus).order_by("pk").values_list("pk", *columns), 0
    while batch := list(rows.filter(pk__gt=after)[:_AT_ONCE]):
        yield batch
        after = batch[-1][0]


# Rows whose id is there already, in the corpus or further up in the file.
#
# A row that says what is there says nothing new: it is left out and counted as an identical repeat. What has
# the same id and says something else is a fault of the file (`refuse`), left out (`first`), or gets a number
# behind its id (`number`).

SAME_ID = ("refuse", "first", "number")
_LONGEST_KEY = 200
_COLUMNS = ("key", "text", "title", "url", "page", "start", "end")
#: Ids whose last number is remembered; beyond these it is looked for again.
_REMEMBERED = 100_000


@dataclass(slots=True)
class Item:
    """A row of the file, and the passages that are made of it: itself, or its windows."""

    row: Row
    passages: list[Row]

    @property
    def key(self) -> str:
        """The id by which it is found again."""
        return self.passages[0].key


@dataclass
class IdentityCounts:
    """How many rows were identical repeats, left out for their id, and given a number; the first examples."""

    repeats: int = 0
    left_out: int = 0
    numbered: int = 0
    known: int = 0
    examples: list[str] = field(default_factory=list)


class Identity:
    """Looks at the ids of rows before they go in. `make` makes the passages of a row."""

    def __init__(
        self,
        corpus: Corpus,
        file: PassageFile,
        make: Callable[[Row], list[Row]],
        *,
        policy: str,
        skip_known: bool,
        last: int,
    ) -> None:
        self._corpus, self._file, self._make = corpus, file, make
        self._policy, self._skip_known, self._last = policy, skip_known, last
        self._numbers: dict[str, int] = {}
        self.found = IdentityCounts()

    def passed(self, items: Sequence[Item]) -> list[Item]:
        """Those that go in."""
        stored = self._find_stored(list(dict.fromkeys(item.key for item in items)))
        seen: dict[str, Item] = {}
        passed: list[Item] = []
        for item in items:
            new = self._settled(item, stored, seen)
            if new is not None:
                seen[new.key] = new
                passed.append(new)
        return passed

    def _settled(self, item: Item, stored: dict[str, int], seen: dict[str, Item]) -> Item | None:
        earlier = seen.get(item.key)
        if earlier is None and item.key not in stored:
            return item
        is_known = earlier is None and stored[item.key] <= self._last
        if is_known and self._skip_known:
            self.found.known += 1
            return None
        if _same(item.passages, earlier.passages) if earlier else self._is_stored(item):
            self.found.repeats += 1
            return None
        where = self._where(is_known, earlier)
        if self._policy == "number":
            return self._renamed(item, seen)
        if self._policy == "first":
            self.found.left_out += 1
            self._note(f"{self._file.unit} {item.row.line}: the id {item.row.key[:60]!r} {where}")
        elif len(self._file.faults) < MOST_FAULTS:
            remedy = "Give every passage an id of its own, keep the first, or number them."
            self._file.fault(item.row.line, "id", f"the id {item.row.key[:60]!r} {where}", remedy)
        return None

    def _where(self, is_known: bool, earlier: Item | None) -> str:
        if earlier is not None:
            return f"is on {self._file.unit} {earlier.row.line} already, with another text"
        place = "in the corpus already" if is_known else "further up already"
        return f"is {place}, with another text"

    def _renamed(self, item: Item, seen: dict[str, Item]) -> Item | None:
        """The item under its id with the next number that is free."""
        key = item.row.key
        number = self._numbers.get(key, 1)
        while True:
            number += 1
            row = item.row._replace(key=f"{key}-{number}")
            if len(row.key) > _LONGEST_KEY:
                what = f"with its number it has {len(row.key)} characters; {_LONGEST_KEY} are kept"
                self._file.fault(row.line, "id", what, "Shorten it.")
                return None
            passages = self._make(row)
            if not passages:
                return None
            if passages[0].key not in seen and not self._find_stored([passages[0].key]):
                break
        if len(self._numbers) < _REMEMBERED:
            self._numbers[key] = number
        self.found.numbered += 1
        self._note(f"{self._file.unit} {row.line}: {key[:60]!r} became {row.key[:70]!r}")
        return Item(row, passages)

    def _note(self, example: str) -> None:
        if len(self.found.examples) < 5:
            self.found.examples.append(example)

    def _find_stored(self, keys: Sequence[str]) -> dict[str, int]:
        """Those of the ids that passages have, with the passages' numbers."""
        by_key: dict[str, int] = {}
        for at in range(0, len(keys), _KEYS):
            passages = Passage.objects.filter(corpus=self._corpus, key__in=keys[at : at + _KEYS])
            by_key.update(passages.values_list("key", "pk"))
        return by_key

    def _is_stored(self, item: Item) -> bool:
        """Whether the corpus holds all passages of the item word for word, and no further one of it."""
        keys = [row.key for row in item.passages]
        if keys != [item.row.key]:
            keys.append(f"{item.row.key}#{len(keys) + 1}")
        stored: dict[str, tuple[object, ...]] = {}
        for at in range(0, len(keys), _KEYS):
            passages = Passage.objects.filter(corpus=self._corpus, key__in=keys[at : at + _KEYS])
            stored.update((values[0], values) for values in passages.values_list(*_COLUMNS))
        return len(stored) == len(item.passages) and all(
            stored.get(row.key) == tuple(row[1:]) for row in item.passages
        )


def _same(first: Sequence[Row], second: Sequence[Row]) -> bool:
    return len(first) == len(second) and all(a[1:] == b[1:] for a, b in zip(first, second, strict=True))


def items_of(rows: Iterator[Row], make: Callable[[Row], list[Row]]) -> Iterator[Item]:
    """Rows with their passages; a row of which none can be made is a fault already."""
    for row in rows:
        passages = make(row)
        if passages:
            yield Item(row, passages)
