"""Training of ADEM: projection, matrices, and the choice of their sizes on validation."""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from metrics.base import Floats
from metrics.errors import MetricError
from metrics.learned.adem import oversampling
from metrics.learned.adem.encoded_examples import EncodedExamples, encode
from metrics.learned.adem.formula import Parameters, Terms, scores, started
from metrics.learned.adem.optimiser import BestEpoch, Epoch, Part, learn
from metrics.learned.adem.projection import Projection
from metrics.learned.adem.settings import CONTEXT, REFERENCE, Progress, Settings
from metrics.learned.adem.text_encoder import TextEncoder
from metrics.texts import Places

__all__ = ["EncodedExamples", "Epoch", "Settings", "TrainedModel", "TrialResult", "encode", "train"]


@dataclass(frozen=True, slots=True)
class TrialResult:
    """What one choice of n, penalty and rate came to: the best epoch, and what validation said of it."""

    n: int
    penalty: float
    rate: float
    best: Epoch

    def as_json(self) -> dict[str, Any]:
        """As JSON has it."""
        return {"n": self.n, "penalty": self.penalty, "rate": self.rate, **self.best.as_json()}


@dataclass(frozen=True, slots=True, eq=False)
class TrainedModel:
    """A trained model; `forms` are its parameters by name, `history` what happened at each epoch.

    `best` is the epoch whose parameters were kept, `chosen` the n, penalty and rate that were, and `tried`
    all that was tried on validation.
    """

    settings: Settings
    encoder: TextEncoder
    projection: Projection
    forms: Mapping[str, Parameters]
    history: Mapping[str, tuple[Epoch, ...]]
    best: Mapping[str, int]
    chosen: Mapping[str, TrialResult]
    tried: Mapping[str, tuple[TrialResult, ...]]

    def score(self, encoded: EncodedExamples, which: str = "adem") -> Floats:
        """Scores (k), nan where an example lacks what the form compares with."""
        return scored(self.projection, self._form(which), encoded)

    def initial(self, encoded: EncodedExamples, which: str = "adem") -> Floats:
        """Scores before training, which are products of plain vectors (the paper's row VHRED)."""
        return scored(self.projection, self._form(which).before(), encoded)

    def _form(self, which: str) -> Parameters:
        if which not in self.forms:
            raise MetricError(f"The model has no {which}; it has {', '.join(self.forms)}.")
        return self.forms[which]


def train(
    train: EncodedExamples, validation: EncodedExamples, settings: Settings, progress: Progress | None = None
) -> TrainedModel:
    """Learn from `train`, and choose by `validation`, which share no context.

    The projection sees vectors of `train` alone. Each form leaves out examples that lack what it needs.
    """
    if common := set(train.keys) & set(validation.keys):
        raise MetricError(f"The context {min(common)} stands in training and in validation.")
    if train.encoder.digest != validation.encoder.digest:
        raise MetricError("Training and validation are encoded by different encoders.")
    projection = Projection.of(_used(train), max(settings.tried_sizes))
    most = len(projection.components)
    if settings.n is not None and most < settings.n:
        raise MetricError(
            f"n is {settings.n}, and the vectors of training have only {most} components. Give a smaller n."
        )
    sizes = sorted({min(n, most) for n in settings.tried_sizes})
    grid = list(itertools.product(sizes, settings.tried_penalties, settings.tried_rates))
    done, total = 0, len(grid) * len(settings.which)
    found: dict[str, BestEpoch] = {}
    tried: dict[str, list[TrialResult]] = {}
    chosen: dict[str, TrialResult] = {}
    for form in settings.which:
        needs = {"context": form != REFERENCE, "reference": form != CONTEXT}
        known, kept = _part(projection, train, "training", **needs)
        judge, _ = _part(projection, validation, "validation", **needs)
        rows = _rows(train, kept, settings)
        for n, penalty, rate in grid:
            of_n, judge_n = Part(known.terms.along(n), known.human), Part(judge.terms.along(n), judge.human)
            start = started(of_n.terms, scale=settings.scale, **needs)
            learned = learn(start, of_n, judge_n, penalty=penalty, rate=rate, settings=settings, rows=rows)
            this = TrialResult(n, penalty, rate, learned.history[learned.best])
            tried.setdefault(form, []).append(this)
            if form not in chosen or this.best.worth(settings.judge) > chosen[form].best.worth(
                settings.judge
            ):
                found[form], chosen[form] = learned, this
            done += 1
            if progress is not None:
                progress(done, total, f"training {form}")
    return TrainedModel(
        settings,
        train.encoder,
        projection,
        {form: learned.parameters for form, learned in found.items()},
        {form: learned.history for form, learned in found.items()},
        {form: learned.best for form, learned in found.items()},
        chosen,
        {form: tuple(choices) for form, choices in tried.items()},
    )


def scored(projection: Projection, parameters: Parameters, encoded: EncodedExamples) -> Floats:
    """Scores (k) under some parameters, nan where an example lacks what they compare with."""
    found = np.full(len(encoded), np.nan)
    needs = {"context": parameters.m is not None, "reference": parameters.n is not None}
    rows = _complete(encoded, **needs)
    if len(rows):
        found[rows] = scores(parameters, _terms(projection, encoded.part(rows), parameters.size))
    return found


def _complete(encoded: EncodedExamples, *, context: bool, reference: bool) -> Places:
    there = np.ones(len(encoded), bool)
    if context:
        there &= encoded.contexts >= 0
    if reference:
        there &= np.diff(encoded.starts) > 0
    return np.flatnonzero(there)


def _part(
    projection: Projection, encoded: EncodedExamples, what: str, *, context: bool, reference: bool
) -> tuple[Part, Places]:
    rows = _complete(encoded, context=context, reference=reference)
    rows = rows[~np.isnan(encoded.scores[rows])]
    if len(rows) < 2:
        needs = " and ".join(
            name for name, there in (("context", context), ("reference", reference)) if there
        )
        raise MetricError(
            f"ADEM needs 2 examples for {what} with a score and {needs}; there are {len(rows)}."
        )
    some = encoded.part(rows)
    return Part(_terms(projection, some, None), some.scores), rows


def _rows(train: EncodedExamples, kept: Places, settings: Settings) -> Places:
    if not settings.oversample:
        return np.arange(len(kept))
    return oversampling.rows(train.lengths[kept], train.scores[kept], settings.scale, settings.seed)


def _terms(projection: Projection, encoded: EncodedExamples, n: int | None) -> Terms:
    """The examples along n components; of references that are not there the first text stands in."""
    places = np.unique(
        np.concatenate((encoded.contexts[encoded.contexts >= 0], encoded.responses, encoded.references))
    )
    vectors = projection(encoded.vectors[places], n)
    counts = np.diff(encoded.starts)
    most = max(1, int(counts.max(initial=0)))
    nth = np.arange(most)[None, :]
    which = encoded.starts[:-1, None] + np.where(nth < counts[:, None], nth, 0)
    references = (
        encoded.references[np.minimum(which, len(encoded.references) - 1)]
        if len(encoded.references)
        else np.repeat(encoded.responses[:, None], most, 1)
    )
    contexts = np.where(encoded.contexts >= 0, encoded.contexts, encoded.responses)
    return Terms(
        vectors[np.searchsorted(places, contexts)],
        vectors[np.searchsorted(places, references)],
        vectors[np.searchsorted(places, encoded.responses)],
    )


def _used(encoded: EncodedExamples) -> Floats:
    places = np.concatenate((encoded.contexts, encoded.responses, encoded.references))
    return encoded.vectors[np.unique(places[places >= 0])]
