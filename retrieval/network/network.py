"""The word proximity network of a corpus, as scoring asks it: similar, associated and rare words."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np
import Stemmer
from numpy.typing import NDArray

from retrieval.errors import NetworkBrokenError
from retrieval.network.counts import SHIFT, key_of
from retrieval.network.segment import (
    FIRST,
    NUMBER,
    WORD,
    Codes,
    NetworkFolder,
    Pointer,
    Segment,
    WordSequence,
    check_rules,
    codes_of,
    ragged,
)
from retrieval.network.vectors import Vectors, alpha_for, neighbours_at
from retrieval.ranking.scoring import FloatArray, IntArray, Passages, UnspelledWords
from retrieval.tokens import SNOWBALL, primary

#: Words whose stems a process remembers for each language; then it begins again.
MOST_REMEMBERED = 2_000_000
_Remembered = tuple[Codes, Codes]
_NOTHING: _Remembered = (np.empty(0, np.uint64), np.empty(0, np.uint64))
#: Codes of words, rising, and of their stems, by stemmer. Replaced as a whole: readers need no lock.
_remembered: dict[str, _Remembered] = {}


class _Stemmers(threading.local):
    """A stemmer may not be used by two threads at once."""

    def __init__(self) -> None:
        self.made: dict[str, Stemmer.Stemmer] = {}


_stemmers = _Stemmers()


def stem_codes(words: Sequence[str], language: str) -> Codes:
    """(words,) the codes of the words' stems."""
    codes = codes_of(words)
    algorithm = SNOWBALL.get(primary(language))
    if algorithm is None or not len(codes):
        return codes
    known_codes, stems = _remembered.get(algorithm, _NOTHING)
    stems_found, is_known = _looked_up(codes, known_codes, stems)
    new = np.flatnonzero(~is_known)
    if len(new):
        stems_found[new] = codes_of(_stemmer(algorithm).stemWords(_words_at(words, new)))
        _remember(algorithm, codes[new], stems_found[new])
    return stems_found


def _words_at(words: Sequence[str], places: IntArray) -> list[str]:
    if isinstance(words, UnspelledWords):
        return list(words.take(places))
    return [words[place] for place in places.tolist()]


def _looked_up(
    codes: Codes, known_codes: Codes, stems: Codes
) -> tuple[Codes, np.ndarray[tuple[int], np.dtype[np.bool_]]]:
    if not len(known_codes):
        return np.zeros(len(codes), np.uint64), np.zeros(len(codes), np.bool_)
    places = np.searchsorted(known_codes, codes)
    places[places == len(known_codes)] = 0
    return stems[places], known_codes[places] == codes


def _remember(algorithm: str, codes: Codes, stems: Codes) -> None:
    known_codes, theirs = _remembered.get(algorithm, _NOTHING)
    if len(known_codes) > MOST_REMEMBERED:
        known_codes, theirs = _NOTHING
    codes, first = np.unique(codes, return_index=True)
    _, is_known = _looked_up(codes, known_codes, theirs)  # another thread may have been here
    codes, stems = codes[~is_known], stems[first][~is_known]
    # Put in between: sorting all of a vocabulary again would cost more than stemming the few words.
    places = np.searchsorted(known_codes, codes)
    _remembered[algorithm] = (np.insert(known_codes, places, codes), np.insert(theirs, places, stems))


def _stemmer(algorithm: str) -> Stemmer.Stemmer:
    if algorithm not in _stemmers.made:
        _stemmers.made[algorithm] = Stemmer.Stemmer(algorithm, 0)
    return _stemmers.made[algorithm]


@dataclass(frozen=True)
class TokenStore:
    """Tokens of passages, one passage after the other.

    `codes` (tokens,) of their words; `starts` (tokens,) whether a sentence begins; `numbers` (tokens,)
    whether it is a run of digits; `lengths` (passages,).
    """

    codes: Codes
    starts: NDArray[np.bool_]
    numbers: NDArray[np.bool_]
    lengths: NDArray[np.int64]


def places_of(
    segments: Sequence[Segment], pks: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Segment and row of each passage; segment -1 where no segment has it, or it went."""
    of = np.full(len(pks), -1, dtype=np.int64)
    row = np.zeros(len(pks), dtype=np.int64)
    for place, segment in enumerate(segments):
        if len(segment.gone):
            of[np.isin(pks, segment.gone)] = -1
        if len(segment.pks):
            own_rows = np.searchsorted(segment.pks, pks)
            own_rows[own_rows == len(segment.pks)] = 0
            is_here = segment.pks[own_rows] == pks
            of[is_here], row[is_here] = place, own_rows[is_here]
    return of, row


def gathered(segments: Sequence[Segment], of: NDArray[np.int64], row: NDArray[np.int64]) -> TokenStore:
    """Tokens of passages at these places."""
    lengths = np.zeros(len(of), dtype=np.int64)
    mine = [np.flatnonzero(of == place) for place in range(len(segments))]
    for segment, own_rows in zip(segments, mine, strict=True):
        lengths[own_rows] = segment.offsets[row[own_rows] + 1] - segment.offsets[row[own_rows]]
    ends = np.cumsum(lengths)
    codes = np.zeros(int(lengths.sum()), dtype=np.uint64)
    flags = np.zeros(len(codes), dtype=np.uint32)
    for segment, own_rows in zip(segments, mine, strict=True):
        if len(own_rows):
            own_tokens = segment.tokens[ragged(segment.offsets[row[own_rows]], lengths[own_rows])]
            target = ragged(ends[own_rows] - lengths[own_rows], lengths[own_rows])
            codes[target] = segment.codes[own_tokens & WORD]
            flags[target] = own_tokens
    return TokenStore(codes, (flags & FIRST) != 0, (flags & NUMBER) != 0, lengths)


_ATTEMPTS = 5
_HALF, _LOW = np.uint64(32), np.uint64((1 << 32) - 1)


class _LookedUp:
    """What searches have looked up of the words of a network's only segment, by place in it.

    A search knows the places of its passages' words. Looking their codes up in other columns each time took a
    tenth of it. Threads may fill the same places at once: with the same values.
    """

    def __init__(self, size: int) -> None:
        #: Numbers of rows of word vectors plus 2; 1 for a word without, 0 where it was not looked up.
        self.rows = np.zeros(size, np.int32)
        #: Codes of stems; 0 where it was not looked up.
        self.stems = np.zeros(size, np.uint64)


@dataclass(frozen=True)
class Network:
    """One state of a network: an `Evidence`. Opened in milliseconds; files are mapped, not read."""

    folder: Path
    pointer: Pointer
    segments: tuple[Segment, ...]
    vectors: Vectors | None

    @classmethod
    def open(cls, folder: Path) -> Self:
        """The present state.

        NoNetworkError where there is none; NetworkBrokenError where the files are damaged, or have words by
        other rules than this version's.
        """
        files = NetworkFolder(folder)
        for attempt in range(_ATTEMPTS):
            pointer = files.current()
            check_rules(pointer.language, pointer.rules)
            try:
                segments = tuple(Segment.open(folder / name).mapped() for name in pointer.segments)
                vectors = Vectors.open(folder / pointer.vectors).mapped() if pointer.vectors else None
                return cls(folder, pointer, segments, vectors)
            except NetworkBrokenError as error:
                # Between reading the pointer and opening the files, a newer state may have replaced this one.
                if attempt + 1 == _ATTEMPTS or files.current() == pointer:
                    raise NetworkBrokenError(f"{error} Run manage.py wpn build with --anew.") from error
        raise AssertionError("the last attempt returns or raises")

    def check(self) -> None:
        """Read all counts and compare their checksums. NetworkBrokenError where a file has changed."""
        for segment in self.segments:
            segment.check()

    @property
    def language(self) -> str:
        """BCP 47 tag."""
        return self.pointer.language

    @property
    def generation(self) -> int:
        """Number of this state; every change makes the next one."""
        return self.pointer.generation

    @cached_property
    def passages(self) -> int:
        """N: how many passages it counts."""
        return sum(segment.facts.passages for segment in self.segments)

    @cached_property
    def word_count(self) -> int:
        """Different words and numbers; at most, while there are increments."""
        main = self.segments[0]
        new = [int((main.numbers_of(segment.codes) < 0).sum()) for segment in self.segments[1:]]
        return main.facts.words + sum(new)

    @cached_property
    def edge_count(self) -> int:
        """Pairs of words; at most, while there are increments."""
        return sum(segment.facts.pairs for segment in self.segments)

    # Evidence

    def similarities(self, words: Sequence[str], terms: Sequence[str]) -> FloatArray:
        """Cosines, (words, terms); 1 for the same word, -1 where one of them has no vector."""
        codes, others = codes_of(words), codes_of(terms)
        if self.vectors is None:
            cosines = np.full((len(codes), len(others)), -1.0)
        else:
            cosines = self.vectors.cosines(self._rows_of(self.vectors, words), self.vectors.places_of(others))
        cosines[codes[:, np.newaxis] == others[np.newaxis, :]] = 1.0
        return cosines

    def associations(self, first: Sequence[str], second: Sequence[str]) -> FloatArray:
        """NPMI of pairs, -1 to 1; NaN where the network has no edge.

        NPMI(a, b) = log(p_ab / (p_a p_b)) / -log(p_ab), with p the share of passages that hold a word, or
        both at most three content words apart (paper 001, section 2.1; both logarithms of the same base). A
        pair in every passage gives 0/0 there, and 1 here.
        """
        one, two = self._places(first), self._places(second)
        if one is None or two is None:
            return self.npmi(codes_of(first), codes_of(second))
        [segment] = self.segments
        if not segment.facts.pairs:
            return np.full(len(one), np.nan)
        pairs = np.maximum(self._least(self._pairs_in(segment, one, two)), 0)
        return npmi(pairs, self._counts_at(one), self._counts_at(two), self.passages)

    def npmi(self, one: Codes, two: Codes) -> FloatArray:
        """The same, by codes."""
        distinct, where = np.unique(np.concatenate([one, two]), return_inverse=True)
        first, second = np.split(self.word_counts(distinct)[where], 2)
        return npmi(self.pair_counts(one, two), first, second, self.passages)

    def idf(self, terms: Sequence[str]) -> FloatArray:
        """How rare each term is in the corpus: log(1 + (N - df + 0.5) / (df + 0.5))."""
        places = self._places(terms)
        df = self.word_counts(codes_of(terms)) if places is None else self._counts_at(places)
        return np.log1p((self.passages - df + 0.5) / (df + 0.5))

    def same_stem(self, words: Sequence[str], terms: Sequence[str]) -> NDArray[np.bool_]:
        """Whether they have the same stem, (words, terms)."""
        stems, others = self._stems_of(words), stem_codes(terms, self.language)
        is_same: NDArray[np.bool_] = stems[:, np.newaxis] == others[np.newaxis, :]
        return is_same

    def neighbours(self, alpha: float) -> float:
        """How many other words the commonest words have on average with a cosine above alpha."""
        return 0.0 if self.vectors is None else neighbours_at(alpha, self.vectors.curve)

    def alpha_for(self, neighbours: float) -> float:
        """The node threshold above which a word has at most so many neighbours on average."""
        return 0.75 if self.vectors is None else alpha_for(neighbours, self.vectors.curve)

    # Words by their places in the only segment

    @cached_property
    def _looked_up(self) -> _LookedUp:
        return _LookedUp(self.segments[0].facts.words)

    def _places(self, words: Sequence[str]) -> NDArray[np.int64] | None:
        """Where words stand in the only segment; None where there are several, or the words do not say."""
        if isinstance(words, WordSequence) and words.spelling is self:
            return words.places
        return None

    def _counts_at(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.maximum(self.segments[0].df[places].astype(np.int64), 0)

    def _rows_of(self, vectors: Vectors, words: Sequence[str]) -> NDArray[np.int64]:
        """Numbers of the rows of words; -1 where a word has none."""
        places = self._places(words)
        if places is None:
            return vectors.places_of(codes_of(words))
        known_rows = self._looked_up.rows
        rows = known_rows[places]
        new = np.flatnonzero(rows == 0)
        if len(new):
            rows[new] = vectors.places_of(codes_of(words)[new]) + 2
            known_rows[places[new]] = rows[new]
        return rows.astype(np.int64) - 2

    def _stems_of(self, words: Sequence[str]) -> Codes:
        """The codes of the words' stems."""
        places = self._places(words)
        if places is None:
            return stem_codes(words, self.language)
        known_stems = self._looked_up.stems
        stems = known_stems[places]
        new = np.flatnonzero(stems == 0)
        if len(new):
            stems[new] = stem_codes(_words_at(words, new), self.language)
            known_stems[places[new]] = stems[new]
        return stems

    # Counts

    def word_counts(self, codes: Codes) -> NDArray[np.int64]:
        """In how many passages each word is."""
        total = np.zeros(len(codes), dtype=np.int64)
        for segment in self.segments:
            numbers = segment.numbers_of(codes)
            is_known = numbers >= 0
            total[is_known] += segment.df[numbers[is_known]]
        return np.maximum(total, 0)

    def pair_counts(self, first: Codes, second: Codes) -> NDArray[np.int64]:
        """In how many passages two words are close to each other."""
        total = np.zeros(len(first), dtype=np.int64)
        for segment in self.segments:
            if not segment.facts.pairs:
                continue
            total += self._pairs_in(segment, segment.numbers_of(first), segment.numbers_of(second))
        return np.maximum(self._least(total), 0)

    def _pairs_in(
        self, segment: Segment, one: NDArray[np.int64], two: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """What one segment counts of pairs of its words, by their places; 0 for a place of -1."""
        total = np.zeros(len(one), dtype=np.int64)
        both_known = np.flatnonzero((one >= 0) & (two >= 0) & (one != two))
        keys = key_of(one[both_known].astype(np.uint32), two[both_known].astype(np.uint32))
        places = np.searchsorted(segment.keys, keys)
        places[places == len(segment.keys)] = 0
        is_pair = segment.keys[places] == keys
        total[both_known[is_pair]] = segment.counts[places[is_pair]]
        return total

    def _least(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Counts, where they are enough for an edge."""
        counts[counts < self.pointer.least_count] = 0
        return counts

    # Passages

    def columns(self, pks: Sequence[int], *, numbers: bool) -> Passages | None:
        """Stored tokens of passages in this order, with runs of digits if asked for.

        None where one of them is not stored: it came after the network was built.
        """
        keys = np.asarray(pks, dtype=np.int64)
        of, row = places_of(self.segments, keys)
        if (of < 0).any():
            return None
        if len(self.segments) == 1:
            return self._columns_of_one(row, numbers=numbers)
        with damage_told(self.folder):
            stored = gathered(self.segments, of, row)
        codes, sentence = stored.codes, np.cumsum(stored.starts, dtype=np.int64)
        passage = np.repeat(np.arange(len(keys)), stored.lengths)
        if not numbers:
            letters = ~stored.numbers
            codes, passage, sentence = codes[letters], passage[letters], sentence[letters]
        distinct_codes, tokens = np.unique(codes, return_inverse=True)
        return Passages(
            words=WordSequence(distinct_codes, self),
            tokens=tokens.astype(np.int64),
            passage=passage,
            sentence=_within(sentence, passage),
            count=len(keys),
        )

    def _columns_of_one(self, row: NDArray[np.int64], *, numbers: bool) -> Passages:
        """The same of rows of the only segment. Its words keep their places, which rise as their codes do."""
        [segment] = self.segments
        with damage_told(self.folder):
            starts = segment.offsets[row]
            lengths = segment.offsets[row + 1] - starts
            own_tokens = segment.tokens[ragged(starts, lengths)]
            if (own_tokens & WORD).max(initial=0) > max(len(segment.codes) - 1, 0):
                raise IndexError("it has a word that is none of its words")
            passage, sentence = np.repeat(np.arange(len(row)), lengths), np.cumsum((own_tokens & FIRST) != 0)
            if not numbers:
                letters = (own_tokens & NUMBER) == 0
                own_tokens, passage, sentence = own_tokens[letters], passage[letters], sentence[letters]
            places, tokens = _distinct(own_tokens & WORD)
            vocabulary = WordSequence(segment.codes[places], self, places)
        return Passages(vocabulary, tokens, passage, _within(sentence, passage), len(row))

    def holds(self, pks: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which passages it counts."""
        is_stored: NDArray[np.bool_] = places_of(self.segments, pks)[0] >= 0
        return is_stored

    def stored(self, pks: NDArray[np.int64]) -> TokenStore:
        """Tokens of passages that it counts."""
        return gathered(self.segments, *places_of(self.segments, pks))

    def counted(self) -> NDArray[np.int64]:
        """Numbers of all passages that it counts, rising."""
        pks = np.zeros(0, dtype=np.int64)
        for segment in self.segments:
            pks = np.union1d(np.setdiff1d(pks, segment.gone, assume_unique=True), segment.pks)
        return pks

    def spelled(self, codes: Codes) -> list[str]:
        """The words of codes; empty for one that it does not know."""
        words = [""] * len(codes)
        left = np.arange(len(codes))
        for segment in self.segments:
            numbers = segment.numbers_of(codes[left])
            is_known = numbers >= 0
            with damage_told(self.folder):
                own_spellings = segment.spelled(numbers[is_known])
            for place, word in zip(left[is_known].tolist(), own_spellings, strict=True):
                words[place] = word
            left = left[~is_known]
            if not len(left):
                break
        return words


@contextmanager
def damage_told(folder: Path) -> Iterator[None]:
    """What numbers and letters that cannot be lead to, as NetworkBrokenError."""
    try:
        yield
    except (IndexError, ValueError) as error:
        raise NetworkBrokenError(
            f"The network in {folder} is damaged: {error}. Run manage.py wpn build with --anew."
        ) from error


def npmi(
    pair: NDArray[np.int64], first: NDArray[np.int64], second: NDArray[np.int64], passages: int
) -> FloatArray:
    """Normalised pointwise mutual information of counts; NaN where the pair was never seen."""
    npmi_values = np.full(len(pair), np.nan)
    seen = (pair > 0) & (first > 0) & (second > 0)
    p_ab = pair[seen] / passages
    p_a, p_b = first[seen] / passages, second[seen] / passages
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.log(p_ab / (p_a * p_b)) / -np.log(p_ab)
    npmi_values[seen] = np.where(pair[seen] >= passages, 1.0, np.clip(value, -1.0, 1.0))
    return npmi_values


def _distinct(word_ids: NDArray[np.uint32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Different words, rising, and the place of each word among them.

    What `np.unique` gives, in half the time: word and place are sorted as one number.
    """
    keys = (word_ids.astype(np.uint64) << _HALF) | np.arange(len(word_ids), dtype=np.uint64)
    keys.sort()
    rising, places = (keys >> _HALF).astype(np.int64), (keys & _LOW).astype(np.int64)
    is_new = np.ones(len(keys), np.bool_)
    np.not_equal(rising[1:], rising[:-1], out=is_new[1:])
    place_of_each = np.empty(len(keys), np.int64)
    place_of_each[places] = np.cumsum(is_new) - 1
    return rising[is_new], place_of_each


def _within(sentence: NDArray[np.int64], passage: NDArray[np.int64]) -> NDArray[np.int64]:
    """Numbers of sentences from 1 in each passage, without holes, for columns that rise."""
    if not len(sentence):
        return np.zeros(0, dtype=np.int64)
    new = np.ones(len(sentence), dtype=np.bool_)
    np.not_equal(sentence[1:], sentence[:-1], out=new[1:])
    dense = np.cumsum(new)
    starts = np.ones(len(passage), dtype=np.bool_)
    np.not_equal(passage[1:], passage[:-1], out=starts[1:])
    before = dense[starts] - 1
    within: NDArray[np.int64] = dense - before[np.cumsum(starts) - 1]
    return within


# Looking into a network: the words nearest to a word, and those it is next to.


class Similar(NamedTuple):
    """A word whose vector is near."""

    word: str
    cosine: float


class Associate(NamedTuple):
    """A word close by: NPMI, and in how many passages."""

    word: str
    npmi: float
    passages: int


def similar_words(network: Network, word: str, k: int = 10) -> list[Similar]:
    """The k words with the largest cosines, largest first; none where the word has no vector."""
    if network.vectors is None:
        return []
    row, has_vector = network.vectors.of(codes_of([word]))
    if not has_vector[0]:
        return []
    cosines = network.vectors.rows.astype(np.float32) @ row[0]
    cosines[network.vectors.codes == codes_of([word])[0]] = -2.0
    best = np.argsort(-cosines, kind="stable")[:k]
    names = network.spelled(network.vectors.codes[best])
    return [Similar(name, float(cosines[place])) for name, place in zip(names, best, strict=True) if name]


def associated_words(network: Network, word: str, k: int = 10, *, least_passages: int = 2) -> list[Associate]:
    """The k words with the largest NPMI, largest first, that are near it in so many passages at least."""
    code = codes_of([word])
    others = [np.zeros(0, dtype=np.uint64)]
    for segment in network.segments:
        number = int(segment.numbers_of(code)[0])
        if number < 0 or not segment.facts.pairs:
            continue
        first = np.searchsorted(segment.keys, np.uint64(number) << SHIFT)
        last = np.searchsorted(segment.keys, np.uint64(number + 1) << SHIFT)
        after = segment.keys[first:last] & _LOW
        before = segment.keys[(segment.keys & _LOW) == np.uint64(number)] >> SHIFT
        others += [segment.codes[after], segment.codes[before]]
    others_near = np.unique(np.concatenate(others))
    same = np.repeat(code, len(others_near))
    counts = network.pair_counts(same, others_near)
    often = counts >= least_passages
    others_near, same, counts = others_near[often], same[often], counts[often]
    values = network.npmi(same, others_near)
    best = np.lexsort((-counts, -values))[:k]
    names = network.spelled(others_near[best])
    return [
        Associate(name, float(values[place]), int(counts[place]))
        for name, place in zip(names, best, strict=True)
    ]
