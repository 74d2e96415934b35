"""Which tokens METEOR may match: exact, then stem, then synonym, each stage as large as it can be.

Within a stage tokens that are still free are matched one to one; no later stage may take a match from an
earlier one. So the numbers of matches are fixed before the alignment is chosen (Banerjee and Lavie 2005, 2).
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from metrics.answers.chunks import Fits

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
