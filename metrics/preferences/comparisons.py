"""Comparisons of pairs as columns, and what samples of questions and raters make of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from metrics.agreement.data import generator

Codes = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
#: Outcomes, which are columns of counts.
FIRST, SECOND, TIE = 0, 1, 2
OUTCOMES = 3


@dataclass(frozen=True, slots=True, eq=False)
class Comparisons:
    """Judgments of pairs of different systems, one entry each, in an order that no file decides.

    `questions`, `raters`, `first` and `second` are codes; the names of systems are in their order. `first`
    was shown first, or at the left. `outcomes` are `FIRST`, `SECOND` or `TIE`. `styles` has a column for each
    covariate of style, standardised, and none without.
    """

    systems: tuple[str, ...]
    questions: Codes
    raters: Codes
    first: Codes
    second: Codes
    outcomes: Codes
    styles: Floats

    @classmethod
    def of(
        cls,
        systems: Sequence[str],
        rows: Sequence[tuple[int, int, int, int, int]] | Codes,
        styles: Floats | None = None,
    ) -> "Comparisons":
        """From rows of (question, rater, first, second, outcome)."""
        columns = np.array(rows, dtype=np.int64).reshape(-1, 5).T
        styles = np.zeros((columns.shape[1], 0)) if styles is None else styles
        order = np.lexsort((*styles.T[::-1], *columns[::-1]))
        questions, raters, first, second, outcomes = (column[order] for column in columns)
        return cls(tuple(systems), questions, raters, first, second, outcomes, styles[order])

    def __len__(self) -> int:
        return len(self.outcomes)

    @property
    def n_systems(self) -> int:
        """How many systems there are."""
        return len(self.systems)

    def without_ties(self) -> "Comparisons":
        """The comparisons that somebody decided."""
        decided = self.outcomes != TIE
        names = ("questions", "raters", "first", "second", "outcomes", "styles")
        return replace(self, **{name: getattr(self, name)[decided] for name in names})


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Comparisons that look the same to a model, put together.

    `first`, `second` (systems) and `styles` have an entry for each cell, `counts` (cells, 3) how often each
    outcome came; counts may be fractions.
    """

    n_systems: int
    first: Codes
    second: Codes
    styles: Floats
    counts: Floats

    def with_counts(self, counts: Floats) -> "Cells":
        """The same cells in another sample."""
        return replace(self, counts=counts)

    def with_pseudo(self, pseudo: float) -> "Cells":
        """With so many comparisons more of each pair of systems, over both orders and winners, and no tie."""
        if not pseudo:
            return self
        first, second = np.nonzero(~np.eye(self.n_systems, dtype=np.bool_))
        extra = np.zeros((len(first), OUTCOMES))
        extra[:, :TIE] = pseudo / 4
        return replace(
            self,
            first=np.concatenate((self.first, first)),
            second=np.concatenate((self.second, second)),
            styles=np.concatenate((self.styles, np.zeros((len(first), self.styles.shape[1])))),
            counts=np.concatenate((self.counts, extra)),
        )


class Samples:
    """The cells of comparisons, and their counts in samples of questions and raters.

    Questions and raters are drawn with replacement, independently of each other; a comparison counts as often
    as its question times its rater. Of one rater only questions are drawn.
    """

    def __init__(self, comparisons: Comparisons) -> None:
        pairs = comparisons.first * comparisons.n_systems + comparisons.second
        if comparisons.styles.size:
            keys = np.column_stack((pairs, comparisons.styles))
            kinds, cells = np.unique(keys, axis=0, return_inverse=True)
        else:  # numbers are sorted many times as quickly as rows
            kinds, cells = np.unique(pairs, return_inverse=True)
            kinds = kinds[:, None]
        # Comparisons lie by cell and outcome, so that a count is the sum of a run.
        cell_of = cells.reshape(-1) * OUTCOMES + comparisons.outcomes
        order = np.argsort(cell_of, kind="stable")
        self._counted, self._starts = np.unique(cell_of[order], return_index=True)
        self._questions, self._raters = comparisons.questions[order], comparisons.raters[order]
        self.n_questions, self.n_raters = (
            int(codes.max(initial=-1)) + 1 for codes in (self._questions, self._raters)
        )
        self.cells = Cells(
            comparisons.n_systems,
            *np.divmod(kinds[:, 0].astype(np.int64), max(1, comparisons.n_systems)),
            kinds[:, 1:].astype(np.float64),
            np.zeros((len(kinds), OUTCOMES)),
        )
        self.cells = self.cells.with_counts(self._count(np.ones(len(comparisons), dtype=np.int32)))

    def draw(self, replicates: int, seed: int, at_once: int) -> Iterator[Floats]:
        """The counts of samples (samples, cells, 3), so many at once; the same for the same seed."""
        rng = generator(seed, "preferences")
        for begin in range(0, replicates, at_once):
            drawn = range(begin, min(begin + at_once, replicates))
            yield np.stack([self._count(self._weights(rng)) for _ in drawn])

    def _weights(self, rng: np.random.Generator) -> npt.NDArray[np.int32]:
        """How often each comparison is in a sample."""

        def draw(size: int) -> npt.NDArray[np.int32]:
            return rng.multinomial(size, np.full(size, 1 / size)).astype(np.int32)

        weights = draw(self.n_questions)[self._questions]
        return weights * draw(self.n_raters)[self._raters] if self.n_raters > 1 else weights

    def _count(self, weights: npt.NDArray[np.int32]) -> Floats:
        counts = np.zeros(len(self.cells.counts) * OUTCOMES)
        if len(weights):
            counts[self._counted] = np.add.reduceat(weights, self._starts, dtype=np.int64)
        return counts.reshape(-1, OUTCOMES)
