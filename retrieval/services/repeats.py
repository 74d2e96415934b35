"""Passages that repeat others of their corpus: told while a file is added, kept or left out.

`keep` looks for none. `report` and `skip` find passages of the same words as an earlier one, by the digest
that every passage then has, and with a share in `near` those that nearly repeat one too. Earlier is what
stands in the corpus, and further up in the file.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from django.db import connection, transaction

from retrieval.engines import folder_of
from retrieval.models import Corpus, Passage
from retrieval.readers import Row
from retrieval.text.repeats import digest_of

if TYPE_CHECKING:
    from retrieval.text.nearness import NearRepeats

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
        self, corpus: Corpus, policy: str, near: "NearRepeats | None", told: Callable[[Repeat], None]
    ) -> None:
        self._corpus, self._policy, self._near, self._told = corpus, policy, near, told
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
        found: dict[int, Repeat] = {}
        for place, (row, digest) in enumerate(zip(batch, digests, strict=True)):
            of = first.setdefault(digest, row.key)
            if of is not row.key:
                found[place] = Repeat(row.line, row.key, of, "words", 1.0)
        return found

    def _nearly(self, batch: Sequence[Row], repeats: dict[int, Repeat]) -> None:
        if self._near is None:
            return
        from retrieval.text.nearness import Candidate  # noqa: PLC0415  # numpy

        rows = [(place, row) for place, row in enumerate(batch) if place not in repeats]
        candidates = [Candidate(row.key, row.text, row.page, row.start, row.end) for _, row in rows]
        for (place, row), near in zip(rows, self._near.repeats(candidates), strict=True):
            if near is not None:
                repeats[place] = Repeat(row.line, row.key, near.key, near.by, near.share)


@contextmanager
def watching(
    corpus: Corpus, policy: str, near: float | None, told: Callable[[Repeat], None] = lambda repeat: None
) -> Iterator[Watch]:
    """A watch over one addition; what stands in the corpus already is looked through first."""
    if policy != "keep":
        _fill_digests(corpus)
    if policy == "keep" or near is None:
        yield Watch(corpus, policy, None, told)
        return
    from retrieval.text.nearness import Candidate, NearRepeats  # noqa: PLC0415  # numpy

    seen = seen_file(corpus)
    seen.unlink(missing_ok=True)  # of an addition that was killed
    repeats = NearRepeats(seen, corpus.language, near, lambda keys: _texts(corpus, keys))
    try:
        for some in _batches(corpus, "key", "text", "page", "start", "end"):
            repeats.register([Candidate(*row) for _, *row in some])
        yield Watch(corpus, policy, repeats, told)
    finally:
        repeats.close()
        seen.unlink(missing_ok=True)


def seen_file(corpus: Corpus) -> Path:
    """What has been seen while near-repetitions are looked for; it lies beside the index."""
    return folder_of(corpus.index) / "seen"


def _fill_digests(corpus: Corpus) -> None:
    """Digests of passages that were added without anybody asking for them."""
    while some := list(Passage.objects.filter(corpus=corpus, digest="").values_list("pk", "text")[:_AT_ONCE]):
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.executemany(_UPDATE, [(digest_of(text), pk) for pk, text in some])


def _holders(corpus: Corpus, digests: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Digests that passages of the corpus have, and the id of the first that does, last."""
    for at in range(0, len(digests), _KEYS):
        held = Passage.objects.filter(corpus=corpus, digest__in=digests[at : at + _KEYS])
        # Sorted here: a database that is asked to do so may walk through the whole corpus in that order.
        found = sorted(held.values_list("pk", "digest", "key"), reverse=True)
        yield from ((digest, key) for _, digest, key in found)


def _texts(corpus: Corpus, keys: Sequence[str]) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for at in range(0, len(keys), _KEYS):
        held = Passage.objects.filter(corpus=corpus, key__in=keys[at : at + _KEYS])
        found |= dict(held.values_list("key", "text"))
    return found


def _batches(corpus: Corpus, *columns: str) -> Iterator[list[Any]]:  # rows of these columns
    rows, after = Passage.objects.filter(corpus=corpus).order_by("pk").values_list("pk", *columns), 0
    while some := list(rows.filter(pk__gt=after)[:_AT_ONCE]):
        yield some
        after = some[-1][0]
