"""Files of a network: segments with counts and words of passages, and a pointer to those that answer.

A network is one large segment and a few small ones that came later (increments), as an index of Lucene's kind
is; none of its files changes once it is there. Words are numbered by their rank among the codes of the
segment's words, so that segments merge by adding sorted columns. A segment of passages that went has counts
below 0.

NETWORK/current     {"generation": 3, "language": "en", "rules": …, "segments": ["s1", "s4"], "vectors": "v2"}
NETWORK/lock        held by the one writer
NETWORK/v2/ …       word vectors, see `vectors`
NETWORK/s1/         a segment:
  facts.json   what it holds: numbers of passages, words, pairs, tokens; language, rules, sizes and sums
  codes        (words,) uint64, rising: the code of each word
  spelling     UTF-8, each word and a line feed, in the order of codes
  ends         (words,) int64: where each ends in it
  df           (words,) int32: passages that hold it
  keys         (pairs,) uint64, rising: two words' numbers, the lower one in the upper half
  counts       (pairs,) int32: passages that hold both close to each other
  pks          (passages,) int64, rising
  offsets      (passages + 1,) int64: the tokens of each passage
  tokens       (tokens,) uint32: number of the word; flags FIRST of a sentence, NUMBER
  gone         (gone,) int64, rising: passages of older segments that went
"""

import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Any, Protocol, Self, overload
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from core.errors import on_failure
from retrieval.engine.files import only_writer
from retrieval.errors import NetworkBrokenError, NoNetworkError, RetrievalError
from retrieval.ranking.scoring import UnspelledWords
from retrieval.tokens import fingerprint

# Name of everything that decides which words a passage has, in which order and in which sentence.


def rules_of(language: str) -> str:
    """Another name, other words: a network with another name cannot be used any more."""
    return fingerprint(language)


def check_rules(language: str, rules: str) -> None:
    """NetworkBrokenError where a network was made by other rules than today's."""
    if rules != rules_of(language):
        raise NetworkBrokenError(
            f"The network has words by other rules ({rules}) than this version ({rules_of(language)}). "
            "Run manage.py wpn build with --anew."
        )


# Words as 64-bit numbers, so that whole columns of them are compared at once.
#
# The number of a word is the first 64 bits of its BLAKE2b digest. It depends on the word alone: vocabularies
# of different parts of a corpus, word vectors and stored passages meet on it, and no table of all words has
# to be in memory. Of ten million words, two share a number with a probability of 3 in a million; they would
# be counted as one word.

Codes = NDArray[np.uint64]
_BYTES = 8


class Spelling(Protocol):
    """Gives words back for their numbers."""

    def spelled(self, codes: Codes) -> list[str]:
        """The words, in this order."""


#: Words whose numbers a process remembers, some 150 bytes each; of more words at once none is remembered.
#: Searches ask again and again for words of questions and of the best passages, a build once for all words.
_MOST_REMEMBERED, _TOO_MANY = 50_000, 2_000


class _RememberedCodes(dict[str, int]):
    """The numbers of words that were asked for before."""

    def __missing__(self, word: str) -> int:
        code = int.from_bytes(_digest(word), "little")
        if len(self) < _MOST_REMEMBERED:
            self[word] = code
        return code


def _digest(word: str) -> bytes:
    return blake2b(word.encode(), digest_size=_BYTES).digest()


_remembered = _RememberedCodes()


def codes_of(words: Iterable[str]) -> Codes:
    """The numbers of words; of `WordSequence` ones without computing them again."""
    if isinstance(words, WordSequence):
        return words.codes
    words = list(words)
    if len(words) <= _TOO_MANY:
        return np.fromiter(map(_remembered.__getitem__, words), np.uint64, len(words))
    return np.frombuffer(b"".join(map(_digest, words)), dtype="<u8").astype(np.uint64, copy=False)


class WordSequence(UnspelledWords):
    """Words of a network by their numbers; spelled when somebody reads them, all at once.

    places: where they stand in the only segment of the network, if it has but one.
    """

    def __init__(self, codes: Codes, spelling: Spelling, places: NDArray[np.int64] | None = None) -> None:
        self.codes = codes
        self.spelling = spelling
        self.places = places
        self._words: list[str] | None = None

    def take(self, places: NDArray[np.int64]) -> "WordSequence":
        """The words at these places."""
        theirs = None if self.places is None else self.places[places]
        return WordSequence(self.codes[places], self.spelling, theirs)

    def __len__(self) -> int:
        return len(self.codes)

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    @overload
    def __getitem__(self, place: int) -> str: ...

    @overload
    def __getitem__(self, place: slice) -> "WordSequence": ...

    def __getitem__(self, place: int | slice) -> "str | WordSequence":
        if isinstance(place, slice):
            theirs = None if self.places is None else self.places[place]
            return WordSequence(self.codes[place], self.spelling, theirs)
        return self._all()[place]

    def _all(self) -> list[str]:
        if self._words is None:
            self._words = self.spelling.spelled(self.codes)
        return self._words


FORMAT = 1
FIRST, NUMBER = np.uint32(1 << 31), np.uint32(1 << 30)
WORD = np.uint32((1 << 30) - 1)

_TYPES = {
    "codes": np.uint64,
    "spelling": np.uint8,
    "ends": np.int64,
    "df": np.int32,
    "keys": np.uint64,
    "counts": np.int32,
    "pks": np.int64,
    "offsets": np.int64,
    "tokens": np.uint32,
    "gone": np.int64,
}
FILES = tuple(_TYPES)
_CHECKED_AT_ONCE = 1 << 20


@dataclass(frozen=True)
class Facts:
    """What a segment holds. `passages` counts those that came less those that went."""

    language: str
    rules: str
    passages: int
    words: int
    pairs: int
    tokens: int
    gone: int
    least_count: int
    sizes: Mapping[str, int]
    sums: Mapping[str, int]
    format: int = FORMAT


@dataclass(frozen=True)
class Segment:
    """An open segment: a column is mapped into memory when it is first asked for."""

    folder: Path
    facts: Facts

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Look at the facts and the sizes of all files. NetworkBrokenError where they do not fit."""
        try:
            facts = Facts(**json.loads((folder / "facts.json").read_bytes()))
            sizes = {name: (folder / name).stat().st_size for name in FILES}
        except FileNotFoundError as error:
            raise NetworkBrokenError(f"A file of the network is missing: {error.filename}.") from error
        except (OSError, ValueError, TypeError) as error:
            raise NetworkBrokenError(f"The network in {folder} cannot be read: {error}") from error
        if facts.format != FORMAT:
            raise NetworkBrokenError(f"The network in {folder} has files of format {facts.format}.")
        wrong = [name for name in FILES if sizes[name] != facts.sizes.get(name)]
        if wrong:
            raise NetworkBrokenError(
                f"The network in {folder} is damaged: {wrong[0]} has {sizes[wrong[0]]:,} bytes and not "
                f"{facts.sizes.get(wrong[0], 0):,}."
            )
        return cls(folder, facts)

    @cached_property
    def codes(self) -> Codes:
        """(words,) the code of each word, rising."""
        return self._column("codes")

    @cached_property
    def spelling(self) -> NDArray[np.uint8]:
        """Each word in UTF-8 with a line feed, one after the other."""
        return self._column("spelling")

    @cached_property
    def ends(self) -> NDArray[np.int64]:
        """(words,) where each word ends in `spelling`."""
        return self._column("ends")

    @cached_property
    def df(self) -> NDArray[np.int32]:
        """(words,) passages that hold each word."""
        return self._column("df")

    @cached_property
    def keys(self) -> NDArray[np.uint64]:
        """(pairs,) rising."""
        return self._column("keys")

    @cached_property
    def counts(self) -> NDArray[np.int32]:
        """(pairs,) passages that hold each pair."""
        return self._column("counts")

    @cached_property
    def pks(self) -> NDArray[np.int64]:
        """(passages,) rising."""
        return self._column("pks")

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """(passages + 1,) where the tokens of each passage begin."""
        return self._column("offsets")

    @cached_property
    def tokens(self) -> NDArray[np.uint32]:
        """(tokens,) numbers of words with flags."""
        return self._column("tokens")

    @cached_property
    def gone(self) -> NDArray[np.int64]:
        """(gone,) passages of older segments that went, rising."""
        return self._column("gone")

    def mapped(self) -> Self:
        """Map all columns now: they can be read then even when the files are removed."""
        for name in FILES:
            getattr(self, name)
        return self

    def check(self) -> None:
        """Read all columns and compare their checksums. NetworkBrokenError where one has changed."""
        for name in FILES:
            column, checksum = getattr(self, name), 0
            for start in range(0, len(column), _CHECKED_AT_ONCE):
                checksum = crc32(
                    np.ascontiguousarray(column[start : start + _CHECKED_AT_ONCE]).data, checksum
                )
            if checksum != self.facts.sums[name]:
                raise NetworkBrokenError(f"The network in {self.folder} is damaged: {name} has changed.")

    def spelled(self, numbers: NDArray[np.int64]) -> list[str]:
        """Words by their numbers here."""
        if not len(numbers):
            return []
        ends = self.ends[numbers]
        starts = np.where(numbers > 0, self.ends[np.maximum(numbers, 1) - 1], 0)
        letters = self.spelling[ragged(starts, ends - starts)]
        return letters.tobytes().decode().split("\n")[:-1]

    def numbers_of(self, codes: Codes) -> NDArray[np.int64]:
        """Numbers of words by their codes; -1 where it has no such word."""
        if not len(self.codes):
            return np.full(len(codes), -1, dtype=np.int64)
        places = np.searchsorted(self.codes, codes)
        places[places == len(self.codes)] = 0
        numbers: NDArray[np.int64] = np.where(self.codes[places] == codes, places, -1)
        return numbers

    def _column(self, name: str) -> NDArray[Any]:  # of the type that the table above names
        kind = np.dtype(_TYPES[name])
        if not self.facts.sizes[name]:
            return np.zeros(0, dtype=kind)
        try:
            # As a plain array: looking at parts of a memmap makes objects that cost more than the look.
            return np.asarray(np.memmap(self.folder / name, dtype=kind, mode="r"))
        except (OSError, ValueError) as error:
            raise NetworkBrokenError(f"{self.folder / name} cannot be read: {error}") from error


def ragged(starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Places of the items of several slices, one slice after the other."""
    total = np.cumsum(lengths)
    if not len(total):
        return np.zeros(0, dtype=np.int64)
    places: NDArray[np.int64] = np.arange(total[-1]) + np.repeat(starts - (total - lengths), lengths)
    return places


class SegmentWriter:
    """Writes the columns of a segment, each piece by piece; `finish` makes it one."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        self._folder = folder
        self._files = {name: (folder / name).open("wb") for name in FILES}
        self._sums = dict.fromkeys(FILES, 0)

    def add(self, name: str, values: NDArray[Any]) -> None:
        """Append values to a column."""
        data = np.ascontiguousarray(values, dtype=_TYPES[name]).data
        self._sums[name] = crc32(data, self._sums[name])
        self._files[name].write(data)

    def abandon(self) -> None:
        """Close the files of a segment that will not be finished."""
        for file in self._files.values():
            file.close()

    def finish(self, *, language: str, rules: str, passages: int, least_count: int) -> Segment:
        """Put everything on the disk for good, the facts last."""
        sizes = {}
        for name, file in self._files.items():
            file.flush()
            os.fsync(file.fileno())
            sizes[name] = file.tell()
            file.close()
        lengths = {name: size // np.dtype(_TYPES[name]).itemsize for name, size in sizes.items()}
        facts = Facts(
            language=language,
            rules=rules,
            passages=passages,
            words=lengths["codes"],
            pairs=lengths["keys"],
            tokens=lengths["tokens"],
            gone=lengths["gone"],
            least_count=least_count,
            sizes=sizes,
            sums=self._sums,
        )
        write_json(self._folder / "facts.json", asdict(facts))
        return Segment(self._folder, facts)


def write_json(path: Path, facts: Mapping[str, Any]) -> None:
    """Write a small file for good, complete or not at all."""
    new = path.with_name(path.name + ".new")
    with new.open("w", encoding="utf-8") as file:
        json.dump(facts, file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


@dataclass(frozen=True)
class Pointer:
    """Which files answer, and how they were made. A generation is one state of the network."""

    generation: int
    language: str
    rules: str
    segments: tuple[str, ...]
    vectors: str = ""
    least_count: int = 1


@dataclass(frozen=True)
class NetworkFolder:
    """The folder of one network."""

    path: Path

    def current(self) -> Pointer:
        """The state that answers. NoNetworkError where there is none yet."""
        pointer = self.path / "current"
        try:
            facts = json.loads(pointer.read_bytes())
            return Pointer(
                generation=int(facts["generation"]),
                language=str(facts["language"]),
                rules=str(facts["rules"]),
                segments=tuple(map(str, facts["segments"])),
                vectors=str(facts["vectors"]),
                least_count=int(facts["least_count"]),
            )
        except FileNotFoundError as error:
            raise NoNetworkError(
                "There is no word proximity network yet. Run manage.py wpn build."
            ) from error
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise NetworkBrokenError(
                f"{pointer} cannot be read. Run manage.py wpn build with --anew."
            ) from error

    def generation(self) -> int:
        """Number of the state that answers; 0 where there is none that can be read."""
        try:
            return self.current().generation
        except (NoNetworkError, NetworkBrokenError):
            return 0

    def point(self, pointer: Pointer) -> None:
        """Let another state answer, at once and for good even if the power fails; tidy up."""
        write_json(self.path / "current", asdict(pointer))
        self.tidy()

    def fresh(self, letter: str) -> Path:
        """A folder that is not there yet, for a segment (s) or word vectors (v)."""
        self.path.mkdir(parents=True, exist_ok=True)
        numbers = [int(path.name[1:]) for path in self.path.glob(f"{letter}*") if path.name[1:].isdigit()]
        return self.path / f"{letter}{max(numbers, default=0) + 1}"

    def tidy(self) -> None:
        """Remove what the present state does not use: older states, and what a killed build has left.

        Readers that have something open keep it until they close it.
        """
        try:
            pointer = self.current()
        except (NoNetworkError, NetworkBrokenError):
            used: set[str] = set()
        else:
            used = {*pointer.segments, pointer.vectors}
        for path in [*self.path.glob("s[0-9]*"), *self.path.glob("v[0-9]*")]:
            if path.name not in used:
                shutil.rmtree(path, ignore_errors=True)

    @contextmanager
    def writing(self, what: str = "this network") -> Iterator[None]:
        """Be the only one who writes; BusyError where somebody else does for long.

        Begins and ends without files that nobody uses. RetrievalError where something cannot be written.
        """
        try:
            with only_writer(self.path / "lock", what):
                self.tidy()
                with on_failure(lambda error: self.tidy()):
                    yield
        except OSError as error:
            raise RetrievalError(
                f"The network cannot be written: {error}. The one that was there still answers. Make room, "
                "or mend what is wrong with the data folder, and build again."
            ) from error
