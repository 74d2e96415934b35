"""Training of ADEM: projection, matrices, the choice of their sizes on validation, and the model's folder.

Adam on ADEM's loss, and when to stop, are of Kingma and Ba 2015 and Lowe et al. 2017, section 5.1.
"""

import itertools
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from distillery_learned.metrics import adem_examples as examples
from distillery_learned.metrics.adem import (
    ENCODER,
    LEARNED,
    Parameters,
    Projection,
    Terms,
    complete_rows,
    gradient,
    loss,
    scored,
    scores,
    started,
    terms_of,
)
from metrics.errors import MetricError
from metrics.metaeval.correlation import column_correlation
from metrics.model_folders import ModelFolder, write
from metrics.profiles import ADEM
from metrics.texts import Floats, Places

_KEPT, _KEPT_SQUARES, _TINY = 0.9, 0.999, 1e-8
#: Bins of the length of responses and of their scores.
_BINS = 5


@dataclass(frozen=True, slots=True)
class Epoch:
    """After an epoch; number 0 is before training.

    `train` is the loss with its penalty, `validation` the mean squared error alone. A correlation is None
    where all scores of validation are the same.
    """

    number: int
    train: float
    validation: float
    pearson: float | None
    spearman: float | None

    def worth(self, judge: str) -> float:
        """The more the better, to one who judges by the error or by Pearson's correlation."""
        if judge == examples.ERROR:
            return -self.validation
        return -math.inf if self.pearson is None else self.pearson

    def as_json(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "epoch": self.number,
            "train": self.train,
            "validation": self.validation,
            "pearson": self.pearson,
            "spearman": self.spearman,
        }


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Examples with people's scores."""

    terms: Terms
    human: Floats


@dataclass(frozen=True, slots=True, eq=False)
class BestEpoch:
    """The parameters of the epoch that was best on validation, the first of equals."""

    parameters: Parameters
    history: tuple[Epoch, ...]
    best: int


class Adam:
    """Steps of Adam for one matrix, with its usual constants."""

    def __init__(self, rate: float) -> None:
        self._rate, self._steps = rate, 0
        self._mean: Floats | float = 0.0
        self._square: Floats | float = 0.0

    def step(self, matrix: Floats | None, slope: Floats | None) -> Floats | None:
        """The matrix one step down; a matrix that a form has not stays away."""
        if matrix is None or slope is None:
            return None
        self._steps += 1
        self._mean = _KEPT * self._mean + (1 - _KEPT) * slope
        self._square = _KEPT_SQUARES * self._square + (1 - _KEPT_SQUARES) * slope**2
        mean = self._mean / (1 - _KEPT**self._steps)
        square = self._square / (1 - _KEPT_SQUARES**self._steps)
        moved: Floats = matrix - self._rate * mean / (np.sqrt(square) + _TINY)
        return moved


def learn(
    start: Parameters,
    train: Part,
    validation: Part,
    *,
    penalty: float,
    rate: float,
    settings: examples.Settings,
    rows: Places,
) -> BestEpoch:
    """Train from `start` on these rows of `train` (one may stand there more than once)."""
    chance = np.random.default_rng((settings.seed, 1))
    of_m, of_n = Adam(rate), Adam(rate)
    training_part = Part(train.terms.rows(rows), train.human[rows])
    now = best = start
    history = [_epoch(0, now, training_part, validation, penalty)]
    best_number = 0
    for number in range(1, settings.epochs + 1):
        order = chance.permutation(len(rows))
        for begin in range(0, len(order), settings.batch):
            batch = order[begin : begin + settings.batch]
            by_m, by_n = gradient(now, training_part.terms.rows(batch), training_part.human[batch], penalty)
            now = replace(now, m=of_m.step(now.m, by_m), n=of_n.step(now.n, by_n))
        history.append(_epoch(number, now, training_part, validation, penalty))
        if history[-1].worth(settings.judge) > history[best_number].worth(settings.judge):
            best, best_number = now, number
        elif number - best_number >= settings.patience:
            break
    return BestEpoch(best, tuple(history), best_number)


def _epoch(number: int, now: Parameters, train: Part, validation: Part, penalty: float) -> Epoch:
    guess = scores(now, validation.terms)
    return Epoch(
        number,
        loss(now, train.terms, train.human, penalty),
        float(((guess - validation.human) ** 2).mean()),
        _replace_nan(column_correlation(guess, validation.human, "pearson")),
        _replace_nan(column_correlation(guess, validation.human, "spearman")),
    )


def _replace_nan(value: float) -> float | None:
    return None if math.isnan(value) else value


def oversampled_rows(lengths: Places, scores: Floats, scale: tuple[float, float], seed: int) -> Places:
    """Rows of examples in order, some repeated until the length of a response says nothing about its score.

    People may like short answers better (Lowe et al. 2017, section 5.2), and what learns from them learns
    that. Responses fall into five bins of equally many by their words, and their scores into five by the
    scale. Within each bin of length, examples of a score are repeated until scores are shared out there as
    they are in all examples. None is dropped, and a bin of length has at most as many examples as there are
    in all. A score that a bin of length has no example of stays missing there, so some correlation can be
    left.
    """
    low, high = scale
    score_bins = np.clip(((scores - low) / (high - low) * _BINS).astype(int), 0, _BINS - 1)
    edges = np.quantile(lengths, np.arange(1, _BINS) / _BINS)
    length_bins = np.searchsorted(edges, lengths, side="left")
    shares = np.bincount(score_bins, minlength=_BINS) / len(scores)
    chance = np.random.default_rng((seed, 2))
    chosen_rows = []
    for length in np.unique(length_bins):
        cells = [np.flatnonzero((length_bins == length) & (score_bins == score)) for score in range(_BINS)]
        factor = max(len(cell) / share for cell, share in zip(cells, shares, strict=True) if len(cell))
        for cell, share in zip(cells, shares, strict=True):
            if len(cell):
                again, left = divmod(max(len(cell), round(factor * share)), len(cell))
                chosen_rows += [np.repeat(cell, again), chance.choice(cell, left, replace=False)]
    return np.sort(np.concatenate(chosen_rows)).astype(np.intp)


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

    `best` is the epoch whose parameters were kept, `best_trials` the n, penalty and rate that were, and
    `tried` all that was tried on validation.
    """

    settings: examples.Settings
    encoder: examples.TextEncoder
    projection: Projection
    forms: Mapping[str, Parameters]
    history: Mapping[str, tuple[Epoch, ...]]
    best: Mapping[str, int]
    best_trials: Mapping[str, TrialResult]
    tried: Mapping[str, tuple[TrialResult, ...]]

    def score(self, encoded: examples.EncodedExamples, which: str = "adem") -> Floats:
        """Scores (k), nan where an example lacks what the form compares with."""
        return scored(self.projection, self._form(which), encoded)

    def initial(self, encoded: examples.EncodedExamples, which: str = "adem") -> Floats:
        """Scores before training, which are products of plain vectors (the paper's row VHRED)."""
        return scored(self.projection, self._form(which).before(), encoded)

    def _form(self, which: str) -> Parameters:
        if which not in self.forms:
            raise MetricError(f"The model has no {which}; it has {', '.join(self.forms)}.")
        return self.forms[which]


def train(
    train: examples.EncodedExamples,
    validation: examples.EncodedExamples,
    settings: examples.Settings,
    progress: examples.Progress | None = None,
) -> TrainedModel:
    """Learn from `train`, and choose by `validation`, which share no context.

    The projection sees vectors of `train` alone. Each form leaves out examples that lack what it needs.
    """
    if common := set(train.keys) & set(validation.keys):
        raise MetricError(f"The context {min(common)} is in training and in validation.")
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
    by_form: dict[str, BestEpoch] = {}
    tried: dict[str, list[TrialResult]] = {}
    best_trials: dict[str, TrialResult] = {}
    for form in settings.which:
        needs = {"context": form != examples.REFERENCE, "reference": form != examples.CONTEXT}
        training_part, kept_rows = _part(projection, train, "training", **needs)
        judge, _ = _part(projection, validation, "validation", **needs)
        rows = _rows(train, kept_rows, settings)
        for n, penalty, rate in grid:
            of_n, judge_n = (
                Part(training_part.terms.along(n), training_part.human),
                Part(judge.terms.along(n), judge.human),
            )
            start = started(of_n.terms, scale=settings.scale, **needs)
            learned = learn(start, of_n, judge_n, penalty=penalty, rate=rate, settings=settings, rows=rows)
            this = TrialResult(n, penalty, rate, learned.history[learned.best])
            tried.setdefault(form, []).append(this)
            if form not in best_trials or this.best.worth(settings.judge) > best_trials[form].best.worth(
                settings.judge
            ):
                by_form[form], best_trials[form] = learned, this
            done += 1
            if progress is not None:
                progress(done, total, f"training {form}")
    return TrainedModel(
        settings,
        train.encoder,
        projection,
        {form: learned.parameters for form, learned in by_form.items()},
        {form: learned.history for form, learned in by_form.items()},
        {form: learned.best for form, learned in by_form.items()},
        best_trials,
        {form: tuple(choices) for form, choices in tried.items()},
    )


def _part(
    projection: Projection, encoded: examples.EncodedExamples, what: str, *, context: bool, reference: bool
) -> tuple[Part, Places]:
    rows = complete_rows(encoded, context=context, reference=reference)
    rows = rows[~np.isnan(encoded.scores[rows])]
    if len(rows) < 2:
        needs = " and ".join(
            name for name, needed in (("context", context), ("reference", reference)) if needed
        )
        raise MetricError(
            f"ADEM needs 2 examples for {what} with a score and {needs}; there are {len(rows)}."
        )
    part = encoded.part(rows)
    return Part(terms_of(projection, part, None), part.scores), rows


def _rows(train: examples.EncodedExamples, kept_rows: Places, settings: examples.Settings) -> Places:
    if not settings.oversample:
        return np.arange(len(kept_rows))
    return oversampled_rows(train.lengths[kept_rows], train.scores[kept_rows], settings.scale, settings.seed)


def _used(encoded: examples.EncodedExamples) -> Floats:
    places = np.concatenate((encoded.contexts, encoded.responses, encoded.references))
    return encoded.vectors[np.unique(places[places >= 0])]


def save(
    folder: Path, trained: TrainedModel, card: Mapping[str, Any], *, external: str = "", readme: str = ""
) -> ModelFolder:
    """Write a model's folder; `external` is the folder or name of an encoder that is not to be copied."""
    low, high = trained.settings.scale
    forms = {form: {"n": trial.n, "penalty": trial.penalty} for form, trial in trained.best_trials.items()}
    encoder = trained.encoder
    settings = {
        "low": low,
        "high": high,
        "forms": forms,
        "encoder": {"kind": encoder.kind, "digest": encoder.digest, "width": encoder.width},
    }

    def fill(target: Path) -> None:
        from safetensors.numpy import save_file

        save_file(_tensors(trained), target / LEARNED)
        if not external:
            encoder.save(target / ENCODER)

    full_card = {
        "encoder": {"name": encoder.name, "external": external},
        "training": described(trained),
        **card,
    }
    return write(folder, ADEM, settings, full_card, fill, readme=readme)


def described(trained: TrainedModel) -> dict[str, Any]:
    """How the model was trained and what validation said, as JSON has it."""
    return {
        "settings": asdict(trained.settings),
        "variance": float(trained.projection.shares.sum()),
        "forms": {
            form: {
                "chosen": trained.best_trials[form].as_json(),
                "tried": [tried.as_json() for tried in trained.tried[form]],
                "history": [epoch.as_json() for epoch in trained.history[form]],
            }
            for form in trained.forms
        },
    }


def _tensors(trained: TrainedModel) -> dict[str, Floats]:
    projection = trained.projection
    tensors = {"mean": projection.mean, "components": projection.components, "shares": projection.shares}
    for form, parameters in trained.forms.items():
        tensors[f"{form}.alpha"] = np.array([parameters.alpha])
        tensors[f"{form}.beta"] = np.array([parameters.beta])
        for name, matrix in (("m", parameters.m), ("n", parameters.n)):
            if matrix is not None:
                tensors[f"{form}.{name}"] = matrix
    return {name: np.ascontiguousarray(value) for name, value in tensors.items()}
