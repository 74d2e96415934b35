"""ADEM on some rows of a table whose texts are vectors already."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import count

import numpy as np

from metrics.learned.adem.encoded_examples import cosines
from metrics.learned.adem.protocols import Fit, Indices
from metrics.learned.adem.settings import ADEM, Progress, Settings
from metrics.learned.adem.training import EncodedExamples, Epoch, TrainedModel, train
from metrics.metaeval.data import Floats

#: What a trained form has to beat: itself before training, the cosine of the same vectors, one score for all.
BEFORE, COSINE, CONSTANT = "-before", "cosine", "constant"


def yardsticks_of(forms: Sequence[str]) -> list[str]:
    """Names of what these forms have to beat, each form before its training first."""
    return [*(f"{form}{BEFORE}" for form in forms), COSINE, CONSTANT]


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """A trained ADEM and the vectors of all rows; `mean` is that of people's scores in its training."""

    trained: TrainedModel
    encoded: EncodedExamples
    mean: float

    def scores(self, rows: Indices, which: str) -> Floats:
        """Scores of some rows (k) by one form, or by a yardstick of `yardsticks_of`."""
        part = self.encoded.part(rows)
        if which == COSINE:
            return cosines(part)
        if which == CONSTANT:
            return np.full(len(rows), self.mean)
        if which.endswith(BEFORE):
            return self.trained.initial(part, which.removesuffix(BEFORE))
        return self.trained.score(part, which)

    def initial(self, rows: Indices) -> Floats:
        """Scores of some rows before training, those of ADEM where it was trained."""
        form = ADEM if ADEM in self.trained.forms else next(iter(self.trained.forms))
        return self.trained.initial(self.encoded.part(rows), form)

    def watched(self, training: Indices, test: Indices) -> dict[str, tuple[Epoch, ...]]:
        """What a test set says at each epoch of this training: the same steps again, with it to look at."""
        found = {}
        for form, history in self.trained.history.items():
            epochs = max(1, len(history) - 1)
            again = replace(like(self.trained, form), epochs=epochs, patience=epochs, which=(form,))
            found[form] = train(self.encoded.part(training), self.encoded.part(test), again).history[form]
        return found


def fitting(
    encoded: EncodedExamples, settings: Settings, progress: Progress | None = None
) -> Callable[[Indices, Indices], Model]:
    """Training under these settings, on rows of what was encoded."""

    def fit(training: Indices, validation: Indices) -> Model:
        known = encoded.part(training)
        trained = train(known, encoded.part(validation), settings, progress)
        return Model(trained, encoded, float(known.scores.mean()))

    return fit


def like(trained: TrainedModel, form: str = ADEM) -> Settings:
    """The settings of a training with the n, penalty and rate that it chose.

    Of fewer texts there may be fewer components; then all of them are taken.
    """
    chosen = trained.chosen[form]
    return replace(trained.settings, n=None, sizes=(chosen.n,), penalty=chosen.penalty, rate=chosen.rate)


def again(model: Model, tick: Callable[[int], None]) -> Fit:
    """ADEM alone, trained as in `model` but on other rows; `tick` hears how often that was done."""
    fit = fitting(model.encoded, replace(like(model.trained), which=(ADEM,)))
    times = count(1)

    def ticking(training: Indices, validation: Indices) -> Model:
        found = fit(training, validation)
        tick(next(times))
        return found

    return ticking
