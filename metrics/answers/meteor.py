"""METEOR: matches of single tokens, and how few chunks they make (Banerjee and Lavie 2005).

M = (1 - gamma * (chunks / m) ** theta) * m / (alpha * l1 + (1 - alpha) * l2), 0 if m = 0, with m matches,
l1 tokens of the candidate and l2 of the reference. The second factor is the harmonic mean of precision m / l1
and recall m / l2; alpha = .1 counts recall nine times, as the paper does, and gamma = .5, theta = 3 are its.
Papers that write P * R / (alpha * P + (1 - alpha) * R) call the same weights alpha = .9.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import cast

import numpy as np
import numpy.typing as npt

from metrics.answers import wordnet
from metrics.answers.chunks import Fits, most_adjacencies, most_adjacencies_that_fit
from metrics.answers.stems import stemmed
from metrics.base import NO_REFERENCE, ChunkValues, Metric, signature
from metrics.errors import MetricError
from metrics.profiles import Profile
from metrics.texts import Chunk, Tokens
from metrics.tokens.registry import tokeniser as tokeniser_named
from metrics.tokens.tokeniser import Tokeniser

Links = frozenset[tuple[int, int]]
#: Tokens of the second sequence that are taken, the one taken last (-2 if the last token stayed alone), and
#: the links themselves where what fits depends on them.
State = tuple[int, int, Links]
NOTHING: Links = frozenset()
#: States of one place that go on. Only long texts that repeat themselves reach it.
MOST_STATES = 5_000


def chunks_with_fewest_crossings(
    partners: Sequence[Sequence[int]],
    second: Sequence[Hashable],
    parts: Sequence[tuple[Sequence[int], int]],
    fits: Fits | None = None,
) -> int:
    """Fewest chunks among the maximum mappings with the fewest crossings.

    Token i may be matched with the tokens `partners[i]` of the second sequence, whose words are `second`.
    `parts` are groups of tokens of the first that compete for the same tokens, each with the number of
    matches that it has in every maximum mapping. `fits` as in chunks.py.

    From left to right over states, the best (crossings, chunks) of each. Two matches with the same word of
    the second never cross in the best mapping: changing their ends would take a crossing away.
    """
    words: dict[Hashable, int] = defaultdict(int)
    for j, word in enumerate(second):
        words[word] |= 1 << j
    quota = _quotas(partners, parts)
    states: dict[State, tuple[int, int]] = {(0, -2, NOTHING): (0, 0)}
    for i, choices in enumerate(partners):
        following: dict[State, tuple[int, int]] = {}
        mask, missing = quota[i]
        for (taken, last, links), (crossings, chunks) in states.items():
            if not choices or (taken & mask).bit_count() >= missing:
                _keep(following, (taken, -2, links), (crossings, chunks))
            for j in choices:
                if taken >> j & 1 or (taken & words[second[j]]) >> j:
                    continue
                more = links | {(i, j)} if fits else NOTHING
                if fits and not fits(more):
                    continue
                cost = crossings + (taken >> j).bit_count(), chunks + (last != j - 1)
                _keep(following, (taken | 1 << j, j, more), cost)
        if len(following) > MOST_STATES:
            following = dict(sorted(following.items(), key=lambda item: item[1])[:MOST_STATES])
        states = following
    return min(states.values())[1]


def _quotas(
    partners: Sequence[Sequence[int]], parts: Sequence[tuple[Sequence[int], int]]
) -> list[tuple[int, int]]:
    """For each token what its part may take, and how much of it must be taken if this token stays alone."""
    quota = [(0, 0)] * len(partners)
    for members, matches in parts:
        mask = 0
        for i in members:
            for j in partners[i]:
                mask |= 1 << j
        for place, i in enumerate(members, start=1):
            quota[i] = (mask, matches - (len(members) - place))
    return quota


def _keep(states: dict[State, tuple[int, int]], state: State, cost: tuple[int, int]) -> None:
    if state not in states or cost < states[state]:
        states[state] = cost


Word = Hashable
#: What a stage compares: words with a common key match (a stem; the synsets of a word).
Keys = Callable[[Word], Iterable[Hashable]]


@dataclass(frozen=True, slots=True, eq=False)
class Matching:
    """`m` matches in all; token i of the first sequence may be matched with the tokens `partners[i]`.

    Tokens that may be matched have the same name in `names` (of the first, of the second); without `fits`,
    which says what links are part of a maximum, all with the same name may be, in any combination. `parts`
    are tokens of the first that compete, with the matches that they have together.
    """

    m: int
    partners: list[list[int]]
    names: tuple[Sequence[Word], Sequence[Word]]
    parts: list[tuple[list[int], int]]
    fits: Fits | None = None


def overlap(first: Sequence[Word], second: Sequence[Word]) -> int:
    """Matches of the exact stage: the sum of min(count, count) over the words."""
    others = Counter(second)
    return sum(min(n, others[word]) for word, n in Counter(first).items() if word in others)


def later(
    first: Sequence[Word], second: Sequence[Word], stages: Sequence[Keys]
) -> list[set[tuple[Word, Word]]]:
    """For each stage after the exact one the pairs of words that could be matched in it.

    Only words of which one sequence has more than the other are left for a later stage.
    """
    counts, others = Counter(first), Counter(second)
    left = [word for word, n in counts.items() if n > others.get(word, 0)]
    right = [word for word, n in others.items() if n > counts.get(word, 0)]
    return [_shared(left, right, keys) for keys in stages]


def exact(first: Sequence[Word], second: Sequence[Word]) -> Matching:
    """Matches between equal words."""
    places: dict[Word, list[int]] = defaultdict(list)
    for j, word in enumerate(second):
        places[word].append(j)
    members: dict[Word, list[int]] = defaultdict(list)
    for i, word in enumerate(first):
        if word in places:
            members[word].append(i)
    parts = [(those, min(len(those), len(places[word]))) for word, those in members.items()]
    partners = [places.get(word, []) for word in first]
    return Matching(sum(n for _, n in parts), partners, (first, second), parts)


def staged(
    first: Sequence[Word], second: Sequence[Word], pairs: Sequence[set[tuple[Word, Word]]]
) -> Matching:
    """Matches of equal words, then of `pairs[0]`, and so on; see `later`."""
    used = [some for some in pairs if some]
    if not used:
        return exact(first, second)
    firsts, seconds = set(first), set(second)
    lonely = all(word not in seconds and other not in firsts for word, other in used[0])
    if len(used) == 1 and lonely and (classes := _classes(used[0])) is not None:
        return exact([classes.get(w, w) for w in first], [classes.get(w, w) for w in second])
    return _weighted(first, second, pairs)


def _shared(left: Sequence[Word], right: Sequence[Word], keys: Keys) -> set[tuple[Word, Word]]:
    """Pairs of words of both sides with a common key."""
    if {key for word in left for key in keys(word)}.isdisjoint(key for word in right for key in keys(word)):
        return set()
    by_key: dict[Hashable, list[Word]] = defaultdict(list)
    for word in left:
        for key in keys(word):
            by_key[key].append(word)
    return {(word, other) for other in right for key in keys(other) for word in by_key.get(key, ())}


def _classes(pairs: set[tuple[Word, Word]]) -> dict[Word, Word] | None:
    """A name for each group of words that all match each other; None if some match only in part."""
    firsts: dict[Word, set[Word]] = defaultdict(set)
    for word, other in pairs:
        firsts[word].add(other)
    groups = {frozenset(others) for others in firsts.values()}
    if sum(map(len, groups)) != len(frozenset().union(*groups)):
        return None
    name = {others: min(map(repr, others)) for others in groups}
    named: dict[Word, Word] = {word: ("class", name[frozenset(others)]) for word, others in firsts.items()}
    return named | {other: ("class", name[others]) for others in groups for other in others}


def _weighted(
    first: Sequence[Word], second: Sequence[Word], keyed: Sequence[set[tuple[Word, Word]]]
) -> Matching:
    """The general case: a match of an earlier stage outweighs all that later stages could bring."""
    base = min(len(first), len(second)) + 1
    depth = len(keyed)
    worth = {pair: base ** (depth - 1 - k) for k, pairs in reversed(list(enumerate(keyed))) for pair in pairs}
    weights = np.array(
        [[base**depth if a == b else worth.get((a, b), 0) for b in second] for a in first], np.float64
    )
    total = _best(weights)
    known: dict[frozenset[tuple[int, int]], bool] = {}

    def fits(links: frozenset[tuple[int, int]]) -> bool:
        if links not in known:
            rest = weights.copy()
            rest[[i for i, _ in links], :] = 0
            rest[:, [j for _, j in links]] = 0
            known[links] = _best(rest) + sum(int(weights[link]) for link in links) == total
        return known[links]

    partners = [[int(j) for j in np.flatnonzero(row)] for row in weights]
    groups = _components(partners)
    parts = [(rows, _digits(_best(weights[rows]), base)) for rows in groups]
    names: tuple[list[int], list[int]] = ([-1] * len(first), [-2] * len(second))
    for number, rows in enumerate(groups):
        for i in rows:
            names[0][i] = number
            for j in partners[i]:
                names[1][j] = number
    return Matching(_digits(total, base), partners, names, parts, fits)


def _best(weights: npt.NDArray[np.float64]) -> int:
    """Largest sum of weights of a one-to-one mapping."""
    from scipy.optimize import linear_sum_assignment

    return int(weights[linear_sum_assignment(weights, maximize=True)].sum())


def _digits(total: int, base: int) -> int:
    """Matches behind a sum of weights, of all stages together."""
    matches = 0
    while total:
        total, digit = divmod(total, base)
        matches += digit
    return matches


def _components(partners: Sequence[Sequence[int]]) -> list[list[int]]:
    """Tokens of the first sequence in groups that have no partner in common."""
    groups: list[tuple[list[int], set[int]]] = []
    for i, js in enumerate(partners):
        if not js:
            continue
        joined, taken = [i], set(js)
        apart = []
        for rows, those in groups:
            if those & taken:
                joined, taken = rows + joined, taken | those
            else:
                apart.append((rows, those))
        groups = [*apart, (sorted(joined), taken)]
    return [rows for rows, _ in groups]


VERSION = 1
MINCHUNK = "minchunk"
MINCROSS = "mincross"
Words = Sequence[Hashable]


@dataclass(frozen=True, slots=True)
class Weights:
    """Parameters of the formula, and which alignment counts: `minchunk`, or `mincross` (crossings first)."""

    alpha: float = 0.1
    gamma: float = 0.5
    theta: float = 3.0
    variant: str = MINCHUNK

    def __post_init__(self) -> None:
        if not (0 <= self.alpha <= 1 and 0 <= self.gamma <= 1 and self.theta >= 0):
            raise MetricError("METEOR takes alpha and gamma from 0 to 1 and theta from 0 on.")
        if self.variant not in (MINCHUNK, MINCROSS):
            raise MetricError(f"METEOR has the variants {MINCHUNK} and {MINCROSS}, not {self.variant!r}.")

    def value(self, matches: int, chunks: int, candidate: int, reference: int) -> float:
        """M of so many matches and chunks in texts of so many tokens."""
        if not matches:
            return 0.0
        mean = matches / (self.alpha * candidate + (1 - self.alpha) * reference)
        value: float = (1 - self.gamma * (chunks / matches) ** self.theta) * mean
        return value


def meteor_pair(
    candidate_tokens: Sequence[str],
    reference_tokens: Sequence[str],
    *,
    alpha: float = 0.1,
    gamma: float = 0.5,
    theta: float = 3.0,
    variant: str = MINCHUNK,
) -> float:
    """METEOR of a candidate and one reference by exact matches alone, from 0 to 1."""
    return aligned(candidate_tokens, reference_tokens, Weights(alpha, gamma, theta, variant))


def aligned(candidate: Words, reference: Words, weights: Weights, stages: Sequence[Keys] = ()) -> float:
    """METEOR of two token sequences; `stages` come after the exact one, see matching.py."""
    matches, chunks = matches_and_chunks(candidate, reference, weights.variant, stages)
    return weights.value(matches, chunks, len(candidate), len(reference))


def matches_and_chunks(
    candidate: Words, reference: Words, variant: str = MINCHUNK, stages: Sequence[Keys] = ()
) -> tuple[int, int]:
    """m and the number of chunks of the best alignment."""
    pairs = later(candidate, reference, stages) if stages else ()
    if variant == MINCHUNK and not any(pairs):
        matches = overlap(candidate, reference)
        return matches, matches - most_adjacencies(candidate, reference) if matches else 0
    found = staged(candidate, reference, pairs)
    if variant == MINCROSS:
        return found.m, chunks_with_fewest_crossings(found.partners, reference, found.parts, found.fits)
    if found.fits is None:
        return found.m, found.m - most_adjacencies(*found.names)
    return found.m, found.m - most_adjacencies_that_fit(found.partners, *found.names, found.fits)


@dataclass(frozen=True, slots=True)
class Setting:
    """A METEOR with everything fixed."""

    tokeniser: Tokeniser
    weights: Weights
    language: str = ""
    synonyms: bool = False

    def stages(self, chunk: Chunk) -> list[Keys]:
        """What the stages after the exact one compare, for tokens as the chunk numbers them."""
        tokens = chunk.tokens(self.tokeniser)
        stages: list[Keys] = []
        if self.language:
            of_word = np.zeros(len(tokens.words), np.intp)
            of_word[tokens.ids] = stemmed(chunk, self.tokeniser, self.language).ids
            same = [(stem,) for stem in of_word.tolist()]
            stages.append(cast(Keys, same.__getitem__))
        if self.synonyms:
            stages.append(cast(Keys, cache(lambda number: wordnet.synsets(tokens.words[number]))))
        return stages

    def measure(self, chunk: Chunk, found: object) -> ChunkValues:
        """The best reference of each candidate; nan where there is none."""
        tokens = chunk.tokens(self.tokeniser)
        texts = chunk.once(("lists", self.tokeniser.name), lambda: lists(tokens))
        stages = self.stages(chunk)
        values = np.full(len(chunk), np.nan)
        starts, candidates, references = chunk.starts, chunk.candidates.tolist(), chunk.references.tolist()
        for place, (start, end) in enumerate(pairwise(starts.tolist())):
            candidate = texts[candidates[place]]
            if end > start:
                values[place] = max(
                    aligned(candidate, texts[reference], self.weights, stages)
                    for reference in set(references[start:end])
                )
        missing = int(np.isnan(values).sum())
        return ChunkValues(values, why={NO_REFERENCE: missing} if missing else {})


def lists(tokens: Tokens) -> list[list[int]]:
    """Each text as a list of numbers."""
    ids = tokens.ids.tolist()
    return [ids[start:end] for start, end in pairwise(tokens.starts.tolist())]


def make(name: str, profile: Profile) -> Metric:
    """`meteor` under a profile.

    Its settings `meteor` may hold alpha, gamma, theta, variant, language (of the stemmer; "" for no stems),
    synonyms ("wordnet", or "" for none) and tokeniser.
    """
    given = profile.options("meteor")
    tokeniser = tokeniser_named(profile.tokeniser_for("meteor"))
    language = given.pop("language", "english")
    wanted = given.pop("synonyms", "wordnet")
    synonyms = wanted == "wordnet" and not wordnet.missing()
    try:
        weights = Weights(**given)
    except TypeError as error:
        raise MetricError(f"METEOR has no such setting: {error}.") from None
    setting = Setting(tokeniser, weights, language, synonyms)
    return Metric(
        name=name,
        title="METEOR",
        signature=signature(
            name,
            VERSION,
            tok=tokeniser.label,
            stages="+".join(["exact", *(["stem"] if language else []), *(["synonym"] if synonyms else [])]),
            stem=language or "none",
            synonyms="wordnet" if synonyms else "none",
            alpha=weights.alpha,
            gamma=weights.gamma,
            theta=weights.theta,
            variant=weights.variant,
            refs="max",
        ),
        measure=setting.measure,
    )
