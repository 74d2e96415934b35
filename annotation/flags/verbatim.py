"""Text that stands in a passage word for word.

A *run* is a longest sequence of tokens of the answer that stands in one passage in the same order without a
gap. Runs are found with a suffix automaton of the passages (Blumer et al. 1985): building it and reading the
answer are linear in the number of tokens.

- `copy-run`: the longest run has at least `copy_run` tokens.
- `copy-share`: the tokens inside runs of `SHORTEST` or more make at least `copy_share` of an answer that has
  `LEAST` tokens or more. A short answer ("Rome") is a quotation by nature and never flagged.

In scripts without spaces a token is a character, and `copy_run`, `SHORTEST` and `LEAST` count double.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from annotation.flags.shapes import Flag, Limits
from annotation.flags.tokens import Token, mostly_spaceless, tokens

SHORTEST = 5
LEAST = 12


@dataclass(frozen=True, slots=True)
class Run:
    """Tokens `[first, last]` of the answer, which stand in `passage` from its token `at` on."""

    first: int
    last: int
    passage: int
    at: int

    @property
    def length(self) -> int:
        """In tokens."""
        return self.last - self.first + 1


class Passages:
    """The passages of a query, ready to be compared with any number of answers."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.tokens = [tokens(text) for text in texts]
        self._next: list[dict[str, int]] = [{}]
        self._link, self._length, self._where = [-1], [0], [(0, -1)]
        for number, found in enumerate(self.tokens):
            last = 0
            for at, token in enumerate(found):
                last = self._extend(last, token.folded, (number, at))

    def _extend(self, last: int, word: str, where: tuple[int, int]) -> int:
        """The state of what was read so far with one more word (generalized automaton: states are shared)."""
        if word in self._next[last]:
            known = self._next[last][word]
            return known if self._length[known] == self._length[last] + 1 else self._split(last, word, known)
        state = self._new(self._length[last] + 1, {}, where)
        at = last
        while at >= 0 and word not in self._next[at]:
            self._next[at][word] = state
            at = self._link[at]
        if at < 0:
            self._link[state] = 0
            return state
        known = self._next[at][word]
        if self._length[known] != self._length[at] + 1:
            known = self._split(at, word, known)
        self._link[state] = known
        return state

    def _split(self, at: int, word: str, known: int) -> int:
        copy = self._new(self._length[at] + 1, dict(self._next[known]), self._where[known])
        self._link[copy] = self._link[known]
        self._link[known] = copy
        while at >= 0 and self._next[at].get(word) == known:
            self._next[at][word] = copy
            at = self._link[at]
        return copy

    def _new(self, length: int, following: dict[str, int], where: tuple[int, int]) -> int:
        self._next.append(following)
        self._length.append(length)
        self._where.append(where)
        self._link.append(0)
        return len(self._next) - 1

    def runs(self, answer: Sequence[Token], *, shortest: int = 1) -> list[Run]:
        """Maximal runs of at least `shortest` tokens, by where they begin; none lies inside another."""
        found: list[Run] = []
        state = length = 0
        for at, token in enumerate(answer):
            while state and token.folded not in self._next[state]:
                state = self._link[state]
                length = self._length[state]
            if token.folded in self._next[state]:
                state, length = self._next[state][token.folded], length + 1
            if length >= shortest:
                passage, ends_at = self._where[state]
                run = Run(at - length + 1, at, passage, ends_at - length + 1)
                if found and found[-1].first == run.first:
                    found.pop()
                found.append(run)
        return found


def copied(answer: str, passages: Passages, limits: Limits) -> list[Flag]:
    """The flags `copy-run` and `copy-share` of an answer."""
    found = tokens(answer)
    double = 2 if mostly_spaceless(found) else 1
    if not found:
        return []
    runs = passages.runs(found, shortest=min(SHORTEST, limits.copy_run) * double)
    flags = []
    longest = max(runs, key=lambda run: run.length, default=None)
    if longest is not None and longest.length >= limits.copy_run * double:
        evidence = {"spans": [_span(longest, found, passages)], "tokens": longest.length}
        flags.append(Flag("copy-run", float(longest.length), float(limits.copy_run * double), evidence))
    covered = {at for run in runs if run.length >= SHORTEST * double for at in range(run.first, run.last + 1)}
    share = len(covered) / len(found)
    if len(found) >= LEAST * double and covered and share >= limits.copy_share:
        spans = [_span(run, found, passages) for run in runs if run.length >= SHORTEST * double]
        evidence = {"spans": spans, "tokens": len(covered), "of": len(found)}
        flags.append(Flag("copy-share", round(share, 4), limits.copy_share, evidence))
    return flags


def longest_run(answer: str, passages: Passages) -> int:
    """Length in tokens of the longest run; 0 where no token is shared."""
    return max((run.length for run in passages.runs(tokens(answer))), default=0)


def _span(run: Run, answer: Sequence[Token], passages: Passages) -> dict[str, int]:
    passage = passages.tokens[run.passage]
    return {
        "start": answer[run.first].start,
        "end": answer[run.last].end,
        "passage": run.passage,
        "passage_start": passage[run.at].start,
        "passage_end": passage[run.at + run.length - 1].end,
    }
