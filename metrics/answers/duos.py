"""Most adjacencies of a mapping as an integer programme, for texts that repeat themselves a lot.

A variable for each possible match (i, j) and one for each adjacency, the pair of matches (i, j) and
(i + 1, j + 1): an adjacency needs both of its matches, and a token has at most one match. Its relaxation is
nearly always whole, so HiGHS solves it at once where a search over states would take long.
"""

from collections import defaultdict
from collections.abc import Iterator

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
