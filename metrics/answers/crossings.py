"""Variant `mincross` of METEOR's alignment: fewest crossings first, then fewest chunks among those.

Two matches (i, j), (i', j') cross if i < i' and j > j' (Banerjee and Lavie 2005, 2).
"""

from collections import defaultdict
from collections.abc import Hashable, Sequence

from metrics.answers.chunks import Fits

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
