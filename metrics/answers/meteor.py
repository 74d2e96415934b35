"""METEOR: matches of single tokens, and how few chunks they make (Banerjee and Lavie 2005).

M = (1 - gamma * (chunks / m) ** theta) * m / (alpha * l1 + (1 - alpha) * l2), 0 if m = 0, with m matches,
l1 tokens of the candidate and l2 of the reference. The second factor is the harmonic mean of precision m / l1
and recall m / l2; alpha = .1 counts recall nine times, as the paper does, and gamma = .5, theta = 3 are its.
Papers that write P * R / (alpha * P + (1 - alpha) * R) call the same weights alpha = .9.
"""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import cast

import numpy as np
import numpy.typing as npt

from metrics.answers import stems
from metrics.answers.stems import stemmed
from metrics.errors import MetricError
from metrics.profiles import Profile
from metrics.texts import NO_REFERENCE, Chunk, ChunkValues, Metric, Tokens, signature
from metrics.tokens import Tokeniser, tokeniser_named

# Fewest chunks of a mapping between two token sequences, exactly (Banerjee and Lavie 2005, 2).
#
# A chunk is a run of matched tokens that stand next to each other, in the same order, in both sequences. m
# matches with A adjacencies (i, j), (i + 1, j + 1) make m - A chunks, so the fewest chunks have the most
# adjacencies. Where every mapping of single tokens can be completed to a maximum one, as with equality of
# words, only adjacencies count: the rest of the matches is filled in afterwards and cannot take any away.

#: More possible adjacencies than these are not worth a programme: texts of hundreds of tokens in two or three
#: different words have more, and the best mapping found before counts.
MOST_ADJACENCIES = 3_000
#: Branches after which the best solution so far counts, for the same texts. A limit on time would make
#: results depend on the machine.
MOST_NODES = 200

Adjacency = tuple[int, int]


def solved(duos: dict[int, list[int]]) -> int:
    """Most adjacencies, of those (i, j) with j in `duos[i]`, that one mapping has; 0 if it is too large."""
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array

    every = [(i, j) for i, js in duos.items() for j in js]
    if len(every) > MOST_ADJACENCIES:
        return 0
    matches = {place: k for k, place in enumerate(sorted({*every, *((i + 1, j + 1) for i, j in every)}))}
    rows, columns, values, most = [], [], [], []
    for row, (terms, limit) in enumerate(_limits(every, matches)):
        rows += [row] * len(terms)
        columns += [column for column, _ in terms]
        values += [value for _, value in terms]
        most.append(limit)
    size = len(matches) + len(every)
    table = csr_array((values, (rows, columns)), shape=(len(most), size))
    worth = np.concatenate((np.zeros(len(matches)), -np.ones(len(every))))
    solution = milp(
        worth,
        constraints=LinearConstraint(table, -np.inf, most),
        bounds=Bounds(0, 1),
        integrality=np.ones(size),
        options={"node_limit": MOST_NODES},
    )
    return 0 if solution.x is None else round(-solution.fun)


def _limits(
    every: list[Adjacency], matches: dict[Adjacency, int]
) -> Iterator[tuple[list[tuple[int, int]], int]]:
    """Sums of (variable, factor) with what they may come to."""
    for k, (i, j) in enumerate(every, start=len(matches)):
        for place in ((i, j), (i + 1, j + 1)):
            yield [(k, 1), (matches[place], -1)], 0
    of_token: dict[tuple[str, int, int], list[tuple[int, int]]] = defaultdict(list)
    for side in (0, 1):
        for place, column in matches.items():
            of_token["match", side, place[side]].append((column, 1))
        for k, place in enumerate(every, start=len(matches)):
            of_token["adjacency", side, place[side]].append((k, 1))
    yield from ((terms, 1) for terms in of_token.values() if len(terms) > 1)


#: Says whether links can be part of a mapping that is maximal in every stage.
Fits = Callable[[frozenset[tuple[int, int]]], bool]
#: States of one place that a search may keep before it leaves the matter to an integer programme.
MOST_CHUNK_STATES = 256
#: States in all, where links must fit together.
MOST_GUARDED = 5_000


def most_adjacencies(first: Sequence[Hashable], second: Sequence[Hashable]) -> int:
    """Most adjacencies of a one-to-one mapping between equal tokens of two sequences."""
    common = set(pairwise(first)).intersection(pairwise(second))
    if not common:
        return 0
    firsts = [(i, pair) for i, pair in enumerate(pairwise(first)) if pair in common]
    seconds = [(j, pair) for j, pair in enumerate(pairwise(second)) if pair in common]
    if len(firsts) == len(common) == len(seconds):
        place = {pair: j for j, pair in seconds}
        along = {i: place[pair] for i, pair in firsts}
        if _agree(along):
            return len(along)
    places: dict[Hashable, list[int]] = defaultdict(list)
    for j, pair in seconds:
        places[pair].append(j)
    pairs_of_first = [pair for _, pair in firsts]
    return _search(
        {i: places[pair] for i, pair in firsts}, _at_most(pairs_of_first, Counter(p for _, p in seconds))
    )


def most_adjacencies_that_fit(
    partners: Sequence[Sequence[int]], first: Sequence[Hashable], second: Sequence[Hashable], fits: Fits
) -> int:
    """The same where token i may be matched with the tokens `partners[i]`, and not all links fit together.

    Tokens that may be matched have the same name in `first` and `second`, which bounds the search.
    """
    sets = [set(those) for those in partners]
    duos = {
        i: js for i in range(len(partners) - 1) if (js := [j for j in partners[i] if j + 1 in sets[i + 1]])
    }
    if not duos:
        return 0
    pairs_of_first = [(first[i], first[i + 1]) for i in duos]
    reachable = {j for js in duos.values() for j in js}
    return _guarded(
        duos, _at_most(pairs_of_first, Counter((second[j], second[j + 1]) for j in reachable)), fits
    )


def _agree(along: dict[int, int]) -> bool:
    """Whether adjacencies at i, each with one place j, can all be had at once."""
    back = {j: i for i, j in along.items()}
    return all(along.get(i + 1, j + 1) == j + 1 and back.get(j + 1, i + 1) == i + 1 for i, j in along.items())


def _at_most(pairs: Iterable[Hashable], available: Counter[Hashable]) -> list[int]:
    """Most adjacencies of the k-th and all later of those wanted, as far as their numbers tell."""
    left = Counter(available)
    bounds = [0]
    for pair in reversed(list(pairs)):
        more = left[pair] > 0
        left[pair] -= more
        bounds.append(bounds[-1] + more)
    return bounds[::-1]


def _runs(duos: dict[int, list[int]]) -> dict[int, list[tuple[int, int]]]:
    """For each i its (j, tokens): how far tokens from i on can be matched with those from j on."""
    lengths: dict[tuple[int, int], int] = {}
    for i in sorted(duos, reverse=True):
        for j in duos[i]:
            lengths[i, j] = lengths.get((i + 1, j + 1), 1) + 1
    return {i: [(j, lengths[i, j]) for j in js] for i, js in duos.items()}


def _greedy(runs: dict[int, list[tuple[int, int]]]) -> int:
    """Adjacencies of a mapping that takes the longest run first: what is to be beaten."""
    every = sorted(((-length, i, j) for i, ends in runs.items() for j, length in ends))
    firsts: set[int] = set()
    seconds: set[int] = set()
    adjacencies = 0
    for minus, i, j in every:
        length = 0
        while length < -minus and i + length not in firsts and j + length not in seconds:
            length += 1
        if length > 1:
            firsts.update(range(i, i + length))
            seconds.update(range(j, j + length))
            adjacencies += length - 1
    return adjacencies


def _search(duos: dict[int, list[int]], bounds: Sequence[int]) -> int:
    """Most adjacencies; `bounds[k]` limits what the k-th and later of the places `duos` can bring."""
    runs = _runs(duos)
    best = _greedy(runs)
    if best == bounds[0]:
        return best
    best, proven = _widely(runs, _later(runs), _kinds(duos), best)
    return best if proven else max(best, solved(duos))


def _widely(
    runs: dict[int, list[tuple[int, int]]], later: list[int], kinds: list[list[tuple[int, int]]], best: int
) -> tuple[int, bool]:
    """The most that is found, and whether it went to the end; it gives up where states become too many.

    A state is (place, tokens of the second that are taken and that a later run could want).
    """
    layers: list[dict[int, int]] = [{} for _ in later]
    layers[0][0] = 0
    for i, layer in enumerate(layers):
        if len(layer) > MOST_CHUNK_STATES:
            return best, False
        for occupied, value in layer.items():
            if value + _left(later[i] & ~occupied, kinds[i], best - value) <= best:
                continue
            for j, most in runs.get(i, ()):
                span = 0
                for length in range(most):
                    if occupied >> (j + length) & 1:
                        break
                    span |= 1 << (j + length)
                    if length:
                        best = max(best, value + length)
                        after = i + length + 1
                        _keep_chunks(layers[after], (occupied | span) & later[after], value + length)
            if i + 1 < len(layers):
                _keep_chunks(layers[i + 1], occupied & later[i + 1], value)
        layer.clear()
    return best, True


def _left(free: int, kinds: list[tuple[int, int]], enough: int) -> int:
    """Most adjacencies that the free tokens of the second allow, or some number above `enough`."""
    free &= free >> 1
    left = 0
    for places, most in kinds:
        left += min(most, (free & places).bit_count())
        if left > enough:
            break
    return left


def _kinds(duos: dict[int, list[int]]) -> list[list[tuple[int, int]]]:
    """For each place and kind of adjacency: where in the second it may be had, and how many are to come."""
    left: Counter[int] = Counter()
    kinds: list[list[tuple[int, int]]] = [[] for _ in range(max(duos) + 3)]
    for i in range(len(kinds) - 1, -1, -1):
        if i in duos:
            left[sum(1 << j for j in duos[i])] += 1
        kinds[i] = list(left.items())
    return kinds


def _keep_chunks(layer: dict[int, int], occupied: int, value: int) -> None:
    if layer.get(occupied, -1) < value:
        layer[occupied] = value


def _later(runs: dict[int, list[tuple[int, int]]]) -> list[int]:
    """For each place the tokens of the second that runs from there on want."""
    later = [0] * (max(runs) + 3)
    for i in range(len(later) - 2, -1, -1):
        later[i] = later[i + 1]
        for j, length in runs.get(i, ()):
            later[i] |= ((1 << length) - 1) << j
    return later


def _guarded(duos: dict[int, list[int]], bounds: Sequence[int], fits: Fits) -> int:
    """Most adjacencies where links must fit together; depth first, the longest runs first."""
    runs = _runs(duos)
    places = sorted(duos)
    limit = [bounds[bisect_left(places, i)] for i in range(places[-1] + 2)]
    best = states = 0

    def visit(i: int, links: frozenset[tuple[int, int]], value: int) -> None:
        nonlocal best, states
        best = max(best, value)
        states += 1
        if i >= len(limit) or value + limit[i] <= best or states > MOST_GUARDED:
            return
        occupied = {j for _, j in links}
        for j, most in runs.get(i, ()):
            free = next((n for n in range(most) if j + n in occupied), most)
            for length in range(free, 1, -1):
                more = links | {(i + n, j + n) for n in range(length)}
                if fits(more):
                    visit(i + length, more, value + length - 1)
        visit(i + 1, links, value)

    visit(0, frozenset(), 0)
    return best


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
    places_of_word: dict[Hashable, int] = defaultdict(int)
    for j, word in enumerate(second):
        places_of_word[word] |= 1 << j
    quota = _quotas(partners, parts)
    states: dict[State, tuple[int, int]] = {(0, -2, NOTHING): (0, 0)}
    for i, choices in enumerate(partners):
        following: dict[State, tuple[int, int]] = {}
        mask, missing = quota[i]
        for (occupied, last, links), (crossings, chunks) in states.items():
            if not choices or (occupied & mask).bit_count() >= missing:
                _keep(following, (occupied, -2, links), (crossings, chunks))
            for j in choices:
                if occupied >> j & 1 or (occupied & places_of_word[second[j]]) >> j:
                    continue
                more = links | {(i, j)} if fits else NOTHING
                if fits and not fits(more):
                    continue
                cost = crossings + (occupied >> j).bit_count(), chunks + (last != j - 1)
                _keep(following, (occupied | 1 << j, j, more), cost)
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
    used = [group for group in pairs if group]
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
    verdicts: dict[frozenset[tuple[int, int]], bool] = {}

    def fits(links: frozenset[tuple[int, int]]) -> bool:
        if links not in verdicts:
            rest = weights.copy()
            rest[[i for i, _ in links], :] = 0
            rest[:, [j for _, j in links]] = 0
            verdicts[links] = _best(rest) + sum(int(weights[link]) for link in links) == total
        return verdicts[links]

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
        joined, columns = [i], set(js)
        apart = []
        for rows, those in groups:
            if those & columns:
                joined, columns = rows + joined, columns | those
            else:
                apart.append((rows, those))
        groups = [*apart, (sorted(joined), columns)]
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
    alignment = staged(candidate, reference, pairs)
    if variant == MINCROSS:
        return alignment.m, chunks_with_fewest_crossings(
            alignment.partners, reference, alignment.parts, alignment.fits
        )
    if alignment.fits is None:
        return alignment.m, alignment.m - most_adjacencies(*alignment.names)
    return alignment.m, alignment.m - most_adjacencies_that_fit(
        alignment.partners, *alignment.names, alignment.fits
    )


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
            of_word = np.zeros(len(tokens.vocabulary), np.intp)
            of_word[tokens.ids] = stemmed(chunk, self.tokeniser, self.language).ids
            same = [(stem,) for stem in of_word.tolist()]
            stages.append(cast(Keys, same.__getitem__))
        if self.synonyms:
            stages.append(cast(Keys, cache(lambda number: stems.synsets(tokens.vocabulary[number]))))
        return stages

    def measure(self, chunk: Chunk, survey: object) -> ChunkValues:
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
    options = profile.options("meteor")
    tokeniser = tokeniser_named(profile.tokeniser_for("meteor"))
    language = options.pop("language", "english")
    synonyms_option = options.pop("synonyms", "wordnet")
    synonyms = synonyms_option == "wordnet" and not stems.wordnet_missing()
    try:
        weights = Weights(**options)
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
