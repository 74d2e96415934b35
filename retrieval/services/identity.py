"""Rows whose id is there already, in the corpus or further up in the file.

A row that says what is there says nothing new: it is left out and counted as an identical repeat. What has
the same id and says something else is a fault of the file (`refuse`), left out (`first`), or gets a number
behind its id (`number`).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from retrieval.models import Corpus, Passage
from retrieval.readers import MOST_FAULTS, PassageFile, Row

SAME_ID = ("refuse", "first", "number")
_KEYS = 500
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
        there = self._held(list(dict.fromkeys(item.key for item in items)))
        seen: dict[str, Item] = {}
        passed: list[Item] = []
        for item in items:
            new = self._settled(item, there, seen)
            if new is not None:
                seen[new.key] = new
                passed.append(new)
        return passed

    def _settled(self, item: Item, there: dict[str, int], seen: dict[str, Item]) -> Item | None:
        earlier = seen.get(item.key)
        if earlier is None and item.key not in there:
            return item
        known = earlier is None and there[item.key] <= self._last
        if known and self._skip_known:
            self.found.known += 1
            return None
        if _same(item.passages, earlier.passages) if earlier else self._is_stored(item):
            self.found.repeats += 1
            return None
        where = self._where(known, earlier)
        if self._policy == "number":
            return self._renamed(item, seen)
        if self._policy == "first":
            self.found.left_out += 1
            self._note(f"{self._file.unit} {item.row.line}: the id {item.row.key[:60]!r} {where}")
        elif len(self._file.faults) < MOST_FAULTS:
            remedy = "Give every passage an id of its own, keep the first, or number them."
            self._file.fault(item.row.line, "id", f"the id {item.row.key[:60]!r} {where}", remedy)
        return None

    def _where(self, known: bool, earlier: Item | None) -> str:
        if earlier is not None:
            return f"is on {self._file.unit} {earlier.row.line} already, with another text"
        place = "in the corpus already" if known else "further up already"
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
            if passages[0].key not in seen and not self._held([passages[0].key]):
                break
        if len(self._numbers) < _REMEMBERED:
            self._numbers[key] = number
        self.found.numbered += 1
        self._note(f"{self._file.unit} {row.line}: {key[:60]!r} became {row.key[:70]!r}")
        return Item(row, passages)

    def _note(self, words: str) -> None:
        if len(self.found.examples) < 5:
            self.found.examples.append(words)

    def _held(self, keys: Sequence[str]) -> dict[str, int]:
        """Those of the ids that passages have, with the passages' numbers."""
        found: dict[str, int] = {}
        for at in range(0, len(keys), _KEYS):
            held = Passage.objects.filter(corpus=self._corpus, key__in=keys[at : at + _KEYS])
            found.update(held.values_list("key", "pk"))
        return found

    def _is_stored(self, item: Item) -> bool:
        """Whether the corpus holds all passages of the item word for word, and no further one of it."""
        keys = [row.key for row in item.passages]
        if keys != [item.row.key]:
            keys.append(f"{item.row.key}#{len(keys) + 1}")
        stored: dict[str, tuple[object, ...]] = {}
        for at in range(0, len(keys), _KEYS):
            held = Passage.objects.filter(corpus=self._corpus, key__in=keys[at : at + _KEYS])
            stored.update((values[0], values) for values in held.values_list(*_COLUMNS))
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
