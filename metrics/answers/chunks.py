"""Fewest chunks of a mapping between two token sequences, exactly (Banerjee and Lavie 2005, 2).

A chunk is a run of matched tokens that stand next to each other, in the same order, in both sequences. m
matches with A adjacencies (i, j), (i + 1, j + 1) make m - A chunks, so the fewest chunks have the most
adjacencies. Where every mapping of single tokens can be completed to a maximum one, as with equality of
words, only adjacencies count: the rest of the matches is filled in afterwards and cannot take any away.
"""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import pairwise

import numpy as np

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
    found = milp(
        worth,
        constraints=LinearConstraint(table, -np.inf, most),
        bounds=Bounds(0, 1),
        integrality=np.ones(size),
        options={"node_limit": MOST_NODES},
    )
    return 0 if found.x is None else round(-found.fun)


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
MOST_STATES = 256
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
    wanted = [pair for _, pair in firsts]
    return _search({i: places[pair] for i, pair in firsts}, _at_most(wanted, Counter(p for _, p in seconds)))


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
    wanted = [(first[i], first[i + 1]) for i in duos]
    there = {j for js in duos.values() for j in js}
    return _guarded(duos, _at_most(wanted, Counter((second[j], second[j + 1]) for j in there)), fits)


def _agree(along: dict[int, int]) -> bool:
    """Whether adjacencies at i, each with one place j, can all be had at once."""
    back = {j: i for i, j in along.items()}
    return all(along.get(i + 1, j + 1) == j + 1 and back.get(j + 1, i + 1) == i + 1 for i, j in along.items())


def _at_most(wanted: Iterable[Hashable], there: Counter[Hashable]) -> list[int]:
    """Most adjacencies of the k-th and all later of those wanted, as far as their numbers tell."""
    left = Counter(there)
    bounds = [0]
    for pair in reversed(list(wanted)):
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
    found = 0
    for minus, i, j in every:
        length = 0
        while length < -minus and i + length not in firsts and j + length not in seconds:
            length += 1
        if length > 1:
            firsts.update(range(i, i + length))
            seconds.update(range(j, j + length))
            found += length - 1
    return found


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
        if len(layer) > MOST_STATES:
            return best, False
        for taken, value in layer.items():
            if value + _left(later[i] & ~taken, kinds[i], best - value) <= best:
                continue
            for j, most in runs.get(i, ()):
                span = 0
                for length in range(most):
                    if taken >> (j + length) & 1:
                        break
                    span |= 1 << (j + length)
                    if length:
                        best = max(best, value + length)
                        after = i + length + 1
                        _keep(layers[after], (taken | span) & later[after], value + length)
            if i + 1 < len(layers):
                _keep(layers[i + 1], taken & later[i + 1], value)
        layer.clear()
    return best, True


def _left(free: int, kinds: list[tuple[int, int]], enough: int) -> int:
    """Most adjacencies that the free tokens of the second allow, or some number above `enough`."""
    free &= free >> 1
    found = 0
    for places, most in kinds:
        found += min(most, (free & places).bit_count())
        if found > enough:
            break
    return found


def _kinds(duos: dict[int, list[int]]) -> list[list[tuple[int, int]]]:
    """For each place and kind of adjacency: where in the second it may be had, and how many are to come."""
    left: Counter[int] = Counter()
    kinds: list[list[tuple[int, int]]] = [[] for _ in range(max(duos) + 3)]
    for i in range(len(kinds) - 1, -1, -1):
        if i in duos:
            left[sum(1 << j for j in duos[i])] += 1
        kinds[i] = list(left.items())
    return kinds


def _keep(layer: dict[int, int], taken: int, value: int) -> None:
    if layer.get(taken, -1) < value:
        layer[taken] = value


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
        taken = {j for _, j in links}
        for j, most in runs.get(i, ()):
            free = next((n for n in range(most) if j + n in taken), most)
            for length in range(free, 1, -1):
                more = links | {(i + n, j + n) for n in range(length)}
                if fits(more):
                    visit(i + length, more, value + length - 1)
        visit(i + 1, links, value)

    visit(0, frozenset(), 0)
    return best
