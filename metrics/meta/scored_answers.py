"""Human scores and metric scores of the same answers, in the long form."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

#: Why there is no ceiling where only means are known.
NO_RATINGS = "there are no single ratings, only their means"
Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Raters:
    """Single ratings behind human scores: rating k is `scores[k]` by `workers[k]` for answer `answers[k]`."""

    answers: Codes
    workers: Codes
    scores: Floats


@dataclass(frozen=True, slots=True, eq=False)
class ScoredAnswers:
    """n answers with the mean human score of each and the scores of metrics; nan where one is missing.

    `systems` and `questions` are codes from 0 into the names. A system may have several answers to a question
    (people who were held out do), or none. `types` name the class of each question, empty where unknown.
    `lengths` are numbers of tokens of the answers and `reference_lengths` the mean ones of their references.
    `raters` are single ratings from before any filter of single ratings, by workers whom no filter removed;
    without them `no_ratings` says why.
    No result may depend on the order of the rows.
    """

    human: Floats
    metrics: Mapping[str, Floats]
    systems: Codes
    questions: Codes
    system_names: Sequence[str]
    question_names: Sequence[str]
    types: Sequence[str] = ()
    lengths: Floats | None = None
    reference_lengths: Floats | None = None
    raters: Raters | None = None
    no_ratings: str = NO_RATINGS
    signatures: Mapping[str, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.human)
